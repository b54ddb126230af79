#!/usr/bin/env python3
"""Saves a masked language model of Hugging Face and tokens with labels, for croquis model:

    save_model.py NAME_OR_FOLDER TEXT.txt

needs transformers and safetensors. Fifteen per cent of the tokens are to be
predicted; of these four in five are masked.
"""
import sys

import numpy
from transformers import AutoModelForMaskedLM, AutoTokenizer, DataCollatorForLanguageModeling


def main(name, path):
    model, tokenizer = AutoModelForMaskedLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if len(line) > 200]
    tokens = tokenizer(lines, truncation=True, return_special_tokens_mask=True)
    batch = DataCollatorForLanguageModeling(tokenizer)([dict(zip(tokens, row)) for row in zip(*tokens.values())])
    save(model, batch)


def save(model, batch):
    mask = batch["attention_mask"].numpy()
    assert (mask[:, 1:] <= mask[:, :-1]).all(), "pad on the right: tokenizer.padding_side = 'right'"
    model.save_pretrained("model", safe_serialization=True)  # config.json and model.safetensors
    numpy.save("ids.npy", batch["input_ids"].numpy())
    numpy.save("lengths.npy", mask.sum(1))
    if model.config.model_type in ("bert", "albert"):  # a decoder predicts the next tokens, without labels.npy
        numpy.save("labels.npy", batch["labels"].numpy())


if __name__ == "__main__":
    main(*sys.argv[1:])
