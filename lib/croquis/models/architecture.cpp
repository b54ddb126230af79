#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/threads.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/models/architecture.hpp>

namespace croquis {
namespace {

constexpr arma::uword kRowBlock = 128;

// Blocks of rows, whose products BLAS makes on one thread each.
template <typename Product>
arma::mat by_row_blocks(const arma::mat& x, arma::uword width, const Product& product) {
  arma::mat y(x.n_rows, width);
  parallel_for(blocks_of(x.n_rows, kRowBlock), [&](std::size_t b) {
    const arma::uword first = b * kRowBlock, last = std::min(first + kRowBlock, x.n_rows) - 1;
    y.rows(first, last) = product(arma::mat(x.rows(first, last)));
  });
  return y;
}

}  // namespace

std::string ModelParts::prefix_of(const ModelWeights& weights, const std::string& tensor,
                                  std::initializer_list<const char*> prefixes, const std::string& hint) {
  std::string tried;
  for (const char* prefix : prefixes) {
    if (weights.has(prefix + tensor)) return prefix;
    if (*prefix != 0) tried += fmt::format("{}'{}'", tried.empty() ? "" : " or ", prefix);
  }
  refuse_file(weights.name(), fmt::format("has no tensor '{}', nor with {} before it{}", tensor, tried, hint));
}

void ModelParts::require_head_for_masked_tokens(const std::string& tensor) const {
  if (has(tensor)) return;
  refuse_file(weights_.name(),
              fmt::format("has no tensor '{}': without the head that predicts masked tokens, as in a classifier, there "
                          "is no loss to compute; croquis error and choose --eps measure its attention",
                          prefix_ + tensor));
}

std::string ModelParts::norm_part(const std::string& norm, bool weight) const {
  const std::string old = norm + (weight ? ".gamma" : ".beta");
  return has(old) ? old : norm + (weight ? ".weight" : ".bias");
}

arma::mat ModelParts::rows(const std::string& tensor, const std::vector<arma::uword>& places) const {
  return matrix(tensor)->rows(arma::uvec(places));
}

arma::mat ModelParts::product(const arma::mat& x, const std::string& tensor) const {
  const auto weight = matrix(tensor);
  return by_row_blocks(x, weight->n_rows, [&](const arma::mat& rows) -> arma::mat { return rows * weight->t(); });
}

void ModelParts::add_row(arma::mat& x, const std::string& tensor) const {
  x.each_row() += arma::rowvec(*matrix(tensor));
}

arma::mat ModelParts::linear(const arma::mat& x, const std::string& name, bool bias) const {
  arma::mat y = product(x, name + ".weight");
  if (bias) add_row(y, name + ".bias");
  return y;
}

arma::mat ModelParts::linear_by_columns(const arma::mat& x, const std::string& name) const {
  const auto weight = matrix(name + ".weight");
  arma::mat y = by_row_blocks(x, weight->n_cols, [&](const arma::mat& rows) -> arma::mat { return rows * *weight; });
  add_row(y, name + ".bias");
  return y;
}

void ModelParts::layer_norm(arma::mat& x, const std::string& name, double epsilon) const {
  x.each_col() -= arma::vec(arma::mean(x, 1));
  x.each_col() /= arma::vec(arma::sqrt(arma::mean(arma::square(x), 1) + epsilon));
  x.each_row() %= arma::rowvec(*matrix(norm_part(name, true)));
  add_row(x, norm_part(name, false));
}

arma::mat ModelParts::rms_norm(arma::mat x, const std::string& name, double epsilon) const {
  x.each_col() /= arma::vec(arma::sqrt(arma::mean(arma::square(x), 1) + epsilon));
  x.each_row() %= arma::rowvec(*matrix(name + ".weight"));
  return x;
}

}  // namespace croquis
