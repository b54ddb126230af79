#!/usr/bin/env python3
"""How derivatives of attention by random features vary over draws of the features: variance.py FOLDER [NAME=HEADS ...]

HEADS: Q.npy,K.npy,V.npy with one head or (heads, n, p), of which the first 128 tokens are taken. Beside them five sets of 128
random points. All queries and keys are brought to the length R, in the paper's notation, where scores are q.k (here q.k / sqrt(p), so
that rows have length R p^(1/4)); heads are also taken as they are, R being NA then and `norm` the root of mean |q| |k| / sqrt(p).

variance.csv: for each set, R, method (`performer`: positive features of independent normals; `nprf`: of rows of unit length), m and
precision, over DRAWS draws and a white cotangent: the spread of (dQ, dK), a root mean square distance from the mean of the draws, by
the paper's queries and keys and over the norm of the exact derivatives; its bias and its mean cosine with them; the error of the
output; how many draws were not finite; and `kernel`, the relative standard deviation of one estimate of exp(q.k),
((e^(|q+k|^2) - 1) / m)^(1/2), of the median pair. Needs NumPy and the package croquis.
"""
import csv
import pathlib
import sys

import numpy

import croquis

TOKENS, WIDTH, SETS, DRAWS = 128, 64, 5, 40
NORMS = (0.5, 1, 2, 3, 4, 6, 8)
NORMALISED = (1, 4, "NA")  # of unit rows what R is does not matter but for the factor 1 / R: two to see it
FLOAT = (1, 4, 8, "NA")
FEATURES = (16, 64, 128)
METHODS = {"performer": "performer:projection=iid", "nprf": "nprf:projection=iid"}


def unit(rows):
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def random_points(i):
    rng = numpy.random.default_rng(i)
    q, k, v = (rng.normal(size=(TOKENS, WIDTH)) for _ in range(3))
    return f"points {i}", q, k, v


def heads(argument):
    name, _, files = argument.partition("=")
    arrays = [numpy.load(file) for file in files.split(",")]
    if len(arrays) != 3:
        sys.exit(f"gradient-variance: {argument}: give NAME=Q.npy,K.npy,V.npy")
    q, k, v = (a[None] if a.ndim == 2 else a for a in arrays)
    for h in range(len(q)):
        yield (name if len(q) == 1 else f"{name} {h}", *(a[h][:TOKENS].astype(float) for a in (q, k, v)))


def at_norm(q, k, norm):
    length = norm * q.shape[1] ** 0.25
    return unit(q) * length, unit(k) * length


def of_exact(q, k, v, target):
    """||(dQ, dK)||_F of exact attention, by the paper's q and k, for a white cotangent of mean square 1: its root mean square."""
    rng = numpy.random.default_rng(0)
    squares = []
    for _ in range(4):
        dq, dk, _ = croquis.vjp(q, k, v, rng.normal(size=v.shape), target=target)
        squares.append((dq**2).sum() + (dk**2).sum())
    return numpy.sqrt(numpy.mean(squares) * numpy.sqrt(q.shape[1]))


def rows_of(name, q, k, v, norm):
    root = q.shape[1] ** 0.25
    x, y = q / root, k / root
    distance = numpy.median((x**2).sum(1)[:, None] + (y**2).sum(1) + 2 * x @ y.T)
    typical = numpy.sqrt(numpy.linalg.norm(x, axis=1).mean() * numpy.linalg.norm(y, axis=1).mean())
    for precision in ("double", "float"):
        for method, choice in METHODS.items():
            if (method == "nprf" and norm not in NORMALISED) or (precision == "float" and norm not in FLOAT):
                continue
            exact = of_exact(q, k, v, "softmax" if method == "performer" else "normalized")
            found = croquis.gradient(q, k, v, choice, FEATURES, DRAWS, precision=precision, name=name)
            for m in FEATURES:
                rows = [r for r in found if r["features"] == m]
                good = [r for r in rows if r["status"] == "ok" and numpy.isfinite(r["qk_spread"])]
                mean = lambda column: numpy.mean([r[column] for r in good]) if good else numpy.nan  # noqa: E731
                spread = numpy.sqrt(numpy.mean([r["qk_spread"] ** 2 for r in good])) if good else numpy.nan
                error = numpy.sqrt(numpy.mean([r["qk_rel"] ** 2 for r in good])) if good else numpy.nan
                kernel = numpy.sqrt(numpy.expm1(distance if method == "performer" else 2.0) / m)
                yield [
                    name, norm, typical, method, m, precision, spread * exact, spread, error, exact, mean("qk_cosine"),
                    mean("output_rel"), len(rows) - len(good), kernel,
                ]  # fmt: skip


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n")[0])
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    croquis.set_threads(1)
    sets = [random_points(i) for i in range(1, SETS + 1)]
    for argument in sys.argv[2:]:
        sets.extend(heads(argument))
    with (folder / "variance.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(
            "set,R,norm,method,features,precision,spread,spread_over_exact,error_over_exact,exact,cosine,output_rel,"
            "not_finite,kernel".split(",")
        )
        for name, q, k, v in sets:
            cases = [(*at_norm(q, k, norm), norm) for norm in NORMS]
            if not name.startswith("points"):
                cases.append((q, k, "NA"))
            for q_scaled, k_scaled, norm in cases:
                for row in rows_of(name, q_scaled, k_scaled, v, norm):
                    table.writerow([f"{x:.4g}" if isinstance(x, float) else x for x in row])
            file.flush()
            print(name, flush=True)


if __name__ == "__main__":
    main()
