#!/usr/bin/env python3
"""Geometric means over heads of the error and the flops of every method at every d: frontier.py OURS OTHERS"""
import csv
import math
import sys
from collections import defaultdict

from ratios import mean, read


def main():
    writer = csv.writer(sys.stdout)
    writer.writerow(["method", "features", "flops", "error"])
    points = defaultdict(list)
    for path in sys.argv[1:3]:
        for methods in read(path, "frobenius_rel").values():
            for name, sizes in methods.items():
                for d, (flops, errors) in sizes.items():
                    points[name, d].append((flops, mean(errors)))
    for (name, d), values in sorted(points.items()):
        if any(error <= 0 for _, error in values):
            continue
        means = [math.exp(mean([math.log(value[i]) for value in values])) for i in (0, 1)]
        writer.writerow([name, d, f"{means[0]:.4g}", f"{means[1]:.4g}"])


if __name__ == "__main__":
    main()
