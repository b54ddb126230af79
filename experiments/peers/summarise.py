"""summarise.py ROWS.csv OUT.csv: median and range of the paired ratios of compare.py, a line for every work."""

import csv
import statistics
import sys


def main():
    groups = {}
    with open(sys.argv[1], newline="") as file:
        for row in csv.DictReader(file):
            key = (row["peer"], row["n"], row["d"], row["precision"])
            groups.setdefault(key, []).append(row)
    with open(sys.argv[2], "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["work", "croquis_ms", "peer_ms", "ratio", "least", "largest"])
        for (peer, n, d, precision), rows in groups.items():
            ratios = [float(row["ratio"]) for row in rows]
            median = lambda column: 1e3 * statistics.median(float(row[column]) for row in rows)
            out.writerow([f"{peer} n={n} d={d} {precision}", f"{median('croquis_seconds'):.3f}",
                          f"{median('peer_seconds'):.3f}", f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f}",
                          f"{max(ratios):.2f}"])


if __name__ == "__main__":
    main()
