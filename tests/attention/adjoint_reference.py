#!/usr/bin/env python3
"""Makes adjoint_reference.txt: outputs and gradients by PyTorch's autograd, for tests/attention/adjoint_reference.cpp.

Every method is written here densely, from its definition, in double; what is drawn at random comes from the library. To
make the file again:

    build/release/tests/croquis_tests --no-skip --test-case='*inputs of adjoint_reference.py*' |
      python3 tests/attention/adjoint_reference.py > tests/attention/adjoint_reference.txt
"""
import math
import sys

import torch

torch.set_default_dtype(torch.float64)


def softmax(scores):
    return torch.softmax(scores, dim=1)


def scores_of(q, k):
    return q @ k.T / math.sqrt(q.shape[1])


def unit(x):
    return x / x.norm(dim=1, keepdim=True)


def gaussian(x, y):
    """exp(-||x_i - y_j||^2 / 2) of points divided by p^(1/4)."""
    scale = x.shape[1] ** -0.25
    difference = scale * x[:, None, :] - scale * y[None, :, :]
    return torch.exp(-(difference**2).sum(2) / 2)


def bias_matrix(b, n):
    """b_{j-i} for all pairs."""
    i = torch.arange(n)
    return b[i[None, :] - i[:, None] + n - 1]


def mask(n):
    """-inf for keys after their query."""
    return torch.triu(torch.full((n, n), -math.inf), 1)


def iterate(n, start, steps=6):
    one, inf = n.abs().sum(0).max(), n.abs().sum(1).max()
    z = n.T / (one * inf if start == "both" else one)
    eye = torch.eye(len(n))
    for _ in range(steps):
        m = n @ z
        z = z @ (13 * eye - m @ (15 * eye - m @ (7 * eye - m))) / 4
    return z


def exact(c):
    n = len(c.q)
    if c.name == "kernelized":
        return gaussian(c.q, c.k) @ c.v
    s = unit(c.q) @ unit(c.k).T if c.name.startswith("normalized") else scores_of(c.q, c.k)
    if c.name.endswith("rpe"):
        s = s + bias_matrix(c.b, n) + mask(n)
    return softmax(s) @ c.v


def v_mean(c):
    return torch.tril(torch.ones(len(c.q), len(c.q))) / torch.arange(1, len(c.q) + 1)[:, None] @ c.v


def linformer(c):
    return softmax(scores_of(c.q, c["E"] @ c.k)) @ (c["F"] @ c.v)


def linformer_unreduced(c):
    return softmax(scores_of(c.q, c.k)) @ (c["S"] @ c["S"].T @ c.v)


def skyformer_scores(c):
    points = torch.cat([c.q, c.k])
    z = points[c.indices("J")]
    w = gaussian(z, z)
    if c.name.endswith("code"):
        w = w + 0.1 * torch.eye(len(w))
        r = w.sum(1) ** -0.5
        inverse = r[:, None] * iterate(r[:, None] * w * r[None, :], "one") * r[None, :]
    else:
        inverse = torch.linalg.inv(w)
    return gaussian(c.q, z) @ inverse @ gaussian(z, c.k)


def skyformer(c):
    return skyformer_scores(c) @ c.v


def skyformer_softmax(c):
    a = skyformer_scores(c) * torch.exp((c.k**2).sum(1) / (2 * math.sqrt(c.k.shape[1])))[None, :]
    return a @ c.v / a.sum(1, keepdim=True)


def nystromformer(c):
    if "J" in c.arrays:
        q, k = c.q[c.indices("J")], c.k[c.indices("J")]
    else:
        segments = torch.tensor_split(torch.eye(len(c.q)), 4)  # the first ones are longer
        mean = torch.stack([s.sum(0) / len(s) for s in segments])
        q, k = mean @ c.q, mean @ c.k
    core = softmax(scores_of(q, k))
    if c.name.endswith("pinv"):
        z = torch.linalg.inv(core)
    else:
        z = iterate(core, "one" if c.name.endswith("one") else "both")
    return softmax(scores_of(c.q, k)) @ z @ softmax(scores_of(q, c.k)) @ c.v


