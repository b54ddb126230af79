#!/usr/bin/env python3
"""What choices made on some sequences are worth on others: coverage.py ONE.csv OTHER.csv

Both are results of croquis choose --per head for the same question, on different sequences, with their X.draws.csv
beside them. Of each rule that picks a candidate on the first, prints its failures and its cost on the second. A
candidate's failures on the second are those of the draws that choose looked at; where it had given the candidate up
before the end, of these alone. "Cheapest that holds" is the cheapest candidate whose share of failures on the second
is at most delta: it is picked by looking at what it is judged on, so no rule can be as cheap.
"""
import csv
import statistics
import sys
from collections import defaultdict


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def number(text):
    return float("inf") if text == "NA" else float(text)


class Half:
    def __init__(self, path):
        self.choices = {row["input"]: row for row in read(path)}
        first = next(iter(self.choices.values()))
        self.eps, self.delta = float(first["eps"]), float(first["delta"])
        self.errors = defaultdict(lambda: defaultdict(dict))  # head, candidate, sequence
        self.cost = {}
        costs = defaultdict(list)
        for row in read(path[: -len(".csv")] + ".draws.csv"):
            candidate = (row["method"], row["preset"], int(row["features"]))
            self.errors[row["input"]][candidate][int(row["sequence"])] = number(row["error"])
            costs[candidate].append(float(row["cost_ratio"]))
        self.cost = {candidate: statistics.fmean(values) for candidate, values in costs.items()}

    def failures(self, head, candidate):
        errors = self.errors[head].get(candidate, {})
        return statistics.fmean([e > self.eps for e in errors.values()]) if errors else None

    def cheapest(self, head, good):
        found = [c for c in self.errors[head] if good(c)]
        return min(found, key=self.cost.get) if found else None


def rules(half):
    def empirical(head):
        return half.cheapest(head, lambda c: half.failures(head, c) <= half.delta)

    def never(head):
        return half.cheapest(head, lambda c: half.failures(head, c) == 0)

    def mean(head):
        return half.cheapest(head, lambda c: statistics.fmean(half.errors[head][c].values()) <= half.eps)

    def one_prompt(head):
        first = min(min(errors) for errors in half.errors[head].values())
        return half.cheapest(head, lambda c: half.errors[head][c].get(first, float("inf")) <= half.eps)

    def certified(head):
        row = half.choices[head]
        return (row["method"], row["preset"], int(row["features"])) if row["status"] == "chosen" else None

    def leader(head):
        row = half.choices[head]
        return (row["method"], row["preset"], int(row["features"])) if row["status"] != "exact" else None

    return {"certified by choose": certified, "leads in choose (status undecided)": leader,
            "failures at most delta so far": empirical, "no failure so far": never,
            "mean error below eps": mean, "one sequence": one_prompt}


def main():
    one, other = Half(sys.argv[1]), Half(sys.argv[2])
    heads = sorted(set(one.choices) & set(other.choices))
    sequences = len({s for errors in other.errors.values() for by in errors.values() for s in by})
    statuses = defaultdict(int)
    for head in heads:
        statuses[one.choices[head]["status"]] += 1
    print(f"{len(heads)} heads, eps = {one.eps:g}, delta = {one.delta:g}; judged on {sequences} other sequences")
    print("answers: " + ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())))
    print("evaluations:", sum(int(row["evaluations"]) for row in one.choices.values()), "\n")
    print("| rule | heads with an answer | of them, failures above delta on the others | mean share of failures there | "
          "cost, all heads | cost / cheapest that holds, median |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, rule in rules(one).items():
        picked = {head: rule(head) for head in heads}
        rates = [other.failures(head, c) for head, c in picked.items() if c is not None]
        rates = [rate for rate in rates if rate is not None]
        cost = statistics.fmean([one.cost[c] if c is not None else 1.0 for c in picked.values()])
        ratios = []
        for head, candidate in picked.items():
            best = other.cheapest(head, lambda c: other.failures(head, c) <= other.delta)
            if best is not None:
                ratios.append((one.cost[candidate] if candidate is not None else 1.0) / other.cost[best])
        bad = sum(rate > other.delta for rate in rates)
        print(f"| {name} | {len(rates)} | {bad} | {statistics.fmean(rates) if rates else float('nan'):.3f} | {cost:.3f} | "
              f"{statistics.median(ratios) if ratios else float('nan'):.2f} |")
    best = [other.cheapest(head, lambda c: other.failures(head, c) <= other.delta) for head in heads]
    print(f"| cheapest that holds (looks at the others) | {sum(b is not None for b in best)} | 0 | | "
          f"{statistics.fmean([other.cost[b] if b is not None else 1.0 for b in best]):.3f} | 1 |")


main()
