#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <limits>
#include <memory>

namespace croquis {
namespace {

constexpr arma::uword kQueryBlock = 256, kKeyBlock = 512;

arma::uword blocks_of(arma::uword n, arma::uword block) {
  return (n + block - 1) / block;
}

// Tokens as columns, so that a block of tokens is contiguous, with what turns q.k into a log-score:
// log a_ij = q_i.k_j + key_offset_j + query_offset_i + b_{j-i}.
template <typename T>
struct Tokens {
  arma::Mat<T> q, k;                // p x n
  arma::Row<T> q_offset, k_offset;  // -||.||^2/2 for kernelized
  Target target;
  RelativeGrid grid;
  arma::Col<T> bias;  // empty where there is none
  bool causal = false;
  arma::uvec rows;  // which tokens the queries are, ascending; empty: all

  Tokens(const Problem<T>& problem, Target target_, arma::uvec rows_ = {})
      : target(target_), grid(problem.n(), problem.position().height), rows(std::move(rows_)) {
    if (has_unit_rows(target)) {
      q = transposed(unit_rows(problem.Q()));
      k = transposed(unit_rows(problem.K()));
    } else {
      const T scale = std::pow(static_cast<T>(problem.p()), T(-0.25));
      q = transposed(problem.Q());
      k = transposed(problem.K());
      q *= scale;
      k *= scale;
    }
    if (has_position(target) && !problem.position().is_zero()) {
      causal = problem.position().causal;
      bias = log_weights(problem.position(), grid);
      // Very small instead of -inf: a block of keys that count for nothing has a finite maximum, and its sum is scaled
      // to zero by the first key that counts, which there is.
      bias.transform([](T b) { return std::max(b, std::numeric_limits<T>::lowest() / 8); });
    }
    q_offset.zeros(q.n_cols);
    k_offset.zeros(k.n_cols);
    if (target == Target::kernelized) {
      const arma::Col<T> centre = T(0.5) * (arma::mean(q, 1) + arma::mean(k, 1));
      q.each_col() -= centre;
      k.each_col() -= centre;
      q_offset = T(-0.5) * arma::sum(arma::square(q), 0);
      k_offset = T(-0.5) * arma::sum(arma::square(k), 0);
    }
    if (rows.is_empty()) return;
    q = q.cols(rows).eval();
    q_offset = q_offset.cols(rows).eval();
  }

  arma::uword queries() const { return q.n_cols; }
  arma::uword n() const { return k.n_cols; }
  arma::uword token(arma::uword query) const { return rows.is_empty() ? query : rows(query); }

  // scores (keys x queries) <- log a, for keys k0 ... and queries q0 ...
  void log_scores(arma::uword k0, arma::uword q0, arma::Mat<T>& scores) const {
    scores = k.cols(k0, k0 + scores.n_rows - 1).t() * q.cols(q0, q0 + scores.n_cols - 1);
    if (!bias.is_empty()) add_bias(k0, q0, scores);
    if (target != Target::kernelized) return;
    for (arma::uword j = 0; j < scores.n_cols; ++j) {
      T* column = scores.colptr(j);
      for (arma::uword i = 0; i < scores.n_rows; ++i) {
        column[i] = std::min(column[i] + k_offset(k0 + i) + q_offset(q0 + j), T(0));
      }
    }
  }

  // Every key of the block comes after every query of it.
  bool is_future(arma::uword k0, arma::uword last_query) const { return causal && k0 > token(last_query); }

 private:
  void add_bias(arma::uword k0, arma::uword q0, arma::Mat<T>& scores) const {
    for (arma::uword j = 0; j < scores.n_cols; ++j) {
      const arma::uword origin = grid.centre() - grid.place(token(q0 + j));
      T* column = scores.colptr(j);
      if (grid.height() == 1) {
        const T* b = bias.memptr() + (origin + k0);
        for (arma::uword i = 0; i < scores.n_rows; ++i) column[i] += b[i];
      } else {
        for (arma::uword i = 0; i < scores.n_rows; ++i) column[i] += bias(origin + grid.place(k0 + i));
      }
    }
  }
};

// What a block is computed in. Kept by the thread: fresh memory for every block would cost more than its exponentials.
template <typename T>
struct Workspace {
  arma::Mat<T> scores, sums;
  arma::Col<T> top, weight;

