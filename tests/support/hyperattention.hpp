// HyperAttention by its definition, one term after the other.
#pragma once

#include <cmath>
#include <croquis/attention/hyperattention.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/random/normal_matrix.hpp>

#include "support/attention.hpp"

/// Which block of b keys every query and every key is in.
struct HashBlocks {
  std::vector<arma::uword> of_query, of_key;
};

template <typename T>
HashBlocks hash_blocks_of(const croquis::Problem<T>& problem, arma::uword b,
                          const croquis::HyperattentionOptions& options, const croquis::Key& draw_key) {
  const auto directions = croquis::normal_matrix<T>(draw_key.child("directions"), problem.p(), options.directions);
  const auto places = [&](const arma::Mat<T>& x, auto block_of_rank) {
    const std::vector<std::uint32_t> sorted = croquis::angular_order(x, directions, options.order);
    std::vector<arma::uword> blocks(x.n_rows);
    for (arma::uword rank = 0; rank < x.n_rows; ++rank) blocks[sorted[rank]] = block_of_rank(rank);
    return blocks;
  };
  const double keys_a_query = static_cast<double>(problem.n_k()) / static_cast<double>(problem.n_q());
  return {places(problem.Q(),
                 [&](arma::uword rank) {
                   return static_cast<arma::uword>(std::floor(1e-9 + static_cast<double>(rank) * keys_a_query)) / b;
                 }),
          places(problem.K(), [&](arma::uword rank) { return rank / b; })};
}

/// The estimators, one term after the other: A of the row sums, and of the output.
struct HyperReference {
  Dense of_sums, of_values;

  HyperReference(arma::uword n_q, arma::uword n_k) : of_sums(n_q, n_k), of_values(n_q, n_k) {}

  /// `sums` and `values` are the random keys of the sampled keys, draw_key that of the hash.
  template <typename T>
  HyperReference(const croquis::Problem<T>& problem, arma::uword d, const croquis::HyperattentionOptions& options,
                 const croquis::Key& draw_key, const croquis::Key& sums, const croquis::Key& values)
      : of_sums(problem.n_q(), problem.n_k()), of_values(problem.n_q(), problem.n_k()) {
    const bool shared = options.values == croquis::HyperattentionOptions::Values::shared;
    const arma::uword n_q = problem.n_q(), n_k = problem.n_k(),
                      b = shared      ? (d + 1) / 2
                          : d / 2 > 0 ? d / 2
                                      : 1,
                      m = shared      ? d - b
                          : d / 4 > 0 ? d / 4
                                      : 1;
    Dense a = logits_of(problem.Q(), problem.K());
    for (long double& e : a.entries) e = std::exp(e);
    const HashBlocks blocks = hash_blocks_of(problem, b, options, draw_key);
    for (arma::uword i = 0; i < n_q; ++i) {
      for (arma::uword j = 0; j < n_k; ++j) {
        if (blocks.of_query[i] == blocks.of_key[j]) of_sums(i, j) = a(i, j);
      }
      for (const arma::uword j : croquis::sample_with_replacement(n_k, m, sums)) {
        if (options.masked && blocks.of_query[i] == blocks.of_key[j]) continue;
        of_sums(i, j) += a(i, j) * static_cast<long double>(n_k) / static_cast<long double>(m);
      }
    }
    of_values = of_sums;
    if (shared) return;
    of_values = Dense(n_q, n_k);
    arma::Col<T> squares(n_k);
    for (arma::uword j = 0; j < n_k; ++j) squares(j) = arma::accu(arma::square(problem.V().row(j)));
    const long double total = arma::accu(arma::conv_to<arma::vec>::from(squares));
    for (const arma::uword j : croquis::sample_weighted(squares, d - b - m, values)) {
      for (arma::uword i = 0; i < n_q; ++i) {
        of_values(i, j) += a(i, j) * total / static_cast<long double>(squares(j)) / static_cast<long double>(d - b - m);
      }
    }
  }

  Dense scores() const {
    Dense b = of_values;
    for (arma::uword i = 0; i < b.rows; ++i) {
      long double sum = 0;
      for (arma::uword j = 0; j < b.cols; ++j) sum += of_sums(i, j);
      for (arma::uword j = 0; j < b.cols; ++j) b(i, j) /= sum;
    }
    return b;
  }
};

/// entry_error() of a problem that may be rectangular.
template <typename T>
double hyper_entry_error(const croquis::Problem<T>& problem) {
  return softmax_error<T>(double(problem.n_k()), double(problem.p()), largest_logit(problem));
}
