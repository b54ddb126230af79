#!/usr/bin/env python3
"""How derivatives of attention by random features vary over draws of the features: variance.py FOLDER [NAME=HEADS ...]

HEADS: Q.npy,K.npy,V.npy with one head or (heads, n, p), of which the first 128 tokens are taken. Beside them five sets of 128
random points. All queries and keys are brought to the length R, in the paper's notation, where scores are q.k (here q.k / sqrt(p), so
that rows have length R p^(1/4)); heads are also taken as they are, R being NA then and `norm` the root of mean |q| |k| / sqrt(p).

variance.csv: for each set, R, method (`performer`: positive features of independent normals; `nprf`: of rows of unit length), m and
precision, over COTANGENTS white cotangents with DRAWS draws each: the spread of (dQ, dK), a root mean square distance from the mean of
a cotangent's draws, by the paper's queries and keys and over the norm of the exact derivatives, which is a root mean square over
the same cotangents; the error of (dQ, dK) in that unit and the mean cosine with the exact ones; the error of the output; how many
draws were not finite; and `kernel`, the relative standard deviation of one estimate of exp(q.k), ((e^(|q+k|^2) - 1) / m)^(1/2), of
the median pair. One cotangent is not enough: on sharp heads the norm of the exact derivatives differs by a fifth between them.
Needs NumPy and the package croquis.
"""
import csv
import pathlib
import sys

import numpy

import croquis

TOKENS, WIDTH, SETS, COTANGENTS, DRAWS = 128, 64, 5, 32, 8
NORMS = (0.5, 1, 2, 3, 4, 6, 8)
NORMALISED = (1, 4, "NA")  # of unit rows what R is does not matter but for the factor 1 / R: two to see it
FLOAT = (1, 4, 8, "NA")
FEATURES = (16, 64, 128)
METHODS = {"performer": "softmax", "nprf": "normalized"}  # and what they approximate


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


def derivatives(q, k, v, cotangent, **choice):
    """(dQ, dK) by the paper's queries and keys."""
    dq, dk, _ = croquis.vjp(q, k, v, cotangent, **choice)
    return q.shape[1] ** 0.25 * numpy.concatenate([dq, dk]).astype(float)


def cosine_of(a, b):
    return (a * b).sum() / numpy.sqrt((a**2).sum() * (b**2).sum())


def of_draws(arrays, cotangents, exact, output, choice):
    """Mean squares of the spread and of the error of (dQ, dK), means of the cosine and of the error of the output, and how many
    draws were not finite."""
    spreads, errors, cosines, outputs, lost = [], [], [], [], 0
    for c, (cotangent, derivative) in enumerate(zip(cotangents, exact)):
        found = []
        for trial in range(c * DRAWS + 1, (c + 1) * DRAWS + 1):
            try:
                drawn = derivatives(*arrays, cotangent, trial=trial, **choice)
                estimate = croquis.approximate(*arrays, trial=trial, **choice)
            except RuntimeError:
                lost += 1
                continue
            found.append(drawn)
            errors.append(((drawn - derivative) ** 2).sum())
            cosines.append(cosine_of(drawn, derivative))
            outputs.append(numpy.linalg.norm(estimate - output) / numpy.linalg.norm(output))
        if len(found) > 1:
            spreads.append(((found - numpy.mean(found, 0)) ** 2).sum() / (len(found) - 1))
    return *(numpy.mean(values) if values else numpy.nan for values in (spreads, errors, cosines, outputs)), lost


def rows_of(name, q, k, v, norm):
    root = q.shape[1] ** 0.25
    x, y = q / root, k / root
    distance = numpy.median((x**2).sum(1)[:, None] + (y**2).sum(1) + 2 * x @ y.T)
    typical = numpy.sqrt(numpy.linalg.norm(x, axis=1).mean() * numpy.linalg.norm(y, axis=1).mean())
    rng = numpy.random.default_rng(0)
    cotangents = [rng.normal(size=v.shape) for _ in range(COTANGENTS)]
    for precision in ("double", "float"):
        kind = numpy.float64 if precision == "double" else numpy.float32
        arrays = [a.astype(kind) for a in (q, k, v)]
        for method, target in METHODS.items():
            if (method == "nprf" and norm not in NORMALISED) or (precision == "float" and norm not in FLOAT):
                continue
            exact = [derivatives(q, k, v, cotangent, target=target) for cotangent in cotangents]
            output = croquis.exact(q, k, v, target=target)
            size = numpy.sqrt(numpy.mean([(e**2).sum() for e in exact]))
            for m in FEATURES:
                choice = {"method": method, "features": m, "seed": 1, "projection": "iid"}
                spread, error, cosine, output_rel, lost = of_draws(
                    arrays, [g.astype(kind) for g in cotangents], exact, output, choice
                )
                kernel = numpy.sqrt(numpy.expm1(distance if method == "performer" else 2.0) / m)
                yield [
                    name, norm, typical, method, m, precision, numpy.sqrt(spread), numpy.sqrt(spread) / size,
                    numpy.sqrt(error) / size, size, cosine, output_rel, lost, kernel,
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
