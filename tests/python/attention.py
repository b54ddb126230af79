"""exact and approximate: values against dense NumPy, layouts, dtypes, ownership."""

import gc
import inspect
import pathlib
import re
import resource
import sys
import unittest
import weakref

import numpy

import croquis
from heads import N_K, N_Q, P_V, dense_attention, head, overflowing_head, square_head


class Exact(unittest.TestCase):
    def test_is_attention_by_its_definition(self):
        Q, K, V = head()
        output = croquis.exact(Q, K, V)
        self.assertEqual(output.shape, (N_Q, P_V))
        numpy.testing.assert_allclose(output, dense_attention(Q, K, V), atol=1e-13)
        kernelized = croquis.exact(Q, K, V, target="kernelized")
        numpy.testing.assert_allclose(kernelized, dense_attention(Q, K, V, kernelized=True), atol=1e-12)

    def test_unit_queries_and_keys(self):
        Q, K, V = head()
        unit = lambda x: x / numpy.linalg.norm(x, axis=1, keepdims=True)
        expected = dense_attention(unit(Q) * Q.shape[1] ** 0.5, unit(K), V)  # which undoes the 1 / sqrt(p)
        numpy.testing.assert_allclose(croquis.exact(Q, K, V, "normalized"), expected, atol=1e-13)

    def test_causal_mask_and_bias_stand_at_the_last_key(self):
        Q, K, V = head()
        numpy.testing.assert_allclose(
            croquis.exact(Q, K, V, causal=True), dense_attention(Q, K, V, causal=True), atol=1e-13
        )
        bias = numpy.random.default_rng(2).normal(size=2 * max(len(Q), len(K)) - 1)
        numpy.testing.assert_allclose(
            croquis.exact(Q, K, V, "softmax-rpe", bias=bias), dense_attention(Q, K, V, bias=bias), atol=1e-13
        )

    def test_padding_has_zero_rows_and_does_not_matter(self):
        Q, K, V = square_head()
        output = croquis.exact(Q, K, V, length=40)
        numpy.testing.assert_allclose(output[:40], dense_attention(Q[:40], K[:40], V[:40]), atol=1e-13)
        self.assertFalse(output[40:].any())
        fortran = [numpy.asfortranarray(x) for x in (Q, K, V)]
        numpy.testing.assert_array_equal(croquis.exact(*fortran, length=40), output)
        for given, before in zip(fortran, (Q, K, V)):
            numpy.testing.assert_array_equal(given, before)

    def test_single_precision(self):
        Q, K, V = head(dtype=numpy.float32)
        output = croquis.exact(Q, K, V)
        self.assertEqual(output.dtype, numpy.float32)
        numpy.testing.assert_allclose(output, dense_attention(Q, K, V), atol=2e-6)
        self.assertEqual(croquis.exact(Q, K, V.astype(numpy.float64)).dtype, numpy.float64)


class Memory(unittest.TestCase):
    def test_a_call_finds_the_memory_of_the_one_before(self):
        # In place of new pages from the system, five megabytes of them, of 4096 bytes each, for these sizes.
        rng = numpy.random.default_rng(3)
        Q, K, V = (rng.normal(size=(4096, 64)).astype(numpy.float32) for _ in range(3))
        faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for calls in (3, 5):
            before = faults()
            for _ in range(calls):
                croquis.approximate(Q, K, V, method="performer", features=64, seed=1)
        self.assertLess(faults() - before, calls * 256)


