#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/direct_exponents.hpp>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/row_math.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <limits>
#include <memory>

namespace croquis {
namespace {

// Keys as columns, so that a block of them is contiguous, with what turns q.k into a log-score:
// log a_ij = q_i.k_j + b_{j-i}. For kernelized they have two coordinates more, so that q.k is -||q - k||^2 / 2: 1 and
// -||q||^2 / 2 in q, -||k||^2 / 2 and 1 in k.
template <typename T>
struct Tokens {
  arma::Mat<T> q, k;  // n_q x p, p x n_k
  Target target;
  RelativeGrid grid;
  arma::Col<T> bias;  // with the causal mask; empty where there is neither
  bool causal = false, has_bias = false;
  arma::uvec chosen;  // which of the problem's queries these are, ascending; empty: all
  TokenAlignment tokens;

  Tokens(const Problem<T>& problem_, Target target_, arma::uvec chosen_ = {})
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
      // Very small instead of -inf: a block of keys that count for nothing has a finite maximum, and its sum is scaled
      // to zero by the first key that counts, which there is.
      bias.transform([](T b) { return std::max(b, std::numeric_limits<T>::lowest() / 8); });
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
    if (target == Target::kernelized) correct(q0, k0, scores);
    const bool all_attend = tokens.key(k0 + scores.n_cols - 1) <= token(q0);  // to all keys of the block
    if (has_bias || (causal && !all_attend)) add_bias(q0, k0, scores);
  }

  // Every key from k0 on comes after every query up to the last.
  bool is_masked(arma::uword last_query, arma::uword k0) const { return causal && tokens.key(k0) > token(last_query); }

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

// Y for Y = B^T X or C^T X; x holds X^T, log_scale the log row sums, or zeros (kernelized).
template <typename T>
arma::Mat<T> attend_transposed(const Tokens<T>& tokens, const arma::Mat<T>& x, const arma::Col<T>& log_scale) {
  constexpr arma::uword query_block = kStreamedRows, key_block = kStreamedCols;
  const arma::uword n_q = tokens.rows(), n_k = tokens.cols();
  arma::Mat<T> y(n_k, x.n_rows, arma::fill::none);
  parallel_for(blocks_of(n_k, key_block), [&](std::size_t b) {
    thread_local arma::Mat<T> scores, sums;  // kept by the thread, as in streamed_product()
    thread_local arma::Col<T> row_sums;
    const arma::uword k0 = b * key_block, count = std::min(key_block, n_k - k0);
    sums.zeros(x.n_rows, count);
    row_sums.zeros(query_block);
    for (arma::uword q0 = 0; q0 < n_q; q0 += query_block) {
      scores.set_size(std::min(query_block, n_q - q0), count);
      if (tokens.is_masked(q0 + scores.n_rows - 1, k0)) continue;
      tokens.fill(q0, k0, scores);
      exp_shifted_rows(scores.memptr(), scores.n_rows, count, log_scale.memptr() + q0, row_sums.memptr());
      narrow_gemm(CblasNoTrans, x.n_rows, count, scores.n_rows, T(1), x.colptr(q0), scores.memptr(), scores.n_rows,
                  T(1), sums.memptr(), x.n_rows);
    }
    transpose_block(sums.memptr(), x.n_rows, x.n_rows, count, y.memptr() + k0, n_k);
  });
  return y;
}

// B X or C X, and the log row sums.
template <typename T>
ExactAttention<T> attend(const Tokens<T>& tokens, const arma::Mat<T>& x) {
  ExactAttention<T> exact;
  arma::Col<T> row_maxima;
  exact.output = streamed_product<T>(tokens, x, {.row_maxima = &row_maxima, .sums = &exact.log_row_sums});
  logarithm(exact.log_row_sums.memptr(), exact.log_row_sums.n_elem);
  exact.log_row_sums += row_maxima;
  return exact;
}

}  // namespace

template <typename T>
ExactAttention<T> exact_attention(const Problem<T>& problem, Target target) {
  return attend(Tokens<T>(problem, target), problem.V());
}

template <typename T>
ExactAttention<T> exact_attention_rows(const Problem<T>& problem, Target target, const arma::uvec& rows) {
  require(!rows.is_empty() && rows.is_sorted("strictascend") && rows.back() < problem.n_q(), "exact_attention_rows",
          "rows ascend, each once, below n_q", {{"rows", rows.n_elem}, {"n_q", problem.n_q()}});
  return attend(Tokens<T>(problem, target, rows), problem.V());
}

template <typename T>
LinearOperator<T> exact_scores(const Problem<T>& problem, Target target) {
  const auto tokens = std::make_shared<const Tokens<T>>(problem, target);
  // The row sums are a pass of their own, taken once: B^T needs them before it can start.
  arma::Col<T> log_scale(problem.n_q(), arma::fill::zeros);
  if (is_normalised(target)) log_scale = attend(*tokens, arma::Mat<T>(problem.n_k(), 0)).log_row_sums;
  return {problem.n_q(), problem.n_k(),
          [tokens](const arma::Mat<T>& x) -> arma::Mat<T> { return streamed_product<T>(*tokens, x); },
          [tokens, log_scale](const arma::Mat<T>& x) -> arma::Mat<T> {
            return attend_transposed<T>(*tokens, transposed(x), log_scale);
          }};
}

template <typename T>
arma::Mat<T> exact_transposed_product(const Problem<T>& problem, Target target, const arma::Col<T>& log_row_sums,
                                      const arma::Mat<T>& x) {
  const bool fits = !is_normalised(target) || log_row_sums.n_elem == problem.n_q();
  require(fits && x.n_rows == problem.n_q(), "exact_transposed_product", "a row sum and a row of X for every query",
          {{"n_q", problem.n_q()}, {"log_row_sums", log_row_sums.n_elem}, {"x.rows", x.n_rows}});
  const arma::Col<T> zeros(problem.n_q(), arma::fill::zeros);
  return attend_transposed<T>(Tokens<T>(problem, target), transposed(x), is_normalised(target) ? log_row_sums : zeros);
}

template ExactAttention<float> exact_attention(const Problem<float>&, Target);
template ExactAttention<double> exact_attention(const Problem<double>&, Target);
template ExactAttention<float> exact_attention_rows(const Problem<float>&, Target, const arma::uvec&);
template ExactAttention<double> exact_attention_rows(const Problem<double>&, Target, const arma::uvec&);
template LinearOperator<float> exact_scores(const Problem<float>&, Target);
template LinearOperator<double> exact_scores(const Problem<double>&, Target);
template arma::Mat<float> exact_transposed_product(const Problem<float>&, Target, const arma::Col<float>&,
                                                   const arma::Mat<float>&);
template arma::Mat<double> exact_transposed_product(const Problem<double>&, Target, const arma::Col<double>&,
                                                    const arma::Mat<double>&);

}  // namespace croquis
