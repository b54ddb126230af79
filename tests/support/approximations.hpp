// What the tests of attention methods check in every approximation.
#pragma once

#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

/// B~ and O~ against a reference B~: entries off by at most `entry`, the output by that and the n products of a sum, n
/// u each; the operator and its transpose are one matrix up to (n + d) u <= 2 n u.
template <typename T>
void check_scores(const croquis::Approximation<T>& approximation, const croquis::Problem<T>& problem,
                  const Dense& expected, double entry) {
  const auto n = static_cast<double>(problem.n());
  REQUIRE(approximation.scores.has_value());
  CHECK(distance(approximation.scores->dense(), expected) <= entry);
  CHECK(interface_gap(approximation, problem) <= 4 * n * unit<T>());
  const double value = std::max(1e-300, static_cast<double>(largest_entry_of(problem.V())));
  CHECK(distance(approximation.output, expected * problem.V()) <=
        n * entry * value + 4 * n * unit<T>() * largest_row_sum(expected) * value);
}

/// The edges of a method whose d counts keys: V = 0 gives 0, norms of 100 a finite output, padding is no key, and d is
/// between 1 and n_k. approximate(problem, d, key) is the approximation.
template <typename T, typename Approximate>
void check_edges(const std::string& name, const Approximate& approximate) {
  const croquis::Key key(1);
  const croquis::Problem<T> far = random_problem<T>(30, 4, 2, 100, croquis::Key(test_seed()).child("far"));
  const croquis::Problem<T> none(far.Q() / T(100), far.K() / T(100), arma::Mat<T>(30, 2, arma::fill::zeros));
  const croquis::Problem<T> padded(far.Q(), far.K(), far.V(), 21),
      shorter(far.Q().head_rows(21), far.K().head_rows(21), far.V().head_rows(21));
  CHECK(approximate(none, 8, key).output.is_zero());
  CHECK(approximate(far, 8, croquis::Key(2)).output.is_finite());
  CHECK(identical(approximate(padded, 8, key).output, approximate(shorter, 8, key).output));
  CHECK(refusal([&] { approximate(far, 31, key); }) == name + ": 1 <= d <= n_k, got d = 31, n_k = 30");
  CHECK(contains(refusal([&] { approximate(far, 0, key); }), "got d = 0"));
}

/// A method of the registry on a problem.
template <typename T>
croquis::PreparedMethod<T> method_on(const croquis::Problem<T>& problem, const char* name,
                                     std::map<std::string, std::string> options = {}) {
  return croquis::prepare(croquis::find_method<T>(name), problem, croquis::OptionValues(std::move(options)));
}

/// max |sum_j b~_ij - 1|; infinity when a sum is NaN.
template <typename T>
double row_sum_gap(const croquis::Approximation<T>& approximation) {
  const Dense b = approximation.scores->dense();
  double gap = 0;
  for (arma::uword i = 0; i < b.rows; ++i) {
    long double sum = 0;
    for (arma::uword j = 0; j < b.cols; ++j) sum += b(i, j);
    raise(gap, std::fabs(sum - 1));
  }
  return gap;
}

/// check_scores() for rows that sum to 1, with weights that are not those of softmax.
inline void check_weighted_scores(const croquis::Approximation<double>& approximation,
                                  const croquis::Problem<double>& problem, const Dense& expected, double entry) {
  CHECK(distance(approximation.scores->dense(), expected) <= entry);
  CHECK(distance(approximation.output, expected * problem.V()) <=
        10 * entry * static_cast<double>(largest_entry_of(problem.V())));
  CHECK(interface_gap(approximation, problem) <= 1e3 * unit<double>());
  CHECK(row_sum_gap(approximation) <= 100 * unit<double>());
}

/// The scores of some keys with weights, pairs of the two: row i is weight exp(logit), divided by its sum.
template <typename KeyWeights>
Dense weighted_softmax(const croquis::Problem<double>& problem, const KeyWeights& kept) {
  const Dense logits = logits_of(problem.Q(), problem.K());
  Dense b(logits.rows, logits.cols);
  for (arma::uword i = 0; i < b.rows; ++i) {
    long double sum = 0;
    for (const auto& [key, weight] : kept) sum += weight * std::exp(logits(i, key));
    for (const auto& [key, weight] : kept) b(i, key) = weight * std::exp(logits(i, key)) / sum;
  }
  return b;
}

/// Softmax of the logits where `met` is true.
template <typename Met>
Dense masked_softmax(const Dense& logits, const Met& met) {
  Dense b(logits.rows, logits.cols);
  for (arma::uword i = 0; i < b.rows; ++i) {
    long double top = -std::numeric_limits<long double>::infinity(), sum = 0;
    for (arma::uword j = 0; j < b.cols; ++j) {
      if (met(i, j)) top = std::max(top, logits(i, j));
    }
    for (arma::uword j = 0; j < b.cols; ++j) sum += met(i, j) ? std::exp(logits(i, j) - top) : 0.0L;
    for (arma::uword j = 0; j < b.cols; ++j) b(i, j) = met(i, j) ? std::exp(logits(i, j) - top) / sum : 0.0L;
  }
  return b;
}

/// The error of an entry of a softmax row of n keys, absolute: entries are at most 1.
template <typename T>
double entry_error(const croquis::Problem<T>& problem) {
  return softmax_error<T>(static_cast<double>(problem.n()), static_cast<double>(problem.p()), largest_logit(problem));
}

/// Tokens that occur several times, a zero query, a zero key and a zero value.
template <typename T>
croquis::Problem<T> awkward_problem(arma::uword n, arma::uword p, arma::uword p_v, double norm,
                                    const croquis::Key& draw_key) {
  const croquis::Problem<T> problem = random_problem<T>(n, p, p_v, norm, draw_key);
  arma::Mat<T> q = problem.Q(), k = problem.K(), v = problem.V();
  for (arma::uword i = n / 2; i < n; ++i) {
    q.row(i) = q.row(i % 5);
    k.row(i) = k.row(i % 5);
    v.row(i) = v.row(i % 5);
  }
  q.row(n - 1).zeros();
  k.row(n - 2).zeros();
  v.row(0).zeros();
  return {q, k, v};
}

/// How far an output is from that of softmax attention.
inline double gap_to_exact(const croquis::Problem<double>& problem,
                           const croquis::Approximation<double>& approximation) {
  return distance(approximation.output, croquis::exact_attention(problem, croquis::Target::softmax).output);
}
