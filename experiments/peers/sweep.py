"""A sweep of seven methods over d, 20 trials, double precision, written in PyTorch; prints seconds.

sweep.py                        that of the quickstart: one head, n = 1024, p = 64, d = 16 ... 256
sweep.py Q.npy K.npy V.npy      all heads of arrays (heads, n, p), d = 16 ... 128, beside
    croquis error --q Q.npy --k K.npy --v V.npy --features 16:128 --trials 20 --methods ... --out rows.csv

What Croquis does besides (reading, standard errors, files, a plot) is left out, and so is the import."""

import math
import sys
import time

import numpy
import torch

from methods import METHODS

TRIALS = 20


class Reference:
    """An exact output, whose norms are computed once, as Croquis does."""
    def __init__(self, output):
        self.output = output
        self.spectral, self.frobenius = torch.linalg.matrix_norm(output, 2), torch.linalg.matrix_norm(output)


def errors(reference, output):
    difference = output - reference.output
    return (torch.linalg.matrix_norm(difference, 2) / reference.spectral,
            torch.linalg.matrix_norm(difference) / reference.frobenius, difference.abs().max())


def skyformer_pinv(q, k, v, d, weights=None):
    """Skyformer with uniform landmarks and the pseudo-inverse of the paper; with weights, on the softmax scores."""
    def kernel(x, y):
        return torch.exp(x @ y.T - (x * x).sum(-1, keepdim=True) / 2 - (y * y).sum(-1) / 2)

    n, p = q.shape
    qs, ks = q * p**-0.25, k * p**-0.25
    points = torch.cat([qs, ks])[torch.randint(2 * n, (d,))]
    left, right = kernel(qs, points), kernel(ks, points)
    inverse = torch.linalg.pinv(kernel(points, points), hermitian=True)
    if weights is None:
        return left @ (inverse @ (right.T @ v))
    columns = torch.cat([v, v.new_ones(n, 1)], 1) * weights.unsqueeze(-1)
    sums = left @ (inverse @ (right.T @ columns))
    return sums[:, :-1] / sums[:, -1:]


def sweep(q, k, v, features):
    """The number of rows that the sweep of one head has."""
    n, p = q.shape
    scores = torch.softmax(q @ k.T / math.sqrt(p), -1)
    softmax = Reference(scores @ v)
    qs, ks = q * p**-0.25, k * p**-0.25
    kernelized = Reference(torch.exp(-torch.cdist(qs, ks)**2 / 2) @ v)
    weights = torch.exp((ks * ks).sum(-1) / 2)
    u, s, vt = torch.linalg.svd(scores)
    rows = 0
    for d in features:
        errors(softmax, v.mean(0).expand(n, -1))
        errors(softmax, (u[:, :d] * s[:d]) @ (vt[:d] @ v))
        errors(softmax, METHODS["nystromformer"](q, k, v, d)())
        rows += 3
        for _ in range(TRIALS):
            sketch = torch.randn(n, d, dtype=v.dtype) / math.sqrt(d)
            errors(kernelized, skyformer_pinv(q, k, v, d))
            errors(softmax, skyformer_pinv(q, k, v, d, weights))
            errors(softmax, (scores @ sketch) @ (sketch.T @ v))
            errors(softmax, METHODS["skeinformer"](q, k, v, d)())
            rows += 4
    return rows


def main():
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    torch.set_num_threads(2)
    if len(sys.argv) == 4:
        heads = [torch.from_numpy(numpy.load(path).astype(numpy.float64)) for path in sys.argv[1:]]
        features = (16, 32, 64, 128)
    else:
        heads = [torch.randn(1, 1024, 64, dtype=torch.float64) for _ in range(3)]
        features = (16, 32, 64, 128, 256)
    start = time.perf_counter()
    rows = sum(sweep(q, k, v, features) for q, k, v in zip(*heads))
    print(f"{time.perf_counter() - start:.3f} s, {rows} rows")


if __name__ == "__main__":
    main()