  static Workspace& of_thread() {
    thread_local Workspace workspace;
    return workspace;
  }
};

// Y = B X or C X, and the log row sums. x holds X^T (c x n).
template <typename T>
arma::Mat<T> attend(const Tokens<T>& tokens, const arma::Mat<T>& x, arma::Col<T>& log_row_sums) {
  const arma::uword n = tokens.n(), queries = tokens.queries();
  const bool softmax = is_normalised(tokens.target);
  arma::Mat<T> y(queries, x.n_rows, arma::fill::none);
  log_row_sums.set_size(queries);
  parallel_for(blocks_of(queries, kQueryBlock), [&](std::size_t b) {
    const arma::uword q0 = b * kQueryBlock, count = std::min(kQueryBlock, queries - q0);
    auto& [scores, sums, top, weight] = Workspace<T>::of_thread();
    sums.zeros(x.n_rows, count);
    weight.zeros(count);
    top.set_size(count);
    top.fill(softmax ? -std::numeric_limits<T>::infinity() : T(0));
    for (arma::uword k0 = 0; k0 < n && !tokens.is_future(k0, q0 + count - 1); k0 += kKeyBlock) {
      scores.set_size(std::min(kKeyBlock, n - k0), count);
      tokens.log_scores(k0, q0, scores);
      for (arma::uword j = 0; j < count; ++j) {
        T* column = scores.colptr(j);
        if (softmax) {
          const T raised = std::max(top(j), maximum(column, scores.n_rows));
          if (raised > top(j)) {
            const T shrink = std::exp(top(j) - raised);  // 0 in the first block
            weight(j) *= shrink;
            if (!sums.is_empty()) sums.col(j) *= shrink;  // X without columns: the row sums alone
            top(j) = raised;
          }
        }
        weight(j) += exp_shifted(column, scores.n_rows, top(j));
      }
      sums += x.cols(k0, k0 + scores.n_rows - 1) * scores;
    }
    if (softmax) sums.each_row() /= weight.t();
    if (!sums.is_empty()) transpose_block(sums.memptr(), x.n_rows, x.n_rows, count, y.memptr() + q0, queries);
    logarithm(weight.memptr(), count);
    std::copy_n((top + weight).eval().memptr(), count, log_row_sums.memptr() + q0);
  });
  return y;
}

// Y for Y = B^T X or C^T X; x holds X^T, log_scale the log row sums, or zeros (kernelized).
template <typename T>
arma::Mat<T> attend_transposed(const Tokens<T>& tokens, const arma::Mat<T>& x, const arma::Col<T>& log_scale) {
  const arma::uword n = tokens.n();
  arma::Mat<T> y(n, x.n_rows, arma::fill::none);
  parallel_for(blocks_of(n, kKeyBlock), [&](std::size_t b) {
    const arma::uword k0 = b * kKeyBlock, count = std::min(kKeyBlock, n - k0);
    auto& [scores, sums, unused, also_unused] = Workspace<T>::of_thread();
    sums.zeros(x.n_rows, count);
    for (arma::uword q0 = 0; q0 < n; q0 += kQueryBlock) {
      scores.set_size(count, std::min(kQueryBlock, n - q0));
      if (tokens.is_future(k0, q0 + scores.n_cols - 1)) continue;
      tokens.log_scores(k0, q0, scores);
      for (arma::uword j = 0; j < scores.n_cols; ++j) exp_shifted(scores.colptr(j), count, log_scale(q0 + j));
      sums += x.cols(q0, q0 + scores.n_cols - 1) * scores.t();
    }
    transpose_block(sums.memptr(), x.n_rows, x.n_rows, count, y.memptr() + k0, n);
  });
  return y;
}

}  // namespace

template <typename T>
ExactAttention<T> exact_attention(const Problem<T>& problem, Target target) {
  ExactAttention<T> exact;
  exact.output = attend<T>(Tokens<T>(problem, target), transposed(problem.V()), exact.log_row_sums);
  return exact;
}

template <typename T>
ExactAttention<T> exact_attention_rows(const Problem<T>& problem, Target target, const arma::uvec& rows) {
  require(!rows.is_empty() && rows.is_sorted("strictascend") && rows.back() < problem.n(), "exact_attention_rows",
          "rows ascend, each once, below n", {{"rows", rows.n_elem}, {"n", problem.n()}});
  ExactAttention<T> exact;
  exact.output = attend<T>(Tokens<T>(problem, target, rows), transposed(problem.V()), exact.log_row_sums);
  return exact;
}

template <typename T>
LinearOperator<T> exact_scores(const Problem<T>& problem, Target target) {
  const auto tokens = std::make_shared<const Tokens<T>>(problem, target);
  // The row sums are a pass of their own, taken once: B^T needs them before it can start.
  arma::Col<T> log_scale(problem.n(), arma::fill::zeros);
  if (is_normalised(target)) attend<T>(*tokens, arma::Mat<T>(0, problem.n()), log_scale);
  return {problem.n(), problem.n(),
          [tokens](const arma::Mat<T>& x) -> arma::Mat<T> {
            arma::Col<T> unused;
            return attend<T>(*tokens, transposed(x), unused);
          },
          [tokens, log_scale](const arma::Mat<T>& x) -> arma::Mat<T> {
            return attend_transposed<T>(*tokens, transposed(x), log_scale);
          }};
}

template ExactAttention<float> exact_attention(const Problem<float>&, Target);
template ExactAttention<double> exact_attention(const Problem<double>&, Target);
template ExactAttention<float> exact_attention_rows(const Problem<float>&, Target, const arma::uvec&);
template ExactAttention<double> exact_attention_rows(const Problem<double>&, Target, const arma::uvec&);
template LinearOperator<float> exact_scores(const Problem<float>&, Target);
template LinearOperator<double> exact_scores(const Problem<double>&, Target);

}  // namespace croquis
