#!/usr/bin/env python3
"""Tables of the cells of train.py: summarise.py FOLDER

reads FOLDER/cells.jsonl and writes summary.csv, a line for every method and learning rate with means over seeds and 95 % intervals
of Student's t, and curves.csv, the mean curves. A cell whose loss was not finite counts with its accuracy at that point, and is
counted as diverged. `paired` is the accuracy less that of softmax with the same learning rate and seed, `over_root` less that
of the root baseline, `loss_over_root` the same of losses. Standard library alone.
"""
import collections
import csv
import math
import pathlib
import statistics
import sys

from cells import finished
from tables import interval, shown

def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n")[0])
    folder = pathlib.Path(sys.argv[1])
    groups = collections.defaultdict(dict)
    for cell in finished(folder / "cells.jsonl"):
        groups[cell["method"], cell["rate"]][cell["seed"]] = cell
    with (folder / "summary.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(
            "method,rate,seeds,diverged,accuracy,accuracy_half_width,least_accuracy,largest_accuracy,loss,paired,"
            "paired_half_width,root_accuracy,over_root,over_root_half_width,loss_over_root,loss_over_root_half_width,"
            "ms_per_step,median_gradient_norm,largest_gradient_norm".split(",")
        )
        for (method, rate), cells in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0])):
            accuracy = [c["test_accuracy"] for c in cells.values()]
            softmax = groups.get(("softmax", rate), {})
            paired = [c["test_accuracy"] - softmax[s]["test_accuracy"] for s, c in cells.items() if s in softmax]
            points = [point for c in cells.values() for point in c["curve"]]
            table.writerow(
                shown(
                    method, rate, len(cells), sum(c["diverged"] is not None for c in cells.values()), *interval(accuracy),
                    min(accuracy), max(accuracy), statistics.mean(c["test_loss"] for c in cells.values()),
                    *(interval(paired) if paired else (math.nan, math.nan)),
                    statistics.mean(c["root"][1] for c in cells.values()),
                    *interval([c["test_accuracy"] - c["root"][1] for c in cells.values()]),
                    *interval([c["test_loss"] - c["root"][0] for c in cells.values()]),
                    1000 * statistics.mean(c["seconds_per_step"] for c in cells.values()),
                    statistics.median(p[4] for p in points) if points else math.nan,
                    max(p[5] for p in points) if points else math.nan,
                )
            )  # fmt: skip
    with (folder / "curves.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow("method,rate,step,seeds,loss,validation_loss,validation_accuracy,gradient_norm".split(","))
        for (method, rate), cells in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0])):
            for points in zip(*(c["curve"] for c in cells.values())):
                means = [statistics.mean(column) for column in zip(*points)]
                table.writerow(shown(method, rate, int(means[0]), len(points), *means[1:5]))


if __name__ == "__main__":
    main()
