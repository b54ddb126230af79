#!/usr/bin/env python3
"""The instability score of Skyformer's Appendix F in several readings: score.py FOLDER [options]

tau_i = ||f(x_i, W_i) - f(x_i, W_{i-1})||_F^2 / ||W_i - W_{i-1}||_F^2 in step i of 20 steps of training; the score of a kind of attention
is the mean over the steps of tau_i over that of softmax. The model is that of ../listops/model.py, with dropout .1 while it is trained
(Adam, 1e-4); the sequences are ListOps of 3n/4 to n tokens. f is what all tokens have after two layers, before or after the last
LayerNorm. How dropout enters f the paper does not say, so that f is read in these ways:

    none        without dropout
    same        with the same mask for both W
    fresh       with a mask of its own for each
    unchanged   as fresh, but W_{i-1} in the place of W_i: nothing is trained between the two
    landmarks   without dropout, with new draws of the method for W_i; in the others both have the same draws

FOLDER/cells.jsonl gets a line for every (n, seed); those that have one are not computed again. Needs PyTorch.
"""
import argparse
import os
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "listops"))
import croquis  # noqa: E402
from cells import add, finished  # noqa: E402
from listops import VOCABULARY, Grammar, examples  # noqa: E402
from model import ATTENTION, Attention, Model, size_of_step  # noqa: E402

STEPS, RATE, DROPOUT = 20, 1e-4, 0.1
BATCH = {64: 4, 256: 4, 512: 4, 1024: 2}
KINDS = {name: ATTENTION[name] for name in ("softmax", "kernelized", "skyformer", "nystromformer")}
KINDS["kernelized-mean"] = Attention(target="kernelized", mean=True)  # C V / n, of the size of a mean
READINGS = ("none", "same", "fresh", "unchanged", "landmarks")


@torch.no_grad()
def embedding(model, sequences, draw, mask=None):
    """(before, after) the last LayerNorm; mask: the seed of dropout, none where there is none."""
    model.train(mask is not None)
    torch.manual_seed(0 if mask is None else mask)
    return model.embedding(sequences, draw)


def scores(kind, features, n, seed, data):
    """({reading: [(before, after) of every step]}, root mean squares of the attention's output by block)."""
    torch.manual_seed(seed)
    model = Model(kind, features, n, len(VOCABULARY), 10, DROPOUT)
    optimiser = torch.optim.Adam(model.parameters(), RATE)
    found = {reading: [] for reading in READINGS}
    sizes = None
    batch = BATCH[n]
    for i in range(STEPS):
        part = data[i * batch : (i + 1) * batch]
        sequences, values = [codes for codes, _ in part], torch.tensor([value for _, value in part])
        masks = [10**6 * seed + 10 * i + j for j in range(3)]
        old = embedding(model, sequences, i)
        if sizes is None:
            sizes = [float(block.heads_output.pow(2).mean().sqrt()) for block in model.blocks]
        old_first, old_second = (embedding(model, sequences, i, mask) for mask in masks[:2])
        weights = [p.detach().clone() for p in model.parameters()]
        model.train()
        torch.manual_seed(masks[2])
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(sequences, i), values).backward()
        optimiser.step()
        step = size_of_step(weights, [p.detach() for p in model.parameters()]) ** 2
        new, new_first = embedding(model, sequences, i), embedding(model, sequences, i, masks[0])
        redrawn = embedding(model, sequences, i + 1000)
        pairs = ((new, old), (new_first, old_first), (new_first, old_second), (old_first, old_second), (redrawn, old))
        for reading, (a, b) in zip(READINGS, pairs):
            found[reading].append([float((x - y).double().pow(2).sum()) / step for x, y in zip(a, b)])
    return found, sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", default="64:20,256:20,512:20,1024:12", help="n:number of seeds, ...")
    settings = parser.parse_args()
    torch.set_num_threads(1)
    croquis.set_threads(1)
    settings.folder.mkdir(parents=True, exist_ok=True)
    path = settings.folder / "cells.jsonl"
    done = {(cell["n"], cell["seed"]) for cell in finished(path)}
    for n, count in (map(int, pair.split(":")) for pair in settings.seeds.split(",")):
        if n not in BATCH:
            parser.error(f"n = {n} is none of {', '.join(map(str, BATCH))}")
        grammar, features = Grammar(3 * n // 4, n, depth=10, arguments=10, share=0.25), min(n // 4, 128)
        for seed in range(1, count + 1):
            if (n, seed) in done:
                continue
            start, load = time.process_time(), os.getloadavg()[0]
            data = examples(seed, f"table3 {n}", STEPS * BATCH[n], grammar)
            tau, sizes = {}, {}
            for name, kind in KINDS.items():
                tau[name], sizes[name] = scores(kind, features, n, seed, data)
            cell = {"n": n, "seed": seed, "features": features, "batch": BATCH[n], "sizes": sizes}
            cell["tau_softmax"] = {r: [sum(t) / STEPS for t in zip(*tau["softmax"][r])] for r in READINGS}
            cell["ratios"] = {
                name: {r: [sum(a[k] / b[k] for a, b in zip(tau[name][r], tau["softmax"][r])) / STEPS for k in (0, 1)] for r in READINGS}
                for name in KINDS if name != "softmax"
            }  # fmt: skip
            cell["seconds"], cell["load"] = time.process_time() - start, load
            add(path, cell)
            done.add((n, seed))
            after = {name: {r: round(v[1], 3) for r, v in ratios.items()} for name, ratios in cell["ratios"].items()}
            print(f"n = {n}, seed {seed}, {cell['seconds']:.0f} s: {after}", flush=True)


if __name__ == "__main__":
    main()
