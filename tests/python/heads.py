"""Heads for the tests, of four different sizes: n_q, n_k, p, p_v. What is transposed by mistake does not fit."""

import numpy

N_Q, N_K, P, P_V = 37, 53, 11, 6


def head(seed=1, n_q=N_Q, n_k=N_K, p=P, p_v=P_V, dtype=numpy.float64):
    """Q, K, V in C order."""
    rng = numpy.random.default_rng(seed)
    return tuple(rng.normal(size=size).astype(dtype) for size in ((n_q, p), (n_k, p), (n_k, p_v)))


def square_head(seed=1, n=53, p=P, p_v=P_V, dtype=numpy.float64):
    return head(seed, n, n, p, p_v, dtype)


def heads(sequences, count, n=128, p=6, p_v=4):
    """Lists of arrays (heads, n, width) of different lengths; values of means that are far from 0."""
    rng = numpy.random.default_rng(1)
    lengths = [n + 8 * s for s in range(sequences)]
    of = lambda width, shift: [rng.normal(size=(count, length, width)) + shift for length in lengths]
    return of(p, 0), of(p, 0), of(p_v, 3)


def overflowing_head():
    """Q, K, V on which hyperattention with 6 features and seed 2 has scores near the largest number."""
    Q, K, V = numpy.ones((24, 1)), numpy.zeros((24, 1)), numpy.random.default_rng(0).normal(size=(24, 2))
    K[5] = 707
    V[5] *= 100
    return Q, K, V


def head_of_overflowing_derivatives():
    """Q, K, V of float32 on which skyformer-softmax with 4 features and seed 1 has an output that is finite, and
    derivatives by Q and K that are not."""
    rng = numpy.random.default_rng(23)
    return tuple((scale * rng.normal(size=(33, 2))).astype(numpy.float32) for scale in (3, 3, 1e10))


def dense_attention(Q, K, V, causal=False, bias=None, kernelized=False):
    """Attention by its definition, in double: every score is stored."""
    Q, K, V = (numpy.asarray(x, dtype=numpy.float64) for x in (Q, K, V))
    n_q, n_k, p = len(Q), len(K), Q.shape[1]
    if kernelized:
        squares = ((Q[:, None, :] - K[None, :, :]) ** 2).sum(axis=2)
        weights = numpy.exp(-squares / (2 * p**0.5))
    else:
        logits = numpy.einsum("ia,ja->ij", Q, K) / p**0.5
        if bias is not None:
            for i in range(n_q):
                for j in range(n_k):
                    logits[i, j] += bias[j - i + n_q - n_k + max(n_q, n_k) - 1]
        weights = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    if causal:
        for i in range(n_q):
            weights[i, i + n_k - n_q + 1 :] = 0
    if not kernelized:
        weights /= weights.sum(axis=1, keepdims=True)
    return weights @ V
