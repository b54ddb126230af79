#!/usr/bin/env python3
"""Means of variance.csv over sets: summarise.py FOLDER

writes summary.csv: for the random points together and for each head, R, method, m and precision the geometric means of spreads and
errors, and the means of cosines. Standard library alone.
"""
import collections
import csv
import math
import pathlib
import sys

GEOMETRIC = ("spread", "spread_over_exact", "error_over_exact", "exact", "output_rel", "kernel")
COLUMNS = ("spread", "spread_over_exact", "error_over_exact", "cosine", "output_rel", "exact", "kernel")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n")[0])
    folder = pathlib.Path(sys.argv[1])
    groups = collections.defaultdict(list)
    with (folder / "variance.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            name = "points" if row["set"].startswith("points") else row["set"]
            groups[name, row["R"], row["method"], row["features"], row["precision"]].append(row)
    with (folder / "summary.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["set", "R", "method", "features", "precision", *COLUMNS, "sets", "not_finite"])
        for key, rows in groups.items():
            fields = []
            for column in COLUMNS:
                values = [float(row[column]) for row in rows]
                if column in GEOMETRIC:
                    fields.append(math.exp(sum(map(math.log, values)) / len(values)))
                else:
                    fields.append(sum(values) / len(values))
            table.writerow([*key, *(f"{f:.4g}" for f in fields), len(rows), sum(int(row["not_finite"]) for row in rows)])


if __name__ == "__main__":
    main()
