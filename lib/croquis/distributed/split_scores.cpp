#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/distributed/split_scores.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/draws.hpp>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kQueriesAtOnce = 2048;

void require_target(Target target) {
  require(target == Target::softmax || target == Target::kernelized, "split attention", "softmax or kernelized",
          {{"target", name_of(target)}});
}

// O = sum_r w_r O_r / sum_r w_r for softmax, sum_r O_r for kernelized; w_r is the row sum of part r over e^m, where m
// is the largest log-score of all parts.
ExactAttention<double> put_together(ExactAttention<double> part, Target target, const Communicator& world) {
  arma::mat top = part.row_sums.maxima;
  world.maximum(top);
  const arma::vec weight = part.row_sums.sums % arma::exp(part.row_sums.maxima - top);
  if (is_normalised(target)) part.output.each_col() %= weight;
  arma::mat sums = arma::join_rows(part.output, weight);
  world.sum(sums);
  part.row_sums = {top, sums.tail_cols(1)};
  part.output = sums.head_cols(part.output.n_cols);
  if (is_normalised(target)) part.output.each_col() /= part.row_sums.sums;
  part.log_row_sums = part.row_sums.logarithms();
  return part;
}

}  // namespace

ExactAttention<double> split_exact_rows(const SplitHead& head, Target target, const arma::uvec& rows,
                                        const Communicator& world) {
  require_target(target);
  require_split_head(head, world);
  require(!rows.is_empty() && rows.max() < head.n, "split_exact_rows", "rows below n",
          {{"rows", rows.n_elem}, {"n", head.n}});
  const arma::mat queries = gather_rows(head.q, head.first, rows, world);
  return put_together(exact_attention(Problem<double>(queries, head.k, head.v), target), target, world);
}

SplitScores::SplitScores(SplitHead head, Target target, Communicator world)
    : head_(std::move(head)), target_(target), world_(std::move(world)) {
  require_target(target);
  require_split_head(head_, world_);
  attend(arma::mat(head_.own(), 1, arma::fill::ones), &row_sums_);
}

arma::mat SplitScores::attend(const arma::mat& own, RowSums<double>* row_sums) const {
  arma::mat y(head_.own(), own.n_cols);
  if (row_sums != nullptr) *row_sums = {arma::vec(head_.own()), arma::vec(head_.own())};
  for (arma::uword q0 = 0; q0 < head_.n; q0 += kQueriesAtOnce) {
    const arma::uword end = std::min(q0 + kQueriesAtOnce, head_.n);
    const arma::uvec rows = arma::regspace<arma::uvec>(q0, end - 1);
    const arma::mat queries = gather_rows(head_.q, head_.first, rows, world_);
    const ExactAttention<double> all =
        put_together(exact_attention(Problem<double>(queries, head_.k, own), target_), target_, world_);
    for (arma::uword i = std::max(q0, head_.first); i < std::min(end, head_.first + head_.own()); ++i) {
      y.row(i - head_.first) = all.output.row(i - q0);
      if (row_sums == nullptr) continue;
      row_sums->maxima(i - head_.first) = all.row_sums.maxima(i - q0);
      row_sums->sums(i - head_.first) = all.row_sums.sums(i - q0);
    }
  }
  return y;
}

arma::mat SplitScores::apply(const arma::mat& own) const {
  require_rows(own.n_rows, head_.own(), "SplitScores");
  return attend(own, nullptr);
}

// Every rank has all it needs for its own keys once it has the queries: there is nothing to be summed.
arma::mat SplitScores::apply_transposed(const arma::mat& own) const {
  const SerialBlas serial;
  require_rows(own.n_rows, head_.own(), "SplitScores");
  arma::mat y(head_.own(), own.n_cols, arma::fill::zeros);
  const arma::mat with_sums = arma::join_rows(head_.q, row_sums_.maxima, row_sums_.sums, own);
  for (arma::uword q0 = 0; q0 < head_.n; q0 += kQueriesAtOnce) {
    const arma::uvec rows = arma::regspace<arma::uvec>(q0, std::min(q0 + kQueriesAtOnce, head_.n) - 1);
    const arma::mat block = gather_rows(with_sums, head_.first, rows, world_);
    const arma::uword p = head_.q.n_cols;
    const Problem<double> part(block.head_cols(p), head_.k, head_.v);
    y += exact_transposed_product<double>(part, target_, {block.col(p), block.col(p + 1)}, block.tail_cols(own.n_cols));
  }
  return y;
}

double split_spectral_norm(const SplitOperator& a, RowRange own, const Key& draw_key, int steps,
                           const Communicator& world) {
  const SerialBlas serial;
  arma::mat v(own.count, 1);
  fill_normal(draw_key, own.first, own.count, v.memptr());
  const auto norm = [&](const arma::mat& x) {
    arma::mat square(1, 1);
    square(0) = arma::accu(arma::square(x));
    world.sum(square);
    return std::sqrt(square(0));
  };
  double value = 0;
  for (int step = 0; step < steps; ++step) {
    const double length = norm(v);
    if (length == 0) return value;
    const arma::mat u = a.apply(v / length);
    value = std::max(value, norm(u));
    v = a.apply_transposed(u);
  }
  return value;
}

}  // namespace croquis
