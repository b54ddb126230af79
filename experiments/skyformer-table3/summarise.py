#!/usr/bin/env python3
"""Tables of the cells of score.py: summarise.py FOLDER

reads FOLDER/cells.jsonl and writes ratios.csv: for each n, kind of attention, reading and place of f the mean over seeds of the score
over softmax's with a 95 % interval of Student's t, and the geometric mean; and sizes.csv: the root mean square of the attention's
output in both blocks before training, over that of softmax. Standard library alone.
"""
import collections
import csv
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "listops"))
from cells import finished  # noqa: E402
from tables import interval, shown  # noqa: E402


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n")[0])
    folder = pathlib.Path(sys.argv[1])
    ratios, sizes, seconds = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    for cell in finished(folder / "cells.jsonl"):
        seconds[cell["n"]].append(cell["seconds"])
        for kind, readings in cell["ratios"].items():
            for reading, places in readings.items():
                for place, value in zip(("before", "after"), places):
                    ratios[cell["n"], place, reading, kind].append(value)
        for kind, blocks in cell["sizes"].items():
            for block, (size, plain) in enumerate(zip(blocks, cell["sizes"]["softmax"]), start=1):
                sizes[cell["n"], kind, block].append(size / plain)
    with (folder / "ratios.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow("n,last_norm,reading,attention,seeds,ratio,half_width,least,largest,geometric_mean".split(","))
        for key, values in sorted(ratios.items()):
            geometric = math.exp(statistics.mean(map(math.log, values)))
            table.writerow([*key, *shown(len(values), *interval(values), min(values), max(values), geometric)])
    with (folder / "sizes.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow("n,attention,block,seeds,size_over_softmax,least,largest".split(","))
        for key, values in sorted(sizes.items()):
            table.writerow([*key, *shown(len(values), statistics.mean(values), min(values), max(values))])
    for n, values in sorted(seconds.items()):
        print(f"n = {n}: {len(values)} seeds, {statistics.mean(values):.0f} s of processor time each")


if __name__ == "__main__":
    main()
