"""Times croquis_bench and the same work in PyTorch, NumPy, scikit-learn and, where NODE_PATH has it, ONNX Runtime in
turns, and writes a CSV of paired ratios.

    compare.py BENCH OUT.csv [--rounds 7] [--only WORDS]

A round runs both, one after the other; a ratio is peer over Croquis in that round. The summary has the median and the
range over the rounds."""

import argparse
import csv
import functools
import json
import os
import statistics
import subprocess
import time

import numpy
import torch

from methods import METHODS
from sketches import ROWS, SKETCHES

WIDTH = 64


def seconds_of(call, least=0.2):
    """Median of the calls of `least` seconds, after one to warm up."""
    if hasattr(call, "seconds"):
        return call.seconds(least)
    call()
    times = []
    while not times or sum(times) < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def croquis_seconds(bench, name, least=0.2):
    # Threads that stay where they are: a new process may otherwise share one processor for its first tenth of a second,
    # which this process has behind it.
    # After a call to warm up, as the peer has: fresh memory can take longer than the call.
    out = subprocess.run([bench, f"--benchmark_filter=^{name}/real_time$", f"--benchmark_min_time={least}",
                          "--benchmark_min_warmup_time=0.001", "--benchmark_format=json"], capture_output=True, check=True, text=True,
                         env=dict(os.environ, OMP_PROC_BIND="true")).stdout
    run = json.loads(out)["benchmarks"][0]
    return run["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[run["time_unit"]]


def works(threads):
    """(label, n, d or k, precision, name of Croquis' benchmark, what makes the peer's call)"""
    def attention(peer, ours, n, d, precision):
        dtype = torch.float32 if precision == "float" else torch.float64
        def make():
            torch.manual_seed(1)
            return METHODS[peer](*(torch.randn(n, WIDTH, dtype=dtype) for _ in range(3)), d)
        return (f"torch {peer}", n, d, precision, ours, make)

    def sketch(label, k, precision):
        ours, peer = SKETCHES[label]
        def make():
            m = numpy.random.default_rng(2).standard_normal((ROWS, k), dtype="f4" if precision == "float" else "f8")
            return peer(m)
        return (label, ROWS, k, precision, f"{ours}<{precision}>/{k}", make)

    for n in (4096, 16384):
        for precision in ("float", "double"):
            yield attention("exact", f"exact<{precision}>/{n}", n, 0, precision)
        if os.environ.get("NODE_PATH"):
            # Beside exact attention in float, and beside that with queries and keys in bfloat16, less accurate than the peer.
            from onnx_runtime import OnnxRuntime
            for ours in (f"exact<float>/{n}", f"bfloat16/{n}"):
                yield (f"onnxruntime {ours.split('/')[0]}", n, 0, "float", ours, functools.partial(OnnxRuntime, n, WIDTH, threads))
        yield attention("exact-whole", f"exact<float>/{n}", n, 0, "float")
        for d in (64, 256):
            for name in ("performer", "nystromformer", "linformer", "skyformer", "skeinformer", "informer"):
                if name == "informer" and n > 4096 and d > 64:
                    continue  # n d p numbers: 1 GB in PyTorch
                ours = f"method<float>/{name};preset=code/{n}/{d}"
                if name == "linformer":  # E is there in both
                    ours = f"linformer_given<float>/{n}/{d}"
                yield attention(name, ours, n, d, "float")
        for m in (16, 32):
            yield attention("nprf-rpe", f"method<float>/nprf-rpe/{n}/{m}", n, m, "float")
    for label in SKETCHES:
        for k in (64, 512):
            yield sketch(label, k, "float")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    columns = ["peer", "n", "d", "precision", "round", "croquis_seconds", "peer_seconds", "ratio"]
    with open(options.out, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        for label, n, d, precision, name, make in works(options.threads):
            if options.only not in label:
                continue
            ratios, ours, peers = [], [], []
            call = make()
            for i in range(1, options.rounds + 1):
                croquis, peer = croquis_seconds(options.bench, name), seconds_of(call)
                rows.writerow([label, n, d, precision, i, f"{croquis:.6g}", f"{peer:.6g}", f"{peer / croquis:.4g}"])
                file.flush()
                ratios.append(peer / croquis)
                ours.append(croquis)
                peers.append(peer)
            print(f"{label:24} n = {n:<6} d = {d:<4} {precision:7} {1e3 * statistics.median(ours):9.3f} ms, "
                  f"peer {1e3 * statistics.median(peers):9.3f} ms, ratio "
                  f"{statistics.median(ratios):6.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


if __name__ == "__main__":
    main()
