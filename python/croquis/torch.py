"""Attention of Croquis in PyTorch, with derivatives.

>>> import torch, croquis.torch
>>> q, k, v = torch.randn(2, 3, 40, 8), torch.randn(2, 3, 50, 8), torch.randn(2, 3, 50, 5)
>>> croquis.torch.attention(q, k, v, method="skeinformer", features=16).shape
torch.Size([2, 3, 40, 5])
>>> q, k, v = torch.randn(3, 9, 2, 8).unbind()
>>> croquis.torch.packed_attention(q, k, v, [4, 5]).shape
torch.Size([9, 2, 8])
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy
import torch

from . import _core
from ._attention import request
from ._types import Array, Flag, Setting, Whole, counted, head_options, items, whole

__all__ = ["attention", "packed_attention"]


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    method: str = "exact",
    features: Optional[Whole] = None,
    seed: Whole = 1,
    *,
    target: Optional[str] = None,
    causal: Flag = False,
    bias: Optional[torch.Tensor] = None,
    **options: Setting,
) -> torch.Tensor:
    """Attention of all heads of a layer, exact or by a method, with derivatives by q, k, v and the bias.

    Parameters
    ----------
    q, k, v : tensors (..., n_q, p), (..., n_k, p), (..., n_k, p_v) of float32 or float64 on the CPU
        Not scaled. The leading dimensions are those of heads; of k and v they may be 1 where heads share them.
    method : str
        "exact", for exact attention to `target`; or one of `croquis.methods`, with ``vjp`` true for derivatives.
    features, **options
        As for `croquis.approximate`.
    seed : int
        Of all draws; the i-th head of the flattened leading dimensions is trial i + 1. For new draws in every step of a
        training give every step a seed of its own.
    target : str, optional
        Of exact attention, as for `croquis.exact` (default "softmax"). A method has its own, and refuses another.
    causal
        As for `croquis.exact`.
    bias : tensor (..., 2 max(n_q, n_k) - 1), optional
        For targets with "-rpe" and their methods, as for `croquis.exact`.

    Returns
    -------
    tensor (..., n_q, p_v)

    What a method draws and chooses (which rows are landmarks, which columns, the directions) is constant in the
    derivatives; the landmarks themselves move with q and k. There are first derivatives alone: a derivative of them,
    as of a gradient penalty, is a RuntimeError. So are derivatives that are not finite, as for `croquis.vjp`, and
    batched ones (``vectorize=True``, ``is_grads_batched=True``).

    What the derivatives need is kept as long as the output or what was computed from it, also after ``backward``, where
    PyTorch frees its own. So of a loss that is recorded keep ``loss.item()``.
    """
    _check(q, k, v, bias)
    leading = _leading(q, k, v)
    heads = [t.expand(*leading, *t.shape[-2:]).reshape(-1, *t.shape[-2:]) for t in (q, k, v)]
    biases = None if bias is None else _expanded(bias, leading).reshape(-1, bias.shape[-1])
    what = (method, target, features, seed, causal, options)
    output: torch.Tensor = _Attention.apply(*heads, biases, (what, leading, _is_recorded(q, k, v, bias)))
    return output.reshape(*leading, *output.shape[-2:])


def packed_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    lengths: Iterable[Whole],
    method: str = "exact",
    features: Optional[Whole] = None,
    seed: Union[Whole, Iterable[Whole]] = 1,
    *,
    target: Optional[str] = None,
    causal: Flag = False,
    bias: Optional[torch.Tensor] = None,
    **options: Setting,
) -> torch.Tensor:
    """Attention of sequences of different lengths that lie end to end, so that there is no padding, with derivatives.

    Parameters
    ----------
    q, k, v : tensors (n, heads, p), (n, heads, p), (n, heads, p_v) of float32 or float64 on the CPU
        n tokens of all sequences together.
    lengths : sequence of int
        Of the sequences; their sum is n.
    method, features, target, causal, **options
        As for `attention`; features is at most the smallest length for most methods.
    seed : int or sequence of int
        Of the draws: one for all sequences, which then have the same draws where they are equally long, or one for each.
        Head h is trial h + 1.
    bias : tensor (heads, 2 m - 1), optional
        For targets with "-rpe" and their methods, with m at least the largest length; a shorter sequence has the
        middle of it.

    Returns
    -------
    tensor (n, heads, p_v)

    Derivatives, and what is kept for them, are as those of `attention`.
    """
    _check(q, k, v, bias)
    if any(t.dim() != 3 or t.shape[:2] != q.shape[:2] for t in (q, k, v)):
        raise ValueError(f"q, k, v: their shapes are {tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}; give (n, heads, p)")
    sizes = [whole(length, "lengths", 1) for length in items(lengths, "lengths")]
    if sum(sizes) != len(q):
        raise ValueError(f"lengths: they add up to {sum(sizes)}, q has {counted(len(q), 'token')}")
    seeds = [seed] * len(sizes) if hasattr(seed, "__index__") and not getattr(seed, "shape", ()) else items(seed, "seed")
    if len(seeds) != len(sizes):
        raise ValueError(f"seed: there are {len(seeds)} for {counted(len(sizes), 'sequence')}")
    if bias is not None and (bias.shape[:-1] != q.shape[1:2] or bias.shape[-1] < 2 * max(sizes) - 1 or bias.shape[-1] % 2 == 0):
        raise ValueError(f"bias: its shape is {tuple(bias.shape)}; give (heads, 2 m - 1) with m >= {max(sizes)}")
    what = (method, target, features, seeds, sizes, causal, options)
    packed: torch.Tensor = _Packed.apply(q, k, v, bias, (what, _is_recorded(q, k, v, bias)))
    return packed


def _check(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: Optional[torch.Tensor]) -> None:
    tensors = [q, k, v] + ([] if bias is None else [bias])
    for name, tensor in zip(("q", "k", "v", "bias"), tensors):
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"{name}: is a {type(tensor).__name__}; give a tensor, as torch.as_tensor({name})")
        if tensor.is_nested:
            raise ValueError(
                f"{name}: is nested; give a padded tensor, or sequences end to end to packed_attention: "
                f"torch.cat({name}.unbind())"
            )
        if tensor.layout != torch.strided:
            raise ValueError(f"{name}: its layout is {tensor.layout}; give {name}.to_dense()")
        if tensor.device.type != "cpu":
            raise ValueError(f"{name}: is on {tensor.device}; Croquis computes on the CPU: give {name}.cpu()")
        if tensor.dtype not in (torch.float32, torch.float64):
            # float() of a complex tensor has its real part alone.
            to_that_of_q = f"{name}.double()" if q.dtype == torch.float64 else f"{name}.float()"
            way = "float32 or float64: complex numbers are not taken" if tensor.is_complex() else to_that_of_q
            raise ValueError(f"{name}: its dtype is {tensor.dtype}; give {way}")
        if tensor.dtype != q.dtype:
            raise ValueError(f"{name}: its dtype is {tensor.dtype}, that of q is {q.dtype}")
        if tensor.dim() < (1 if name == "bias" else 2):
            wanted = "2 max(n_q, n_k) - 1 numbers" if name == "bias" else "(..., tokens, width)"
            raise ValueError(f"{name}: its shape is {tuple(tensor.shape)}; give {wanted}")
        if tensor.numel() == 0:
            raise ValueError(f"{name}: its shape is {tuple(tensor.shape)}, without a number; there is no attention of nothing")


def _leading(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Size:
    """The dimensions of heads."""
    shapes = [t.shape[:-2] for t in (q, k, v)]
    try:
        return torch.broadcast_shapes(*shapes)
    except RuntimeError:
        raise ValueError(
            f"q, k, v: their heads are {', '.join(str(tuple(s)) for s in shapes)}, which do not go together; give as many, "
            "or 1 that all share; for groups of queries repeat k and v by repeat_interleave"
        ) from None


def _expanded(bias: torch.Tensor, leading: torch.Size) -> torch.Tensor:
    try:
        return bias.expand(*leading, bias.shape[-1])
    except RuntimeError:
        raise ValueError(f"bias: its shape is {tuple(bias.shape)}, the heads are {tuple(leading)}") from None


def _is_recorded(*tensors: Optional[torch.Tensor]) -> bool:
    """Whether PyTorch may ask for derivatives: not under no_grad, whatever the tensors say."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


