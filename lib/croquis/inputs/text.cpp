#include <cctype>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/inputs/text.hpp>
#include <croquis/random/normal_matrix.hpp>

namespace croquis {
namespace {

constexpr double kLayerNormEpsilon = 1e-12;  // as BERT

arma::rowvec embedding(arma::uword width, double deviation, const Key& draw_key) {
  return deviation * normal_matrix<double>(draw_key, 1, width);
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool ascii = byte < 0x80;
    if (ascii && (std::isspace(byte) || std::iscntrl(byte))) {
      end_word();
    } else if (ascii && std::ispunct(byte)) {
      end_word();
      words.emplace_back(1, c);
    } else {
      word += c;
    }
  }
  end_word();
  return words;
}

Problem<double> initialised_bert(const std::vector<std::string>& tokens, const Key& draw_key,
                                 const InitialisedBert& options) {
  require(!tokens.empty(), "initialised_bert", "at least one token");
  require(options.hidden >= 1 && options.head >= 1 && options.positions >= 1 && options.standard_deviation > 0,
          "initialised_bert", "hidden, head, positions >= 1, standard_deviation > 0",
          {{"hidden", options.hidden},
           {"head", options.head},
           {"positions", options.positions},
           {"standard_deviation", options.standard_deviation}});
  const auto n = static_cast<double>(tokens.size()), hidden = static_cast<double>(options.hidden),
             head = static_cast<double>(options.head);
  require_memory(sizeof(double) * (n * hidden + 3 * n * head + hidden * head), "initialised_bert",
                 {{"n", tokens.size()}, {"hidden", options.hidden}, {"head", options.head}});
  const double deviation = options.standard_deviation;
  const Key words = draw_key.child("word"), positions = draw_key.child("position");
  arma::rowvec common(options.hidden, arma::fill::zeros);
  if (options.token_type) common = embedding(options.hidden, deviation, draw_key.child("token type"));
  arma::mat x(tokens.size(), options.hidden);
  for (arma::uword i = 0; i < x.n_rows; ++i) {
    const arma::rowvec sum = embedding(options.hidden, deviation, words.child(tokens[i])) +
                             embedding(options.hidden, deviation, positions.child(i % options.positions)) + common;
    x.row(i) = (sum - arma::mean(sum)) / std::sqrt(arma::var(sum, 1) + kLayerNormEpsilon);
  }
  const auto project = [&](const char* name) -> arma::mat {
    const SerialBlas serial;
    return x * (deviation * normal_matrix<double>(draw_key.child(name), options.hidden, options.head));
  };
  return {project("query"), project("key"), project("value")};
}

}  // namespace croquis
