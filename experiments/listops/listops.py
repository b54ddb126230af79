"""ListOps: expressions of nested lists of digits, whose value (0 to 9) a model is to tell (Nangia and Bowman 2018).

    expression = digit | operator expression expression ... "]"
    operator   = "[MIN" | "[MAX" | "[MED" (median, of an even number the mean of the middle two rounded down) | "[SM" (sum modulo 10)

as in "[MAX 2 9 [MIN 4 7 ] 0 ]", whose value is 9. An expression is drawn from its root: that is an operator, uniform among
the four; an operator has 2 to `arguments` arguments, uniformly, each an operator with probability `share` where fewer
than `depth` operators enclose it, else a uniform digit. Expressions of fewer than `least` or more than `most` tokens are
drawn again. Expression number i of a set is the same for the same (seed, set, i), whatever else is drawn. Standard library alone.

listops.py [COUNT] [SEED] prints some.
"""
import dataclasses
import random
import sys

OPERATORS = ("[MIN", "[MAX", "[MED", "[SM")
CLOSE = "]"
VOCABULARY = (*map(str, range(10)), *OPERATORS, CLOSE)
CODE = {word: i for i, word in enumerate(VOCABULARY)}


@dataclasses.dataclass(frozen=True)
class Grammar:
    least: int = 16
    most: int = 64
    depth: int = 3
    arguments: int = 5
    share: float = 0.4


def apply(operator, values):
    if operator == "[MIN":
        return min(values)
    if operator == "[MAX":
        return max(values)
    if operator == "[SM":
        return sum(values) % 10
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


def value_of(words):
    """The value of an expression. ValueError for what is none."""
    lists = [[]]  # of each enclosing operator: itself, and the values that it has so far
    for word in words:
        if len(lists) == 1 and lists[0]:
            raise ValueError(f"ListOps: {word!r} after the end of the expression")
        if word in OPERATORS:
            lists.append([word])
        elif word == CLOSE:
            if len(lists) == 1 or len(lists[-1]) == 1:
                raise ValueError("ListOps: ']' closes nothing, or an empty list")
            operator, *values = lists.pop()
            lists[-1].append(apply(operator, values))
        elif len(word) == 1 and word in "0123456789":
            lists[-1].append(int(word))
        else:
            raise ValueError(f"ListOps: {word!r} is no word of it")
    if len(lists) > 1 or not lists[0]:
        raise ValueError("ListOps: the expression does not end")
    return lists[0][0]


def _draw(rng, grammar, enclosing, words):
    """Appends an expression to words; False as soon as there are too many."""
    # random() alone, which is the same in every version of Python.
    if enclosing > 0 and (enclosing == grammar.depth or rng.random() >= grammar.share):
        words.append(str(int(10 * rng.random())))
        return len(words) <= grammar.most
    words.append(OPERATORS[int(4 * rng.random())])
    for _ in range(2 + int((grammar.arguments - 1) * rng.random())):
        if not _draw(rng, grammar, enclosing + 1, words):
            return False
    words.append(CLOSE)
    return len(words) <= grammar.most


def expression(seed, which, i, grammar=Grammar()):
    """Expression number i of the set `which`, a list of words."""
    rng = random.Random(f"{seed}/{which}/{i}")
    while True:
        words = []
        if _draw(rng, grammar, 0, words) and len(words) >= grammar.least:
            return words


def examples(seed, which, count, grammar=Grammar()):
    """(codes of the words, value) of the first `count` expressions of a set."""
    found = (expression(seed, which, i, grammar) for i in range(count))
    return [([CODE[word] for word in words], value_of(words)) for words in found]


def root_baseline(known, asked):
    """(loss, accuracy) on `asked` of the best prediction that knows the first operator alone, as it is in `known`."""
    from math import log

    counts = {root: [1] * 10 for root in range(10, 14)}
    for codes, value in known:
        counts[codes[0]][value] += 1
    right = sum(counts[codes[0]][value] == max(counts[codes[0]]) for codes, value in asked)
    loss = -sum(log(counts[codes[0]][value] / sum(counts[codes[0]])) for codes, value in asked)
    return loss / len(asked), right / len(asked)


if __name__ == "__main__":
    count, seed = (int(a) for a in (sys.argv[1:] + ["5", "1"][len(sys.argv) - 1 :]))
    for i in range(count):
        words = expression(seed, "shown", i)
        print(" ".join(words), "=", value_of(words))
