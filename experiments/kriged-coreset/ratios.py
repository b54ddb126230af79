#!/usr/bin/env python3
"""Errors of kriged-coreset over those of the best other method that may take at least as many flops.

ratios.py OURS OTHERS [--error frobenius_rel] [--out RATIOS.csv]
ratios.py RATIOS.csv --perplexity PERPLEXITY.csv: the means of a table that was written, sharp heads apart

Both are folders with rows of `croquis error` on the same heads, a file a method, or single files. For every head and every d of OURS, another method is taken at
the smallest of its d whose flops are at least those of ours (at its largest where none are), so that the others are
never given less; one that takes 1.3 times as many even at its smallest d is left out. Of all methods the one with the
smallest mean error is the best, chosen after the fact. Printed are geometric
means over heads; +- is the spread between heads over the root of their number, which is no standard error, as heads
share sequences and draws.
"""
import argparse
import csv
import math
import pathlib
from collections import defaultdict


def read(path, error):
    """(input, layer, head) -> method -> d -> (flops, [errors]); in a folder, a method is the name of its file"""
    rows = defaultdict(lambda: defaultdict(dict))
    path = pathlib.Path(path)
    files = [f for f in sorted(path.glob("*.csv")) if not f.name.endswith((".heads.csv", ".summary.csv"))]
    for source in files if path.is_dir() else [path]:
        with open(source, newline="") as file:
            for row in csv.DictReader(file):
                if row["status"] != "ok":
                    continue
                method = source.name[: -len(".csv")] if path.is_dir() else row["method"]
                head = (row["input"], row.get("layer", ""), row.get("head", ""), row["n"], row["p"])
                entry = rows[head][method].setdefault(int(row["features"]), (float(row["flops"]), []))
                entry[1].append(float(row[error]))
    return rows


def mean(values):
    return sum(values) / len(values)


def best_other(methods, flops):
    best = None
    for name, sizes in methods.items():
        enough = [d for d in sizes if sizes[d][0] >= flops]
        d = min(enough) if enough else max(sizes)
        if d == min(sizes) and sizes[d][0] > 1.3 * flops:
            continue
        candidate = (mean(sizes[d][1]), name, d, sizes[d][0])
        if best is None or candidate < best:
            best = candidate
    return best


def print_means(ratios):
    print(f"{'method':40} {'d':>5} {'heads':>6} {'mean':>7} {'+-':>6} {'median':>7} {'worst':>7} {'<=.5':>5} {'>1.1':>5}")
    for (name, d), values in sorted(ratios.items()):
        values = [value for value in values if value > 0]
        if not values:
            continue
        logs = [math.log(value) for value in values]
        centre = mean(logs)
        spread = math.sqrt(sum((x - centre) ** 2 for x in logs) / max(1, len(logs) - 1) / len(logs))
        print(f"{name:40} {d:5} {len(values):6} {math.exp(centre):7.3f} {math.exp(centre) * spread:6.3f} "
              f"{sorted(values)[len(values) // 2]:7.3f} {max(values):7.3f} {sum(v <= 0.5 for v in values):5} "
              f"{sum(v > 1.1 for v in values):5}")


def by_sharpness(table, perplexities):
    """Heads whose mean row perplexity, exp of a row's entropy, is below n/8, and the others."""
    with open(perplexities, newline="") as file:
        perplexity = {row["input"]: float(row["row_perplexity"]) for row in csv.DictReader(file)}
    parts = {"sharp": defaultdict(list), "smooth": defaultdict(list)}
    with open(table, newline="") as file:
        for row in csv.DictReader(file):
            part = "sharp" if perplexity[row["input"]] < int(row["n"]) / 8 else "smooth"
            parts[part][row["method"], int(row["features"])].append(float(row["ratio"]))
    for name, ratios in parts.items():
        print(name)
        print_means(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ours")
    parser.add_argument("others", nargs="?")
    parser.add_argument("--error", default="frobenius_rel")
    parser.add_argument("--out")
    parser.add_argument("--perplexity")
    options = parser.parse_args()
    if options.perplexity:
        return by_sharpness(options.ours, options.perplexity)
    if not options.others:
        parser.error("OTHERS is missing")
    ours, others = read(options.ours, options.error), read(options.others, options.error)
    table, ratios = [], defaultdict(list)
    for head, methods in ours.items():
        for name, sizes in methods.items():
            for d, (flops, errors) in sorted(sizes.items()):
                error, other, other_d, other_flops = best_other(others[head], flops)
                ratio = mean(errors) / error if error > 0 else math.nan
                table.append([*head, name, d, f"{flops:.4g}", f"{mean(errors):.4g}", other, other_d,
                              f"{other_flops:.4g}", f"{error:.4g}", f"{ratio:.4g}"])
                ratios[name, d].append(ratio)
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["input", "layer", "head", "n", "p", "method", "features", "flops", "error", "other",
                             "other_features", "other_flops", "other_error", "ratio"])
            writer.writerows(table)
    print_means(ratios)


if __name__ == "__main__":
    main()
