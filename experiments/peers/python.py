"""Times croquis.exact and croquis.torch.attention beside PyTorch's own attention, forward and backward.

PYTHONPATH=build/release/python python3 experiments/peers/python.py [N ...]

One head of p = p_v = 64, with as many threads each. Every number is the least of the repeats, of seconds and, behind
them, of seconds of all processors together, which other work on the machine disturbs less. Unset OPENBLAS_CORETYPE and set
OMP_WAIT_POLICY=passive.
"""

import sys
import time

import numpy
import torch

import croquis
import croquis.torch

REPEATS = 9


class Clock:
    """Seconds, and seconds of all processors together, of what is between two calls of lap()."""

    def __init__(self):
        self.last = (time.perf_counter(), time.process_time())

    def lap(self):
        now = (time.perf_counter(), time.process_time())
        passed = tuple(b - a for a, b in zip(self.last, now))
        self.last = now
        return passed


def least(laps):
    return "{:.4f} s ({:.4f} s)".format(*(min(values) for values in zip(*laps)))


def seconds(call):
    laps = []
    for _ in range(REPEATS):
        clock = Clock()
        call()
        laps.append(clock.lap())
    return least(laps)


def forward_and_backward(attention, tensors, gradient):
    """Of the forward pass and of the backward pass."""
    forward, backward = [], []
    for _ in range(REPEATS):
        for tensor in tensors:
            tensor.grad = None
        clock = Clock()
        output = attention(*tensors)
        forward.append(clock.lap())
        output.backward(gradient)
        backward.append(clock.lap())
    return least(forward), least(backward)


def of_torch(q, k, v):
    return torch.nn.functional._scaled_dot_product_attention(q, k, v)[0]


def by_matrices(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v


def main():
    torch.set_num_threads(croquis.threads())
    for n in [int(word) for word in sys.argv[1:]] or [1024, 4096]:
        for dtype in (numpy.float32, numpy.float64):
            rng = numpy.random.default_rng(1)
            arrays = [rng.normal(size=(n, 64)).astype(dtype) for _ in range(3)]
            fortran = [numpy.asfortranarray(x) for x in arrays]
            tensors = [torch.from_numpy(x[None].copy()).requires_grad_() for x in arrays]
            gradient = torch.from_numpy(rng.normal(size=(1, n, 64)).astype(dtype))
            name = f"n = {n}, {numpy.dtype(dtype).name}: "
            print(name + f"croquis.exact {seconds(lambda: croquis.exact(*arrays))}", end=", ")
            print(f"in Fortran order {seconds(lambda: croquis.exact(*fortran))}")
            for what, attention in (
                ("croquis.torch.attention", croquis.torch.attention),
                ("PyTorch's scaled dot product", of_torch),
                ("PyTorch, softmax of the product", by_matrices),
            ):
                forward, backward = forward_and_backward(attention, tensors, gradient)
                print(f"{name}{what}: forward {forward}, backward {backward}")


if __name__ == "__main__":
    main()