class _Attention(torch.autograd.Function):
    """Of heads (h, n_q, p), (h, n_k, p), (h, n_k, p_v), one after the other, each on all threads."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> torch.Tensor:
        q, k, v, bias, (what, leading, differentiable) = args
        method, target, features, seed, causal, options = what
        ctx.passes = []
        outputs: List[Array] = []
        for i, (one_q, one_k, one_v) in enumerate(zip(_arrays(q), _arrays(k), _arrays(v))):
            draw = request(method, target, features, seed, i + 1, options)
            with_bias = head_options(causal, None if bias is None else _arrays(bias)[i], None)
            with _named(_head(i, leading)):
                one = _core.Forward(one_q, one_k, one_v, with_bias, draw, differentiable)
            outputs.append(one.output())
            if differentiable:
                ctx.passes.append((one, _head(i, leading)))
        # A pass may use the memory of its tensors: a change of them in place is found as for any operation of PyTorch.
        ctx.save_for_backward(q, k, v, *([] if bias is None else [bias]))
        return torch.from_numpy(numpy.stack(outputs))

    @staticmethod
    def backward(ctx: Any, *gradients_of_outputs: torch.Tensor) -> Tuple[Any, ...]:
        def gradients(cotangent: Array) -> List[Array]:
            parts = [_vjp(one, g, name) for (one, name), g in zip(ctx.passes, cotangent)]
            return [numpy.stack(part) for part in zip(*parts)]

        return _first_derivatives(gradients, gradients_of_outputs[0], ctx.saved_tensors)


class _Packed(torch.autograd.Function):
    """Of tokens (n, heads, width), sequence by sequence and head by head."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> torch.Tensor:
        tensors, (bias, (what, differentiable)) = args[:3], args[3:]
        method, target, features, seeds, sizes, causal, options = what
        every_q, every_k, every_v = (_arrays(tensor) for tensor in tensors)
        output = numpy.empty((*every_q.shape[:2], every_v.shape[2]), dtype=every_v.dtype)
        ctx.passes = []
        for s, (part, middle, one_seed) in enumerate(_parts(sizes, bias, seeds)):
            for head in range(every_q.shape[1]):
                draw = request(method, target, features, one_seed, head + 1, options)
                with_bias = head_options(causal, None if bias is None else _arrays(bias)[head, middle], None)
                q, k, v = every_q[part, head], every_k[part, head], every_v[part, head]
                name = f"sequence {s}, head {head}"
                with _named(name):
                    one = _core.Forward(q, k, v, with_bias, draw, differentiable)
                output[part, head] = one.output()
                if differentiable:
                    ctx.passes.append((one, name, part, head, middle))
        ctx.save_for_backward(*tensors, *([] if bias is None else [bias]))
        return torch.from_numpy(output)

    @staticmethod
    def backward(ctx: Any, *gradients_of_outputs: torch.Tensor) -> Tuple[Any, ...]:
        inputs = ctx.saved_tensors

        def gradients(cotangent: Array) -> List[Array]:
            sums = [numpy.zeros(t.shape, dtype=_arrays(t).dtype) for t in inputs]  # the sequences share the bias
            for one, name, part, head, middle in ctx.passes:
                found = _vjp(one, cotangent[part, head], name)
                for gradient, of in zip(sums, found[:3]):
                    gradient[part, head] = of
                if len(found) == 4:
                    sums[3][head, middle] += found[3]
            return sums

        return _first_derivatives(gradients, gradients_of_outputs[0], inputs)


