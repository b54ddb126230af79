#!/usr/bin/env python3
"""Trains the model of model.py on ListOps, once for every method, learning rate and seed: train.py FOLDER [options]

FOLDER/cells.jsonl gets a line for every finished cell; a cell that has one is not computed again, so that a run that was ended
goes on with the same command. Cells of one seed come one after the other, the first seed first. All methods see the same batches,
the same validation and test sets and, where they have the same parameters, the same initial weights. Needs PyTorch.
"""
import argparse
import math
import os
import pathlib
import statistics
import time

import torch

import croquis
from cells import add, finished
from listops import VOCABULARY, Grammar, examples, root_baseline
from model import ATTENTION, Model

RATES = (1e-3, 3e-4, 3e-3)


def batches_of(found, size):
    for i in range(0, len(found) - size + 1, size):
        part = found[i : i + size]
        yield [codes for codes, _ in part], torch.tensor([value for _, value in part])


@torch.no_grad()
def tested(model, found):
    """(loss, accuracy), always with the draws of number 0."""
    loss = right = 0.0
    for sequences, values in batches_of(found, 20):
        logits = model(sequences, 0)
        loss += float(torch.nn.functional.cross_entropy(logits, values, reduction="sum"))
        right += int((logits.argmax(1) == values).sum())
    return loss / len(found), right / len(found)


def train(name, rate, seed, settings, data):
    torch.manual_seed(seed)
    model = Model(ATTENTION[name], settings.features, data["grammar"].most, len(VOCABULARY), 10)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    curve, losses, norms = [], [], []
    seconds, first_load = 0.0, os.getloadavg()[0]
    diverged = None
    for step, (sequences, values) in enumerate(batches_of(data["train"], settings.batch), start=1):
        start = time.process_time()
        loss = torch.nn.functional.cross_entropy(model(sequences, step), values)
        optimiser.zero_grad()
        loss.backward()
        norm = math.sqrt(sum(float(p.grad.pow(2).sum()) for p in model.parameters() if p.grad is not None))
        if not math.isfinite(norm) or not math.isfinite(float(loss)):
            diverged = step
            break
        optimiser.step()
        seconds += time.process_time() - start
        losses.append(float(loss))
        norms.append(norm)
        if step % settings.every == 0:
            validation = tested(model, data["validation"])
            curve.append([step, statistics.mean(losses), *validation, statistics.median(norms), max(norms)])
            losses, norms = [], []
    loss, accuracy = tested(model, data["test"])
    return {
        "method": name, "rate": rate, "seed": seed, "steps": settings.steps, "batch": settings.batch,
        "features": settings.features, "diverged": diverged, "test_loss": loss, "test_accuracy": accuracy,
        "seconds_per_step": seconds / max(len(curve) * settings.every, 1),
        "load": [first_load, os.getloadavg()[0]],
        "curve": [[round(x, 5) if isinstance(x, float) else x for x in point] for point in curve],
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--methods", default=",".join(ATTENTION))
    parser.add_argument("--rates", default=",".join(map(str, RATES)))
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--features", type=int, default=8)
    parser.add_argument("--every", type=int, default=100, help="steps between validations")
    settings = parser.parse_args()
    methods, rates = settings.methods.split(","), [float(rate) for rate in settings.rates.split(",")]
    for name in methods:
        if name not in ATTENTION:
            parser.error(f"{name} is none of {', '.join(ATTENTION)}")
    torch.set_num_threads(1)
    croquis.set_threads(1)
    settings.folder.mkdir(parents=True, exist_ok=True)
    path = settings.folder / "cells.jsonl"
    names = ("method", "rate", "seed", "steps", "batch", "features")
    done = {tuple(cell[n] for n in names) for cell in finished(path)}
    for seed in (int(s) for s in settings.seeds.split(",")):
        grammar = Grammar()
        data = {"grammar": grammar, "train": examples(seed, "train", settings.steps * settings.batch, grammar)}
        data["validation"] = examples(1, "validation", 400, grammar)
        data["test"] = examples(1, "test", 2000, grammar)
        loss, accuracy = root_baseline(data["train"], data["test"])
        print(f"seed {seed}: from the first operator alone: loss {loss:.3f}, accuracy {accuracy:.3f}", flush=True)
        for rate in rates:
            for name in methods:
                if (name, rate, seed, settings.steps, settings.batch, settings.features) in done:
                    continue
                cell = train(name, rate, seed, settings, data)
                cell["root"] = [round(loss, 5), accuracy]
                add(path, cell)
                print(
                    f"{name:15} rate {rate:g} seed {seed}: loss {cell['test_loss']:.3f}, accuracy {cell['test_accuracy']:.3f}, "
                    f"{1000 * cell['seconds_per_step']:.1f} ms a step"
                    + (f", not finite from step {cell['diverged']}" if cell["diverged"] else ""),
                    flush=True,
                )


if __name__ == "__main__":
    main()
