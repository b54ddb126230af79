"""choose: its arguments, and that its answers are what the rows of error say."""

import unittest

import numpy

import croquis
from heads import heads, square_head


class Choose(unittest.TestCase):
    def test_one_head(self):
        Q, K, V = square_head(n=128, p=6)
        V = V + 3
        rows = croquis.choose(Q, K, V, eps=0.3, methods=["v-mean", "skeinformer"], features=[8, 16])
        self.assertEqual(len(rows), 1)
        row = rows[0]
        self.assertEqual((row["status"], row["method"]), ("chosen", "v-mean"))
        error = croquis.error(Q, K, V, "v-mean", [8])["frobenius_rel"][0]
        self.assertAlmostEqual(row["error_median"], error)
        self.assertLess(error, 0.3)
        self.assertEqual(croquis.choose(Q, K, V, eps=1e-9, methods="v-mean", features=8)["status"][0], "exact")

    def test_inputs_say_that_they_are_causal_or_have_a_bias(self):
        Q, K, V = square_head(n=32, p=4)
        choice = croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8, causal=True, name="h")
        self.assertEqual(choice["input"][0], "h;causal")
        biased = croquis.choose(Q, K, V, eps=9, methods="prf-rpe", features=8, bias=[0.0] * 63, causal=True, name="h")
        self.assertEqual(biased["input"][0], "h;bias=array;causal")
        given = croquis.choose(Q, K, V, eps=9, methods="prf-rpe", features=8, bias=[0.0] * 63, name="h;bias=b")
        self.assertEqual(given["input"][0], "h;bias=b")
        for per, name in (("layer", "h;causal;layer=0"), ("model", "h;causal")):
            rows = croquis.choose(
                Q, K, V, eps=9, methods="v-mean", features=8, causal=True, name="h", per=per, layers=[0]
            )
            self.assertEqual(rows["input"][0], name)

    def test_heads_of_several_layers_and_sequences(self):
        Q, K, V = heads(sequences=3, count=4)
        rows = croquis.choose(Q, K, V, eps=0.3, methods="v-mean", features=8, layers=[0, 0, 5, 5])
        self.assertEqual([(r["layer"], r["head"]) for r in rows], [(0, 0), (0, 1), (5, 0), (5, 1)])
        self.assertEqual(set(rows["sequences"]), {3})
        self.assertEqual(set(rows["status"]), {"undecided"})  # three sequences do not show what they do in 95 %
        by_layer = croquis.choose(Q, K, V, eps=0.3, methods="v-mean", features=8, layers=[0, 0, 5, 5], per="layer")
        self.assertEqual(list(by_layer["layer"]), [0, 5])
        self.assertEqual(len(croquis.choose(Q, K, V, methods="v-mean", features=8, per="model")), 1)

    def test_the_same_answer_for_an_array_and_a_list(self):
        rng = numpy.random.default_rng(2)
        Q, K = rng.normal(size=(2, 3, 64, 5)), rng.normal(size=(2, 3, 64, 5))
        V = rng.normal(size=(2, 3, 64, 4)) + 3
        settings = {"eps": 0.4, "methods": ["v-mean", "skeinformer"], "features": [8], "seed": 3}
        whole = croquis.choose(Q, K, V, **settings)
        listed = croquis.choose(list(Q), list(K), list(V), **settings)
        for name in whole.dtype.names:
            numpy.testing.assert_array_equal(whole[name], listed[name], name)

    def test_sequences_and_heads_that_do_not_fit(self):
        rng = numpy.random.default_rng(2)
        Q, K = rng.normal(size=(2, 3, 64, 5)), rng.normal(size=(2, 2, 64, 5))
        with self.assertRaisesRegex(ValueError, "^choose: give Q, K, V the same sequences; Q has 2, K has 1, V has 2$"):
            croquis.choose(Q, Q[:1], Q)
        with self.assertRaisesRegex(ValueError, "^choose: sequence 0 has 3 heads in Q, 2 in K and 3 in V; .* the first$"):
            croquis.choose(Q, K, Q)
        with self.assertRaisesRegex(ValueError, r"; for groups of queries repeat .* numpy.repeat\(K, 2, axis=-3\)$"):
            croquis.choose(numpy.concatenate([K, K], axis=1), K, K)
        uneven = [Q[0], Q[1, :2]]
        with self.assertRaisesRegex(ValueError, "^choose: sequence 1 has 2 heads in Q, 2 in K and 2 in V; give each .* 3"):
            croquis.choose(uneven, uneven, uneven)

    def test_one_head_on_several_sequences(self):
        of = lambda width, shift: [x[0] for x in (heads(3, 1, p=width)[0] if not shift else heads(3, 1, p_v=width)[2])]
        Q, K, V = of(6, False), of(6, False), of(4, True)
        settings = {"eps": 0.9, "delta": 0.4, "methods": "v-mean", "features": 8}
        # May be heads as well, and is not guessed, whether or not the sequences are of one length.
        for cut in (None, 128):
            cut_off = [[x[:cut] for x in several] for several in (Q, K, V)]
            for bad in (cut_off, [tuple(several) for several in cut_off]):
                with self.assertRaisesRegex(ValueError, r"^Q: a list of .*\[m\[None\] for m in Q\] for sequences, numpy.stack\(Q\)"):
                    croquis.choose(*bad, **settings)
        rows = croquis.choose(*([x[None] for x in several] for several in (Q, K, V)), **settings)
        self.assertEqual((len(rows), rows["sequences"][0]), (1, 3))
        stacked = [numpy.stack([x[:128] for x in several]) for several in (Q, K, V)]
        rows = croquis.choose(*stacked, **settings)
        self.assertEqual((len(rows), set(rows["sequences"]), list(rows["head"])), (3, {1}, [0, 1, 2]))
        for of_one in ([x[:, None] for x in stacked], [[x[None] for x in several] for several in (Q, K, V)]):
            rows = croquis.choose(*of_one, **settings)
            self.assertEqual((len(rows), rows["sequences"][0]), (1, 3))
            self.assertEqual((rows["input"][0], rows["head"][0]), ("arrays;head=0", 0))
        rows = croquis.choose(*(x[0] for x in stacked), **settings)
        self.assertEqual(rows["input"][0], "arrays")
        self.assertTrue(numpy.isnan(rows["head"][0]))

    def test_an_infinite_error_is_no_question(self):
        Q, K, V = square_head()
        for eps in (float("inf"), float("nan"), 0):
            with self.assertRaisesRegex(ValueError, f"^eps: {float(eps)} is not positive and finite$"):
                croquis.choose(Q, K, V, eps=eps, methods="v-mean", features=8)

    def test_padding_and_a_bias_are_those_of_each_sequence(self):
        Q, K, V = heads(sequences=2, count=2, n=64)
        settings = {"eps": 0.3, "methods": ["v-mean", "skeinformer"], "features": [8, 32], "seed": 3}
        plain = croquis.choose(Q, K, V, **settings)
        padded = [[numpy.pad(x, [(0, 0), (0, 80 - x.shape[1]), (0, 0)], constant_values=9) for x in a] for a in (Q, K, V)]
        lengths = [x.shape[1] for x in Q]
        for given in (padded, [numpy.array(a) for a in padded]):
            rows = croquis.choose(*given, length=lengths, **settings)
            for name in plain.dtype.names:
                numpy.testing.assert_array_equal(rows[name], plain[name], name)

        settings = {"eps": 0.3, "methods": "prf-rpe", "features": [8, 16], "seed": 3}
        zeros = [numpy.zeros(2 * n - 1) for n in lengths]
        slopes = [-numpy.abs(numpy.arange(1 - n, n)) / 4 for n in lengths]
        without, with_slopes = (croquis.choose(Q, K, V, bias=bias, **settings) for bias in (zeros, slopes))
        self.assertTrue((without["error_median"] != with_slopes["error_median"]).all())
        # All sequences of one length have one bias.
        again = croquis.choose(*padded, bias=numpy.zeros(159), length=lengths, **settings)
        numpy.testing.assert_array_equal(again["cost"], without["cost"])

    def test_the_numbers_of_all_heads_are_checked(self):
        for bad in range(3):
            Q, K, V = heads(sequences=3, count=2, n=32)
            K[bad][1, 5, 2] = numpy.nan
            with self.assertRaisesRegex(ValueError, f"^sequence {bad}, head 1: .*matrix = K, row = 5, column = 2"):
                croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8)
        Q, K, V = heads(sequences=1, count=2, n=32)
        V[0][1, 0, 0] = 1e30
        with self.assertRaisesRegex(ValueError, "^head 1: precision float: .*overflow in float; take double otherwise, got matrix = V, row = 0"):
            croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8, precision="float")

    def test_refusals(self):
        Q, K, V = square_head()
        for pattern, options in (
            ("^eps: 0.0 is not positive and finite$", {"eps": 0}),
            ("^per: 'layer' needs layers, that of each head$", {"per": "layer"}),
            ("delta", {"delta": 1.5}),
            ("metric", {"metric": "frobenius"}),
            ("^per: is head, layer or model, got per = heads", {"per": "heads"}),
            ("^cost: is flops or seconds, got cost = euros", {"cost": "euros"}),
            ("^methods: v-mean approximates softmax", {"methods": "v-mean,skyformer"}),
            ("^features: no method takes 54 for heads of 53 tokens", {"features": 54}),
            ("layers: there are 2 for 1 head$", {"layers": [0, 1]}),
            ("trials: ", {"trials": 0}),
            ("rows: 3 is none of 20 to n = 53", {"rows": 3}),
            ("precision: ", {"precision": "half"}),
            ("length", {"length": 0}),
            ("^length: '30' is no list$", {"length": "30"}),
            ("^length: there are 2 for 1 sequence; give one for all", {"length": [4, 5]}),
            ("^length: there are 2 for 1 sequence; give one for all", {"length": numpy.array([4, 5])}),
            ("^length: there are 2 for 1 sequence; give one for all", {"length": [[4], [5, 6]]}),
            ("^bias: 2n - 1 = 105 entries for n = 53 tokens, got entries = 5$", {"bias": numpy.zeros(5), "methods": "prf-rpe"}),
            ("^bias: there are 2 for 1 sequence; give one for all", {"bias": [numpy.zeros(105)] * 2}),
            ("did you mean", {"methods": "skyformr"}),
        ):
            with self.assertRaisesRegex(ValueError, pattern):
                croquis.choose(Q, K, V, **{"methods": "v-mean", "features": 8, **options})
        with self.assertRaisesRegex(ValueError, "sequence 0 has 2 heads in Q, 1 in K and 1 in V; give each sequence 2 heads, as"):
            croquis.choose(numpy.stack([Q, Q]), K, V)
        with self.assertRaisesRegex(ValueError, "sequence 0 has 1 head in Q, 2 in K and 2 in V; give each sequence 1 head, as"):
            croquis.choose(Q, numpy.stack([K, K]), numpy.stack([V, V]))
        with self.assertRaisesRegex(ValueError, "Q: has 1 dimension;"):
            croquis.choose(Q[0], K, V)
        Q, K, V = heads(sequences=3, count=2, n=32)
        for pattern, bad in (
            ("^V: sequence 1: None is neither an array nor a list of arrays$", None),
            (r"^V: sequence 1 has 2 dimensions; give \(heads, n, width\)$", V[1][0]),
        ):
            with self.assertRaisesRegex(ValueError, pattern):
                croquis.choose(Q, K, [V[0], bad, V[2]], methods="v-mean", features=8)

    def test_the_head_whose_array_is_wrong_is_named(self):
        Q, K, V = heads(sequences=3, count=2, n=32)
        with self.assertRaisesRegex(ValueError, "^sequence 1, head 0: V: its dtype is int64"):
            croquis.choose(Q, K, [V[0], V[1].astype(int), V[2]], methods="v-mean", features=8)

    def test_lengths_of_any_kind(self):
        Q, K, V = heads(sequences=3, count=2, n=32)
        settings = {"eps": 9, "methods": "v-mean", "features": 8}
        of = lambda length: croquis.choose(Q, K, V, length=length, **settings)["cost"]
        for same in (numpy.int64(30), numpy.array(30), [30] * 3, numpy.full(3, 30), iter([30] * 3)):
            numpy.testing.assert_array_equal(of(same), of(30))


if __name__ == "__main__":
    unittest.main()
