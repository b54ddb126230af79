#!/usr/bin/env python3
"""What decides which approximation is best on a head: atlas.py ERRORS.csv NAME ...

NAME.csv has the rows of `croquis error` on the heads of a source, NAME-spectrum.summary.csv the norms of their attention B.
Two numbers describe a head. Its effective keys n / ||B||_F^2 are the harmonic mean over the queries of 1 / sum_j b_ij^2: the
number of keys that a query would attend to alike. Its stable rank is ||B||_F^2 / ||B||^2. As in all-methods, a method's error at a
budget is the least mean over draws of ||O - O~||_F / ||O||_F among the d whose flops are at most that share of exact
attention's, without a d at which a draw failed. Only softmax attention is compared, and only methods that are within the budget
on every head of a group.
"""
import collections
import csv
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "all-methods"))
from budgets import BUDGETS, exact_flops  # noqa: E402

# Shares of the keys that are effective.
GROUPS = ((0, 1 / 64), (1 / 64, 1 / 16), (1 / 16, 1 / 4), (1 / 4, 1.01))
UNKNOWN = (math.nan, math.nan)  # of a long head


def label(row):
    options = row["preset"].removeprefix("paper").removeprefix(";")
    return f"{row['method']}:{options}" if options else row["method"]


def read_source(name):
    """head -> (effective keys over n, stable rank over n), and (head, method, budget) -> (error, d)."""
    properties, draws, budget_of, failed = {}, collections.defaultdict(list), {}, set()
    spectrum = pathlib.Path(f"{name}-spectrum.summary.csv")
    if spectrum.exists():
        for row in csv.DictReader(spectrum.read_text().splitlines()):
            n, frobenius, spectral = int(row["n"]), float(row["frobenius"]), float(row["spectral"])
            properties[row["input"]] = (1 / frobenius**2, frobenius**2 / spectral**2 / n)
    with open(f"{name}.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["target"] != "softmax":
                continue
            drawn = (row["input"], label(row), int(row["features"]))
            if row["status"] == "ok":
                budget_of[row["input"]] = exact_flops(row)
                draws[drawn].append((float(row["frobenius_rel"]), float(row["flops"])))
            else:
                failed.add(drawn)
    errors = {}
    for (head, method, d), found in draws.items():
        if (head, method, d) in failed:
            continue
        error, flops = statistics.mean(e for e, _ in found), found[0][1]
        for budget in BUDGETS:
            if flops <= budget * budget_of[head]:
                errors[head, method, budget] = min(errors.get((head, method, budget), (math.inf, 0)), (error, d))
    return {head: properties.get(head, UNKNOWN) for head in budget_of}, errors


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in range(at, end + 1):
            places[order[i]] = (at + end) / 2
        at = end + 1
    return places


def spearman(x, y):
    a, b = ranks(x), ranks(y)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return math.nan
    return statistics.correlation(a, b)


def print_table(title, heads, errors, budget):
    """Methods that are within the budget on all of the heads, the smallest median first, and how often each is best."""
    found = collections.defaultdict(dict)
    for (head, method, b), (error, _) in errors.items():
        if b == budget and head in heads:
            found[method][head] = error
    found = {method: cell for method, cell in found.items() if len(cell) == len(heads)}
    if not found:
        return
    best = collections.Counter(min(found, key=lambda m: found[m][head]) for head in heads)
    print(f"{title}, at most {budget:g} of exact attention's flops: {'error' if len(heads) == 1 else f'median error over {len(heads)} heads (quartiles)'}, heads on which it is best")
    table = sorted((quartiles(list(cell.values())), method) for method, cell in found.items())
    table.sort(key=lambda line: line[0][1])
    for (low, middle, high), method in table[:8]:
        spread = f"({low:.2g} to {high:.2g})" if len(heads) > 1 else ""
        print(f"  {method:28} {middle:8.3g} {spread:18} {best[method]:4}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n")[0])
    properties, errors, source_of = {}, {}, {}
    for name in sys.argv[2:]:
        some, cells = read_source(name)
        properties.update({(name, head): value for head, value in some.items()})
        errors.update({((name, head), method, budget): cell for (head, method, budget), cell in cells.items()})
        source_of.update({(name, head): name for head in some})
    with open(sys.argv[1], "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "input", "effective_share", "stable_rank_share", "budget", "method", "features", "frobenius_rel"])
        for (head, method, budget), (error, d) in sorted(errors.items()):
            share, rank = properties[head]
            table.writerow([*head, f"{share:.4g}", f"{rank:.4g}", budget, method, d, f"{error:.4g}"])

    for name in sys.argv[2:]:
        heads = {head for head in properties if head[0] == name}
        shares = sorted(properties[head][0] for head in heads)
        known = not math.isnan(shares[0])
        print(f"\n{name}" + (f": effective keys {shares[0]:.3g} n to {shares[-1]:.3g} n, median {statistics.median(shares):.3g} n" if known else ""))
        for budget in (0.1, 0.25):
            print_table(name, heads, errors, budget)
    print("\nBy effective keys, all sources with full attention together")
    full = {head: value for head, value in properties.items() if "causal" not in head[1] and not math.isnan(value[0])}
    for low, high in GROUPS:
        heads = {head for head, (share, _) in full.items() if low <= share < high}
        if len(heads) > 1:
            print_table(f"{f'{low:.3g} n to ' if low else 'at most '}{min(high, 1):.3g} n", heads, errors, 0.25)
    print("\nSpearman correlation between these heads of the error at a quarter of the flops with effective keys / n, stable rank / n")
    methods = sorted({method for _, method, budget in errors if budget == 0.25})
    for method in methods:
        cell = [(full[head], error) for (head, m, b), (error, _) in errors.items() if m == method and b == 0.25 and head in full]
        if len(cell) >= 10:
            share, rank = (spearman([p[i] for p, _ in cell], [error for _, error in cell]) for i in (0, 1))
            print(f"  {method:28} {share:6.2f} {rank:6.2f}   {len(cell)} heads")


if __name__ == "__main__":
    main()
