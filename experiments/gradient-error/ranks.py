#!/usr/bin/env python3
"""Do the error of the output and the error of the gradient rank methods alike?

ranks.py GRADIENT.csv RANKS.csv METHODS.csv: the first are rows of `croquis gradient` on several heads. Of each head, d and
method the mean over the draws (of the spread the root mean square). METHODS.csv gets their medians over the heads. RANKS.csv: for
each d and kind of gradient error: Spearman's rank correlation with the error of the output over the methods of a head, its
mean over the heads; the share of pairs of methods that both errors put in the same order; how often the method with the
smallest error of the output has the smallest error of the gradient; and the median over heads of the median over methods of
the quotient of the two errors. Once over all methods (each against its own target), once over those of softmax attention, v-mean
excluded, whose derivatives by Q and K are zero. A method that computes exact attention on a head is left out there. Intervals are
95 % percentiles of 2000 bootstrap samples of heads, a layer's head with all its sequences being one: what another model could
give is more than they say. Standard library alone.
"""
import csv
import random
import sys
from collections import defaultdict
from itertools import combinations
from statistics import median


def spearman(x, y):
    def ranks(values):
        order = sorted(range(len(values)), key=values.__getitem__)
        result = [0.0] * len(values)
        for rank, i in enumerate(order):
            result[i] = rank
        return result

    x, y = ranks(x), ranks(y)
    middle = (len(x) - 1) / 2
    return sum((a - middle) * (b - middle) for a, b in zip(x, y)) / sum((a - middle) ** 2 for a in x)


def mean(values):
    return sum(values) / len(values)


METRICS = ("qk_rel", "v_rel", "1 - qk_cosine")
SHOWN = ("output_rel", "qk_rel", "qk_cosine", "qk_spread", "v_rel", "v_cosine")
SAMPLES = 2000

rows = defaultdict(list)  # [(layer's head, input, d, method)]
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        if row["status"] == "ok":
            method = row["method"] + (":" + row["preset"]).replace(":paper;", ":").removesuffix(":paper")
            rows[(row["layer"], row["head"]), row["input"], int(row["features"]), method].append(row)


def of_draws(found):
    means = {}
    for metric in SHOWN:
        values = [float(row[metric]) for row in found if row[metric] != "NA"]
        if metric == "qk_spread":
            values = [v * v for v in values]
        means[metric] = mean(values) if values else None
    if means["qk_spread"] is not None:
        means["qk_spread"] **= 0.5
    if means["qk_cosine"] is not None:
        means["1 - qk_cosine"] = 1 - means["qk_cosine"]
    return means


# [d, targets][head][input] = {method: means}, and [d, method][head] = the means of its inputs
tables = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
methods = defaultdict(lambda: defaultdict(list))
for (head, name, d, method), found in rows.items():
    means = of_draws(found)
    methods[d, method][head].append(means)
    if method == "v-mean" or means["qk_cosine"] is None or means["output_rel"] == 0:  # 0: exact attention is computed
        continue
    tables[d, "all"][head][name][method] = means
    if found[0]["target"] == "softmax":
        tables[d, "softmax"][head][name][method] = means


def of_input(of_methods, metric):
    x = [m["output_rel"] for m in of_methods.values()]
    y = [m[metric] for m in of_methods.values()]
    same = [(x[i] < x[j]) == (y[i] < y[j]) for i, j in combinations(range(len(x)), 2)]
    return spearman(x, y), mean(same), float(x.index(min(x)) == y.index(min(y))), median(b / a for a, b in zip(x, y))


def with_intervals(heads, statistics):
    """Each statistic of the heads with its 95 % interval."""
    draw = random.Random(1)
    heads = sorted(heads)
    found = statistics(heads)
    drawn = [statistics([draw.choice(heads) for _ in heads]) for _ in range(SAMPLES if len(heads) > 1 else 1)]
    columns = []
    for value, sample in zip(found, zip(*drawn)):
        ordered = sorted(sample)
        columns += [value, ordered[int(0.025 * len(ordered))], ordered[min(int(0.975 * len(ordered)), len(ordered) - 1)]]
    return columns


def line(*fields):
    return ",".join(f"{f:.3g}" if isinstance(f, float) else str(f) for f in fields) + "\n"


def header(names):
    return ",".join(f"{name},{name}_lo,{name}_hi" for name in names)


with open(sys.argv[2], "w") as out:
    out.write("features,targets,error,heads,inputs,methods," + header(["spearman", "pairs", "best", "quotient"]) + "\n")
    for d, targets in sorted(tables):
        heads = tables[d, targets]
        most = max(len(m) for inputs in heads.values() for m in inputs.values())
        for metric in METRICS:
            # A method that failed on a head is missing there; an input needs three to have an order.
            values = {h: [of_input(m, metric) for m in inputs.values() if len(m) > 2] for h, inputs in heads.items()}

            def statistics(sample):
                every = [v for head in sample for v in values[head]]
                return [mean([v[i] for v in every]) for i in range(3)] + [median(v[3] for v in every)]

            out.write(line(d, targets, metric, len(values), sum(len(v) for v in values.values()), most,
                           *with_intervals(values, statistics)[: None if metric in SHOWN else 9],
                           *([] if metric in SHOWN else ["NA"] * 3)))

with open(sys.argv[3], "w") as out:
    out.write("features,method,heads,inputs," + header(SHOWN) + "\n")
    for (d, method), heads in sorted(methods.items()):
        fields = []
        for metric in SHOWN:
            values = {h: [m[metric] for m in means if m[metric] is not None] for h, means in heads.items()}
            if not all(values.values()):
                fields += ["NA"] * 3
                continue
            fields += with_intervals(values, lambda sample: [float(median(v for head in sample for v in values[head]))])
        out.write(line(d, method, len(heads), sum(len(v) for v in heads.values()), *fields))
