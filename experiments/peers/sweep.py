"""The quickstart's sweep written in PyTorch: seven methods, d = 16 ... 256, 20 trials, double precision; prints seconds.

What Croquis does besides (the text as input, standard errors, files, a plot) is left out, and so is the import."""

import math
import time

import torch

from methods import METHODS

N, P, TRIALS, FEATURES = 1024, 64, 20, (16, 32, 64, 128, 256)


def errors(reference, output):
    difference = output - reference
    return (torch.linalg.matrix_norm(difference, 2) / torch.linalg.matrix_norm(reference, 2),
            torch.linalg.matrix_norm(difference) / torch.linalg.matrix_norm(reference), difference.abs().max())


def skyformer_pinv(q, k, v, d, weights=None):
    """Skyformer with uniform landmarks and the pseudo-inverse of the paper; with weights, on the softmax scores."""
    def kernel(x, y):
        return torch.exp(x @ y.T - (x * x).sum(-1, keepdim=True) / 2 - (y * y).sum(-1) / 2)

    qs, ks = q * P**-0.25, k * P**-0.25
    points = torch.cat([qs, ks])[torch.randint(2 * N, (d,))]
    left, right = kernel(qs, points), kernel(ks, points)
    inverse = torch.linalg.pinv(kernel(points, points), hermitian=True)
    if weights is None:
        return left @ (inverse @ (right.T @ v))
    columns = torch.cat([v, v.new_ones(N, 1)], 1) * weights.unsqueeze(-1)
    sums = left @ (inverse @ (right.T @ columns))
    return sums[:, :-1] / sums[:, -1:]


def main():
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    torch.set_num_threads(2)
    q, k, v = (torch.randn(N, P, dtype=torch.float64) for _ in range(3))
    start = time.perf_counter()
    scores = torch.softmax(q @ k.T / math.sqrt(P), -1)
    softmax = scores @ v
    qs, ks = q * P**-0.25, k * P**-0.25
    kernelized = torch.exp(-torch.cdist(qs, ks)**2 / 2) @ v
    weights = torch.exp((ks * ks).sum(-1) / 2)
    u, s, vt = torch.linalg.svd(scores)
    rows = 0
    for d in FEATURES:
        errors(softmax, v.mean(0).expand(N, -1))
        errors(softmax, (u[:, :d] * s[:d]) @ (vt[:d] @ v))
        errors(softmax, METHODS["nystromformer"](q, k, v, d)())
        rows += 3
        for _ in range(TRIALS):
            sketch = torch.randn(N, d, dtype=v.dtype) / math.sqrt(d)
            errors(kernelized, skyformer_pinv(q, k, v, d))
            errors(softmax, skyformer_pinv(q, k, v, d, weights))
            errors(softmax, (scores @ sketch) @ (sketch.T @ v))
            errors(softmax, METHODS["skeinformer"](q, k, v, d)())
            rows += 4
    print(f"{time.perf_counter() - start:.3f} s, {rows} rows")


if __name__ == "__main__":
    main()
