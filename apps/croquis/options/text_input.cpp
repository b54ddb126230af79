#include "options/text_input.hpp"

#include <fmt/format.h>

#include <croquis/inputs/text.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/utf8.hpp>
#include <croquis/models/wordpiece.hpp>
#include <filesystem>
#include <stdexcept>

#include "options/lists.hpp"
#include "options/name_part.hpp"
#include "options/refuse.hpp"
#include "options/vocabulary_notes.hpp"

namespace {

namespace fs = std::filesystem;

}  // namespace

std::string text_of(const InputOptions& o) {
  if (o.text.empty()) return std::string(croquis::sample_text());
  std::string text;
  try {
    text = croquis::read_bytes(o.text);
  } catch (const std::invalid_argument& wrong) {
    refuse(fmt::format("--text: {}", wrong.what()));
  }
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
    refuse(fmt::format("--text: {}: byte {} (from 0) is zero; zero bytes are not read, remove them", o.text, zero));
  }
  if (const auto place = croquis::first_not_utf8(text)) {
    refuse(fmt::format("--text: {}: byte {} (from 0) is not UTF-8; iconv -f LATIN1 -t UTF-8 converts a text in Latin-1",
                       o.text, *place));
  }
  return text;
}

void require_length(arma::uword tokens, arma::uword n) {
  if (tokens >= n) return;
  refuse(fmt::format("--n: the text has {} tokens, {} are wanted; give a smaller --n or a longer --text", tokens, n));
}

namespace {

// The first n tokens.
std::vector<std::string> tokens_of(const InputOptions& o, arma::uword n) {
  const std::string text = text_of(o);
  std::vector<std::string> tokens;
  if (o.vocab.empty()) {
    tokens = croquis::split_words(text);
    require_length(tokens.size(), n);
  } else {
    const croquis::WordPiece vocabulary(o.vocab, {.lower_case = o.uncased});
    const croquis::TokenIds ids = vocabulary.encode(text);
    require_length(ids.size(), n);
    note_vocabulary(o, vocabulary, text, ids);
    tokens = vocabulary.tokens(ids);
  }
  tokens.resize(n);
  return tokens;
}

}  // namespace

std::pair<std::string, croquis::Problem<double>> from_text(const InputOptions& o, const croquis::Key& draw_key) {
  croquis::InitialisedBert bert;
  const arma::uword window = positive_or(o.n, o.join_windows ? bert.positions : kDefaultTokens, "--n"),
                    n = window * positive_or(o.join_windows, 1, "--join-windows");
  if (o.join_windows) bert.positions = window;
  bert.head = positive_or(o.p, bert.head, "--p");
  bert.token_type = o.token_type;
  const std::vector<std::string> tokens = tokens_of(o, n);
  std::string name = "text:" + (o.text.empty() ? "sample" : as_name_part(fs::path(o.text).stem().string()));
  if (!o.vocab.empty()) name += ";vocab=" + as_name_part(fs::path(o.vocab).stem().string());
  if (o.token_type) name += ";token-type";
  if (o.join_windows) name += fmt::format(";windows={}", *o.join_windows);
  return {name, croquis::initialised_bert(tokens, draw_key, bert)};
}
