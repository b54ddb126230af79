"""Intervals over seeds, and numbers as the tables have them."""
import math
import statistics

# Of 97.5 % for 1, 2, ... degrees of freedom.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
           2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093)


def interval(values):
    """(mean, half the width of its interval), of one value with no width."""
    if len(values) < 2:
        return statistics.mean(values), math.nan
    width = STUDENT[len(values) - 2] * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), width


def shown(*values):
    return ["NA" if isinstance(v, float) and math.isnan(v) else f"{v:.4g}" if isinstance(v, float) else v for v in values]
