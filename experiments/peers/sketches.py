"""S^T M for M (65536 x k), 256 directions, by NumPy and scikit-learn."""

import numpy
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

ROWS, DIRECTIONS = 65536, 256


def numpy_gaussian(m):
    generator = numpy.random.default_rng(1)
    return lambda: generator.standard_normal((DIRECTIONS, ROWS), dtype=m.dtype) @ m / numpy.sqrt(DIRECTIONS)


def sklearn_gaussian(m):
    return lambda: GaussianRandomProjection(DIRECTIONS).fit_transform(m.T)


def sklearn_sparse(m):
    return lambda: SparseRandomProjection(DIRECTIONS, density=8 / DIRECTIONS).fit_transform(m.T)


SKETCHES = {
    "numpy gaussian": ("gaussian", numpy_gaussian),
    "scikit-learn gaussian": ("gaussian", sklearn_gaussian),
    "scikit-learn sparse": ("sjlt", sklearn_sparse),
}
