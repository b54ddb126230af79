"""vjp against derivatives by central differences, for every method that has them."""

import unittest

import numpy

import croquis
from heads import dense_attention, head, head_of_overflowing_derivatives, square_head


def differences(function, x, G, step=1e-6):
    """d <G, function(x)> / dx, entry by entry."""
    gradient = numpy.empty_like(x)
    for i in numpy.ndindex(*x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        gradient[i] = (G * (function(ahead) - function(behind))).sum() / (2 * step)
    return gradient


class Vjp(unittest.TestCase):
    def check(self, forward, gradient, arrays, G, accuracy=1e-6):
        for i, found in enumerate(gradient):
            of_one = lambda x: forward(*arrays[:i], x, *arrays[i + 1 :])
            expected = differences(of_one, arrays[i], G)
            self.assertEqual(found.shape, arrays[i].shape)
            scale = max(1, numpy.abs(expected).max())
            numpy.testing.assert_allclose(found / scale, expected / scale, atol=accuracy)

    def test_exact(self):
        Q, K, V = head(n_q=7, n_k=9, p=5, p_v=3)
        G = numpy.random.default_rng(2).normal(size=(7, 3))
        for causal in (False, True):
            gradient = croquis.vjp(Q, K, V, G, causal=causal)
            self.check(lambda *x: dense_attention(*x, causal=causal), gradient, [Q, K, V], G)
        kernelized = croquis.vjp(Q, K, V, G, target="kernelized")
        self.check(lambda *x: dense_attention(*x, kernelized=True), kernelized, [Q, K, V], G)

    def test_bias(self):
        Q, K, V = head(n_q=7, n_k=9, p=5, p_v=3)
        bias = numpy.random.default_rng(3).normal(size=17)
        G = numpy.random.default_rng(2).normal(size=(7, 3))
        gradient = croquis.vjp(Q, K, V, G, target="softmax-rpe", bias=bias)
        self.assertEqual(len(gradient), 4)
        self.check(lambda q, k, v, b: dense_attention(q, k, v, bias=b), gradient, [Q, K, V, bias], G)

    def test_padding_has_no_derivatives(self):
        Q, K, V = square_head(n=9, p=5, p_v=3)
        G = numpy.random.default_rng(2).normal(size=(9, 3))
        padded = croquis.vjp(Q, K, V, G, length=6)
        for of_all, of_some in zip(padded, croquis.vjp(Q[:6], K[:6], V[:6], G[:6])):
            numpy.testing.assert_array_equal(of_all[:6], of_some)
            self.assertFalse(of_all[6:].any())

    def test_methods(self):
        found = 0
        for method in croquis.methods():
            if not method.vjp:
                continue
            with self.subTest(method.name):
                Q, K, V = head(n_q=13, n_k=16, p=5, p_v=3) if method.rectangular else square_head(n=16, p=5, p_v=3)
                G = numpy.random.default_rng(2).normal(size=(len(Q), 3))
                forward = lambda *x: croquis.approximate(*x, method.name, 6, seed=4, trial=2)
                gradient = croquis.vjp(Q, K, V, G, method.name, 6, seed=4, trial=2)
                self.check(forward, gradient, [Q, K, V], G, accuracy=1e-5)
                found += 1
        self.assertGreater(found, 5)

    def test_layouts_and_precision(self):
        Q, K, V = head()
        G = numpy.random.default_rng(2).normal(size=(len(Q), V.shape[1]))
        expected = croquis.vjp(Q, K, V, G)
        fortran = croquis.vjp(*(numpy.asfortranarray(x) for x in (Q, K, V, G)))
        for a, b in zip(expected, fortran):
            numpy.testing.assert_array_equal(a, b)
            self.assertTrue(a.flags.c_contiguous and b.flags.f_contiguous)
        single = croquis.vjp(*(x.astype(numpy.float32) for x in (Q, K, V, G)))
        for a, b in zip(expected, single):
            self.assertEqual(b.dtype, numpy.float32)
            numpy.testing.assert_allclose(a, b, atol=1e-4)

    def test_derivatives_that_are_not_finite_are_a_breakdown(self):
        Q, K, V = head_of_overflowing_derivatives()
        G = numpy.ones((33, 2), dtype=numpy.float32)
        draw = {"method": "skyformer-softmax", "features": 4}
        self.assertTrue(numpy.isfinite(croquis.approximate(Q, K, V, **draw)).all())
        with self.assertRaisesRegex(RuntimeError, "^dQ, dK are not finite; give float64, or smaller numbers$"):
            croquis.vjp(Q, K, V, G, **draw)
        # What is said to help does, and has the same derivatives: dQ and dK are linear in V. Of float32's seven digits
        # the differences in small row sums leave four.
        double = croquis.vjp(*(x.astype(numpy.float64) for x in (Q, K, V, G)), **draw)
        smaller = croquis.vjp(Q, K, V / numpy.float32(2**33), G, **draw)
        for of_double, of_smaller, scale in zip(double, smaller, (2.0**33, 2.0**33, 1)):
            self.assertTrue(numpy.isfinite(of_double).all())
            difference = numpy.abs(of_double - scale * of_smaller.astype(numpy.float64)).max()
            self.assertLess(difference, 1e-3 * numpy.abs(of_double).max())
        # Float64 is no way out of itself. One derivative alone: with half as many keys as queries some sum of weights is 2.
        rng = numpy.random.default_rng(1)
        Q, K, V, G = (rng.normal(size=(12, 3)) for _ in range(4))
        with self.assertRaisesRegex(RuntimeError, "^dQ, dK are not finite; give smaller numbers$"):
            croquis.vjp(Q, K, 1e150 * V, 1e200 * G)
        with self.assertRaisesRegex(RuntimeError, "^dQ, dK, dbias are not finite; give smaller numbers$"):
            croquis.vjp(Q, K, 1e150 * V, 1e200 * G, target="softmax-rpe", bias=numpy.zeros(23))
        with self.assertRaisesRegex(RuntimeError, "^dV is not finite; give smaller numbers$"):
            croquis.vjp(Q, K[:6], 1e-200 * V[:6], numpy.full((12, 3), 1.7e308))
        # A G of float64 whose numbers float32 has not.
        with numpy.errstate(over="ignore"), self.assertRaisesRegex(RuntimeError, "^dQ, dK, dV are not finite; give float64"):
            croquis.vjp(*(x.astype(numpy.float32) for x in (Q, K, V)), 1e100 * G)
        # A G that is not finite is no breakdown; in the padding it does not count.
        G[3, 1] = numpy.nan
        self.assertTrue(numpy.isnan(croquis.vjp(Q, K, V, G)[0][3]).all())
        for gradient in croquis.vjp(Q, K, V, G, length=3):
            self.assertTrue(numpy.isfinite(gradient).all())
        with self.assertRaisesRegex(RuntimeError, "^dQ, dK are not finite"):
            croquis.vjp(Q, K, 1e150 * V, 1e200 * G, length=3)

    def test_refusals(self):
        Q, K, V = head()
        with self.assertRaisesRegex(ValueError, r"^G: its shape is \(53, 6\); give that of the output, \(37, 6\)$"):
            croquis.vjp(Q, K, V, numpy.ones((len(V), V.shape[1])))
        without = next((m.name for m in croquis.methods() if not m.vjp and m.rectangular), None)
        if without:
            with self.assertRaisesRegex(ValueError, "has no adjoint"):
                croquis.vjp(Q, K, V, numpy.ones((len(Q), V.shape[1])), without, 8)


if __name__ == "__main__":
    unittest.main()
