// Small models of every architecture, with sequences for them.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/formula_model.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"

/// Each model of torch_reference.txt in a folder of its name, with the sequence that PyTorch read, and shorter ones.
struct FormulaFolder : TemporaryFolder {
  FormulaFolder() {
    for (const FormulaModel& model : formula_models()) {
      std::filesystem::create_directory(path() / model.name);
      write_text(path() / model.name / "model.safetensors", model.file());
      write_text(path() / model.name / "config.json", model.config);
    }
    const std::vector<std::int64_t> ids = {3, 1, 4, 1, 5, 9, 2, 6, 10, 2, 7, 1, 8, 2,
                                           8, 1, 8, 2, 6, 6, 6, 0, 1,  2, 0, 0, 0};
    std::vector<std::int64_t> labels = {7, -100, 0, 10, -100, 5, 2, 1, -100};
    labels.resize(27, 3);
    write_text(path() / "ids.npy", npy_integers("(3, 9)", ids));
    write_text(path() / "labels.npy", npy_integers("(3, 9)", labels));
    write_text(path() / "lengths.npy", npy_integers("(3,)", {9, 9, 6}));
  }
};

inline const std::string kModelTokens = " --ids ids.npy --lengths lengths.npy ";
inline const std::string kLabelled = kModelTokens + "--labels labels.npy ";

/// c.json, for the model bert.
inline void choose_for_bert(const FormulaFolder& folder) {
  REQUIRE(run_croquis("choose --target-loss 9 --search-sequences 1 --methods v-mean --features 2 --model "
                      "bert/model.safetensors --quiet --out c.csv" +
                          kLabelled,
                      folder.path())
              .status == 0);
}
