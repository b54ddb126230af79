"""Attention approximations in PyTorch, in the form of their official codes: what Croquis is timed against.

Every function takes Q, K, V (n x p) and returns a call without arguments that computes the output; what the official
code keeps between calls (Linformer's E, a redrawn projection's place) is made outside of the call."""

import math

import torch


def softmax_rows(q, k, v, d):
    """Exact attention by blocks of 256 queries: no n x n matrix."""
    scale = 1 / math.sqrt(q.shape[1])
    return lambda: torch.cat([torch.softmax(block @ k.T * scale, -1) @ v for block in q.split(256)])


def softmax_whole(q, k, v, d):
    scale = 1 / math.sqrt(q.shape[1])
    return lambda: torch.softmax(q @ k.T * scale, -1) @ v


def performer(q, k, v, d):
    """FAVOR+: orthogonal directions redrawn at every call, positive features, stabilised by maxima."""
    p = q.shape[1]

    def directions():
        blocks = [torch.linalg.qr(torch.randn(p, p, dtype=q.dtype))[0] for _ in range(math.ceil(d / p))]
        return torch.cat(blocks)[:d] * torch.randn(d, p, dtype=q.dtype).norm(dim=1, keepdim=True)

    def features(x, w, is_query):
        x = x * p**-0.25
        u = x @ w.T
        height = (x * x).sum(-1, keepdim=True) / 2
        top = u.amax(-1, keepdim=True) if is_query else u.max()
        return (torch.exp(u - height - top) + 1e-4) / math.sqrt(d)

    def call():
        w = directions()
        phi_q, phi_k = features(q, w, True), features(k, w, False)
        return (phi_q @ (phi_k.T @ v)) / (phi_q @ phi_k.sum(0)).unsqueeze(-1)

    return call


def nystromformer(q, k, v, d):
    """Segment means, six iterations of the pseudo-inverse."""
    n, p = q.shape

    def inverse(a):
        eye = torch.eye(d, dtype=a.dtype)
        z = a.T / a.sum(0).max()
        for _ in range(6):
            az = a @ z
            z = 0.25 * z @ (13 * eye - az @ (15 * eye - az @ (7 * eye - az)))
        return z

    def call():
        qs, ks = q * p**-0.25, k * p**-0.25
        ql, kl = qs.reshape(d, n // d, p).mean(1), ks.reshape(d, n // d, p).mean(1)
        left = torch.softmax(qs @ kl.T, -1)
        core = torch.softmax(ql @ kl.T, -1)
        right = torch.softmax(ql @ ks.T, -1)
        return (left @ inverse(core)) @ (right @ v)

    return call


def linformer(q, k, v, d):
    """E of the official code: drawn once, shared by keys and values."""
    n, p = q.shape
    e = 0.02 * torch.randn(d, n, dtype=q.dtype)
    return lambda: torch.softmax(q @ (e @ k).T / math.sqrt(p), -1) @ (e @ v)


def skyformer(q, k, v, d):
    """Stratified landmarks, ridge 0.1, six iterations."""
    n, p = q.shape

    def kernel(x, y):
        return torch.exp(x @ y.T - (x * x).sum(-1, keepdim=True) / 2 - (y * y).sum(-1) / 2)

    def call():
        qs, ks = q * p**-0.25, k * p**-0.25
        landmarks = torch.cat([qs[torch.randint(n, (d // 2,))], ks[torch.randint(n, (d - d // 2,))]])
        core = kernel(landmarks, landmarks) + 0.1 * torch.eye(d, dtype=q.dtype)
        root = core.sum(-1).rsqrt()
        m = root.unsqueeze(-1) * core * root
        eye = torch.eye(d, dtype=q.dtype)
        z = m.T / m.sum(0).max()
        for _ in range(6):
            mz = m @ z
            z = 0.25 * z @ (13 * eye - mz @ (15 * eye - mz @ (7 * eye - mz)))
        inverse = root.unsqueeze(-1) * z * root
        return kernel(qs, landmarks) @ (inverse @ (kernel(landmarks, ks) @ v))

    return call


def skeinformer(q, k, v, d):
    """Pilot rows, columns without replacement, the rest by geometric means, pilot rows put into the output."""
    n, p = q.shape

    def call():
        qs, ks = q * p**-0.25, k * p**-0.25
        pilot = torch.randint(n, (d,))
        rows = torch.exp(qs[pilot] @ ks.T)
        rows = rows / rows.sum(-1, keepdim=True)
        probability = (rows * rows).sum(0).sqrt() * v.norm(dim=-1)
        columns = torch.multinomial(probability, d)
        scores = qs @ ks[columns].T
        mean = torch.exp(scores.mean(-1, keepdim=True))
        weights = torch.exp(scores)
        total = weights.sum(-1, keepdim=True) + (n - d) * mean
        chosen = v[columns]
        output = (weights @ chosen + mean * (v.sum(0) - chosen.sum(0))) / total
        output[pilot] = rows @ v
        return output

    return call


def informer(q, k, v, d):
    """ProbSparse: d keys sampled a query, exact rows for the d queries farthest from uniform, the mean elsewhere."""
    n, p = q.shape

    def call():
        index = torch.randint(n, (n, d))
        scores = torch.matmul(q.unsqueeze(1), k[index].transpose(1, 2)).squeeze(1)
        top = (scores.amax(-1) - scores.sum(-1) / n).topk(d, sorted=False).indices
        output = v.mean(0).expand(n, -1).clone()
        output[top] = torch.softmax(q[top] @ k.T / math.sqrt(p), -1) @ v
        return output

    return call


def nprf_rpe(q, k, v, d):
    """Positive features of unit rows, the relative bias through torch.fft over all features at once."""
    n, p = q.shape
    bias = 0.1 * torch.randn(2 * n - 1, dtype=q.dtype)
    w = torch.randn(d, p, dtype=q.dtype)

    def toeplitz(x):  # n x m x c
        c = torch.exp(bias)
        wheel = torch.cat([c[n - 1:], c.new_zeros(1), c[:n - 1]]).flip(0).roll(1)
        spectrum = torch.fft.rfft(wheel).reshape(-1, 1, 1)
        return torch.fft.irfft(torch.fft.rfft(x, n=2 * n, dim=0) * spectrum, n=2 * n, dim=0)[:n]

    def call():
        qs, ks = q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True)
        phi_q, phi_k = torch.exp(qs @ w.T - 0.5), torch.exp(ks @ w.T - 0.5)
        one = torch.cat([v, v.new_ones(n, 1)], 1)
        sums = torch.einsum("im,imc->ic", phi_q, toeplitz(phi_k.unsqueeze(-1) * one.unsqueeze(1)))
        return sums[:, :-1] / sums[:, -1:]

    return call


METHODS = {
    "exact": softmax_rows,
    "exact-whole": softmax_whole,
    "performer": performer,
    "nystromformer": nystromformer,
    "linformer": linformer,
    "skyformer": skyformer,
    "skeinformer": skeinformer,
    "informer": informer,
    "nprf-rpe": nprf_rpe,
}
