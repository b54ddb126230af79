"""Attention of Croquis in PyTorch, with derivatives.

>>> import torch, croquis.torch
>>> q, k, v = torch.randn(2, 3, 40, 8), torch.randn(2, 3, 50, 8), torch.randn(2, 3, 50, 5)
>>> croquis.torch.attention(q, k, v, method="skeinformer", features=16).shape
torch.Size([2, 3, 40, 5])
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy
import torch

from . import _core
from ._attention import request
from ._types import Array, Setting, head_options

__all__ = ["attention"]


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    method: str = "exact",
    features: int = 128,
    seed: int = 1,
    *,
    target: str = "softmax",
    causal: bool = False,
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
    target, causal
        As for `croquis.exact`.
    bias : tensor (..., 2 max(n_q, n_k) - 1), optional
        For targets and methods with a relative position, as for `croquis.exact`.

    Returns
    -------
    tensor (..., n_q, p_v)

    What a method draws and chooses (landmarks, columns, directions) is constant in the derivatives.
    """
    tensors = [q, k, v] + ([] if bias is None else [bias])
    for name, tensor in zip(("q", "k", "v", "bias"), tensors):
        if tensor.device.type != "cpu":
            raise ValueError(f"{name}: is on {tensor.device}; Croquis computes on the CPU: give {name}.cpu()")
        if tensor.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"{name}: its dtype is {tensor.dtype}; give {name}.float()")
        if tensor.dtype != q.dtype:
            raise ValueError(f"{name}: its dtype is {tensor.dtype}, that of q is {q.dtype}")
        if tensor.dim() < (1 if name == "bias" else 2):
            raise ValueError(f"{name}: its shape is {tuple(tensor.shape)}")
    leading = torch.broadcast_shapes(*[t.shape[:-2] for t in tensors[:3]])
    heads = [t.expand(*leading, *t.shape[-2:]).reshape(-1, *t.shape[-2:]) for t in tensors[:3]]
    biases = None if bias is None else bias.expand(*leading, bias.shape[-1]).reshape(-1, bias.shape[-1])
    output: torch.Tensor = _Attention.apply(*heads, biases, (method, target, features, seed, causal, options))
    return output.reshape(*leading, *output.shape[-2:])


class _Attention(torch.autograd.Function):
    """Of heads (h, n_q, p), (h, n_k, p), (h, n_k, p_v), one after the other, each on all threads."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> torch.Tensor:
        q, k, v, bias, what = args
        method, target, features, seed, causal, options = what
        differentiable = any(ctx.needs_input_grad)
        ctx.passes = []
        outputs: List[Array] = []
        for i, (one_q, one_k, one_v) in enumerate(zip(_arrays(q), _arrays(k), _arrays(v))):
            draw = request(method, target, features, seed, i + 1, **options)
            with_bias = head_options(causal, None if bias is None else _arrays(bias)[i], None)
            one = _core.Forward(one_q, one_k, one_v, with_bias, draw, differentiable)
            outputs.append(one.output())
            if differentiable:
                ctx.passes.append(one)
        # A pass may use the memory of its tensors: a change of them in place is found as for any operation of PyTorch.
        ctx.save_for_backward(q, k, v)
        return torch.from_numpy(numpy.stack(outputs))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients_of_outputs: torch.Tensor) -> Tuple[Any, ...]:
        _ = ctx.saved_tensors
        parts = [one.vjp(g) for one, g in zip(ctx.passes, _arrays(gradients_of_outputs[0]))]
        gradients: List[Optional[torch.Tensor]] = [torch.from_numpy(numpy.stack(part)) for part in zip(*parts)]
        if len(gradients) == 3:
            gradients.append(None)
        return (*gradients, None)


def _arrays(tensor: torch.Tensor) -> Array:
    array: Array = tensor.detach().numpy()
    return array
