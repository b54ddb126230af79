#include "options/model_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/models/byte_pairs.hpp>
#include <croquis/models/token_sequences.hpp>
#include <croquis/models/wordpiece.hpp>
#include <filesystem>
#include <memory>

#include "options/lists.hpp"
#include "options/name_part.hpp"
#include "options/padding.hpp"
#include "options/refuse.hpp"
#include "options/text_input.hpp"
#include "options/vocabulary_notes.hpp"

namespace {

namespace fs = std::filesystem;
using croquis::TokenWindows;

fs::path config_path(const InputOptions& o) {
  if (!o.model_config.empty()) return o.model_config;
  fs::path beside = fs::path(o.model).replace_filename("config.json");
  std::error_code status;
  if (fs::is_directory(o.model, status)) {
    refuse(fmt::format("--model: {} is a folder; give the file in it, as {}", o.model,
                       (fs::path(o.model) / "model.safetensors").string()));
  }
  if (!fs::exists(o.model, status)) refuse(fmt::format("--model: there is no file {}", o.model));
  if (!fs::exists(beside, status)) {
    refuse(fmt::format("--model-config: there is no config.json beside {}; say where it is", o.model));
  }
  return beside;
}

std::string name_of(const fs::path& model) {
  const fs::path folder = model.parent_path().filename();
  const bool usual = model.filename() == "model.safetensors" || model.filename() == "model.safetensors.index.json";
  return as_name_part(usual && !folder.empty() ? folder.string() : model.stem().string());
}

// The tokens that heads are of: one input each.
struct Tokens {
  std::vector<std::string> names;      // ";sequence=3", or nothing for a text
  std::vector<arma::uword> sequences;  // the first one of each, for the column
  std::function<TokenWindows(arma::uword)> read;
};

// Sequences of --ids, several of them joined to one input with --join-windows.
Tokens tokens_of_ids(const InputOptions& o, const croquis::Model& model) {
  const auto file = std::make_shared<const croquis::TokenSequences>(
      croquis::TokenSequences::Files{.ids = o.ids, .lengths = o.lengths}, model.config().is_causal());
  const std::vector<arma::uword> chosen = parse_numbers(o.sequence, "--sequence", file->count());
  note_padding(o, *file, chosen, model.config());
  const arma::uword joined = positive_or(o.join_windows, 1, "--join-windows");
  if (chosen.size() % joined != 0) {
    refuse(fmt::format("--join-windows: {}, no multiple of {}; choose others with --sequence",
                       croquis::counted(chosen.size(), "sequence"), joined));
  }
  for (const arma::uword s : chosen) require_positions(s, file->length(s), model.config());
  Tokens tokens;
  auto parts = std::make_shared<std::vector<std::vector<arma::uword>>>();
  for (std::size_t i = 0; i < chosen.size(); i += joined) {
    parts->emplace_back(chosen.begin() + static_cast<std::ptrdiff_t>(i),
                        chosen.begin() + static_cast<std::ptrdiff_t>(i + joined));
    const std::vector<arma::uword>& part = parts->back();
    const bool range = part.back() - part.front() + 1 == joined && part.front() <= part.back();
    tokens.names.push_back(";sequence=" + (joined == 1 ? fmt::format("{}", part.front())
                                           : range     ? fmt::format("{}-{}", part.front(), part.back())
                                                       : fmt::format("{}", fmt::join(part, "+"))));
    tokens.sequences.push_back(part.front());
  }
  tokens.read = [file, parts, vocabulary = model.vocabulary()](arma::uword i) {
    return file->joined((*parts)[i], vocabulary);
  };
  return tokens;
}

void require_vocabulary(const InputOptions& o, std::size_t size, const croquis::Model& model) {
  // Embeddings are often padded to a round number, or have places for words to come: by a thousand, or by a few
  // percent.
  constexpr std::size_t padding = 1024;
  const std::size_t embeddings = model.vocabulary();
  if (size <= embeddings && embeddings - size <= std::max(padding, embeddings / 10)) return;
  refuse(fmt::format("--vocab: {} has {} entries, the model {} word embeddings; it is another model's", o.vocab, size,
                     embeddings));
}

TextWindows of_word_pieces(const InputOptions& o, const croquis::Model& model, arma::uword n, arma::uword window) {
  if (model.config().is_causal()) {
    refuse(fmt::format("--vocab: vocab.txt is of BERT and ALBERT, this model is {}; give its tokenizer.json, or --ids",
                       croquis::name_of(model.config().type)));
  }
  const croquis::WordPiece vocabulary(o.vocab, {.lower_case = o.uncased});
  require_vocabulary(o, vocabulary.size(), model);
  const std::string text = text_of(o);
  TextWindows windows{
      croquis::in_windows(croquis::bert_sequence(vocabulary, text, n, window), window), {}, vocabulary.id("[MASK]")};
  for (const char* entry : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    if (const auto id = vocabulary.id(entry)) windows.special.insert(*id);
  }
  require_length(windows.tokens.ids.size(), n);
  note_vocabulary(o, vocabulary, text, windows.tokens.ids);
  return windows;
}

// The text goes on, and the last window has no room for any of it.
[[noreturn]] void refuse_template_alone(arma::uword n, std::size_t left, std::size_t template_size) {
  const std::string smaller = left < n ? fmt::format("{} or --n ", n - left) : "";
  refuse(fmt::format("--n: leaves {} token{} for the last window, of which the template takes {}; give --n {}{}", left,
                     left == 1 ? "" : "s", template_size, smaller, n - left + template_size + 1));
}

// Windows of n tokens together, each with the tokens of the template around it.
TextWindows of_byte_pairs(const InputOptions& o, const croquis::Model& model, arma::uword n, arma::uword window) {
  if (o.uncased) refuse("--uncased: goes with vocab.txt; tokenizer.json says itself what it does");
  const croquis::BytePairTokenizer tokenizer(o.vocab);
  require_vocabulary(o, tokenizer.size(), model);
  const croquis::TokenIds text = tokenizer.encode(text_of(o)), &before = tokenizer.before(), &after = tokenizer.after();
  const std::size_t template_size = before.size() + after.size();
  if (window <= template_size)
    refuse(fmt::format("--vocab: {} puts {} tokens around a window of {}", o.vocab, template_size, window));
  TextWindows windows;
  windows.special = tokenizer.special();
  windows.special.insert(before.begin(), before.end());
  windows.special.insert(after.begin(), after.end());
  windows.mask = tokenizer.id("[MASK]") ? tokenizer.id("[MASK]") : tokenizer.id("<mask>");
  if (windows.mask) windows.special.insert(*windows.mask);
  croquis::TokenIds& ids = windows.tokens.ids;
  for (std::size_t at = 0; at < text.size() && ids.size() < n;) {
    const std::size_t left = std::min<std::size_t>(window, n - ids.size()),
                      own = std::min(text.size() - at, left > template_size ? left - template_size : 0);
    if (own == 0) refuse_template_alone(n, left, template_size);
    ids.insert(ids.end(), before.begin(), before.end());
    ids.insert(ids.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
               text.begin() + static_cast<std::ptrdiff_t>(at + own));
    ids.insert(ids.end(), after.begin(), after.end());
    at += own;
    windows.tokens.ends.push_back(ids.size());
  }
  require_length(ids.size(), n);
  return windows;
}

}  // namespace

