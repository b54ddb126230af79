#!/usr/bin/env python3
"""Which error of a head predicts what the head's approximation costs the model?

correlations.py ERRORS.csv MODEL.csv...: rows of `croquis error --row-errors` and of `croquis model --layers each --heads h`
on the same sequences. A unit is a head of a layer with a method and d; its error and its cost (the mean KL divergence of
the model's predictions, and the increase of the loss) are means over the sequences. Writes Spearman's rank correlation of
each metric with each cost: over all units, and inside each method and d (`within`: the mean of these correlations), so
that a metric does not win by telling methods apart. Intervals are 95 % percentiles of 1000 bootstrap samples of the layers'
heads: what another model of the kind could give is more than they say, what other sequences could is in `sequences`, the
range over the single sequences. Standard library alone.
"""
import csv
import random
import sys
from collections import defaultdict

METRICS = ["frobenius_rel", "spectral_rel", "frobenius_abs", "spectral_abs", "max_abs", "row_rel_q50", "row_rel_q90",
           "row_rel_max", "row_cosine_mean", "row_cosine_q10", "row_kl_mean", "row_kl_q90"]
COSTS = ["kl", "increase"]


def rows(path):
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["status"] == "ok"]


def number(text):
    return None if text in ("NA", "") else float(text)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for k in order[i:j]:
            result[k] = (i + j - 1) / 2
        i = j
    return result


def spearman(x, y):
    x, y = ranks(x), ranks(y)
    n, mx, my = len(x), sum(x) / len(x), sum(y) / len(y)
    xx = sum((a - mx) ** 2 for a in x)
    yy = sum((b - my) ** 2 for b in y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / (xx * yy) ** 0.5 if n > 2 and xx > 0 and yy > 0 else None


def mean(values):
    return sum(values) / len(values)


errors, costs = defaultdict(dict), defaultdict(dict)  # [unit][sequence]
for row in rows(sys.argv[1]):
    unit = (int(row["layer"]), int(row["head"]), row["method"], int(row["features"]))
    errors[unit][int(row["sequence"])] = {m: number(row[m]) for m in METRICS}
for path in sys.argv[2:]:
    for row in rows(path):
        layer, head = row["layers"].split(";heads=")
        unit = (int(layer), int(head), row["method"], int(row["features"]))
        costs[unit][int(row["sequence"])] = {"kl": float(row["kl"]),
                                             "increase": float(row["loss"]) - float(row["loss_exact"])}


def table(metric, cost, sequences):
    """Unit -> (error, cost), where both are known on all these sequences."""
    pairs = {}
    for unit, of in errors.items():
        x = [of[s][metric] for s in sequences if s in of]
        y = [costs[unit][s][cost] for s in sequences if s in costs[unit]]
        if x and len(x) == len(y) == len(sequences) and None not in x:
            pairs[unit] = (mean(x), mean(y))
    return pairs


def correlations(pairs, heads):
    """Over all units of these heads (with repetitions), and the mean inside a method and d."""
    groups = defaultdict(list)
    for head in heads:
        for key in keys:
            if head + key in pairs:
                groups[key].append(pairs[head + key])
    everything = [pair for group in groups.values() for pair in group]
    overall = spearman(*zip(*everything)) if everything else None
    inside = [spearman(*zip(*group)) for group in groups.values()]
    inside = [value for value in inside if value is not None]
    return overall, mean(inside) if inside else None


def show(value):
    return "NA" if value is None else f"{value:.3f}"


def interval(values):
    values = sorted(value for value in values if value is not None)
    return (values[int(0.025 * len(values))], values[int(0.975 * len(values))]) if len(values) > 1 else (None, None)


sequences = sorted({s for of in errors.values() for s in of})
heads = sorted({unit[:2] for unit in errors})
keys = sorted({unit[2:] for unit in errors})
draw = random.Random(1)
samples = [[heads[draw.randrange(len(heads))] for _ in heads] for _ in range(1000)]
print("metric,cost,units,all,all_lo,all_hi,within,within_lo,within_hi,sequences_lo,sequences_hi")
for metric in METRICS:
    for cost in COSTS:
        pairs = table(metric, cost, sequences)
        overall, within = correlations(pairs, heads)
        drawn = [correlations(pairs, sample) for sample in samples]
        single = [correlations(table(metric, cost, [s]), heads)[1] for s in sequences]
        single = [value for value in single if value is not None]
        print(metric, cost, len(pairs), show(overall), *map(show, interval([d[0] for d in drawn])), show(within),
              *map(show, interval([d[1] for d in drawn])), show(min(single, default=None)),
              show(max(single, default=None)), sep=",")
