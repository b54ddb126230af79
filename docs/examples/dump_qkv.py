"""Q, K and V of every head of a small PyTorch model, as .npy files that croquis reads.

python3 dump_qkv.py TEXT [STEPS] trains a two-layer transformer to guess masked bytes of the text (some minutes), runs
it on the first 512 bytes, and writes layer0_Q.npy ... layer1_V.npy, each (heads, n, p).
"""

import sys

import numpy
import torch


def save_heads(attention, x, name):
    """Q, K, V of a torch.nn.MultiheadAttention on tokens x (n, width). Not scaled: croquis divides by sqrt(p)."""
    qkv = x @ attention.in_proj_weight.T + attention.in_proj_bias
    for letter, part in zip("QKV", qkv.chunk(3, dim=-1)):
        heads = part.reshape(len(x), attention.num_heads, -1).transpose(0, 1)
        numpy.save(f"{name}_{letter}.npy", heads.detach().numpy())


class Model(torch.nn.Module):
    def __init__(self, n=512, width=128, heads=4, layers=2):
        super().__init__()
        self.byte = torch.nn.Embedding(257, width)  # 256 is the mask
        angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
        self.register_buffer("position", torch.cat([angles.sin(), angles.cos()], 1))
        layer = torch.nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0, batch_first=True, norm_first=True
        )
        self.encoder = torch.nn.TransformerEncoder(layer, layers)
        self.guess = torch.nn.Linear(width, 256)

    def forward(self, tokens):
        return self.guess(self.encoder(self.byte(tokens) + self.position[: tokens.shape[1]]))


def main():
    torch.manual_seed(1)
    text = torch.tensor(list(open(sys.argv[1], "rb").read()))
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    model = Model()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        tokens = torch.stack([text[s : s + 128] for s in torch.randint(len(text) - 128, (16,))])
        mask = torch.rand(tokens.shape) < 0.15
        loss = torch.nn.functional.cross_entropy(model(tokens.masked_fill(mask, 256))[mask], tokens[mask])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)

    for i, layer in enumerate(model.encoder.layers):
        layer.self_attn.register_forward_pre_hook(lambda module, args, i=i: save_heads(module, args[0][0], f"layer{i}"))
    model(text[None, :512])  # with gradients on: without, PyTorch takes a fused path that runs no hooks


if __name__ == "__main__":
    main()