TextWindows windows_of_text(const InputOptions& o, const croquis::Model& model) {
  const arma::uword positions = model.config().positions;
  const arma::uword joined = positive_or(o.join_windows, 1, "--join-windows"),
                    n = positive_or(o.n, o.join_windows ? positions : kDefaultTokens, "--n") * joined;
  const arma::uword window = o.join_windows ? n / joined : positions;
  if (window > positions) {
    refuse(fmt::format("--n: with --join-windows the tokens of a window, {}; the model has {} positions", window,
                       positions));
  }
  return o.vocab.ends_with(".json") ? of_byte_pairs(o, model, n, window) : of_word_pieces(o, model, n, window);
}

void require_model(const InputOptions& o) {
  if (o.model.empty()) {
    refuse(
        "--model: is missing; a model is --model model.safetensors --vocab vocab.txt, or --ids ids.npy in place of a "
        "text");
  }
  if (o.vocab.empty() && o.ids.empty()) {
    refuse("--model: goes with --vocab vocab.txt, whose text is read, or with --ids ids.npy in place of a text");
  }
}

void require_positions(arma::uword sequence, arma::uword tokens, const croquis::ModelConfig& config) {
  if (tokens <= config.positions) return;
  refuse(fmt::format("--ids: sequence {} has {} tokens, the model {} positions; give --lengths or shorter sequences",
                     sequence, tokens, config.positions));
}

croquis::ModelConfig config_of(const InputOptions& o) {
  return croquis::read_model_config(config_path(o).string());
}

OpenedModel open_model(const InputOptions& o) {
  const croquis::ModelConfig config = config_of(o);
  return {name_of(o.model), croquis::Model(croquis::ModelWeights(o.model), config)};
}

std::string digest_of_model(const InputOptions& o) {
  croquis::Digest digest;
  digest.add(croquis::read_bytes(config_path(o).string()));
  croquis::ModelWeights(o.model).add_to(digest);
  return digest.hex();
}

std::vector<PendingHead> from_model(const InputOptions& o) {
  require_model(o);
  const croquis::ModelConfig config = config_of(o);
  const std::vector<arma::uword> layers = parse_numbers(o.layer, "--layer", config.layers),
                                 heads = parse_numbers(o.head, "--head", config.heads);
  const auto [name, model] = open_model(o);
  Tokens tokens;
  if (o.ids.empty()) {
    const std::string joined = o.join_windows ? fmt::format(";windows={}", *o.join_windows) : "";
    tokens = {{joined}, {}, [read = windows_of_text(o, model).tokens](arma::uword) { return read; }};
  } else {
    tokens = tokens_of_ids(o, model);
  }
  const auto run = std::make_shared<croquis::ModelHeads>(model, tokens.read);
  std::vector<PendingHead> pending;
  for (arma::uword s = 0; s < tokens.names.size(); ++s) {
    for (const arma::uword layer : layers) {
      for (const arma::uword head : heads) {
        PendingHead one{fmt::format("model:{}{};layer={};head={}", name, tokens.names[s], layer, head), layer, head,
                        [run, s, layer, head] { return run->head(s, layer, head); }};
        if (!tokens.sequences.empty()) one.sequence = tokens.sequences[s];
        pending.push_back(std::move(one));
      }
    }
  }
  return pending;
}
