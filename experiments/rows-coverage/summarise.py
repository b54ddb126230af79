#!/usr/bin/env python3
"""The tables of coverage, in Markdown: summarise.py COVERAGE.csv

A combination is an input, n, a method and R. It is called carried by few rows if the n/R rows with the largest
contributions have more than half of the variance: a sample then has one of them on average, and often none.
"""
import csv
import statistics
import sys

MADE = ("clustered", "duplicates", "gaussian", "heavy-norms", "low-rank", "sphere", "text:sample")


def coverage(rows, norm):
    return [float(row[norm + "_cover"]) for row in rows]


def split(rows, norm):
    few = [row for row in rows if float(row[norm + "_few"]) >= 0.5]
    return [row for row in rows if float(row[norm + "_few"]) < 0.5], few


def per_norm(rows, norm):
    """Coverage of the others and of those carried by few rows, for one norm."""
    others, few = split(rows, norm)
    cover, covered = coverage(others, norm), coverage(few, norm)
    factor = statistics.median(float(row[norm + "_factor"]) for row in rows)
    return [
        str(len(cover)),
        f"{100 * statistics.mean(cover):.1f}" if cover else "-",
        f"{100 * min(cover):.1f}" if cover else "-",
        str(sum(c < 0.93 for c in cover)),
        f"{factor:.2f}",
        str(len(covered)),
        f"{100 * statistics.mean(covered):.1f}" if covered else "-",
        str(sum(c < 0.93 for c in covered)),
    ]


def table(rows, norm, what, key, order):
    print(f"| {what} | combinations | coverage, % | lowest | below 93 % | hi / lo | carried by few rows | coverage, % | below 93 % |")
    print("| --- " * 9 + "|")
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    for name in sorted(groups, key=order):
        print("| " + " | ".join([name] + per_norm(groups[name], norm)) + " |")
    print("| " + " | ".join(["**all**"] + per_norm(rows, norm)) + " |\n")


def short(rows, size, source):
    """Both norms in one table, for docs/results.md."""
    print("| | `spectral_rel`: coverage, % | below 93 % | few rows: coverage, % | below 93 % "
          "| `frobenius_rel`: coverage, % | below 93 % | few rows: coverage, % | below 93 % |")
    print("| --- " * 9 + "|")
    groups = [("R = " + name, [row for row in rows if size(row) == name]) for name in ("32", "128", "n/8", "n/2")]
    groups += [(f"`{name}`" if name in MADE else name, [row for row in rows if source(row) == name])
               for name in sorted({source(row) for row in rows})]
    for name, group in groups + [("all", rows)]:
        cells = []
        for norm in ("spectral", "frobenius"):
            for part in split(group, norm):
                cover = coverage(part, norm)
                cells += [f"{100 * statistics.mean(cover):.1f}" if cover else "-",
                          f"{sum(c < 0.93 for c in cover)} of {len(cover)}"]
        print("| " + " | ".join([name] + cells) + " |")
    print()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["spectral_few"] != "nan" and row["frobenius_few"] != "nan"]

    def size(row):
        n, r = int(row["n"]), int(row["rows"])
        return "n/2" if 2 * r == n else "n/8" if 8 * r == n and r != 128 else str(r)

    def source(row):
        return row["input"] if row["input"] in MADE else "heads of models"

    short(rows, size, source)
    for norm in ("spectral", "frobenius"):
        print(f"`{norm}_rel`:\n")
        table(rows, norm, "R", size, ["32", "128", "n/8", "n/2"].index)
        table(rows, norm, "input", source, str)
        table(rows, norm, "method", lambda row: row["method"], str)
        others, few = split(rows, norm)
        # Where the coverage is 0.93, a measured one below this has probability 0.001.
        least = 0.93 - 3.09 * (0.93 * 0.07 / int(rows[0]["samples"])) ** 0.5
        print(f"Not carried by few rows and measured below {100 * least:.1f} %: {sum(c < least for c in coverage(others, norm))}.")
        print(f"All {len(rows)} together: {100 * statistics.mean(coverage(rows, norm)):.1f} %.")
        for name, group in (("few", few), ("others", others)):
            flagged = statistics.mean(float(row[norm + "_flagged"]) for row in group)
            print(f"Samples with less than 4 effective rows, {name}: {100 * flagged:.0f} %.")
        for row in sorted(rows, key=lambda row: float(row[norm + "_cover"]))[:5]:
            print("Lowest:", *(row[c] for c in ("input", "n", "method", "rows", norm + "_cover", norm + "_few")))
        bias = statistics.mean(abs(float(row[norm + "_bias"])) for row in rows)
        rms = statistics.mean(float(row[norm + "_rms"]) for row in rows)
        print(f"Of the logarithm of the estimate: mean |bias| {bias:.3f}, mean root mean square error {rms:.3f}.\n")


if __name__ == "__main__":
    main()
