"""croquis.torch: values and derivatives against PyTorch's own, and gradcheck."""

import doctest
import inspect
import subprocess
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed (python3-torch); croquis.torch was not tested")
    sys.exit(77)

import croquis
from heads import head_of_overflowing_derivatives, overflowing_head

LEADING = (2, 3)


def tensors(n_q=7, n_k=9, p=5, p_v=4, dtype=torch.float64, leading=LEADING, gradient=True):
    torch.manual_seed(1)
    sizes = ((n_q, p), (n_k, p), (n_k, p_v))
    return [torch.randn(*leading, *size, dtype=dtype).requires_grad_(gradient) for size in sizes]


def attention_of_torch(q, k, v, causal=False):
    logits = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        n_q, n_k = logits.shape[-2:]
        logits = logits.masked_fill(torch.ones(n_q, n_k, dtype=torch.bool).triu(n_k - n_q + 1), -torch.inf)
    return torch.softmax(logits, -1) @ v


class Attention(unittest.TestCase):
    def test_a_tensor_with_derivatives_is_no_array_and_how_to_go_on_is_said(self):
        q, k, v = (t[0, 0] for t in tensors())
        with self.assertRaisesRegex(ValueError, r"^Q: .*detach\(\)"):
            croquis.exact(q, k, v)
        self.assertEqual(croquis.exact(q.detach(), k.detach(), v.detach()).shape, (7, 4))

    def test_lengths_of_choose_may_be_a_tensor(self):
        x = torch.randn(3, 2, 16, 4, dtype=torch.float64)
        of = lambda length: croquis.choose(x, x, x, eps=9, methods="v-mean", features=8, length=length)["cost"]
        for same in (torch.tensor(12), torch.full((3,), 12)):
            self.assertTrue((of(same) == of(12)).all())

    def test_tensors_that_numpy_makes_no_array_of(self):
        x = torch.eye(4)
        for way, bad in (
            (r"float\(\)", x.bfloat16()),
            (r"double\(\)", x.long()),
            (r"to_dense\(\)", x.to_sparse()),
        ):
            with self.assertRaisesRegex(ValueError, rf"^Q: .*\bQ\.{way}$"):
                croquis.exact(bad, x, x)

    def test_numbers_may_be_tensors(self):
        x = torch.randn(16, 4, dtype=torch.float64)
        self.assertEqual(croquis.error(x, x, x, "v-mean", torch.tensor(8))["features"], 8)
        self.assertEqual(croquis.error(x, x, x, "v-mean", torch.tensor([4, 8]))["features"].tolist(), [4, 8])
        self.assertEqual(croquis.choose(x, x, x, torch.tensor(0.5), methods="v-mean", features=8)["eps"], 0.5)

    def test_every_seed_of_64_bits(self):
        q, k, v = tensors(gradient=False)
        output = croquis.torch.attention(q, k, v, "skeinformer", 4, 2**64 - 1)
        same = croquis.approximate(q[0, 0], k[0, 0], v[0, 0], "skeinformer", 4, 2**64 - 1)
        self.assertTrue((output[0, 0].numpy() == same).all())
        with self.assertRaisesRegex(ValueError, f"^seed: {2**64} is no whole number"):
            croquis.torch.attention(q, k, v, "skeinformer", 4, 2**64)

    def test_exact_is_that_of_torch_with_its_derivatives(self):
        for causal in (False, True):
            own, theirs = tensors(), tensors()
            output = croquis.torch.attention(*own, causal=causal)
            expected = attention_of_torch(*theirs, causal=causal)
            torch.testing.assert_close(output, expected, atol=1e-12, rtol=0)
            cotangent = torch.randn_like(expected)
            output.backward(cotangent)
            expected.backward(cotangent)
            for a, b in zip(own, theirs):
                torch.testing.assert_close(a.grad, b.grad, atol=1e-12, rtol=0)

    def test_gradcheck_of_every_method(self):
        checked = ["exact"] + [m.name for m in croquis.methods() if m.vjp]
        for name in checked:
            with self.subTest(name):
                q, k, v = tensors(n_q=12, n_k=12, p=4, p_v=3, leading=(2,))
                of = lambda q, k, v: croquis.torch.attention(q, k, v, name, 5, seed=3)
                self.assertTrue(torch.autograd.gradcheck(of, (q, k, v), eps=1e-6, atol=1e-5, rtol=1e-4))

    def test_gradcheck_of_the_bias(self):
        q, k, v = tensors(leading=(2,))
        bias = torch.randn(17, dtype=torch.float64).requires_grad_()
        of = lambda q, k, v, b: croquis.torch.attention(q, k, v, target="softmax-rpe", bias=b)
        self.assertTrue(torch.autograd.gradcheck(of, (q, k, v, bias)))

    def test_derivatives_of_derivatives_are_refused(self):
        bias = torch.randn(17, dtype=torch.float64).requires_grad_()
        for what in ({}, {"method": "skeinformer", "features": 4}, {"target": "softmax-rpe", "bias": bias}):
            q, k, v = tensors(leading=(2,))
            output = croquis.torch.attention(q, k, v, **what)
            weights = torch.ones_like(output).requires_grad_()
            for cotangent in (torch.ones_like(output), weights):
                found = torch.autograd.grad(output, (q, k, v), cotangent, create_graph=True)
                for gradient in found:
                    with self.assertRaisesRegex(RuntimeError, "has first derivatives alone"):
                        gradient.square().sum().backward(retain_graph=True)
        q, k, v = (torch.randn(9, 2, 3, dtype=torch.float64).requires_grad_() for _ in range(3))
        output = croquis.torch.packed_attention(q, k, v, [4, 5])
        (found,) = torch.autograd.grad(output.sum(), q, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "has first derivatives alone"):
            found.square().sum().backward()

    def test_heads_may_share_keys_and_values(self):
        q, _, _ = tensors()
        _, k, v = tensors(leading=(2, 1))
        output = croquis.torch.attention(q, k, v)
        torch.testing.assert_close(output, attention_of_torch(q, k, v), atol=1e-12, rtol=0)
        output.sum().backward()
        self.assertEqual(k.grad.shape, k.shape)

    def test_shapes_layouts_and_precision(self):
        for leading in ((), (1,), (4,), (2, 3, 2)):
            q, k, v = tensors(leading=leading, dtype=torch.float32)
            output = croquis.torch.attention(q, k, v, "skeinformer", 4)
            self.assertEqual((output.shape, output.dtype), ((*leading, 7, 4), torch.float32))
        q, k, v = (t.transpose(-1, -2).contiguous().transpose(-1, -2) for t in tensors(gradient=False))
        torch.testing.assert_close(
            croquis.torch.attention(q, k, v), attention_of_torch(q, k, v), atol=1e-12, rtol=0
        )

    def test_features_that_are_not_given_are_as_many_as_the_keys(self):
        q, k, v = tensors(gradient=False)
        expected = croquis.torch.attention(q, k, v, "skeinformer", 9)
        torch.testing.assert_close(croquis.torch.attention(q, k, v, "skeinformer"), expected, atol=0, rtol=0)

    def test_every_head_has_a_draw_of_its_own(self):
        q, k, v = (t[:1, :1].expand(1, 2, -1, -1) for t in tensors(gradient=False))
        first, second = croquis.torch.attention(q, k, v, "performer", 4)[0]
        self.assertFalse(torch.equal(first, second))
        again = croquis.torch.attention(q, k, v, "performer", 4)[0]
        self.assertTrue(torch.equal(first, again[0]) and torch.equal(second, again[1]))
        other = croquis.torch.attention(q, k, v, "performer", 4, seed=2)[0]
        self.assertFalse(torch.equal(first, other[0]))

    def test_a_change_in_place_is_found(self):
        q, k, v = tensors(leading=())
        scaled = q * 1
        output = croquis.torch.attention(scaled, k, v)
        with torch.no_grad():
            scaled += 1
        with self.assertRaisesRegex(RuntimeError, "inplace operation"):
            output.sum().backward()

    def test_an_exact_choice_is_exact_attention_to_its_target(self):
        q, k, v = tensors(n_q=16, n_k=16, leading=(1,), gradient=False)
        row = croquis.choose(q[0], k[0], v[0], 1e-9, methods="skyformer", features=4)[0]
        arguments = croquis.method_arguments(row)
        expected = torch.from_numpy(croquis.exact(q[0], k[0], v[0], "kernelized"))
        torch.testing.assert_close(croquis.torch.attention(q, k, v, **arguments)[0], expected, atol=0, rtol=0)
        packed = croquis.torch.packed_attention(*(t.transpose(0, 1) for t in (q, k, v)), [16], **arguments)
        torch.testing.assert_close(packed[:, 0], expected, atol=0, rtol=0)

    def test_packed_sequences_are_those_alone(self):
        lengths = [12, 7, 9]
        torch.manual_seed(2)
        for name in ["exact", "kernelized"] + [m.name for m in croquis.methods() if m.vjp]:
            with self.subTest(name):
                what = {"target": name} if name == "kernelized" else {"method": name, "features": 4}
                packed = [torch.randn(28, 2, 6, dtype=torch.float64).requires_grad_() for _ in range(3)]
                output = croquis.torch.packed_attention(*packed, lengths, seed=[3, 4, 3], **what)
                cotangent = torch.randn_like(output)
                output.backward(cotangent)
                alone = [t.detach().clone().requires_grad_() for t in packed]
                parts = zip(*(t.split(lengths) for t in alone), (3, 4, 3))
                expected = torch.cat(
                    [
                        croquis.torch.attention(*(t.transpose(0, 1) for t in (q, k, v)), seed=seed, **what).transpose(0, 1)
                        for q, k, v, seed in parts
                    ]
                )
                expected.backward(cotangent)
                torch.testing.assert_close(output, expected, atol=0, rtol=0)
                for a, b in zip(packed, alone):
                    torch.testing.assert_close(a.grad, b.grad, atol=0, rtol=0)

    def test_packed_sequences_share_the_middle_of_a_bias(self):
        q, k, v = (torch.randn(9, 2, 3, dtype=torch.float64).requires_grad_() for _ in range(3))
        bias = torch.randn(2, 13, dtype=torch.float64).requires_grad_()
        of = lambda q, k, v, b: croquis.torch.packed_attention(q, k, v, [4, 5], target="softmax-rpe", bias=b)
        self.assertTrue(torch.autograd.gradcheck(of, (q, k, v, bias)))
        first = croquis.torch.attention(q[:4, 1], k[:4, 1], v[:4, 1], target="softmax-rpe", bias=bias[1, 3:10])
        torch.testing.assert_close(of(q, k, v, bias)[:4, 1], first, atol=1e-14, rtol=0)

    def test_refusals_of_packed_sequences(self):
        q, k, v = torch.randn(3, 9, 2, 3).unbind()
        packed = croquis.torch.packed_attention
        with self.assertRaisesRegex(ValueError, "add up to 8, q has 9"):
            packed(q, k, v, [4, 4])
        with self.assertRaisesRegex(ValueError, "lengths: 0 is no whole number"):
            packed(q, k, v, [9, 0])
        with self.assertRaisesRegex(ValueError, "there are 3 for 2"):
            packed(q, k, v, [4, 5], seed=[1, 2, 3])
        with self.assertRaisesRegex(ValueError, "give .n, heads, p."):
            packed(q[:, 0], k[:, 0], v[:, 0], [4, 5])
        with self.assertRaisesRegex(ValueError, "with m >= 5"):
            packed(q, k, v, [4, 5], target="softmax-rpe", bias=torch.zeros(2, 7))

    def test_nothing_is_kept_for_derivatives_that_are_not_recorded(self):
        without = next(m.name for m in croquis.methods() if not m.vjp and m.rectangular)
        q, k, v = tensors()
        with torch.no_grad():
            output = croquis.torch.attention(q, k, v, without, 4)
            self.assertFalse(output.requires_grad)
            packed = [t[0].transpose(0, 1) for t in (q, q, q)]
            self.assertFalse(croquis.torch.packed_attention(*packed, [3, 4], without, 3).requires_grad)
        torch.testing.assert_close(output, croquis.torch.attention(q.detach(), k.detach(), v.detach(), without, 4))

    def test_refusals_of_layouts(self):
        x = torch.eye(4)
        nested = torch.nested.nested_tensor([torch.randn(3, 2, 4), torch.randn(2, 2, 4)])
        for pattern, bad in (
            (r"its layout is torch.sparse_coo; give {}.to_dense\(\)$", x.to_sparse()),
            (r"its layout is torch.sparse_csr; give {}.to_dense\(\)$", x.to_sparse_csr()),
            (r"its layout is torch._mkldnn; give {}.to_dense\(\)$", x.to_mkldnn()),
            (r"is nested; .* packed_attention: torch.cat\({}.unbind\(\)\)$", nested),
        ):
            for i, name in enumerate("qkv"):
                arguments = [x] * 3
                arguments[i] = bad
                with self.assertRaisesRegex(ValueError, f"^{name}: " + pattern.format(name)):
                    croquis.torch.attention(*arguments)
        packed = croquis.torch.packed_attention(*[torch.cat(nested.unbind())] * 3, [3, 2])
        self.assertEqual(packed.shape, (5, 2, 4))

    def test_refusals_of_shapes(self):
        attention = croquis.torch.attention
        q, k, v = tensors(gradient=False)
        for pattern, arguments in (
            ("q: is a ndarray; give a tensor", (q.numpy(), k, v)),
            ("v: is a list; give a tensor", (q, k, v.tolist())),
            ("q, k, v: their heads are .2, 3., .2, 2., .2, 2., .*repeat_interleave", (q, k[:, :2], v[:, :2])),
            (r"q: its shape is \(5,\); give \(..., tokens, width\)", (q[0, 0, 0], k, v)),
            (r"q: its shape is \(0, 3, 7, 5\), without a number", (q[:0], k[:0], v[:0])),
            (r"k: its shape is \(2, 3, 0, 5\), without a number", (q, k[:, :, :0], v[:, :, :0])),
            ("Q and K of one width", (q, v, v)),
        ):
            with self.assertRaisesRegex(ValueError, pattern):
                attention(*arguments)
        with self.assertRaisesRegex(ValueError, "bias: its shape is .4, 17., the heads are .2, 3."):
            attention(q, k, v, target="softmax-rpe", bias=torch.zeros(4, 17, dtype=q.dtype))
        with self.assertRaisesRegex(ValueError, "lengths: 3 is no list"):
            croquis.torch.packed_attention(q[0], q[0], q[0], 3)

    def test_the_head_that_is_refused_is_named(self):
        q, k, v = tensors(gradient=False)
        q[1, 2, 3, 1] = torch.nan
        why = "Problem: finite entries, got matrix = Q, row = 3, column = 1"
        for where, some in ((r"head \(1, 2\): ", ()), ("head 2: ", (1,)), ("", (1, 2))):
            with self.assertRaisesRegex(ValueError, f"^{where}{why}"):
                croquis.torch.attention(q[some], k[some], v[some])
        packed = torch.randn(9, 2, 3)
        packed[7, 1, 1] = torch.nan
        with self.assertRaisesRegex(ValueError, f"^sequence 1, head 1: {why}"):
            croquis.torch.packed_attention(packed, packed, packed, [4, 5])
        packed = torch.randn(9, 2, 3)
        with self.assertRaisesRegex(ValueError, "^sequence 1, head 0: skeinformer: .*got d = 5, n_k = 4"):
            croquis.torch.packed_attention(packed, packed, packed, [5, 4], "skeinformer", 5)

    def test_an_output_that_is_not_finite_is_a_breakdown_of_its_head(self):
        heads = [torch.from_numpy(x).expand(2, *x.shape).clone() for x in overflowing_head()]
        heads[1][0] = 0
        with self.assertRaisesRegex(RuntimeError, "^head 1: the output is not finite$"):
            croquis.torch.attention(*heads, "hyperattention", 6, seed=2)

    def test_derivatives_that_are_not_finite_are_a_breakdown_of_their_head(self):
        head = [torch.from_numpy(x) for x in head_of_overflowing_derivatives()]
        double = [x.double().requires_grad_() for x in head]
        croquis.torch.attention(*double, "skyformer-softmax", 4).sum().backward()
        self.assertTrue(all(x.grad.isfinite().all() for x in double))
        why = "dQ, dK are not finite; give float64, or smaller numbers$"
        # With this seed it is the second draw that has them.
        heads = [x.expand(2, *x.shape).clone().requires_grad_() for x in head]
        output = croquis.torch.attention(*heads, "skyformer-softmax", 4, seed=15)
        with self.assertRaisesRegex(RuntimeError, f"^head 1: {why}"):
            output.sum().backward()
        self.assertTrue(all(x.grad is None for x in heads))
        packed = [torch.cat([x, x]).unsqueeze(1).requires_grad_() for x in head]
        output = croquis.torch.packed_attention(*packed, [33, 33], "skyformer-softmax", 4, seed=[2, 1])
        with self.assertRaisesRegex(RuntimeError, f"^sequence 1, head 0: {why}"):
            output.sum().backward()

    def test_no_option_has_the_name_of_an_argument(self):
        for call in (croquis.torch.attention, croquis.torch.packed_attention):
            for method in croquis.methods():
                shadowed = set(inspect.signature(call).parameters) & {option.name for option in method.options}
                self.assertEqual(shadowed, set(), method.name)

    def test_an_option_that_no_method_takes(self):
        q, k, v = tensors(gradient=False)
        for name in ("trial", "length", "zz"):
            with self.assertRaisesRegex(ValueError, f"^v-mean: takes no options, got option = {name}$"):
                croquis.torch.attention(q, k, v, "v-mean", **{name: 2})
            with self.assertRaisesRegex(ValueError, f"^v-mean: takes no options, got option = {name}$"):
                croquis.torch.packed_attention(*[torch.randn(9, 2, 3)] * 3, [4, 5], "v-mean", **{name: 2})
            with self.assertRaisesRegex(ValueError, f"^exact attention has no options, got {name}$"):
                croquis.torch.attention(q, k, v, **{name: 2})

    def test_refusals(self):
        q, k, v = tensors()
        with self.assertRaisesRegex(ValueError, "dtype is torch.float16"):
            croquis.torch.attention(q.half(), k, v)
        # What is said to help is not refused in its turn.
        with self.assertRaisesRegex(ValueError, r"^v: its dtype is torch.float16; give v.double\(\)$"):
            croquis.torch.attention(q, k, v.half())
        with self.assertRaisesRegex(ValueError, r"^v: its dtype is torch.float16; give v.float\(\)$"):
            croquis.torch.attention(q.float(), k.float(), v.half())
        # Half of a complex number would be lost without a word.
        no_complex = "its dtype is torch.complex.*; give float32 or float64: complex numbers are not taken$"
        for i, name in enumerate("qkv"):
            several = [x + 0j if i == j else x for j, x in enumerate((q, k, v))]
            with self.assertRaisesRegex(ValueError, f"^{name}: {no_complex}"):
                croquis.torch.attention(*several)
            with self.assertRaisesRegex(ValueError, f"^{name}: {no_complex}"):
                croquis.torch.packed_attention(*(x[0].transpose(0, 1) for x in several), [7])
        with self.assertRaisesRegex(ValueError, f"^bias: {no_complex}"):
            croquis.torch.attention(q, k, v, target="softmax-rpe", bias=torch.zeros(17, dtype=torch.complex64))
        with self.assertRaisesRegex(ValueError, "that of q is"):
            croquis.torch.attention(q, k.float(), v)
        with self.assertRaisesRegex(ValueError, "k: is on meta"):
            croquis.torch.attention(q, k.to("meta"), v)
        with self.assertRaisesRegex(ValueError, "^target: skeinformer approximates softmax, this is kernelized"):
            croquis.torch.attention(q, k, v, "skeinformer", 4, target="kernelized")
        bias = torch.zeros(17, dtype=torch.float64)
        with self.assertRaisesRegex(ValueError, "^target softmax: takes no bias"):
            croquis.torch.attention(q, k, v, bias=bias)
        with self.assertRaisesRegex(ValueError, "^skeinformer: takes no bias"):
            croquis.torch.attention(q, k, v, "skeinformer", 4, bias=bias)
        without = next((m.name for m in croquis.methods() if not m.vjp and m.rectangular), None)
        if without:
            with self.assertRaisesRegex(ValueError, "has no adjoint"):
                croquis.torch.attention(q, k, v, without, 4)
            croquis.torch.attention(q.detach(), k.detach(), v.detach(), without, 4)

    def test_is_there_without_an_import_of_its_own(self):
        code = "import sys, croquis; assert 'torch' not in sys.modules; print(callable(croquis.torch.attention))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "True\n")
        # Where PyTorch cannot be imported.
        code = "import sys, croquis; sys.modules['torch'] = None; print(hasattr(croquis, 'torch')); croquis.torch"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout, "False\n")
        self.assertIn("AttributeError: croquis.torch needs PyTorch", done.stderr)
        self.assertFalse(hasattr(croquis, "torsh"))

    def test_examples(self):
        self.assertEqual(doctest.testmod(croquis.torch).failed, 0)


if __name__ == "__main__":
    unittest.main()
