// Queries and keys of exact attention, in the form in which their scores are computed block by block.
#pragma once

#include <algorithm>
#include <armadillo>
#include <cmath>
#include <croquis/attention/problem.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/direct_exponents.hpp>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <limits>
#include <utility>

namespace croquis {

/// Queries and keys in the form from which log-scores log a_ij = q_i.k_j + b_{j-i} are computed by blocks. Keys are
/// columns, so that a block of them is contiguous. For kernelized they have two more coordinates, so that q.k is -||q -
/// k||^2 / 2: 1 and -||q||^2 / 2 in q, -||k||^2 / 2 and 1 in k.
template <typename T>
struct ExactTokens {
  arma::Mat<T> q, k;  // n_q x p, p x n_k
  Target target;
  RelativeGrid grid;
  arma::Col<T> bias;  // with the causal mask; empty where there is neither
  bool causal = false, has_bias = false;
  arma::uvec chosen;  // which of the problem's queries these are, ascending; empty: all
  TokenAlignment tokens;

  ExactTokens(const Problem<T>& problem_, Target target_, arma::uvec chosen_ = {})
      : target(target_),
        grid(problem_.tokens().n(), problem_.position().height),
        chosen(std::move(chosen_)),
        tokens(problem_.tokens()),
        problem(problem_) {
    if (has_unit_rows(target)) {
      q = unit_rows(problem.Q());
      k = transposed(unit_rows(problem.K()));
    } else {
      const T scale = std::pow(static_cast<T>(problem.p()), T(-0.25));
      q = scale * problem.Q();
      k = transposed(problem.K());
      k *= scale;
    }
    if (const RelativePosition<T> position = position_of(problem, target); !position.is_zero()) {
      causal = position.causal;
      has_bias = !position.bias.is_empty();
      bias = log_weights(position, grid);
      // Very small instead of -inf: a block of masked keys then has a finite maximum, and its sum is scaled to zero by
      // the first key that is not masked, of which there is one.
      bias.transform([](T b) { return std::max(b, kMasked); });
    }
    if (target == Target::kernelized) {
      const SerialBlas serial;
      const arma::Col<T> centre = T(0.5) * (arma::mean(q, 0).t() + arma::mean(k, 1));
      q.each_row() -= centre.t();
      k.each_col() -= centre;
      half_norms_q = T(0.5) * arma::sum(arma::square(q), 1);
      half_norms_k = T(0.5) * arma::sum(arma::square(k), 0).t();
      centre_norm = arma::norm(centre);
      q = arma::join_rows(q, arma::Mat<T>(q.n_rows, 1, arma::fill::ones), -half_norms_q);
      k = arma::join_cols(k, -half_norms_k.t(), arma::Mat<T>(1, k.n_cols, arma::fill::ones));
    }
    if (!chosen.is_empty()) {
      q = q.rows(chosen).eval();
      if (target == Target::kernelized) {
        half_norms_q = half_norms_q.elem(chosen).eval();
        chosen_queries = problem.Q().rows(chosen);
      }
    }
  }

  arma::uword rows() const { return q.n_rows; }
  arma::uword cols() const { return k.n_cols; }
  RowScale row_scale() const { return is_normalised(target) ? RowScale::by_sum : RowScale::none; }
  arma::uword token(arma::uword query) const { return tokens.query(chosen.is_empty() ? query : chosen(query)); }

  // scores (queries x keys) <- log a, for queries q0 ... and keys k0 ...
  void fill(arma::uword q0, arma::uword k0, arma::Mat<T>& scores) const {
    thread_local arma::Mat<T> queries;
    queries = q.rows(q0, q0 + scores.n_rows - 1);
    narrow_gemm(CblasNoTrans, scores.n_rows, scores.n_cols, k.n_rows, T(1), queries.memptr(), k.colptr(k0), k.n_rows,
                T(0), scores.memptr(), scores.n_rows);
    finish(q0, k0, scores);
  }

  // The same where `scores` has the products already.
  void finish(arma::uword q0, arma::uword k0, arma::Mat<T>& scores) const {
    if (target == Target::kernelized) correct(q0, k0, scores);
    const bool all_attend = tokens.key(k0 + scores.n_cols - 1) <= token(q0);  // to all keys of the block
    if (has_bias) {
      add_bias(q0, k0, scores);
    } else if (causal && !all_attend) {
      mask(q0, k0, scores);
    }
  }

  // The number of the keys k0 ... k0 + count - 1, from the first on, whose scores are needed up to this query: those
  // that are attended to, rounded up to whole tiles of 64.
  arma::uword seen(arma::uword last_query, arma::uword k0, arma::uword count) const {
    constexpr arma::uword tile = 64;
    const arma::uword first = tokens.key(k0), last = token(last_query);
    if (!causal) return count;
    return first > last ? 0 : std::min(count, (last - first) / tile * tile + tile);
  }

 private:
  Problem<T> problem;
  // For kernelized: ||.||^2 / 2 of the centred points, and the queries as they are given where they are chosen ones.
  arma::Col<T> half_norms_q, half_norms_k;
  T centre_norm = 0;
  arma::Mat<T> chosen_queries;

  void correct(arma::uword q0, arma::uword k0, arma::Mat<T>& scores) const {
    const GivenRows<T> queries{chosen.is_empty() ? problem.Q() : chosen_queries, q0, scores.n_rows,
                               half_norms_q.memptr() + q0},
        keys{problem.K(), k0, scores.n_cols, half_norms_k.memptr() + k0};
    const DirectExponents<T> direct(queries, keys, std::pow(static_cast<T>(problem.p()), T(-0.25)), centre_norm);
    for (arma::uword j = 0; direct.needed() && j < scores.n_cols; ++j) direct.correct(j, scores.colptr(j));
  }

  static constexpr T kMasked = std::numeric_limits<T>::lowest() / 8;

  // The queries come one after the other, so that a key is masked for the first ones of a block.
  void mask(arma::uword q0, arma::uword k0, arma::Mat<T>& scores) const {
    for (arma::uword j = 0; j < scores.n_cols; ++j) {
      const arma::uword key = tokens.key(k0 + j);
      T* column = scores.colptr(j);
      for (arma::uword i = 0; i < scores.n_rows && token(q0 + i) < key; ++i) column[i] = kMasked;
    }
  }

  void add_bias(arma::uword q0, arma::uword k0, arma::Mat<T>& scores) const {
    arma::uvec origins(scores.n_rows);
    for (arma::uword i = 0; i < origins.n_elem; ++i) origins[i] = grid.centre() - grid.place(token(q0 + i));
    for (arma::uword j = 0; j < scores.n_cols; ++j) {
      const T* b = bias.memptr() + grid.place(tokens.key(k0 + j));
      T* column = scores.colptr(j);
      for (arma::uword i = 0; i < origins.n_elem; ++i) column[i] += b[origins[i]];
    }
  }
};

}  // namespace croquis
