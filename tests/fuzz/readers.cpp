#include "fuzz/readers.hpp"

#include <croquis/io/bytes.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/io/matrix_market.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/npy_integers.hpp>
#include <croquis/io/npz.hpp>
#include <croquis/io/safetensors.hpp>
#include <croquis/io/torch_archive.hpp>
#include <croquis/io/torch_pickle.hpp>
#include <croquis/measure/choice_file.hpp>
#include <croquis/models/byte_pairs.hpp>
#include <croquis/models/model.hpp>
#include <croquis/models/model_config.hpp>
#include <croquis/models/wordpiece.hpp>
#include <stdexcept>
#include <string>

#include "fuzz/right_files.hpp"
#include "support/files.hpp"

namespace {

void read_as_npy(const std::string& bytes) {
  try {
    croquis::parse_npy(bytes, "fuzz.npy");
  } catch (const std::invalid_argument&) {
  }
}

// A few bytes may announce a sparse matrix that fills the memory, and be right.
void read_as_matrix_market(const std::string& bytes) {
  constexpr croquis::MatrixMarketSize largest{1000, 1000};
  try {
    const croquis::MatrixMarketSize size = croquis::matrix_market_size(bytes, "fuzz.mtx");
    if (size.rows > largest.rows || size.cols > largest.cols) return;
    croquis::parse_matrix_market(bytes, "fuzz.mtx");
  } catch (const std::invalid_argument&) {
  }
}

void read_as_npz(const std::string& bytes) {
  try {
    croquis::parse_npz(bytes, "fuzz.npz", "q");
  } catch (const std::invalid_argument&) {
  }
}

void read_as_safetensors(const std::string& bytes) {
  try {
    const croquis::SafeTensors file(bytes, "fuzz.safetensors");
    for (const std::string& name : file.names()) {
      try {
        file.matrix(name);
      } catch (const std::invalid_argument&) {
      }
      try {
        file.array(name).matrix();
      } catch (const std::invalid_argument&) {
      }
    }
  } catch (const std::invalid_argument&) {
  }
}

void read_as_torch(const std::string& bytes) {
  try {
    const croquis::TorchArchive file(croquis::bytes_in_memory(std::string_view(bytes), "fuzz.pt"));
    for (const std::string& name : file.names()) {
      try {
        file.array(name).matrix();
      } catch (const std::invalid_argument&) {
      }
    }
  } catch (const std::invalid_argument&) {
  }
}

void read_as_torch_pickle(const std::string& bytes) {
  try {
    croquis::parse_torch_pickle(bytes, "fuzz.pt", "no advice");
  } catch (const std::invalid_argument&) {
  }
}

// A text of the same bytes is cut with it.
void read_as_vocabulary(const std::string& bytes) {
  try {
    for (const bool lower_case : {false, true}) {
      const croquis::WordPiece vocabulary(bytes, "fuzz.txt", {.lower_case = lower_case});
      vocabulary.tokens(vocabulary.encode(bytes));
    }
  } catch (const std::invalid_argument&) {
  }
  // Bytes that are no vocabulary are still a text.
  static const croquis::WordPiece letters("[UNK]\n[MASK]\na\n##a\n", "letters.txt", {.lower_case = true});
  letters.tokens(letters.encode(bytes));
}

void read_as_model_config(const std::string& bytes) {
  try {
    croquis::parse_model_config(bytes, "fuzz.json");
  } catch (const std::invalid_argument&) {
  }
}

// A text of the same bytes is cut with it.
void read_as_tokenizer(const std::string& bytes) {
  try {
    const croquis::BytePairTokenizer tokenizer(bytes, "fuzz.json");
    tokenizer.encode(bytes.substr(0, 200));
  } catch (const std::invalid_argument&) {
  }
}

void read_as_integers(const std::string& bytes) {
  try {
    const croquis::IntegerRows rows(croquis::bytes_in_memory(std::string_view(bytes), "fuzz.npy"));
    for (std::uint64_t i = 0; i < rows.rows() && i < 10; ++i) rows.row(i);
  } catch (const std::invalid_argument&) {
  }
}

void read_as_choice(const std::string& bytes) {
  try {
    croquis::replacement_of(croquis::parse_saved_choices(bytes, "fuzz.json"), "fuzz.json", 3, 2);
  } catch (const std::invalid_argument&) {
  }
}

// Beside it are two files, whose tensors it may name.
void read_as_index(const std::string& bytes) {
  static const TemporaryFolder folder;
  static const std::string index = (folder / "model.safetensors.index.json").string();
  static const bool written = [] {
    write_text(folder / "one.safetensors", right_safetensors().front());
    write_text(folder / "two.safetensors", right_safetensors().front());
    return true;
  }();
  write_text(index, bytes);
  try {
    const croquis::ModelWeights weights(index);
    for (const char* tensor : {"a", "b"}) {
      if (written && weights.has(tensor)) weights.matrix(tensor);
    }
  } catch (const std::invalid_argument&) {
  }
}

// config.json, a NUL, and the weights. A model of a few numbers computes something, or says why not.
void read_as_model(const std::string& bytes) {
  const std::size_t end = bytes.find('\0');
  if (end == std::string::npos) return;
  try {
    const croquis::ModelConfig config = croquis::parse_model_config(bytes.substr(0, end), "fuzz.json");
    const croquis::Model model(croquis::SafeTensors(bytes.substr(end + 1), "fuzz.safetensors"), config);
    if (config.layers > 4 || model.vocabulary() == 0) return;
    const arma::mat hidden = model.hidden({0, 0}, config.layers);
    model.require_language_head();
    model.logits(model.last_hidden(hidden));
  } catch (const std::invalid_argument&) {
  }
}

void read_as_csv(const std::string& bytes) {
  try {
    const croquis::CsvTable table = croquis::parse_csv(bytes, "fuzz.csv");
    for (const auto& row : table.rows) {
      for (const std::string& field : row) croquis::csv_field(field);
    }
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

std::vector<FuzzedReader> library_readers() {
  return {{"npy", read_as_npy, right_npy()},
          {"matrix-market", read_as_matrix_market, right_matrix_market()},
          {"npz", read_as_npz, right_npz()},
          {"safetensors", read_as_safetensors, right_safetensors()},
          {"torch", read_as_torch, right_torch()},
          {"torch-pickle", read_as_torch_pickle, right_torch_pickle()},
          {"vocabulary", read_as_vocabulary, right_vocabulary()},
          {"model-config", read_as_model_config, right_model_config()},
          {"index", read_as_index, right_index()},
          {"model", read_as_model, right_model()},
          {"tokenizer", read_as_tokenizer, right_tokenizer()},
          {"integers", read_as_integers, right_integers()},
          {"choice", read_as_choice, right_choice()},
          {"csv", read_as_csv, right_csv()}};
}
