"""method_arguments: the method that a row says, handed to attention."""

import unittest

import numpy

import croquis
from heads import square_head


class MethodArguments(unittest.TestCase):
    def test_a_choice_is_handed_to_the_method(self):
        Q, K, V = square_head(n=64, p=6)
        V = V + 3
        rows = croquis.choose(Q, K, V, 0.3, methods="skyformer-softmax:ridge=0.1,preset=code", features=48, max_cost=99)
        self.assertEqual(rows["status"][0], "chosen")
        arguments = croquis.method_arguments(rows[0])
        self.assertEqual(
            arguments, {"method": "skyformer-softmax", "features": 48, "ridge": "0.1", "preset": "code"}
        )
        output = croquis.approximate(Q, K, V, **arguments, seed=3)
        same = croquis.approximate(Q, K, V, "skyformer-softmax", 48, seed=3, ridge=0.1, preset="code")
        numpy.testing.assert_array_equal(output, same)
        numpy.testing.assert_array_equal(
            croquis.vjp(Q, K, V, V, **arguments)[0],
            croquis.vjp(Q, K, V, V, "skyformer-softmax", 48, ridge=0.1, preset="code")[0],
        )
        rows = croquis.choose(Q, K, V, 1e-9, methods="skyformer-softmax", features=48)
        exact = croquis.approximate(Q, K, V, **croquis.method_arguments(rows[0]))
        numpy.testing.assert_array_equal(exact, croquis.exact(Q, K, V))
        with self.assertRaisesRegex(ValueError, "^row: .* give one, as rows"):
            croquis.method_arguments(rows)

    def test_exact_attention_is_to_the_function_that_the_errors_are_against(self):
        Q, K, V = square_head(n=64, p=6)
        bias = numpy.linspace(-1, 1, 2 * len(Q) - 1)
        for method, target, given in (
            ("skyformer", "kernelized", None),
            ("nprf", "normalized", None),
            ("prf-rpe", "softmax-rpe", bias),
            ("nprf-rpe", "normalized-rpe", bias),
        ):
            # Nothing is good enough, and two draws are too few to say so.
            for eps, trials, status in ((1e-9, 100, "exact"), (1e9, 2, "undecided")):
                with self.subTest(method=method, status=status):
                    rows = croquis.choose(Q, K, V, eps, methods=method, features=4, max_cost=99, trials=trials, bias=given)
                    self.assertEqual((rows["status"][0], rows["target"][0]), (status, target))
                    arguments = croquis.method_arguments(rows[0])
                    self.assertEqual(arguments, {"method": "exact", "target": target})
                    expected = croquis.exact(Q, K, V, target, bias=given)
                    output = croquis.approximate(Q, K, V, **arguments, bias=given)
                    numpy.testing.assert_array_equal(output, expected)
                    found, wanted = (croquis.vjp(Q, K, V, V, **a, bias=given) for a in (arguments, {"target": target}))
                    for one, other in zip(found, wanted):
                        numpy.testing.assert_array_equal(one, other)
        # A row without a target is of softmax attention.
        rows = croquis.choose(Q, K, V, 1e-9, methods="v-mean", features=4)
        for row in (rows[0], rows[["method", "preset", "features", "status"]][0]):
            self.assertEqual(croquis.method_arguments(row), {"method": "exact"})
        with self.assertRaisesRegex(ValueError, "^row: target: 3 is no line of text"):
            croquis.method_arguments({"method": "exact", "preset": "paper", "features": 0, "status": "exact", "target": 3})

    def test_every_row_of_cost_is_handed_to_attention(self):
        Q, K, V = square_head(n=32, p=6)
        bias = numpy.linspace(-1, 1, 2 * len(Q) - 1)
        for methods, given in (("skyformer,skeinformer", None), ("nprf", None), ("prf-rpe,nprf-rpe", bias)):
            for row in croquis.cost(Q, K, V, methods, 8, repeats=1, bias=given):
                arguments = croquis.method_arguments(row)
                if row["features"] > 0:
                    self.assertEqual(arguments, {"method": row["method"], "features": 8})
                    continue
                target = "softmax" if row["method"] == "exact" else row["method"][len("exact-") :]
                self.assertEqual(arguments, {"method": "exact", "target": target} if target != "softmax" else {"method": "exact"})
                with_bias = given if target.endswith("-rpe") else None
                numpy.testing.assert_array_equal(
                    croquis.approximate(Q, K, V, **arguments, bias=with_bias), croquis.exact(Q, K, V, target, bias=with_bias)
                )


if __name__ == "__main__":
    unittest.main()