class Layouts(unittest.TestCase):
    def layouts(self, x):
        wide = numpy.full((2 * x.shape[0], 3 * x.shape[1]), numpy.nan, dtype=x.dtype)
        wide[::2, 1::3] = x
        unaligned = numpy.frombuffer(b"x" + x.tobytes(), dtype=numpy.uint8)[1:].view(x.dtype).reshape(x.shape)
        read_only = x.copy()
        read_only.flags.writeable = False
        return [
            numpy.ascontiguousarray(x),
            numpy.asfortranarray(x),
            wide[::2, 1::3],
            x[::-1][::-1],
            numpy.ascontiguousarray(x[:, ::-1])[:, ::-1],
            unaligned,
            read_only,
        ]

    def test_the_same_bits_for_every_layout(self):
        for dtype in (numpy.float32, numpy.float64):
            Q, K, V = head(dtype=dtype)
            expected = croquis.exact(Q, K, V)
            for arrays in zip(self.layouts(Q), self.layouts(K), self.layouts(V)):
                numpy.testing.assert_array_equal(croquis.exact(*arrays), expected)
                numpy.testing.assert_array_equal(
                    croquis.approximate(*arrays, "skeinformer", 8), croquis.approximate(Q, K, V, "skeinformer", 8)
                )

    def test_the_output_is_in_the_order_of_the_input(self):
        Q, K, V = head()
        self.assertTrue(croquis.exact(Q, K, V).flags.c_contiguous)
        fortran = [numpy.asfortranarray(x) for x in (Q, K, V)]
        self.assertTrue(croquis.exact(*fortran).flags.f_contiguous)
        self.assertTrue(croquis.exact(Q, *fortran[1:]).flags.c_contiguous)

    def test_arguments_in_fortran_order_are_not_copied(self):
        n, p = 4096, 512  # 16 MB each: a copy shows in the peak of the process
        arrays = [numpy.zeros((n, p), order="F") for _ in range(3)]
        status = pathlib.Path("/proc/self/status")
        peak = lambda: int(re.search(r"VmHWM:\s*(\d+)", status.read_text()).group(1))
        reset = lambda: pathlib.Path("/proc/self/clear_refs").write_text("5")
        few = numpy.zeros((1, p), order="F")
        croquis.exact(few, arrays[1], arrays[2])
        try:
            reset()
        except OSError:
            self.skipTest("the kernel does not let the peak be reset")
        before = peak()
        croquis.exact(few, arrays[1], arrays[2])
        # The library stores some of the values again; two arrays that are copied are 32 MB more.
        copied = peak()
        reset()
        start = peak()
        croquis.exact(few, numpy.ascontiguousarray(arrays[1]), arrays[2])
        self.assertLess(copied - before, peak() - start)


class Ownership(unittest.TestCase):
    def test_arguments_are_neither_kept_nor_changed(self):
        for order in "CF":
            Q, K, V = (numpy.array(x, order=order) for x in head())
            copies = [x.copy() for x in (Q, K, V)]
            before = [sys.getrefcount(x) for x in (Q, K, V)]
            for _ in range(20):
                croquis.exact(Q, K, V)
                croquis.approximate(Q, K, V, "skyformer", 8)
                croquis.error(Q, K, V, "v-mean", [4], trials=1)
            self.assertEqual(before, [sys.getrefcount(x) for x in (Q, K, V)])
            for x, copy in zip((Q, K, V), copies):
                numpy.testing.assert_array_equal(x, copy)

    def test_a_refusal_keeps_nothing(self):
        Q, K, V = head()
        before = [sys.getrefcount(x) for x in (Q, K, V)]
        for _ in range(20):
            with self.assertRaises(ValueError):
                croquis.exact(Q, V, K)
        self.assertEqual(before, [sys.getrefcount(x) for x in (Q, K, V)])

    def test_results_own_their_memory(self):
        for order in "CF":
            Q, K, V = (numpy.array(x, order=order) for x in head())
            output = croquis.exact(Q, K, V)
            expected = output.copy()
            del Q, K, V
            gc.collect()
            view = output[3:, 1:]
            gone = weakref.ref(output)
            del output
            gc.collect()
            numpy.testing.assert_array_equal(view, expected[3:, 1:])
            self.assertIsNotNone(gone())  # the view keeps it
            view[:] = 0  # and may be written to

    def test_results_are_freed(self):
        arrays = [numpy.zeros((2000, 64)) for _ in range(3)]
        resident = lambda: int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
        croquis.approximate(*arrays, "v-mean", 1)
        before = resident()
        for _ in range(200):  # 1 MB each
            croquis.approximate(*arrays, "v-mean", 1)
        self.assertLess(resident() - before, 50e6)


