#!/usr/bin/env python3
"""Makes torch_reference.txt: what PyTorch computes of small models, for tests/models/architectures.cpp.

Weights are no random numbers of PyTorch's but a formula that the test has too (value() below), so that the file has
numbers of results alone. Written against Hugging Face's modelling code, layer by layer, in double. To make it again:

    python3 tests/models/torch_reference.py > tests/models/torch_reference.txt
"""
import json

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
MASK = (1 << 64) - 1


def fnv(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def value(name, index):
    """k/64, |k| <= 32: a mixed hash of the tensor's name and the index."""
    z = (fnv(name) + 0x9E3779B97F4A7C15 * (index + 1)) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) % 65 - 32) / 64


class Weights(dict):
    """Tensors by name; weights of norms, of one dimension, are around 1."""

    def add(self, name, *shape):
        numbers = 1
        for size in shape:
            numbers *= size
        mean = 1 if len(shape) == 1 and name.endswith(".weight") else 0
        self[name] = torch.tensor([mean + value(name, i) for i in range(numbers)]).reshape(shape)

    def linear(self, name, out, into, bias=True):
        self.add(name + ".weight", out, into)
        if bias:
            self.add(name + ".bias", out)

    def norm(self, name, width, bias=True):
        self.add(name + ".weight", width)
        if bias:
            self.add(name + ".bias", width)


def attention(q, k, v, heads, causal):
    """q: n x (heads p), k and v: n x (key heads p), as Hugging Face divides them."""
    n, p = q.shape[0], q.shape[1] // heads
    split = lambda x: x.view(n, -1, p).transpose(0, 1)
    q, k, v = split(q), split(k), split(v)
    k, v = (x.repeat_interleave(heads // x.shape[0], 0) for x in (k, v))
    scores = q @ k.transpose(1, 2) / p**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), float("-inf"))
    return (F.softmax(scores, -1) @ v).transpose(0, 1).reshape(n, heads * p)


ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu,
               "gelu_new": lambda x: 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))}


def bert(c, w, ids):
    eps, act = c["layer_norm_eps"], ACTIVATIONS[c["hidden_act"]]
    linear = lambda x, name: F.linear(x, w[name + ".weight"], w[name + ".bias"])
    norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)
    e = "bert.embeddings."
    x = norm(w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][: len(ids)]
             + w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
    states, projections = [x], []
    for l in range(c["num_hidden_layers"]):
        p = f"bert.encoder.layer.{l}."
        q, k, v = (linear(x, p + "attention.self." + part) for part in ("query", "key", "value"))
        projections.append((q, k, v))
        a = attention(q, k, v, c["num_attention_heads"], False)
        y = norm(linear(a, p + "attention.output.dense") + x, p + "attention.output.LayerNorm")
        x = norm(linear(act(linear(y, p + "intermediate.dense")), p + "output.dense") + y, p + "output.LayerNorm")
        states.append(x)
    h = "cls.predictions."
    y = norm(act(linear(x, h + "transform.dense")), h + "transform.LayerNorm")
    return states, projections, x, F.linear(y, w[e + "word_embeddings.weight"], w[h + "bias"])


def bert_weights(c):
    w, d = Weights(), c["hidden_size"]
    w.add("bert.embeddings.word_embeddings.weight", c["vocab_size"], d)
    w.add("bert.embeddings.position_embeddings.weight", c["max_position_embeddings"], d)
    w.add("bert.embeddings.token_type_embeddings.weight", c["type_vocab_size"], d)
    w.norm("bert.embeddings.LayerNorm", d)
    for l in range(c["num_hidden_layers"]):
        p = f"bert.encoder.layer.{l}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            w.linear(p + "attention." + part, d, d)
        w.norm(p + "attention.output.LayerNorm", d)
        w.linear(p + "intermediate.dense", c["intermediate_size"], d)
        w.linear(p + "output.dense", d, c["intermediate_size"])
        w.norm(p + "output.LayerNorm", d)
    w.linear("cls.predictions.transform.dense", d, d)
    w.norm("cls.predictions.transform.LayerNorm", d)
    w.add("cls.predictions.bias", c["vocab_size"])
    return w


