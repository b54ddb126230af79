#!/usr/bin/env python3
"""What every method reaches with at most a share of exact attention's flops: budgets.py ROWS.csv ERRORS.csv

ROWS are of `croquis error` on many heads. For a head, a method and a budget, the error is the least mean over draws of
||O - O~||_F / ||O||_F among the d whose flops are within the budget; d is chosen after the fact, for all methods alike.
A d at which a draw failed is left out, as the other draws alone would make it look better than it is.
v-mean takes no flops worth mentioning and is within every budget. Printed are the geometric mean over heads, +- the
spread between heads over the root of their number, which is no standard error, as heads share sequences and draws, and
the mean rank among the methods of the same target that reach the budget on all heads. A method without a d that is
cheap enough on some head is printed with the number of heads that it has.
"""
import collections
import csv
import math
import statistics
import sys

BUDGETS = (0.1, 0.25, 0.5)


def exact_flops(row):
    """Of exact attention, as croquis counts it: a multiply-add is two, an exponential one; half the pairs if causal."""
    n_q, n_k = int(row["n_q"] or row["n"]), int(row["n"])
    pairs = n_q * n_k if "causal" not in row["input"] else n_q * (n_k - n_q) + n_q * (n_q + 1) / 2
    return pairs * (2 * (int(row["p"]) + int(row["p_v"])) + 1)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n")[0])
    draws, budget_of, heads, failed = collections.defaultdict(list), {}, set(), set()
    with open(sys.argv[1], newline="") as file:
        for row in csv.DictReader(file):
            head = (row["target"], row["input"])
            heads.add(head)
            budget_of[head] = exact_flops(row)
            drawn = (head, row["method"], int(row["features"]))
            if row["status"] == "ok":
                draws[drawn].append((float(row["frobenius_rel"]), float(row["flops"])))
            else:
                failed.add(drawn)
    errors = collections.defaultdict(dict)  # (target, budget, method) -> head -> (error, d)
    for (head, method, d), found in draws.items():
        if (head, method, d) in failed:
            continue
        error, flops = statistics.mean(e for e, _ in found), found[0][1]
        for budget in BUDGETS:
            if flops <= budget * budget_of[head]:
                cell = errors[head[0], budget, method]
                cell[head] = min(cell.get(head, (math.inf, 0)), (error, d))
    with open(sys.argv[2], "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["target", "budget", "method", "input", "features", "frobenius_rel"])
        for (target, budget, method), cell in sorted(errors.items()):
            for (_, name), (error, d) in sorted(cell.items()):
                table.writerow([target, budget, method, name, d, f"{error:.4g}"])
    for target in sorted({target for target, _ in heads}):
        all_heads = [head for head in heads if head[0] == target]
        for budget in BUDGETS:
            cells = {m: c for (t, b, m), c in errors.items() if t == target and b == budget}
            whole = [m for m, c in cells.items() if len(c) == len(all_heads)]
            ranks = collections.defaultdict(list)
            for head in all_heads:
                for place, method in enumerate(sorted(whole, key=lambda m: cells[m][head])):
                    ranks[method].append(place + 1)
            lines = []
            for method, cell in cells.items():
                logs = [math.log(error) for error, _ in cell.values() if error > 0]
                if not logs:
                    continue
                mean = math.exp(statistics.mean(logs))
                spread = mean * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan
                rank = f"{statistics.mean(ranks[method]):5.1f}" if method in ranks else "    -"
                some = "" if method in ranks else f"  on {len(cell)} heads alone"
                lines.append((method not in ranks, mean, f"  {method:24} {mean:9.3g} +- {spread:<8.2g} {rank}{some}"))
            print(f"{target}, at most {budget:g} of exact attention's flops, {len(all_heads)} heads:"
                  " geometric mean of the relative error, mean rank")
            print("\n".join(text for _, _, text in sorted(lines)))


if __name__ == "__main__":
    main()
