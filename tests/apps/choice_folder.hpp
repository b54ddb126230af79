// A small model for croquis choose, and the beginning of its command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/formula_model.hpp"
#include "support/npy_files.hpp"

/// A small BERT with 30 sequences of 9 tokens.
struct ChoiceFolder : TemporaryFolder {
  ChoiceFolder() {
    const FormulaModel model = formula_model("bert");
    write_text(path() / "model.safetensors", model.file());
    write_text(path() / "config.json", model.config);
    std::vector<std::int64_t> ids, labels;
    for (std::int64_t i = 0; i < 30 * 9; ++i) {
      ids.push_back((7 * i + i * i / 5) % 11);
      labels.push_back(i % 4 == 0 ? ids.back() : -100);
    }
    write_text(path() / "ids.npy", npy_integers("(30, 9)", ids));
    write_text(path() / "labels.npy", npy_integers("(30, 9)", labels));
  }
};

inline const std::string kChooseHeads = "choose --model model.safetensors --ids ids.npy --layer all --max-cost 100 ";
inline const std::string kChooseSizes = kChooseHeads + "--features 2,4,9 ";
