"""A small transformer whose attention is a method of Croquis, forward and backward.

Two blocks of width 64 with 2 heads and a feed-forward layer of 128, LayerNorm before each part and one at the end, the mean over the
tokens, a linear classifier: the sizes of Skyformer's Sec. 5 and the blocks of its public code, which has dropout of the attention too
and a classifier of two layers. The sequences of a batch are laid end to end, and attention is called for each by itself: there is no
padding, and nothing to mask.
"""
import dataclasses
import math
from typing import Optional

import croquis.torch
import torch

WIDTH, HEADS, INNER, LAYERS = 64, 2, 128, 2


@dataclasses.dataclass(frozen=True)
class Attention:
    """What a block calls: arguments of croquis.torch.packed_attention."""

    method: str = "exact"
    target: Optional[str] = None  # of exact attention; a method has its own
    options: tuple = ()  # of (name, value)
    fixed: bool = False  # what is drawn belongs to the layer, as its weights do; else every step and sequence has draws of its own
    bias: bool = False  # learned, by relative position
    mean: bool = False  # the output over the number of tokens


ATTENTION = {
    "softmax": Attention(),
    "kernelized": Attention(target="kernelized"),
    "skyformer": Attention("skyformer", options=(("preset", "code"),)),
    "nystromformer": Attention("nystromformer"),
    "linformer": Attention("linformer", fixed=True),
    "performer": Attention("performer", fixed=True),
    "nprf-rpe": Attention("nprf-rpe", fixed=True, bias=True),
    "kriged-coreset": Attention("kriged-coreset", options=(("mode", "coreset"),)),
}


class Block(torch.nn.Module):
    def __init__(self, attention, features, tokens, dropout):
        super().__init__()
        self.attention, self.features = attention, features
        self.before_attention, self.before_inner = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        drop = torch.nn.Dropout(dropout)
        self.drop = drop
        self.inner = torch.nn.Sequential(
            torch.nn.Linear(WIDTH, INNER), torch.nn.GELU(), drop, torch.nn.Linear(INNER, WIDTH), drop
        )
        if attention.bias:
            self.bias = torch.nn.Parameter(torch.zeros(HEADS, 2 * tokens - 1))
        self.heads_output = None  # of the last call, detached

    def heads(self, x, sizes, seeds):
        """Attention of every sequence: x (all tokens, width)."""
        a = self.attention
        q, k, v = self.qkv(x).view(len(x), 3, HEADS, WIDTH // HEADS).unbind(1)
        rest = dict(a.options, target=a.target, bias=self.bias if a.bias else None)
        heads = croquis.torch.packed_attention(q, k, v, sizes, a.method, self.features, seeds, **rest)
        if a.mean:
            heads = heads / torch.tensor(sizes).repeat_interleave(torch.tensor(sizes))[:, None, None]
        return heads.reshape(len(x), WIDTH)

    def forward(self, x, sizes, seeds):
        heads = self.heads(self.before_attention(x), sizes, seeds)
        self.heads_output = heads.detach()
        x = x + self.drop(self.out(heads))
        return x + self.inner(self.before_inner(x))


class Model(torch.nn.Module):
    """Of sequences of at most `tokens` codes below `words`, with `classes` classes."""

    def __init__(self, attention, features, tokens, words, classes, dropout=0.0):
        super().__init__()
        self.words, self.positions = torch.nn.Embedding(words, WIDTH), torch.nn.Embedding(tokens, WIDTH)
        for table in (self.words, self.positions):
            torch.nn.init.normal_(table.weight, std=0.02)
        self.drop = torch.nn.Dropout(dropout)
        self.blocks = torch.nn.ModuleList(Block(attention, features, tokens, dropout) for _ in range(LAYERS))
        self.last = torch.nn.LayerNorm(WIDTH)
        self.classes = torch.nn.Linear(WIDTH, classes)
        self.fixed = attention.fixed

    def embedding(self, sequences, draw):
        """What the classifier sees of every token, before and after the last LayerNorm: (all tokens, width) each.

        draw: a whole number; the same number makes the same draws of the methods."""
        sizes = [len(s) for s in sequences]
        codes = torch.cat([torch.tensor(s) for s in sequences])
        places = torch.cat([torch.arange(n) for n in sizes])
        x = self.drop(self.words(codes) + self.positions(places))
        for layer, block in enumerate(self.blocks):
            count = len(sizes)
            seeds = layer if self.fixed else [((draw * LAYERS + layer) << 12) + i for i in range(count)]
            x = block(x, sizes, seeds)
        return x, self.last(x)

    def forward(self, sequences, draw):
        """Logits (sequences, classes)."""
        _, x = self.embedding(sequences, draw)
        return self.classes(torch.stack([part.mean(0) for part in x.split([len(s) for s in sequences])]))


def size_of_step(before, after):
    """||W' - W||_F over all parameters."""
    return math.sqrt(sum(float((a - b).double().pow(2).sum()) for a, b in zip(after, before)))