class Approximate(unittest.TestCase):
    def test_a_method_with_all_features_is_exact(self):
        Q, K, V = square_head(n=24)
        output = croquis.approximate(Q, K, V, "skeinformer", features=24)
        numpy.testing.assert_allclose(output, croquis.exact(Q, K, V), atol=1e-12)

    def test_seed_and_trial_name_the_draw(self):
        Q, K, V = head()
        draw = lambda **which: croquis.approximate(Q, K, V, "skeinformer", 8, **which)
        numpy.testing.assert_array_equal(draw(seed=3, trial=2), draw(seed=3, trial=2))
        self.assertTrue((draw(seed=3) != draw(seed=4)).any())
        self.assertTrue((draw(trial=1) != draw(trial=2)).any())

    def test_it_is_the_draw_whose_error_is_measured(self):
        Q, K, V = head()
        rows = croquis.error(Q, K, V, ["skeinformer", "performer:map=oprf"], [8, 16], trials=2, seed=5)
        exact = dense_attention(Q, K, V)
        for row in rows:
            options = {"map": "oprf"} if row["method"] == "performer" else {}
            output = croquis.approximate(
                Q, K, V, row["method"], int(row["features"]), seed=5, trial=int(row["trial"]), **options
            )
            error = numpy.linalg.norm(output - exact) / numpy.linalg.norm(exact)
            self.assertAlmostEqual(row["frobenius_rel"], error, places=10)

    def test_options_are_numbers_or_words(self):
        Q, K, V = square_head()
        plain = croquis.approximate(Q, K, V, "skyformer", 16)
        self.assertTrue((croquis.approximate(Q, K, V, "skyformer", 16, ridge=0.5) != plain).any())
        self.assertTrue((croquis.approximate(Q, K, V, "skyformer", 16, ridge=numpy.float64(0.5)) != plain).any())
        self.assertTrue((croquis.approximate(Q, K, V, "skyformer", 16, preset="code") != plain).any())
        for flag, word in ((True, "yes"), (numpy.bool_(False), "no")):
            given, expected = (croquis.approximate(Q, K, V, "linformer", 8, shared=value) for value in (flag, word))
            numpy.testing.assert_array_equal(given, expected)

    def test_no_option_has_the_name_of_an_argument(self):
        calls = (croquis.approximate, croquis.vjp, croquis.error)
        arguments = {name for call in calls for name in inspect.signature(call).parameters}
        for method in croquis.methods():
            self.assertEqual(arguments & {option.name for option in method.options}, set(), method.name)

    def test_every_method_gives_the_shape_of_the_exact_output(self):
        for method in croquis.methods():
            Q, K, V = head() if method.rectangular else square_head()
            output = croquis.approximate(Q, K, V, method.name, features=16)
            self.assertEqual(output.shape, (len(Q), P_V), method.name)
            if method.causal:
                self.assertEqual(croquis.approximate(Q, K, V, method.name, 16, causal=True).shape, (len(Q), P_V))

    def test_features_that_are_not_given_are_as_many_as_the_head_has(self):
        for n in (1, 9, 100):
            Q, K, V = square_head(n=n, p=4, p_v=3)
            for method in croquis.methods():
                with self.subTest(method=method.name, n=n):
                    self.assertEqual(croquis.approximate(Q, K, V, method.name).shape, (n, 3))
        expected = croquis.approximate(Q, K, V, "skeinformer", 100)
        numpy.testing.assert_array_equal(croquis.approximate(Q, K, V, "skeinformer"), expected)
        few = Q[:60]
        expected = croquis.approximate(few, K, V, "nystromformer", 60)
        numpy.testing.assert_array_equal(croquis.approximate(few, K, V, "nystromformer"), expected)
        padded = croquis.approximate(Q, K, V, "skeinformer", length=40)
        numpy.testing.assert_array_equal(padded, croquis.approximate(Q, K, V, "skeinformer", 40, length=40))

    def test_an_output_that_is_not_finite_is_a_breakdown(self):
        Q, K, V = overflowing_head()
        why = "the output is not finite"
        self.assertEqual(list(croquis.error(Q, K, V, "hyperattention", 6, trials=1, seed=2)["status"]), [why])
        with self.assertRaisesRegex(RuntimeError, f"^{why}$"):
            croquis.approximate(Q, K, V, "hyperattention", 6, seed=2)

    def test_threads_do_not_matter(self):
        Q, K, V = square_head(n=300)
        expected = croquis.approximate(Q, K, V, "kriged-coreset", 32)
        standard = croquis.threads()
        try:
            for count in (1, 2, 3):
                croquis.set_threads(count)
                self.assertEqual(croquis.threads(), count)
                numpy.testing.assert_array_equal(croquis.approximate(Q, K, V, "kriged-coreset", 32), expected)
        finally:
            croquis.set_threads(0)
        self.assertEqual(croquis.threads(), standard)


if __name__ == "__main__":
    unittest.main()
