#!/usr/bin/env python3
"""The least time in which methods come within an error of exact attention: times.py ROWS.csv EXACT.csv FOLDER

ROWS are of `croquis error`, EXACT of `croquis cost --methods exact`. For every head and method with its options, the
error at a d is the mean over the draws and the seconds are their median; within an error is the d with the least
seconds whose mean error is at most that. A d at which a draw failed is within none, whatever the others have. d is on a
grid, so that a finer one could do with somewhat less.
"""
import collections
import csv
import statistics
import sys

ERRORS = (0.05, 0.01)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n")[0])
    draws = collections.defaultdict(list)
    for row in rows_of(sys.argv[1]):
        options = row["preset"].removeprefix("paper").lstrip(";")
        method = row["method"] + (f":{options}" if options else "")
        draws[f"{row['layer']}.{row['head']}", method, int(row["features"])].append(row)
    exact = statistics.median(
        float(row["seconds"]) for row in rows_of(sys.argv[2]) if row["method"] == "exact" and row["status"] == "ok"
    )
    cells = collections.defaultdict(list)
    with open(f"{sys.argv[3]}/errors.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["head", "method", "features", "draws", "frobenius_rel", "seconds", "seconds_over_exact"])
        for (head, method, d), every in sorted(draws.items()):
            found = [row for row in every if row["status"] == "ok"]
            if not found:
                continue
            error = statistics.mean(float(row["frobenius_rel"]) for row in found)
            seconds = statistics.median(float(row["seconds"]) for row in found)
            if len(found) == len(every):
                cells[head, method].append((seconds, d, error))
            table.writerow([head, method, d, len(found), f"{error:.4g}", f"{seconds:.4g}", f"{seconds / exact:.3f}"])
    heads = sorted({head for head, _, _ in draws})
    with open(f"{sys.argv[3]}/times.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["within", "method", "heads", *(f"over_exact_{head}" for head in heads)])
        for within in ERRORS:
            lines = []
            for method in sorted({method for _, method, _ in draws}):
                best = [min((c for c in cells[head, method] if c[2] <= within), default=None) for head in heads]
                shown = ["-" if b is None else f"{b[0] / exact:.3f} (d = {b[1]})" for b in best]
                lines.append((-sum(b is not None for b in best), method, shown))
            for reached, method, shown in sorted(lines):
                table.writerow([within, method, -reached, *shown])
                if reached:
                    print(f"{within:g}  {method:45} {-reached} of {len(heads)}  " + "  ".join(shown))
    with open(f"{sys.argv[3]}/exact.csv", "w", newline="") as file:
        csv.writer(file).writerows([["seconds"], [f"{exact:.4g}"]])
    print(f"exact attention: {exact:.4g} s")


if __name__ == "__main__":
    main()
