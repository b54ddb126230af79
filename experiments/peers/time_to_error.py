"""The least time to come within 5 % and 1 % of exact attention: methods of Croquis and codes in PyTorch in turns.

PYTHONPATH=build/release/python python3 experiments/peers/time_to_error.py Q.npy K.npy V.npy OUT.csv [--rounds 3]

The arrays are (heads, n, p), not scaled. A round runs, for every head, exact attention by both and then every method at
every d, and each call is timed by itself after one that is not, in float32; arrays are stored as each side stores them, by columns for
Croquis and by rows for PyTorch. An error is ||O - O~||_F / ||O||_F with O
of PyTorch in float64, the mean over the rounds, each with another draw; seconds are their median. Codes in PyTorch are
those of methods.py that approximate softmax attention; Performer's features are drawn in every call there.
"""

import argparse
import csv
import statistics
import time

import numpy
import torch

import croquis
from methods import METHODS

OURS = {
    "kriged-coreset": {"mode": "coreset"},
    "skyformer-softmax": {},
    "wildcat": {},
    "thinformer": {},
    "bfloat16": {},
}
PEERS = ("nystromformer", "linformer", "performer", "skeinformer", "informer")
FEATURES = (32, 64, 128, 256, 512, 1024)
WITHIN = (0.05, 0.01)


def timed(call):
    call()
    start = time.perf_counter()
    output = call()
    return time.perf_counter() - start, output


def calls(q, k, v, round_):
    """(side, method, d, call)"""
    tensors = [torch.from_numpy(x) for x in (q, k, v)]
    q, k, v = (numpy.asfortranarray(x) for x in (q, k, v))
    yield "croquis", "exact", 0, lambda: croquis.exact(q, k, v)
    yield "torch", "exact", 0, METHODS["exact"](*tensors, 0)
    for d in FEATURES:
        for name, options in OURS.items():
            if name == "bfloat16" and d > FEATURES[0]:
                continue  # the same for every d
            yield "croquis", name, d, lambda n=name, o=options, d=d: croquis.approximate(
                q, k, v, n, features=d, seed=1, trial=round_, **o)
        for name in PEERS:
            if name == "informer" and d > 64:
                continue  # n d p numbers in memory
            torch.manual_seed(round_)
            yield "torch", name, d, METHODS[name](*tensors, d)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("arrays", nargs=3)
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_grad_enabled(False)
    torch.set_num_threads(croquis.threads())
    heads = [numpy.load(path).astype(numpy.float32) for path in options.arrays]
    with open(options.out, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["head", "side", "method", "d", "frobenius_rel", "seconds", "over_croquis_exact"])
        for head, arrays in enumerate(zip(*heads)):
            arrays = [numpy.ascontiguousarray(x) for x in arrays]
            exact = METHODS["exact"](*(torch.from_numpy(x.astype(numpy.float64)) for x in arrays), 0)().numpy()
            found = {}
            for round_ in range(1, options.rounds + 1):
                for side, method, d, call in calls(*arrays, round_):
                    seconds, output = timed(call)
                    error = numpy.linalg.norm(numpy.asarray(output, dtype=numpy.float64) - exact) / numpy.linalg.norm(exact)
                    found.setdefault((side, method, d), []).append((error, seconds))
            cells = {key: (statistics.mean(e for e, _ in draws), statistics.median(s for _, s in draws))
                     for key, draws in found.items()}
            unit = cells["croquis", "exact", 0][1]
            for (side, method, d), (error, seconds) in cells.items():
                rows.writerow([head, side, method, d, f"{error:.4g}", f"{seconds:.4g}", f"{seconds / unit:.4g}"])
            file.flush()
            print(f"head {head}: exact attention {unit:.4f} s, in PyTorch {cells['torch', 'exact', 0][1] / unit:.2f} times that")
            for within in WITHIN:
                best = {}
                for (side, method, d), (error, seconds) in cells.items():
                    if method != "exact" and error <= within:
                        best.setdefault(side, []).append((seconds / unit, f"{method}, d = {d}"))
                for side in ("croquis", "torch"):
                    least = min(best.get(side, [(None, "none is within it")]))
                    print(f"  {within:.0%}, {side}: " + (least[1] if least[0] is None else f"{least[0]:.3f} ({least[1]})"))


if __name__ == "__main__":
    main()
