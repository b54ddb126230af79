"""Wrong arguments: ValueError, with a sentence that says what and where."""

import os
import subprocess
import sys
import unittest

import numpy

import croquis
from heads import head, square_head


class Refusals(unittest.TestCase):
    def refused(self, pattern, call, *arguments, **options):
        with self.assertRaisesRegex(ValueError, pattern):
            call(*arguments, **options)

    def test_dtypes(self):
        Q, K, V = head()
        for dtype in ("int64", "float16", "complex128", "bool", "object", ">f8"):
            self.refused("^K: its dtype is .*; give float32 or float64", croquis.exact, Q, K.astype(dtype), V)
        as_array = r", as K\.astype\('float64'\)$"
        no_complex = ": complex numbers are not taken$"
        for dtype, way in (("int64", as_array), ("object", as_array), ("complex128", no_complex), ("S3", "$")):
            self.refused(f"^K: its dtype is .*; give float32 or float64{way}", croquis.exact, Q, K.astype(dtype), V)
        whole = [[1] * 11] * 53
        self.refused(r"^K: its dtype is int64; .*, as numpy\.array\(K, 'float64'\)$", croquis.exact, Q, whole, V)
        self.refused("^K: its dtype is object; give float32 or float64$", croquis.exact, Q, [[None]], V)
        for bad in ("text", {}, 3, object()):
            kind = type(bad).__name__
            self.refused(f"^Q: is of type {kind}; give an array of float32 or float64$", croquis.exact, bad, K, V)
        self.refused("^V: is of type NoneType; give an array", croquis.exact, Q, K, None)
        self.refused("^Q: not an array, and NumPy makes none of it: .*inhomogeneous|sequence", croquis.exact, [[1.0], [1.0, 2.0]], K, V)

    def test_what_is_no_fault_of_an_array_stays_what_it_is(self):
        class Raising:
            def __array__(self, *_):
                raise self.what

        _, K, V = head()
        for what in (KeyboardInterrupt(), SystemExit(3), MemoryError()):
            Raising.what = what
            with self.assertRaises(type(what)):
                croquis.exact(Raising(), K, V)
        Raising.what = OSError("the file is away")
        self.refused("^Q: not an array, and NumPy makes none of it: the file is away$", croquis.exact, Raising(), K, V)

    def test_masks_are_not_ignored(self):
        Q, K, V = square_head(n=12, p=4, p_v=3)
        S = croquis.sketch("srht", rows=12, features=4)
        calls = {  # whose arguments are arrays of the shape of K
            "K": [
                lambda x: croquis.exact(Q, x, V),
                lambda x: croquis.approximate(Q, x, V, "skeinformer", 4),
                lambda x: croquis.error(Q, x, V, "v-mean", 4),
                lambda x: croquis.spectrum(Q, x, V),
                lambda x: croquis.dimension(Q, x, V, 0.1, trials=0),
                lambda x: croquis.choose(Q, x, V, methods="v-mean", features=4),
                lambda x: croquis.choose(Q[None], x[None], V[None], methods="v-mean", features=4),
                lambda x: croquis.choose([Q[None]], [x[None]], [V[None]], methods="v-mean", features=4),
                lambda x: croquis.verify("sky.lift*", Q, x, V, quick=True),
            ],
            "G": [lambda x: croquis.vjp(Q, K, K, x)],
            "M": [S.left, lambda x: S.right(x.T)],
        }
        masked = numpy.ma.masked_array(K, mask=False)
        for functions in calls.values():
            for call in functions:
                call(masked)  # a mask that masks nothing
        numpy.testing.assert_array_equal(croquis.exact(Q, masked, V), croquis.exact(Q, K, V))
        masked[7, 2] = numpy.ma.masked
        for name, functions in calls.items():
            for call in functions:
                self.refused(rf"^{name}: some of its entries are masked; give {name}\.filled\(", call, masked)
        bias = numpy.ma.masked_array(numpy.zeros(23), mask=numpy.arange(23) == 3)
        self.refused("^bias: some of its entries are masked", croquis.exact, Q, K, V, "softmax-rpe", bias=bias)
        weights = numpy.ma.masked_array(numpy.ones(12), mask=numpy.arange(12) == 3)
        self.refused("^weights: ", croquis.sketch, "importance", 12, 4, weights=weights)

    def test_sparse_matrices(self):
        class Sparse:  # what SciPy's have of an array
            shape, ndim = (12, 4), 2

            def toarray(self):
                return numpy.zeros(self.shape)

            def __getitem__(self, i):
                return self

        Q, K, V = square_head(n=12, p=4, p_v=3)
        sparse = "^{0}: is a sparse matrix; give {0}.toarray\\(\\)$"
        self.refused(sparse.format("K"), croquis.exact, Q, Sparse(), V)
        self.refused(sparse.format("M"), croquis.sketch("srht", rows=12, features=4).left, Sparse())
        self.refused(sparse.format("K"), croquis.choose, Q, Sparse(), V, methods="v-mean", features=4)

    def test_what_does_not_fit_into_memory_is_named(self):
        Q, K, V = square_head(n=12, p=4, p_v=3)
        takes_any = ("performer", "nprf", "prf-rpe", "nprf-rpe", "linformer-unreduced")
        for method in takes_any:
            sentence = f"^features: {method}: needs {10**13 * 24} bytes, .*d = {10**13}"
            self.refused(sentence, croquis.approximate, Q, K, V, method, features=10**13)
            self.refused(sentence, croquis.vjp, Q, K, V, V, method, features=10**13)
        limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        call = "import numpy, croquis\nX = numpy.ones((64, 8))\ncroquis.{}, 'performer', features={})\n"
        threads = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each has memory of its own
        # What is found when the memory is asked for: by the output, and by the derivatives alone.
        for which, d in (("approximate(X, X, X", 5 * 10**6), ("vjp(X, X, X, X", 10**6)):
            script = [sys.executable, "-B", "-c", limit + call.format(which, d)]
            done = subprocess.run(script, capture_output=True, text=True, env=threads)
            self.assertIn(f"ValueError: features: performer: there is not enough memory for d = {d}, n = 64", done.stderr)
        for sketch in ("gaussian", "uniform", "very-sparse"):
            sentence = f"^features: needs {16 * 2**45} bytes, .*features = {2**45}$"
            self.refused(sentence, croquis.sketch, sketch, 10, 2**45)
        self.refused(sentence, croquis.sketch, "importance", 2, 2**45, weights=[1, 2])
        S = croquis.sketch("gaussian", 10**9, 10**6)
        self.refused(f"^dense: .*needs {2 * 8 * 10**15} bytes, .*rows = {10**9}, columns = {10**6}$", S.dense)
        S = croquis.sketch("gaussian", 10**12, 100)
        self.refused(f"^M: its product: needs {8 * 10**12} bytes, .*rows = {10**12}, columns = 1$", S.expand, numpy.ones((100, 1)))
        # No memory is asked for.
        exact = croquis.exact(Q, K, V)
        for method in ("v-mean", "bfloat16", "linear", "kriged-coreset"):
            self.assertEqual(croquis.approximate(Q, K, V, method, features=10**13).shape, exact.shape)

    def test_names_of_methods(self):
        Q, K, V = square_head()
        for call in (croquis.approximate, lambda *a, **o: croquis.vjp(*a[:3], V, *a[3:], **o)):
            self.refused("did you mean 'nystromformer'", call, Q, K, V, "nystromfomer", 8)
            for text in ("skyformer:ridge=0.1", "skyformer,v-mean", "all"):
                self.refused(f"^method: '{text}' is no single name; options", call, Q, K, V, text, 8)

    def test_a_text_is_no_list(self):
        Q, K, V = square_head()
        self.refused("^features: '16:64' is no list$", croquis.error, Q, K, V, "v-mean", "16:64")
        self.refused("^features: b'.*' is no list$", croquis.error, Q, K, V, "v-mean", b"\x08")
        self.refused("^epsilons: '0.1' is no list$", croquis.dimension, Q, K, V, "0.1")

    def test_seeds_have_64_bits(self):
        Q, K, V = square_head()
        calls = [
            lambda seed: croquis.approximate(Q, K, V, "skeinformer", 8, seed=seed),
            lambda seed: croquis.vjp(Q, K, V, V, "skeinformer", 8, seed=seed),
            lambda seed: croquis.error(Q, K, V, "skeinformer", 8, seed=seed),
            lambda seed: croquis.gradient(Q, K, V, "skeinformer", 8, seed=seed),
            lambda seed: croquis.cost(Q, K, V, "skeinformer", 8, seed=seed),
            lambda seed: croquis.spectrum(Q, K, V, seed=seed),
            lambda seed: croquis.dimension(Q, K, V, seed=seed),
            lambda seed: croquis.choose(Q, K, V, methods="skeinformer", features=8, seed=seed),
            lambda seed: croquis.verify("lin.jl-norm", seed=seed),
            lambda seed: croquis.sketch("gaussian", 8, 4, seed=seed),
        ]
        sentence = f"^seed: {2**64} is no whole number of at least 0 and at most {2**64 - 1}$"
        for call in calls:
            self.refused(sentence, call, 2**64)
            self.refused("^seed: -1 is no whole number of at least 0$", call, -1)

    def test_numbers_of_draws_are_those_of_the_program(self):
        Q, K, V = square_head()
        most = 10**7
        for name, least, call in (
            ("trials", 1, croquis.error),
            ("trials", 1, croquis.gradient),
            ("repeats", 1, croquis.cost),
            ("warmup", 0, croquis.cost),
            ("trials", 0, croquis.dimension),
            ("leading", 1, croquis.spectrum),
            ("probes", 2, croquis.dimension),
            ("trials", 1, croquis.choose),
        ):
            sentence = f"^{name}: {{}} is no whole number of at least {least} and at most {most}$"
            for count in (most + 1, 2**62):
                self.refused(sentence.format(count), call, Q, K, V, **{name: count})
        self.refused(f"^trials: .* at most {2**30}$", croquis.verify, "lin.jl-norm", trials=2**62)

    def test_dtypes_of_sketches(self):
        S = croquis.sketch("srht", rows=8, features=4)
        for dtype in ("foo", "f,f", "int64", ">f8", complex, [("a", int)], object(), 3):
            self.refused("^dense: the dtype is .*; give float32 or float64$", S.dense, dtype)

    def test_dimensions(self):
        Q, K, V = head()
        self.refused(r"^Q: its shape is \(1, 37, 11\); give the two dimensions", croquis.exact, Q[None], K, V)
        self.refused(r"^V: its shape is \(53,\)", croquis.exact, Q, K, V[:, 0])
        self.refused(r"^K: its shape is \(\)", croquis.exact, Q, numpy.float64(1), V)
        self.refused("Q and K of one width", croquis.exact, Q, V, K)
        self.refused("Q and K of one width", croquis.exact, Q.T, K, V)
        self.refused("K and V with as many rows as each other", croquis.exact, Q, K, V[:-1])

    def test_claims_of_one_token(self):
        Q, K, V = square_head(n=1, p=4, p_v=3)
        self.refused("one token, of which every method is exact; it decides nothing$", croquis.verify, "nys.start", Q, K, V)

    def test_empty(self):
        Q, K, V = head()
        self.refused(r"n_q, n_k, p, p_v >= 1", croquis.exact, Q[:0], K, V)
        self.refused(r"n_q, n_k, p, p_v >= 1", croquis.exact, Q, K, V[:, :0])
        self.refused(r"n_q, n_k, p, p_v >= 1", croquis.exact, Q[:, :0], K[:, :0], V)

    def test_not_finite(self):
        for order in "CF":
            for bad in (numpy.nan, numpy.inf):
                Q, K, V = (numpy.array(x, order=order) for x in head())
                K[7, 3] = bad
                self.refused("finite entries, got matrix = K, row = 7, column = 3", croquis.exact, Q, K, V)

    def test_names(self):
        Q, K, V = head()
        self.refused("target: 'soft' is none of softmax", croquis.exact, Q, K, V, "soft")
        self.refused("skyformr.*did you mean 'skyformer'", croquis.error, Q, K, V, "skyformr")
        self.refused("skyformer", croquis.approximate, Q, K, V, "skyformr", 8)
        self.refused("bounds: goes without rows", croquis.error, Q, K, V, "v-mean", 8, rows=20, bounds=True)
        self.refused("no claim is called 'sky.lit'", croquis.verify, "sky.lit")
        self.refused("^name: 'shrt' is none of .*srht", croquis.sketch, "shrt", 10, 4)
        self.refused("^matrices: 'x' is none of a b c bv cv$", croquis.spectrum, Q, K, V, ["a", "x"])
        self.refused("columns: of error", croquis.columns, "eror")

    def test_options(self):
        Q, K, V = square_head()
        self.refused("rdge", croquis.approximate, Q, K, V, "skyformer", 8, rdge=1)
        self.refused("ridge", croquis.approximate, Q, K, V, "skyformer", 8, ridge=-1)
        self.refused("ridge = None is neither a number nor a word", croquis.approximate, Q, K, V, "skyformer", 8, ridge=None)
        self.refused("indices = .* is neither a number nor a word; give the name of a .npy file", croquis.approximate, Q, K, V, "skyformer", 8, indices=[1, 2])
        self.refused("ridge = yes", croquis.approximate, Q, K, V, "skyformer", 8, ridge=True)
        self.refused("ridge", croquis.error, Q, K, V, "skyformer:ridge=-1", [8])

    def test_numbers(self):
        Q, K, V = square_head()
        self.refused("^features: ", croquis.approximate, Q, K, V, "skyformer", 0)
        self.refused("^features: ", croquis.approximate, Q, K, V, "skyformer", 8.5)
        self.refused("^features: 54 is more than the n = 53 tokens", croquis.error, Q, K, V, "v-mean,skeinformer", [8, 54])
        self.refused("^features: there are none", croquis.error, Q, K, V, "v-mean", [])
        self.refused("^features: there are none", croquis.choose, Q, K, V, features=[])
        self.refused("^methods: there are none", croquis.choose, Q, K, V, methods=[])
        self.refused("^epsilons: there are none; give one number", croquis.dimension, Q, K, V, [])
        self.refused("^widths: there are none; give one number", croquis.dimension, Q, K, V, widths=[])
        for end in (0, 1, -0.5, 3, numpy.nan):
            self.refused("^epsilons: .* is not positive and below 1$", croquis.dimension, Q, K, V, [0.1, end])
        for end in (0, -1, numpy.inf, numpy.nan):
            self.refused("^widths: .* is not positive and finite$", croquis.dimension, Q, K, V, widths=[1, end])
        self.refused("^epsilons: 0.1 stands there twice$", croquis.dimension, Q, K, V, [0.1, 0.5, 0.1])
        self.refused("^widths: 1.0 stands there twice$", croquis.dimension, Q, K, V, widths=[1, 1.0])
        for none in ([], "", " ", [""]):
            self.refused("^matrices: there are none$", croquis.spectrum, Q, K, V, none)
            self.refused("^claims: there are none$", croquis.verify, none)
        self.refused("^matrices: an empty item in 'a,'$", croquis.spectrum, Q, K, V, ["a", ""])
        for twice in ("b,a, b", ["b", "b"]):
            self.refused("^matrices: 'b' stands there twice$", croquis.spectrum, Q, K, V, twice)
        self.refused("^trials: ", croquis.error, Q, K, V, "v-mean", [8], trials=0)
        self.refused("^seed: ", croquis.error, Q, K, V, "v-mean", [8], seed=-1)
        self.refused("^precision: ", croquis.error, Q, K, V, "v-mean", [8], precision="half")
        self.refused("^rows: 5 is none of", croquis.error, Q, K, V, "v-mean", [8], rows=5)
        self.refused("1 <= length <= n_k", croquis.exact, Q, K, V, length=54)
        self.refused("bias: its shape", croquis.exact, Q, K, V, "softmax-rpe", bias=numpy.zeros((3, 3)))
        self.refused("^count: -1 is no whole number of at least 0", croquis.set_threads, -1)
        largest = "is no whole number of at least . and at most 9223372036854775807$"
        self.refused("^features: 1180591620717411303424 " + largest, croquis.approximate, Q, K, V, "skyformer", 2**70)

    def test_a_dict_is_no_list_of_its_keys(self):
        Q, K, V = square_head(n=12)
        settings = {"skyformer-softmax": {"ridge": 0.5}}
        for measure in (croquis.error, croquis.gradient, croquis.cost, croquis.choose):
            self.refused("^methods: .* is no list$", measure, Q, K, V, methods=settings, features=8)
        self.refused("^features: .* is no list$", croquis.error, Q, K, V, "v-mean", features={8: 1, 16: 2})
        self.refused("^epsilons: .* is no list$", croquis.dimension, Q, K, V, {0.1: None})
        self.refused("^claims: .* is no list$", croquis.verify, {"sky.conditioning": True}, quick=True)
        self.refused("^weights: .* is no list$", croquis.sketch, "importance", 2, 1, weights={0: 1, 1: 2})

    def test_a_bias_that_is_too_large_for_float32(self):
        Q, K, V = square_head(n=12)
        small = [x.astype("float32") for x in (Q, K, V)]
        for entry in (1e300, -1e300, 3.5e38):
            bias = [entry] + [0] * 22
            too_large = "^bias: .* is too large for float32, which Q, K and V have; give them as float64$"
            self.refused(too_large, croquis.exact, *small, "softmax-rpe", bias=bias)
            self.refused(too_large, croquis.vjp, *small, small[2], target="softmax-rpe", bias=bias)
            self.assertEqual(croquis.exact(Q, K, V, "softmax-rpe", bias=bias).dtype, "float64")
        largest = float(numpy.finfo("float32").max) / 64
        for entry in (largest, -largest, -numpy.inf):
            self.assertTrue(numpy.isfinite(croquis.exact(*small, "softmax-rpe", bias=[entry] + [0] * 22)).all())
        for entry in (numpy.inf, numpy.nan):
            self.refused("^bias: finite entries or -inf", croquis.exact, *small, "softmax-rpe", bias=[entry] * 23)

    def test_numbers_that_are_too_large(self):
        Q, K, V = square_head(n=12)
        for large in (10**400, 10**5000):
            self.refused("^eps: .* is too large$", croquis.choose, Q, K, V, large)
            self.refused("^epsilons: .* is too large$", croquis.dimension, Q, K, V, [0.1, large])
            self.refused("^confidence: .* is too large$", croquis.verify, "lin.jl-norm", confidence=large)
            self.refused("^weights: .* is too large$", croquis.sketch, "importance", 2, 1, weights=[1, large])
            self.refused("^bias: .* are no real numbers$", croquis.exact, Q, K, V, "softmax-rpe", bias=[large] * 23)
            self.refused("^features: .* is no whole number", croquis.error, Q, K, V, features=large)
            self.refused("ridge", croquis.approximate, Q, K, V, "skyformer", 8, ridge=large)

    def test_an_array_without_dimensions_is_one_number(self):
        Q, K, V = square_head(n=12)
        self.assertEqual(croquis.error(Q, K, V, "v-mean", numpy.array(8))["features"], 8)
        of = lambda epsilons: croquis.dimension(Q, K, V, epsilons, trials=0)["d_stat"]
        numpy.testing.assert_array_equal(of(numpy.array(0.5)), of(0.5))
        self.refused("^features: array.8.5. is no whole number", croquis.error, Q, K, V, "v-mean", numpy.array(8.5))
        for bad in (numpy.array(True), numpy.array("x"), numpy.array(1j), numpy.ma.masked):
            self.refused("^epsilons: .* is no real number$", of, bad)

    def test_problems_that_a_method_does_not_take(self):
        Q, K, V = head()
        square = next(m.name for m in croquis.methods() if not m.rectangular)
        self.refused("as many queries as keys", croquis.approximate, Q, K, V, square, 8)
        self.refused("as many queries as keys", croquis.error, Q, K, V, square, [8])
        self.refused("^Problem: as many queries as keys", croquis.dimension, Q, K, V, 0.1, trials=0)
        self.refused("at least as many keys as queries", croquis.exact, K, Q, V[:37], causal=True)
        not_causal = next(m.name for m in croquis.methods() if not m.causal and m.rectangular)
        self.refused("causal", croquis.approximate, Q, K, V, not_causal, 8, causal=True)

    def test_a_bias_that_would_have_no_effect(self):
        Q, K, V = square_head()
        bias = numpy.zeros(2 * len(Q) - 1)
        which = "takes no bias; targets that take one are softmax-rpe normalized-rpe, methods prf-rpe nprf-rpe"
        self.refused("^target softmax: " + which, croquis.exact, Q, K, V, bias=bias)
        self.refused("^target kernelized: " + which, croquis.vjp, Q, K, V, V, target="kernelized", bias=bias)
        self.refused("^skeinformer: " + which, croquis.approximate, Q, K, V, "skeinformer", 8, bias=bias)
        self.refused("^skeinformer: " + which, croquis.vjp, Q, K, V, V, "skeinformer", 8, bias=bias)
        for measure in (croquis.error, croquis.gradient, croquis.cost, croquis.choose):
            self.refused("^v-mean: " + which, measure, Q, K, V, methods="v-mean", features=8, bias=bias)
            rows = measure(Q, K, V, features=8, trials=1, bias=bias) if measure is not croquis.cost else None
            if rows is not None:
                self.assertLessEqual(set(rows["method"]), {"prf-rpe", "nprf-rpe", "exact"})
        self.refused("^exact: " + which, croquis.cost, Q, K, V, "exact", bias=bias)
        self.refused("bias: its shape is", croquis.exact, Q, K, V, "softmax-rpe", bias=[])

    def test_a_target_that_is_not_that_of_the_method(self):
        Q, K, V = square_head()
        arguments = (Q, K, V, V, "skeinformer", 8)
        self.refused("^target: skeinformer approximates softmax, this is kernelized", croquis.vjp, *arguments, target="kernelized")
        self.refused("^target: 'soft' is none of softmax", croquis.vjp, *arguments, target="soft")
        self.refused("^target: 3 is no line", croquis.vjp, *arguments, target=3)
        self.refused("^target: skeinformer", croquis.approximate, Q, K, V, "skeinformer", 8, target="kernelized")
        for own, none in zip(croquis.vjp(*arguments, target="softmax"), croquis.vjp(*arguments)):
            numpy.testing.assert_array_equal(own, none)

    def test_numbers_that_exact_attention_does_not_need(self):
        Q, K, V = square_head()
        self.refused("^features: -1 is no", croquis.approximate, Q, K, V, "exact", -1)
        self.refused("^seed: -1 is no", croquis.vjp, Q, K, V, V, seed=-1)
        self.refused("^exact attention has no options, got ridge", croquis.approximate, Q, K, V, "exact", ridge=1)
        self.refused("^is_causal: is called causal here$", croquis.approximate, Q, K, V, "exact", is_causal=True)
        self.refused("^attn_mask: no mask but that of causal=True", croquis.approximate, Q, K, V, "nystromformer", attn_mask=1)

    def test_sketches(self):
        S = croquis.sketch("gaussian", rows=30, features=7)
        self.refused("^M: its dtype", S.left, numpy.ones((30, 2), dtype=int))
        self.refused(r"^M: its shape is \(31, 2\); give \(30, k\)$", S.left, numpy.ones((31, 2)))
        self.refused(r"^M: its shape is \(2, 31\); give \(k, 30\)$", S.right, numpy.ones((2, 31)))
        self.refused(r"^M: its shape is \(30, 2\); give \(7, k\)$", S.expand, numpy.ones((30, 2)))
        self.refused(r"^M: its shape is \(30,\); give \(30, k\)$", S.left, numpy.ones(30))
        # Found when the sketch is made, not when it is first used.
        self.refused("d = 40", croquis.sketch, "srht", 8, 40)
        self.refused("weight = -1", croquis.sketch, "importance", 2, 2, weights=[1, -1])
        self.refused("s", croquis.sketch, "sjlt", 30, 7, s=-1)
        for bad in ("x", "1_0", "\u0664", " 4", ""):  # some of which Python takes for numbers
            self.refused(f"^sketch: s={bad} is no number$", croquis.sketch, "sjlt", 30, 7, s=bad)
        self.refused("weights", croquis.sketch, "importance", 30, 7)


if __name__ == "__main__":
    unittest.main()