def albert(c, w, ids):
    eps, act = c["layer_norm_eps"], ACTIVATIONS[c["hidden_act"]]
    linear = lambda x, name: F.linear(x, w[name + ".weight"], w[name + ".bias"])
    norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)
    e = "albert.embeddings."
    x = norm(w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][: len(ids)]
             + w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
    x = linear(x, "albert.encoder.embedding_hidden_mapping_in")
    states, projections, layers = [x], [], c["num_hidden_layers"]
    for l in range(layers):
        group = int(l / (layers / c["num_hidden_groups"]))
        p = f"albert.encoder.albert_layer_groups.{group}.albert_layers.0."
        q, k, v = (linear(x, p + "attention." + part) for part in ("query", "key", "value"))
        projections.append((q, k, v))
        a = attention(q, k, v, c["num_attention_heads"], False)
        y = norm(x + linear(a, p + "attention.dense"), p + "attention.LayerNorm")
        x = norm(linear(act(linear(y, p + "ffn")), p + "ffn_output") + y, p + "full_layer_layer_norm")
        states.append(x)
    y = norm(act(linear(x, "predictions.dense")), "predictions.LayerNorm")
    return states, projections, x, F.linear(y, w["predictions.decoder.weight"], w["predictions.bias"])


def albert_weights(c):
    w, d, e = Weights(), c["hidden_size"], c["embedding_size"]
    w.add("albert.embeddings.word_embeddings.weight", c["vocab_size"], e)
    w.add("albert.embeddings.position_embeddings.weight", c["max_position_embeddings"], e)
    w.add("albert.embeddings.token_type_embeddings.weight", c["type_vocab_size"], e)
    w.norm("albert.embeddings.LayerNorm", e)
    w.linear("albert.encoder.embedding_hidden_mapping_in", d, e)
    for g in range(c["num_hidden_groups"]):
        p = f"albert.encoder.albert_layer_groups.{g}.albert_layers.0."
        for part in ("query", "key", "value", "dense"):
            w.linear(p + "attention." + part, d, d)
        w.norm(p + "attention.LayerNorm", d)
        w.linear(p + "ffn", c["intermediate_size"], d)
        w.linear(p + "ffn_output", d, c["intermediate_size"])
        w.norm(p + "full_layer_layer_norm", d)
    w.linear("predictions.dense", e, d)
    w.norm("predictions.LayerNorm", e)
    w.add("predictions.decoder.weight", c["vocab_size"], e)
    w.add("predictions.bias", c["vocab_size"])
    return w


def gpt2(c, w, ids):
    eps, act = c["layer_norm_epsilon"], ACTIVATIONS[c["activation_function"]]
    conv = lambda x, name: x @ w[name + ".weight"] + w[name + ".bias"]
    norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)
    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][: len(ids)]
    states, projections = [x], []
    for l in range(c["n_layer"]):
        p = f"transformer.h.{l}."
        q, k, v = conv(norm(x, p + "ln_1"), p + "attn.c_attn").split(c["n_embd"], 1)
        projections.append((q, k, v))
        x = x + conv(attention(q, k, v, c["n_head"], True), p + "attn.c_proj")
        x = x + conv(act(conv(norm(x, p + "ln_2"), p + "mlp.c_fc")), p + "mlp.c_proj")
        states.append(x)
    last = norm(x, "transformer.ln_f")
    return states, projections, last, last @ w["transformer.wte.weight"].T


def gpt2_weights(c):
    w, d = Weights(), c["n_embd"]
    w.add("transformer.wte.weight", c["vocab_size"], d)
    w.add("transformer.wpe.weight", c["n_positions"], d)
    for l in range(c["n_layer"]):
        p = f"transformer.h.{l}."
        w.norm(p + "ln_1", d)
        for name, into, out in (("attn.c_attn", d, 3 * d), ("attn.c_proj", d, d), ("mlp.c_fc", d, 4 * d),
                                ("mlp.c_proj", 4 * d, d)):
            w.add(p + name + ".weight", into, out)
            w.add(p + name + ".bias", out)
        w.norm(p + "ln_2", d)
    w.norm("transformer.ln_f", d)
    return w


