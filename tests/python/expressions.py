"""The ListOps of experiments/listops: grammar, values, seeds, and the file of cells that a killed run goes on with."""

import collections
import math
import os
import pathlib
import sys
import tempfile
import unittest

import numpy

sys.path.insert(0, str(pathlib.Path(os.environ["CROQUIS_SOURCE"]) / "experiments" / "listops"))
import cells  # noqa: E402
import listops  # noqa: E402
from listops import Grammar, expression  # noqa: E402

FAILURE = 1e-9
COUNT = 2000
WIDE = Grammar(least=1, most=10**6)  # nothing is drawn again: every law is that of a draw


def tree_of(words):
    """(operator, [arguments]) or a digit, by recursion; checks that all words are used."""

    def parse(position):
        if words[position] not in listops.OPERATORS:
            return int(words[position]), position + 1
        operator, arguments = words[position], []
        position += 1
        while words[position] != "]":
            argument, position = parse(position)
            arguments.append(argument)
        return (operator, arguments), position + 1

    tree, end = parse(0)
    assert end == len(words)
    return tree


def value_of_tree(tree):
    if isinstance(tree, int):
        return tree
    values = numpy.array([value_of_tree(argument) for argument in tree[1]])
    of = {"[MIN": numpy.min, "[MAX": numpy.max, "[MED": lambda v: math.floor(numpy.median(v)), "[SM": lambda v: v.sum() % 10}
    return int(of[tree[0]](values))


def depth_of(tree):
    return 0 if isinstance(tree, int) else 1 + max(map(depth_of, tree[1]))


def operators_of(tree):
    if not isinstance(tree, int):
        yield tree
        for argument in tree[1]:
            yield from operators_of(argument)


def is_uniform(found, values):
    """Whether independent draws are uniform on the values: Hoeffding's bound for each, wrong with probability 1e-9."""
    width = math.sqrt(math.log(2 * len(values) / FAILURE) / (2 * len(found)))
    counts = collections.Counter(found)
    return set(counts) <= set(values) and all(abs(counts[v] / len(found) - 1 / len(values)) <= width for v in values)


class Expressions(unittest.TestCase):
    def test_values(self):
        for text, value in (
            ("7", 7), ("[MIN 4 7 ]", 4), ("[MAX 2 9 [MIN 4 7 ] 0 ]", 9), ("[SM 9 8 ]", 7), ("[MED 1 9 4 ]", 4),
            ("[MED 1 2 ]", 1), ("[MED 9 3 8 1 ]", 5), ("[SM [MED 3 4 8 9 ] [MAX 1 2 ] ]", 8),
        ):  # fmt: skip
            self.assertEqual(listops.value_of(text.split()), value, text)

    def test_values_are_those_of_a_recursion_over_trees(self):
        for i in range(300):
            words = expression(3, "value", i)
            self.assertEqual(listops.value_of(words), value_of_tree(tree_of(words)), " ".join(words))

    def test_what_is_no_expression_is_refused(self):
        for text in ("", "[MIN 1", "[MIN ]", "]", "1 2", "[MIN 1 ] ]", "[AVG 1 ]", "12", "[MAX 1 ] 3"):
            with self.assertRaisesRegex(ValueError, "ListOps"):
                listops.value_of(text.split())

    def test_expressions_are_of_the_grammar(self):
        for grammar in (Grammar(), Grammar(least=100, most=120, depth=6, arguments=8, share=0.3)):
            for i in range(100):
                words = expression(1, "grammar", i, grammar)
                tree = tree_of(words)
                self.assertTrue(grammar.least <= len(words) <= grammar.most)
                self.assertTrue(1 <= depth_of(tree) <= grammar.depth)
                self.assertTrue(all(2 <= len(t[1]) <= grammar.arguments for t in operators_of(tree)))

    def test_laws_of_a_draw(self):
        def laws(grammar):
            trees = [tree_of(expression(5, "law", i, grammar)) for i in range(COUNT)]
            kinds = [[isinstance(a, int) for a in t[1]] for t in trees]
            # A share of one half is one law of two equal values.
            return {
                "roots": is_uniform([t[0] for t in trees], listops.OPERATORS),
                "counts": is_uniform([len(t[1]) for t in trees], range(2, grammar.arguments + 1)),
                "first digits": is_uniform([a for t in trees for a in t[1][:1] if isinstance(a, int)], range(10)),
                "share": is_uniform([k[0] for k in kinds], (False, True)),
            }

        fair = Grammar(least=1, most=10**6, share=0.5)
        self.assertEqual(set(laws(fair).values()), {True})
        # What is wrong is found: another share, one argument more than the law is asked about, expressions drawn again.
        self.assertFalse(laws(WIDE)["share"])
        self.assertFalse(is_uniform([len(tree_of(expression(5, "law", i, fair))[1]) for i in range(COUNT)], range(2, 5)))
        self.assertFalse(laws(Grammar(least=40, most=64, share=0.5))["counts"])

    def test_an_expression_depends_on_its_seed_set_and_number_alone(self):
        self.assertEqual(expression(1, "train", 7), expression(1, "train", 7))
        others = [expression(2, "train", 7), expression(1, "test", 7), expression(1, "train", 8)]
        self.assertNotIn(expression(1, "train", 7), others)
        # As long as this is the same, so are committed results.
        self.assertEqual(" ".join(expression(1, "shown", 1)), FIRST)
        codes, value = listops.examples(1, "shown", 2)[1]
        self.assertEqual([listops.VOCABULARY[c] for c in codes], FIRST.split())
        self.assertEqual(value, 1)

    def test_the_baseline_knows_the_first_operator_alone(self):
        minimum, maximum = ([listops.CODE["[MIN"], 1], 0), ([listops.CODE["[MAX"], 1], 9)
        loss, accuracy = listops.root_baseline([minimum] * 90 + [maximum] * 90, [minimum, maximum, (maximum[0], 3)])
        self.assertAlmostEqual(accuracy, 2 / 3)
        self.assertAlmostEqual(loss, -(2 * math.log(0.91) + math.log(0.01)) / 3)


FIRST = "[MIN 8 6 6 [MIN 3 3 [SM 9 9 5 1 ] [SM 2 6 6 ] ] [MIN 2 4 2 [MIN 1 2 ] 9 ] ]"


class Cells(unittest.TestCase):
    def test_half_a_line_is_cut_off(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cells.jsonl"
            self.assertEqual(cells.finished(path), [])
            cells.add(path, {"a": 1})
            cells.add(path, {"a": 2})
            with path.open("a") as file:
                file.write('{"a": ')
            self.assertEqual(cells.finished(path), [{"a": 1}, {"a": 2}])
            cells.add(path, {"a": 3})
            self.assertEqual([c["a"] for c in cells.finished(path)], [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