class _FirstDerivatives(torch.autograd.Function):
    """gradients(cotangent) by q, k, v and perhaps the bias, which are arguments so that PyTorch sees what they depend on:
    without, derivatives of the gradient would be zero and nobody would know."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> Tuple[torch.Tensor, ...]:
        gradients, cotangent = args[:2]
        return tuple(torch.from_numpy(array) for array in gradients(_arrays(cotangent)))

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> Tuple[Any, ...]:
        raise RuntimeError(
            "croquis.torch: has first derivatives alone; a gradient penalty or a Hessian needs second ones: "
            "take these through attention written in PyTorch"
        )


def _first_derivatives(
    gradients: Callable[[Array], List[Array]], cotangent: torch.Tensor, inputs: Sequence[torch.Tensor]
) -> Tuple[Optional[torch.Tensor], ...]:
    """Of q, k, v, the bias or None, and of what is computed, which has none."""
    found: Tuple[torch.Tensor, ...] = _FirstDerivatives.apply(gradients, cotangent, *inputs)
    return (*found, *[None] * (5 - len(found)))


@contextmanager
def _named(head: str) -> Iterator[None]:
    """What breaks down, and numbers or sizes that are refused, are named by their head; options are those of all heads."""
    try:
        yield
    except (RuntimeError, ValueError) as wrong:
        text = str(wrong)
        of_head = isinstance(wrong, RuntimeError) or text.startswith("Problem: ") or "n_k = " in text
        raise type(wrong)(f"{head}: {text}" if head and of_head else text) from None


def _vjp(one: _core.Forward, cotangent: Array, head: str) -> Tuple[Array, ...]:
    with _named(head):
        return one.vjp(cotangent)


def _head(i: int, leading: torch.Size) -> str:
    """The i-th head of these dimensions, as a message names it; one that is alone needs no name."""
    place = tuple(int(index) for index in numpy.unravel_index(i, leading))
    return f"head {place if len(place) > 1 else i}" if place else ""


def _parts(sizes: List[int], bias: Optional[torch.Tensor], seeds: List[int]) -> List[Tuple[slice, slice, int]]:
    """Of every sequence: its tokens, its part of a bias, its seed."""
    parts, first = [], 0
    middle = 0 if bias is None else bias.shape[-1] // 2
    for size, seed in zip(sizes, seeds):
        parts.append((slice(first, first + size), slice(middle - size + 1, middle + size), seed))
        first += size
    return parts


def _arrays(tensor: torch.Tensor) -> Array:
    array: Array = tensor.detach().resolve_conj().resolve_neg().numpy()
    return array