def rotate(x, p, theta):
    """Hugging Face's apply_rotary_pos_emb, angles in double."""
    n = x.shape[0]
    angles = torch.outer(torch.arange(n).double(), theta ** (-torch.arange(0, p, 2).double() / p))
    cos, sin = (torch.cat((f(angles), f(angles)), 1)[:, None] for f in (torch.cos, torch.sin))
    x = x.view(n, -1, p)
    turned = torch.cat((-x[..., p // 2 :], x[..., : p // 2]), -1)
    return (x * cos + turned * sin).reshape(n, -1)


def llama(c, w, ids):
    eps, p, bias = c["rms_norm_eps"], c["head_dim"], c["attention_bias"]
    linear = lambda x, name: F.linear(x, w[name + ".weight"], w.get(name + ".bias"))
    norm = lambda x, name: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w[name + ".weight"]
    x = w["model.embed_tokens.weight"][ids]
    states, projections = [x], []
    for l in range(c["num_hidden_layers"]):
        name = f"model.layers.{l}."
        y = norm(x, name + "input_layernorm")
        q, k, v = (linear(y, name + f"self_attn.{part}_proj") for part in "qkv")
        q, k = rotate(q, p, c["rope_theta"]), rotate(k, p, c["rope_theta"])
        projections.append((q, k, v))
        x = x + linear(attention(q, k, v, c["num_attention_heads"], True), name + "self_attn.o_proj")
        y = norm(x, name + "post_attention_layernorm")
        gate, up = (linear(y, name + f"mlp.{part}_proj") for part in ("gate", "up"))
        x = x + linear(F.silu(gate) * up, name + "mlp.down_proj")
        states.append(x)
    last = norm(x, "model.norm")
    head = "model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"
    return states, projections, last, last @ w[head].T


def llama_weights(c):
    w, d, p = Weights(), c["hidden_size"], c["head_dim"]
    q, k = p * c["num_attention_heads"], p * c["num_key_value_heads"]
    w.add("model.embed_tokens.weight", c["vocab_size"], d)
    for l in range(c["num_hidden_layers"]):
        name = f"model.layers.{l}."
        w.norm(name + "input_layernorm", d, False)
        for part, out, into in (("q", q, d), ("k", k, d), ("v", k, d), ("o", d, q)):
            w.linear(name + f"self_attn.{part}_proj", out, into, c["attention_bias"])
        w.norm(name + "post_attention_layernorm", d, False)
        for part, out, into in (("gate", c["intermediate_size"], d), ("up", c["intermediate_size"], d),
                                ("down", d, c["intermediate_size"])):
            w.linear(name + f"mlp.{part}_proj", out, into, c["mlp_bias"])
    w.norm("model.norm", d, False)
    if not c["tie_word_embeddings"]:
        w.add("lm_head.weight", c["vocab_size"], d)
    return w


ENCODER = dict(vocab_size=11, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
               max_position_embeddings=9, type_vocab_size=2, layer_norm_eps=1e-3)
LLAMA = dict(model_type="llama", vocab_size=11, hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
             intermediate_size=12, max_position_embeddings=9, rms_norm_eps=1e-3, hidden_act="silu")
MODELS = {
    "bert": (bert, bert_weights, dict(ENCODER, model_type="bert", hidden_act="gelu")),
    "albert": (albert, albert_weights, dict(ENCODER, model_type="albert", hidden_act="gelu_new", embedding_size=5,
                                            num_hidden_layers=4, num_hidden_groups=2, tie_word_embeddings=False)),
    "gpt2": (gpt2, gpt2_weights, dict(model_type="gpt2", vocab_size=11, n_embd=8, n_head=2, n_layer=2, n_positions=9,
                                      activation_function="gelu_new", layer_norm_epsilon=1e-3)),
    "llama-tied": (llama, llama_weights, dict(LLAMA, num_key_value_heads=2, head_dim=6, rope_theta=100.0,
                                              attention_bias=True, mlp_bias=True, tie_word_embeddings=True)),
    "llama-untied": (llama, llama_weights, dict(LLAMA, num_key_value_heads=4, head_dim=2, rope_theta=10000.0,
                                                attention_bias=False, mlp_bias=False, tie_word_embeddings=False)),
}
IDS = [3, 1, 4, 1, 5, 9, 2, 6, 10]
LABELS = [7, -100, 0, 10, -100, 5, 2, 1, -100]


def show(what, *key, x):
    print(what, *key, *(f"{t:.17g}" for t in x.flatten().tolist()))


for name, (run, weights, config) in MODELS.items():
    w = weights(config)
    states, projections, last, logits = run(config, w, torch.tensor(IDS))
    print("model", name, json.dumps(config))
    for tensor, numbers in w.items():
        print("tensor", tensor, *numbers.shape)
    for layer, x in enumerate(states):
        show("hidden", layer, x=x[[0, 4, 8]])
    for part, x in zip("qkv", projections[1]):
        show(part, x=x[[0, 5, 8]])
    show("last", x=last[[1, 8]])
    show("logits", x=logits[[2, 8]])
    show("loss", x=F.cross_entropy(logits, torch.tensor(LABELS)))
