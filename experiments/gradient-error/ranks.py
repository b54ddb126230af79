#!/usr/bin/env python3
"""Do the error of the output and the error of the gradient rank methods alike?

ranks.py GRADIENT.csv: rows of `croquis gradient` on several heads. Of each head, d and method the mean over the draws. For
each d and kind of gradient error: Spearman's rank correlation with the error of the output over the methods of a head, its
mean over the heads; the share of pairs of methods that both errors put in the same order; how often the method with the
smallest error of the output has the smallest error of the gradient; and the median over heads and methods of the quotient
of the two errors. Once over all methods (each against its own target), once over those of softmax attention, v-mean
excluded, whose derivatives by Q and K are zero. Intervals are 95 % percentiles of 2000 bootstrap samples of heads, a layer's
head with all its sequences being one: what another model could give is more than they say. Standard library alone.
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
draws = defaultdict(list)  # [(head, input, d, method)] of rows
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        if row["status"] != "ok" or row["method"] == "v-mean" or "NA" in (row["qk_rel"], row["qk_cosine"]):
            continue
        head = (row["layer"], row["head"])
        method = row["method"] + ("" if row["preset"] == "paper" else ":" + row["preset"])
        numbers = {m: float(row[m]) for m in ("output_rel", "qk_rel", "v_rel")}
        numbers["1 - qk_cosine"] = 1 - float(row["qk_cosine"])
        draws[head, row["input"], int(row["features"]), method].append((row["target"], numbers))

# [d, targets][head] -> one {method: {metric: mean}} an input
tables = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
for (head, name, d, method), found in draws.items():
    means = {m: mean([numbers[m] for _, numbers in found]) for m in found[0][1]}
    tables[d, "all"][head][name][method] = means
    if found[0][0] == "softmax":
        tables[d, "softmax"][head][name][method] = means


def of_input(methods, metric):
    x = [m["output_rel"] for m in methods.values()]
    y = [m[metric] for m in methods.values()]
    same = [(x[i] < x[j]) == (y[i] < y[j]) for i, j in combinations(range(len(x)), 2)]
    return spearman(x, y), mean(same), float(x.index(min(x)) == y.index(min(y))), median(b / a for a, b in zip(x, y))


draw = random.Random(1)
print("features,targets,error,heads,inputs,methods,spearman,spearman_lo,spearman_hi,pairs,pairs_lo,pairs_hi,"
      "best,best_lo,best_hi,quotient,quotient_lo,quotient_hi")
for d, targets in sorted(tables):
    heads = tables[d, targets]
    most = max(len(methods) for inputs in heads.values() for methods in inputs.values())
    for metric in METRICS:
        # A method that failed on a head is missing there; an input needs three to have an order.
        values = {head: [of_input(m, metric) for m in inputs.values() if len(m) > 2] for head, inputs in heads.items()}
        names = sorted(values)

        def statistics(sample):
            everything = [v for head in sample for v in values[head]]
            return [mean([v[i] for v in everything]) for i in range(3)] + [median(v[3] for v in everything)]

        found = statistics(names)
        drawn = [statistics([draw.choice(names) for _ in names]) for _ in range(2000 if len(names) > 1 else 1)]
        columns = []
        for value, sample in zip(found, zip(*drawn)):
            ordered = sorted(sample)
            columns += [value, ordered[int(0.025 * len(ordered))], ordered[min(int(0.975 * len(ordered)), len(ordered) - 1)]]
        print(d, targets, metric, len(names), sum(len(v) for v in values.values()), most,
              *(f"{value:.3g}" for value in columns), sep=",")
