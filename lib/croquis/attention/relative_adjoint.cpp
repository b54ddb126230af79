// RelativeScores::adjoint: the derivatives of feature scores with a relative position.
#include <algorithm>
#include <croquis/attention/prefix_product.hpp>
#include <croquis/attention/relative_blocks.hpp>
#include <croquis/attention/relative_scores.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <vector>

namespace croquis {
namespace {

constexpr arma::uword kGroups = 8;

}  // namespace

template <typename T>
typename RelativeScores<T>::Adjoints RelativeScores<T>::adjoint(const arma::Mat<T>& x,
                                                                const arma::Mat<T>& of_products) const {
  const SerialBlas serial;
  require_rows(x.n_rows, tokens_.n_k, "RelativeScores");
  require(of_products.n_rows == tokens_.n_q && of_products.n_cols == x.n_cols, "RelativeScores::adjoint",
          "a cotangent of the products, with a row for each query and a column for each of X",
          {{"rows", of_products.n_rows}, {"cols", of_products.n_cols}, {"n_q", tokens_.n_q}, {"x.cols", x.n_cols}});
  FeatureAdjoint<T> of_features(features_);
  Adjoints result;
  if (path_ == RelativePath::prefix) {
    result.x = prefix_adjoint(x, of_products, of_features);
  } else {
    result.x.zeros(arma::size(x));
    result.bias.zeros(toeplitz_->grid().size());
    if (path_ == RelativePath::fft) fft_adjoint(x, of_products, of_features, result);
    if (!direct_.is_empty()) direct_adjoint(x, of_products, of_features, result);
  }
  result.points = of_features.finish();
  return result;
}

// With m_i the rows of M: dphi(x_i) = sum_{j <= i} (m_i.x_j) phi(y_j) and dphi(y_j) = sum_{i >= j} (m_i.x_j) phi(x_i),
// as multiply() by sums over the tokens before, and after, a chunk. Returns the derivatives by X.
template <typename T>
arma::Mat<T> RelativeScores<T>::prefix_adjoint(const arma::Mat<T>& x, const arma::Mat<T>& m,
                                               FeatureAdjoint<T>& of_features) const {
  const arma::uword n_q = tokens_.n_q, before = tokens_.n_k - n_q;
  const arma::span all(0, features_.directions() - 1);
  arma::Mat<T> of_x(arma::size(x)), state(features_.count(), x.n_cols, arma::fill::zeros);
  for (arma::uword first = 0; first < before; first += kPrefixChunk) {
    const arma::uvec keys = block_indices(first, kPrefixChunk, before);
    state += features_.keys(keys, all, shifts_).t() * x.rows(first, keys.back());
  }
  for (arma::uword first = 0; first < n_q; first += kPrefixChunk) {
    const arma::uvec tokens = block_indices(first, kPrefixChunk, n_q), own = tokens + before;
    const arma::Mat<T> queries = features_.queries(tokens, all, shifts_), keys = features_.keys(own, all, shifts_),
                       values = x.rows(own.front(), own.back()), rows = m.rows(first, tokens.back());
    of_features.add_queries(tokens, all, queries, rows * state.t() + arma::trimatl(rows * values.t()) * keys);
    state += keys.t() * values;
  }
  state.zeros();
  for (arma::uword chunk = blocks_of(n_q, kPrefixChunk); chunk-- > 0;) {
    const arma::uvec tokens = block_indices(chunk * kPrefixChunk, kPrefixChunk, n_q), own = tokens + before;
    const arma::Mat<T> queries = features_.queries(tokens, all, shifts_), keys = features_.keys(own, all, shifts_),
                       values = x.rows(own.front(), own.back()), rows = m.rows(tokens.front(), tokens.back());
    of_features.add_keys(own, all, keys, values * state.t() + arma::trimatu(values * rows.t()) * queries);
    of_x.rows(own.front(), own.back()) = keys * state + arma::trimatu(keys * queries.t()) * rows;
    state += queries.t() * rows;
  }
  for (arma::uword first = 0; first < before; first += kPrefixChunk) {
    const arma::uvec tokens = block_indices(first, kPrefixChunk, before);
    const arma::Mat<T> keys = features_.keys(tokens, all, shifts_);
    of_features.add_keys(tokens, all, keys, x.rows(first, tokens.back()) * state.t());
    of_x.rows(first, tokens.back()) = keys * state;
  }
  return of_x;
}

// Feature by feature: with u = T (phi_r(Y) o X) and w = T^T (phi_r(X) o M), both n x c, dphi_r(x_i) = m_i.u_i,
// dphi_r(y_j) = x_j.w_j, dX += phi_r(Y) o w; and the correlation of phi_r(X) o M with phi_r(Y) o X, whose spectra are
// added up.
template <typename T>
void RelativeScores<T>::fft_adjoint(const arma::Mat<T>& x, arma::Mat<T> m, FeatureAdjoint<T>& of_features,
                                    Adjoints& result) const {
  const arma::uword n = tokens_.n(), directions = features_.directions();
  const arma::uvec all_queries = arma::regspace<arma::uvec>(0, tokens_.n_q - 1),
                   all_keys = arma::regspace<arma::uvec>(0, tokens_.n_k - 1);
  m.rows(direct_).zeros();
  const PhaseLayout& layout = toeplitz_->layout();
  const arma::Mat<T> values = layout.in_phases(x, n), rows = layout.in_phases(m, n);
  const arma::uword groups = std::min(kGroups, features_.count());
  std::vector<arma::Mat<T>> of_x(groups, arma::Mat<T>(arma::size(values), arma::fill::zeros));
  std::vector<Spectra<T>> correlations(groups, toeplitz_->empty_correlation());
  for (arma::uword first = 0; first < directions; first += RelativeBlocks::kDirections) {
    const arma::span span(first, std::min(first + RelativeBlocks::kDirections, directions) - 1);
    const arma::Mat<T> given_queries = features_.queries(all_queries, span, shifts_),
                       given_keys = features_.keys(all_keys, span, shifts_);
    const arma::Mat<T> queries = layout.in_phases(given_queries, n), keys = layout.in_phases(given_keys, n);
    arma::Mat<T> of_queries(arma::size(queries), arma::fill::zeros), of_keys(arma::size(keys), arma::fill::zeros);
    parallel_for(groups, [&](std::size_t g) {
      auto work = toeplitz_->workspace();
      Spectra<T> left = toeplitz_->empty_spectra(), right = toeplitz_->empty_spectra();
      arma::Col<T> product(layout.places());
      for (arma::uword r = g; r < queries.n_cols; r += groups) {
        for (arma::uword c = 0; c < values.n_cols; ++c) {
          toeplitz_->convolved(keys.colptr(r), values.colptr(c), product.memptr(), false, right, work);
          of_queries.col(r) += rows.col(c) % product;
          toeplitz_->convolved(queries.colptr(r), rows.colptr(c), product.memptr(), true, left, work);
          of_keys.col(r) += values.col(c) % product;
          of_x[g].col(c) += keys.col(r) % product;
          add_correlations(toeplitz_->layout().phases, left, right, correlations[g]);
        }
      }
    });
    of_features.add_queries(all_queries, span, given_queries, layout.in_tokens(of_queries, n, tokens_.n_q));
    of_features.add_keys(all_keys, span, given_keys, layout.in_tokens(of_keys, n, tokens_.n_k));
  }
  for (const arma::Mat<T>& part : of_x) result.x += layout.in_tokens(part, n, tokens_.n_k);
  for (const Spectra<T>& part : correlations) result.bias += toeplitz_->weight_cotangent(part);
}

// The rows that are computed directly, in blocks of scores: once for each block of queries, once for each of keys.
template <typename T>
void RelativeScores<T>::direct_adjoint(const arma::Mat<T>& x, const arma::Mat<T>& m, FeatureAdjoint<T>& of_features,
                                       Adjoints& result) const {
  const arma::span all(0, features_.directions() - 1);
  const RelativeGrid& grid = toeplitz_->grid();
  const arma::uword query_blocks = blocks_of(direct_.n_elem, RelativeBlocks::kQueries);
  const auto queries_of = [&](arma::uword b) -> arma::uvec {
    return direct_.subvec(b * RelativeBlocks::kQueries,
                          std::min((b + 1) * RelativeBlocks::kQueries, direct_.n_elem) - 1);
  };
  // The derivatives by phi(x_i).phi(y_j), keys x queries.
  const auto of_products = [&](const arma::uvec& keys, const arma::uvec& queries) {
    arma::Mat<T> block = x.rows(keys.front(), keys.back()) * m.rows(queries).t();
    toeplitz_->weigh(block, tokens_.key(keys.front()), queries + tokens_.query(0));
    return block;
  };
  parallel_for(query_blocks, [&](std::size_t b) {
    const arma::uvec queries = queries_of(b);
    arma::Mat<T> of_queries(queries.n_elem, features_.count(), arma::fill::zeros);
    for (arma::uword k0 = 0; k0 < tokens_.n_k && !sees_nothing(queries.back(), k0); k0 += RelativeBlocks::kKeys) {
      const arma::uvec keys = block_indices(k0, RelativeBlocks::kKeys, tokens_.n_k);
      of_queries += of_products(keys, queries).t() * features_.keys(keys, all, shifts_);
    }
    of_features.add_queries(queries, all, features_.queries(queries, all, shifts_), of_queries);
  });
  const arma::uword key_blocks = blocks_of(tokens_.n_k, RelativeBlocks::kKeys), groups = std::min(kGroups, key_blocks);
  std::vector<arma::Col<T>> bias(groups, arma::Col<T>(grid.size(), arma::fill::zeros));
  parallel_for(groups, [&](std::size_t g) {
    for (arma::uword b = g; b < key_blocks; b += groups) {
      const arma::uvec keys = block_indices(b * RelativeBlocks::kKeys, RelativeBlocks::kKeys, tokens_.n_k);
      const arma::Mat<T> key_features = features_.keys(keys, all, shifts_);
      arma::Mat<T> of_keys(arma::size(key_features), arma::fill::zeros);
      for (arma::uword a = 0; a < query_blocks; ++a) {
        const arma::uvec queries = queries_of(a);
        if (sees_nothing(queries.back(), keys.front())) continue;
        const arma::Mat<T> query_features = features_.queries(queries, all, shifts_),
                           products = key_features * query_features.t(), of = of_products(keys, queries);
        of_keys += of * query_features;
        arma::Mat<T> weighted = products;
        toeplitz_->weigh(weighted, tokens_.key(keys.front()), queries + tokens_.query(0));
        result.x.rows(keys.front(), keys.back()) += weighted * m.rows(queries);
        const arma::Mat<T> of_bias = products % of;
        for (arma::uword j = 0; j < queries.n_elem; ++j) {
          const arma::uword origin = grid.centre() - grid.place(tokens_.query(queries[j]));
          for (arma::uword i = 0; i < keys.n_elem; ++i) {
            bias[g][origin + grid.place(tokens_.key(keys[i]))] += of_bias(i, j);
          }
        }
      }
      of_features.add_keys(keys, all, key_features, of_keys);
    }
  });
  for (const arma::Col<T>& part : bias) result.bias += part;
}

template typename RelativeScores<float>::Adjoints RelativeScores<float>::adjoint(const arma::Mat<float>&,
                                                                                 const arma::Mat<float>&) const;
template typename RelativeScores<double>::Adjoints RelativeScores<double>::adjoint(const arma::Mat<double>&,
                                                                                   const arma::Mat<double>&) const;

}  // namespace croquis