def skeinformer(c):
    n, columns = len(c.q), c.indices("columns")
    a = torch.exp(scores_of(c.q, c.k[columns]))
    rest = [j for j in range(n) if j not in columns.tolist()]
    if c.name == "skeinformer-simple":
        output = a @ c.v[columns] / a.sum(1, keepdim=True)
    else:
        g = torch.exp(torch.log(a).mean(1, keepdim=True))
        output = (a @ c.v[columns] + g * c.v[rest].sum(0)) / (a.sum(1, keepdim=True) + len(rest) * g)
    if "rows" in c.arrays:
        known = c.indices("rows")
        chosen = torch.zeros(n, 1)
        chosen[known] = 1
        output = (1 - chosen) * output + chosen * (softmax(scores_of(c.q, c.k)) @ c.v)
    return output


def with_exact_rows(c, output, rows):
    chosen = torch.zeros(len(c.q), 1)
    chosen[rows] = 1
    return (1 - chosen) * output + chosen * (softmax(scores_of(c.q, c.k)) @ c.v)


def sampled_columns(c):
    b, columns, lengths = softmax(scores_of(c.q, c.k)), c.indices("columns"), c.v.norm(dim=1)
    rows = b[c.indices("pilot")] if "pilot" in c.arrays else b
    p = lengths * (rows**2).sum(0).sqrt()
    p = p / p.sum()
    output = (b / (len(columns) * p))[:, columns] @ c.v[columns]
    return with_exact_rows(c, output, c.indices("rows")) if "rows" in c.arrays else output


def kriged_coreset(c):
    """Of queries and keys times 0.6 (kCoresetScale)."""
    c.leaves = c.q, c.k
    c.q, c.k = 0.6 * c.q, 0.6 * c.k
    n, leaf, cell = len(c.q), c.indices("leaf"), c.indices("cell")
    leaves, cells = (torch.nn.functional.one_hot(x).T.to(c.q.dtype) for x in (leaf, cell))
    counts = leaves.sum(1, keepdim=True)
    landmarks = leaves @ c.q / counts
    scores = scores_of(landmarks, c.k)
    b = softmax(scores)
    v = c.v - c.v.mean(0)
    lengths = v.norm(dim=1)
    w = lengths * (counts * b**2).sum(0).sqrt()
    w = 0.8 * w / w.sum() + 0.2 / n
    keys = cells @ (w[:, None] * c.k) / (cells @ w)[:, None]
    y = torch.exp(scores_of(landmarks, keys) - torch.logsumexp(scores, 1, keepdim=True))
    values = torch.cat([v, torch.ones(n, 1)], 1)
    squares = cells @ lengths**2
    gram = y @ torch.diag(squares) @ y.T
    mean = max(torch.trace(gram) / len(gram), squares.sum() / n**2)
    exponent = round(2 * (c["log_ridge"].item() - math.log10(mean.item()))) / 2
    inverse = torch.linalg.inv(gram + 10**exponent * mean * torch.eye(len(gram)))
    missing = b @ values - y @ (cells @ values)
    sums = torch.exp(scores_of(c.q, keys)) @ (cells @ values + torch.diag(squares) @ y.T @ inverse @ missing)
    alone = torch.nonzero(counts.flatten()[leaf] == 1).flatten()
    rows = torch.cat([c.indices("rows"), alone])
    output = with_exact_rows(c, sums[:, :-1] / sums[:, -1:] + c.v.mean(0), rows)
    c.q, c.k = c.leaves
    return output


