#!/usr/bin/env python3
"""How often draws on one sequence certify a candidate: certified.py [--methods 12] [--draws 1000] [--confidence 0.95]

Prints, for a candidate that fails with probability p in each draw, with which probability croquis choose certifies it,
gives it up, or leaves it open after all draws. The candidate is the first of its ladder, and one choice is made. These
are no simulations: whether it is certified or given up after t draws depends on how many of them failed, so that the
probability of every number of failures is carried from draw to draw.
"""
import argparse
import math

POINTS = 32  # MeanBet::kPoints
FUTILITY = 0.1  # ChoiceRace::Settings
ASKED = [(0.05, 3), (0.1, 3), (0.2, 3), (0.01, 10), (0.01, 3)]  # delta, and delta over p


def terms_of(delta, means_and_weights):
    """Of each mean: log of its weight, and what a draw without and with a failure adds to the logarithm."""
    return [
        (math.log(w), math.log((1 - r) / (1 - delta)), math.log(r / delta) if r > 0 else -math.inf)
        for r, w in means_and_weights
    ]


def log_wealth(terms, draws, failures):
    logs = [w + (draws - failures) * good + (failures * bad if failures else 0) for w, good, bad in terms]
    most = max(logs)
    return most + math.log(sum(math.exp(x - most) for x in logs))


def fates(delta, p, methods, draws, confidence):
    """(certified, given up, open): the probabilities of each after so many draws."""
    parts = [(i + 0.5) / POINTS for i in range(POINTS)]
    below = terms_of(delta, [(0, 0.3)] + [(delta * x, 0.7 / POINTS) for x in parts])
    above = terms_of(delta, [(delta + (1 - delta) * x, 1 / POINTS) for x in parts])
    needed = math.log(methods / (1 - confidence))
    undecided = {0: 1.0}  # the probability of each number of failures, undecided so far
    certified = given_up = 0.0
    for t in range(1, draws + 1):
        reached = dict.fromkeys([*undecided, *(k + 1 for k in undecided)], 0.0)
        for k, probability in undecided.items():
            reached[k] += probability * (1 - p)
            reached[k + 1] += probability * p
        undecided = {}
        for k, probability in reached.items():
            if log_wealth(below, t, k) >= needed:
                certified += probability
            elif log_wealth(above, t, k) >= -math.log(FUTILITY):
                given_up += probability
            else:
                undecided[k] = probability
    return certified, given_up, sum(undecided.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", type=int, default=12)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--confidence", type=float, default=0.95)
    given = parser.parse_args()
    print("delta  p           certified  given up  open")
    for delta, part in ASKED:
        shares = fates(delta, delta / part, given.methods, given.draws, given.confidence)
        print(f"{delta:<5g}  delta / {part:<2}  " + "  ".join(f"{100 * share:8.1f} %" for share in shares))


if __name__ == "__main__":
    main()
