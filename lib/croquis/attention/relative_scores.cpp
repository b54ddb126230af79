#include <algorithm>
#include <croquis/attention/prefix_product.hpp>
#include <croquis/attention/relative_blocks.hpp>
#include <croquis/attention/relative_scores.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <utility>

namespace croquis {
template <typename T>
RelativeScores<T>::RelativeScores(FeaturePair<T> features, const RelativePosition<T>& position, TokenAlignment tokens,
                                  RelativePath path)
    : features_(std::move(features)),
      shifts_(features_.shifts()),
      tokens_(tokens),
      causal_(position.causal),
      path_(path),
      log_scale_(shifts_.log_scale) {
  if (path == RelativePath::prefix) return;
  toeplitz_.emplace(used_alone(position, tokens), tokens.n(),
                    path == RelativePath::fft ? ToeplitzPath::fft : ToeplitzPath::direct);
  log_scale_ += toeplitz_->log_scale();
  if (path == RelativePath::direct) direct_ = arma::regspace<arma::uvec>(0, tokens.n_q - 1);
}

template <typename T>
arma::Mat<T> RelativeScores<T>::multiply(const arma::Mat<T>& x, arma::mat* bounds) const {
  require_rows(x.n_rows, tokens_.n_k, "RelativeScores");
  if (path_ == RelativePath::prefix) return by_prefix(x, false);
  arma::Mat<T> y = path_ == RelativePath::fft ? by_fft(x, false, bounds) : arma::Mat<T>(tokens_.n_q, x.n_cols);
  replace_direct_rows(x, y);
  return y;
}

template <typename T>
arma::Mat<T> RelativeScores<T>::multiply_transposed(const arma::Mat<T>& x) const {
  require_rows(x.n_rows, tokens_.n_q, "RelativeScores");
  if (path_ == RelativePath::prefix) return by_prefix(x, true);
  arma::Mat<T> y(tokens_.n_k, x.n_cols, arma::fill::zeros);
  if (path_ == RelativePath::fft) {
    arma::Mat<T> rest = x;
    rest.rows(direct_).zeros();
    y = by_fft(rest, true, nullptr);
  }
  add_direct_transposed(x, y);
  return y;
}

// Every task has one column of X for all features of a block, so that nothing is shared and n numbers a column suffice.
// Tokens that lack a query or a key have features of zero.
template <typename T>
arma::Mat<T> RelativeScores<T>::by_fft(const arma::Mat<T>& x, bool transposed, arma::mat* bounds) const {
  const SerialBlas serial;
  const arma::uword n = tokens_.n(), m = features_.directions();
  const arma::uvec all_queries = arma::regspace<arma::uvec>(0, tokens_.n_q - 1),
                   all_keys = arma::regspace<arma::uvec>(0, tokens_.n_k - 1);
  const PhaseLayout& layout = toeplitz_->layout();
  const arma::Mat<T> values = layout.in_phases(x, n);
  arma::Mat<T> sums(arma::size(values), arma::fill::zeros);
  if (bounds != nullptr) bounds->zeros();
  for (arma::uword first = 0; first < m; first += RelativeBlocks::kDirections) {
    const arma::span directions = directions_from(first);
    arma::Mat<T> queries = features_.queries(all_queries, directions, shifts_),
                 keys = features_.keys(all_keys, directions, shifts_);
    if (bounds != nullptr) {
      arma::Mat<T> norms(keys.n_cols, bounds->n_cols);
      for (arma::uword k = 0; k < norms.n_cols; ++k) {
        const arma::Col<T> column = x.col(x.n_cols - norms.n_cols + k);
        for (arma::uword r = 0; r < norms.n_rows; ++r) norms(r, k) = arma::norm(keys.col(r) % column);
      }
      *bounds += toeplitz_->entry_error() * arma::conv_to<arma::mat>::from(arma::abs(queries) * norms);
    }
    queries = layout.in_phases(queries, n);
    keys = layout.in_phases(keys, n);
    const arma::Mat<T>&inner = transposed ? queries : keys, &outer = transposed ? keys : queries;
    parallel_for(x.n_cols, [&](std::size_t c) {
      auto work = toeplitz_->workspace();
      for (arma::uword r = 0; r < inner.n_cols; ++r) {
        toeplitz_->accumulate(outer.colptr(r), inner.colptr(r), values.colptr(c), sums.colptr(c), transposed, work);
      }
    });
  }
  return layout.in_tokens(sums, n, transposed ? tokens_.n_k : tokens_.n_q);
}

template <typename T>
arma::Mat<T> RelativeScores<T>::by_prefix(const arma::Mat<T>& x, bool transposed) const {
  const arma::span all(0, features_.directions() - 1);
  const auto queries = [&](arma::uword first, arma::uword last) {
    return features_.queries(arma::regspace<arma::uvec>(first, last), all, shifts_);
  };
  const auto keys = [&](arma::uword first, arma::uword last) {
    return features_.keys(arma::regspace<arma::uvec>(first, last), all, shifts_);
  };
  return transposed ? suffix_product<T>(tokens_, features_.count(), queries, keys, x)
                    : prefix_product<T>(tokens_, features_.count(), queries, keys, x);
}

template <typename T>
arma::span RelativeScores<T>::directions_from(arma::uword first) const {
  return arma::span(first, std::min(first + RelativeBlocks::kDirections, features_.directions()) - 1);
}

template <typename T>
typename RelativeScores<T>::Features RelativeScores<T>::query_features(const arma::uvec& queries) const {
  const SerialBlas serial;
  Features result{queries, {}};
  for (arma::uword first = 0; first < features_.directions(); first += RelativeBlocks::kDirections)
    result.blocks.push_back(features_.queries(queries, directions_from(first), shifts_));
  return result;
}

template <typename T>
typename RelativeScores<T>::Features RelativeScores<T>::key_features(const arma::uvec& keys) const {
  const SerialBlas serial;
  Features result{keys, {}};
  for (arma::uword first = 0; first < features_.directions(); first += RelativeBlocks::kDirections)
    result.blocks.push_back(features_.keys(keys, directions_from(first), shifts_));
  return result;
}

template <typename T>
arma::Mat<T> RelativeScores<T>::block(const Features& keys, const Features& queries) const {
  const SerialBlas serial;
  arma::Mat<T> scores(keys.tokens.n_elem, queries.tokens.n_elem, arma::fill::zeros);
  for (std::size_t b = 0; b < keys.blocks.size(); ++b) scores += keys.blocks[b] * queries.blocks[b].t();
  toeplitz_->weigh(scores, tokens_.key(keys.tokens.front()), queries.tokens + tokens_.query(0));
  return scores;
}

template <typename T>
void RelativeScores<T>::replace_direct_rows(const arma::Mat<T>& x, arma::Mat<T>& y) const {
  parallel_for(blocks_of(direct_.n_elem, RelativeBlocks::kQueries), [&](std::size_t b) {
    const arma::uword first = b * RelativeBlocks::kQueries,
                      last = std::min(first + RelativeBlocks::kQueries, direct_.n_elem) - 1;
    const Features queries = query_features(direct_.subvec(first, last));
    arma::Mat<T> sums(queries.tokens.n_elem, x.n_cols, arma::fill::zeros);
    for (arma::uword k0 = 0; k0 < tokens_.n_k && !sees_nothing(direct_[last], k0); k0 += RelativeBlocks::kKeys) {
      const arma::uvec keys = block_indices(k0, RelativeBlocks::kKeys, tokens_.n_k);
      sums += block(key_features(keys), queries).t() * x.rows(keys.front(), keys.back());
    }
    y.rows(queries.tokens) = sums;
  });
}

template <typename T>
void RelativeScores<T>::add_direct_transposed(const arma::Mat<T>& x, arma::Mat<T>& y) const {
  parallel_for(blocks_of(tokens_.n_k, RelativeBlocks::kKeys), [&](std::size_t b) {
    const arma::uvec keys = block_indices(b * RelativeBlocks::kKeys, RelativeBlocks::kKeys, tokens_.n_k);
    const Features of_keys = key_features(keys);
    for (arma::uword first = 0; first < direct_.n_elem; first += RelativeBlocks::kQueries) {
      const arma::uvec queries = direct_.subvec(first, std::min(first + RelativeBlocks::kQueries, direct_.n_elem) - 1);
      if (sees_nothing(queries.back(), keys.front())) continue;
      y.rows(keys.front(), keys.back()) += block(of_keys, query_features(queries)) * x.rows(queries);
    }
  });
}

template class RelativeScores<float>;
template class RelativeScores<double>;

}  // namespace croquis