def features(c, x, y, name):
    """phi(x), phi(y), with FAVOR+'s shifts where there is an epsilon."""
    w, p = c["W"], x.shape[1]
    epsilon = 0.05 if "epsilon" in name else 0
    offset = torch.zeros(len(w))
    if "saderf" in name:
        psi = ((y**2).mean(0) / (x**2).mean(0)) ** 0.25
        x, y = x * psi, y / psi
    if "sphere" in name:
        w = math.sqrt(p) * unit(w)
    if "oprf" in name or "saderf" in name:
        s = ((x[:, None, :] + y[None, :, :]) ** 2).sum(2).mean()
        rho = (torch.sqrt((2 * s + p) ** 2 + 8 * p * s) - 2 * s - p) / (4 * s)
        a = (1 - 1 / rho) / 8
        offset = a * (w**2).sum(1)
        w = torch.sqrt(1 - 4 * a) * w
    ex, ey = x @ w.T + offset, y @ w.T + offset
    hx, hy = (x**2).sum(1, keepdim=True) / 2, (y**2).sum(1, keepdim=True) / 2
    if "trf" in name:
        return (torch.exp(h) * torch.cat([torch.sin(e), torch.cos(e)], 1) for e, h in ((ex, hx), (ey, hy)))
    if "hyperbolic" in name:
        ex, ey = torch.cat([ex, -ex], 1), torch.cat([ey, -ey], 1)
    sx = ex.max(1, keepdim=True).values if epsilon else 0
    sy = ey.max() if epsilon else 0
    return torch.exp(ex - hx - sx) + epsilon, torch.exp(ey - hy - sy) + epsilon


def feature_attention(c):
    if c.name.startswith("nprf"):
        x, y = unit(c.q), unit(c.k)
    else:
        x, y = c.q * c.q.shape[1] ** -0.25, c.k * c.q.shape[1] ** -0.25
    fx, fy = features(c, x, y, c.name)
    a = fx @ fy.T
    if c.b is not None:
        a = a * torch.exp(bias_matrix(c.b, len(a)))
    if c.causal:
        a = torch.tril(a)
    return a @ c.v / a.sum(1, keepdim=True)


FORWARD = {
    "exact": exact,
    "v-mean": v_mean,
    "linformer": linformer,
    "linformer-unreduced": linformer_unreduced,
    "skyformer": skyformer,
    "skyformer-softmax": skyformer_softmax,
    "nystromformer": nystromformer,
    "sampled-columns": sampled_columns,
    "skeinformer-no-norm": sampled_columns,
    "kriged-coreset": kriged_coreset,
    "performer": feature_attention,
    "nprf": feature_attention,
    "prf-rpe": feature_attention,
    "nprf-rpe": feature_attention,
}


class Case:
    def __init__(self, name, method, causal):
        self.name, self.method, self.causal, self.arrays = name, method, causal, {}

    def __getitem__(self, name):
        return self.arrays[name]

    def indices(self, name):
        return self.arrays[name].flatten().long()


def write(name, matrix):
    matrix = matrix.reshape(matrix.shape[0], -1)
    print("matrix", name, *matrix.shape)
    for row in matrix.tolist():
        print(*(repr(x) for x in row))


def main():
    lines = iter(sys.stdin.read().splitlines())
    cases, shared = [], {}
    for line in lines:
        words = line.split()
        if words and words[0] == "case":
            cases.append(Case(words[1], words[2], words[3] == "causal"))
        elif words and words[0] == "matrix":
            rows = [[float(x) for x in next(lines).split()] for _ in range(int(words[2]))]
            (cases[-1].arrays if cases else shared)[words[1]] = torch.tensor(rows)
    for c in cases:
        c.q, c.k, c.v = (shared[name].clone().requires_grad_() for name in "QKV")
        c.b = shared["b"].flatten().requires_grad_() if "bias" in c.arrays else None
        forward = FORWARD.get(c.method, skeinformer)
        output = forward(c)
        (shared["G"] * output).sum().backward()
        print("case", c.name)
        for name, matrix in c.arrays.items():
            write(name, matrix)
        write("output", output.detach())
        for name, leaf in (("dQ", c.q), ("dK", c.k), ("dV", c.v), ("db", c.b)):
            if leaf is not None:
                write(name, leaf.grad if leaf.grad is not None else torch.zeros_like(leaf))


main()
