"""Times croquis.exact and croquis.torch.attention beside PyTorch's own attention, forward and backward.

PYTHONPATH=build/release/python python3 experiments/peers/python.py [N ...]

One head of p = p_v = 64, on all threads of each. Every line is the least of the repeats: on a machine with other work the
least is the nearest to what the machine can do. Unset OPENBLAS_CORETYPE.
"""

import subprocess
import sys
import time

import numpy
import torch

import croquis
import croquis.torch

REPEATS = 9


def seconds(call):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def forward_and_backward(attention, tensors, gradient):
    """Seconds of the forward pass and of the backward pass."""
    forward, backward = [], []
    for _ in range(REPEATS):
        for tensor in tensors:
            tensor.grad = None
        start = time.perf_counter()
        output = attention(*tensors)
        middle = time.perf_counter()
        output.backward(gradient)
        forward.append(middle - start)
        backward.append(time.perf_counter() - middle)
    return min(forward), min(backward)


def of_torch(q, k, v):
    return torch.nn.functional._scaled_dot_product_attention(q, k, v)[0]


def by_matrices(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v


def main():
    print("threads", croquis.threads(), torch.get_num_threads())
    for n in [int(word) for word in sys.argv[1:]] or [1024, 4096]:
        for dtype in (numpy.float32, numpy.float64):
            rng = numpy.random.default_rng(1)
            arrays = [rng.normal(size=(n, 64)).astype(dtype) for _ in range(3)]
            fortran = [numpy.asfortranarray(x) for x in arrays]
            tensors = [torch.from_numpy(x[None].copy()).requires_grad_() for x in arrays]
            gradient = torch.from_numpy(rng.normal(size=(1, n, 64)).astype(dtype))
            name = f"n = {n}, {numpy.dtype(dtype).name}: "
            print(name + f"croquis.exact {seconds(lambda: croquis.exact(*arrays)):.4f} s", end=", ")
            print(f"in Fortran order {seconds(lambda: croquis.exact(*fortran)):.4f} s")
            for what, attention in (
                ("croquis.torch.attention", croquis.torch.attention),
                ("PyTorch's scaled dot product", of_torch),
                ("PyTorch, softmax of the product", by_matrices),
            ):
                forward, backward = forward_and_backward(attention, tensors, gradient)
                print(f"{name}{what}: forward {forward:.4f} s, backward {backward:.4f} s")


if __name__ == "__main__":
    main()
