#include "options/text_input.hpp"

#include <fmt/format.h>

#include <croquis/inputs/bert.hpp>
#include <croquis/inputs/text.hpp>
#include <croquis/inputs/wordpiece.hpp>
#include <croquis/io/bytes.hpp>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "options/lists.hpp"

namespace {

namespace fs = std::filesystem;

constexpr arma::uword kTokens = 1024;

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument(why);
}

std::string text_of(const InputOptions& o) {
  if (o.text.empty()) return std::string(croquis::sample_text());
  try {
    return croquis::read_bytes(o.text);
  } catch (const std::invalid_argument& wrong) {
    refuse(fmt::format("--text: {}", wrong.what()));
  }
}

std::vector<std::string> tokens_of(const InputOptions& o) {
  if (o.vocab.empty()) return croquis::split_words(text_of(o));
  const croquis::WordPiece vocabulary(o.vocab, {.lower_case = o.uncased});
  return vocabulary.tokens(vocabulary.encode(text_of(o)));
}

void require_length(arma::uword tokens, arma::uword n) {
  if (tokens >= n) return;
  refuse(fmt::format("--n: the text has {} tokens, {} are wanted; give a smaller --n or a longer --text", tokens, n));
}

fs::path config_of(const InputOptions& o) {
  if (!o.model_config.empty()) return o.model_config;
  fs::path beside = fs::path(o.model).replace_filename("config.json");
  std::error_code status;
  if (!fs::exists(beside, status)) {
    refuse(fmt::format("--model-config: there is no config.json beside {}; say where it is", o.model));
  }
  return beside;
}

std::string name_of(const fs::path& model) {
  const fs::path folder = model.parent_path().filename();
  return model.stem() == "model" && !folder.empty() ? folder.string() : model.stem().string();
}

}  // namespace

std::pair<std::string, croquis::Problem<double>> from_text(const InputOptions& o, const croquis::Key& draw_key) {
  const arma::uword n = positive_or(o.n, kTokens, "--n");
  croquis::InitialisedBert bert;
  bert.head = positive_or(o.p, bert.head, "--p");
  bert.token_type = o.token_type;
  std::vector<std::string> tokens = tokens_of(o);
  require_length(tokens.size(), n);
  tokens.resize(n);
  std::string name = "text:" + (o.text.empty() ? "sample" : fs::path(o.text).stem().string());
  if (!o.vocab.empty()) name += ";vocab=" + fs::path(o.vocab).stem().string();
  return {name, croquis::initialised_bert(tokens, draw_key, bert)};
}

std::vector<PendingHead> from_model(const InputOptions& o) {
  if (o.model.empty() || o.vocab.empty()) {
    refuse("--input model: needs --model model.safetensors --vocab vocab.txt");
  }
  const arma::uword n = positive_or(o.n, kTokens, "--n");
  const croquis::BertConfig config = croquis::read_bert_config(config_of(o).string());
  const std::vector<arma::uword> layers = parse_numbers(o.layer, "--layer", config.layers),
                                 heads = parse_numbers(o.head, "--head", config.heads);
  const croquis::WordPiece vocabulary(o.vocab, {.lower_case = o.uncased});
  const croquis::TokenIds ids = croquis::bert_sequence(vocabulary, text_of(o), n, config.positions);
  require_length(ids.size(), n);
  const croquis::BertEncoder encoder(croquis::SafeTensors(o.model), config);
  if (vocabulary.size() > encoder.vocabulary()) {
    refuse(fmt::format("--vocab: {} has {} entries, the model {} word embeddings; it is another model's", o.vocab,
                       vocabulary.size(), encoder.vocabulary()));
  }
  const auto run = std::make_shared<croquis::BertHeads>(encoder, ids);
  std::vector<PendingHead> pending;
  for (const arma::uword layer : layers) {
    for (const arma::uword head : heads) {
      pending.push_back({fmt::format("model:{};layer={};head={}", name_of(o.model), layer, head), layer, head,
                         [run, layer, head] { return run->head(layer, head); }});
    }
  }
  return pending;
}
