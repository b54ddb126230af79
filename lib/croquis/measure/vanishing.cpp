#include <algorithm>
#include <cmath>
#include <croquis/attention/exact_tokens.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/direct_exponents.hpp>
#include <croquis/kernel/point_differences.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/measure/vanishing.hpp>
#include <limits>

namespace croquis {
namespace {

constexpr double kHalfEpsilon = std::numeric_limits<double>::epsilon() / 2;  // u

arma::vec lengths_of(const arma::mat& x) {
  return arma::sqrt(squared_row_norms(x));
}

double longest_length(const arma::mat& x) {
  return lengths_of(x).max();
}

// A row of B V is a mean of the values: each is off by weight_rounding of the longest one. In the Frobenius norm.
double rounding_of_means(const Problem<double>& problem, arma::uword rows) {
  return std::sqrt(static_cast<double>(rows)) * weight_rounding(problem) * longest_length(problem.V());
}

// For rows C V with the row sum t = sum_j c_j. Exponents s_j = -log c_j are off as in rounding_of_differences, by
// 2 (p + 4) u max(s_j, kProductRounding). The entropy of c_j / t is at most log n, so that sum_j c_j s_j is at most
// t (log n - log t).
double rounding_of_sums(const ExactAttention<double>& exact, const Problem<double>& problem) {
  const auto n = static_cast<double>(problem.n_k()), p = static_cast<double>(problem.p());
  double squares = 0;
  for (const double log_sum : exact.log_row_sums) {
    if (!std::isfinite(log_sum)) continue;  // a row of zeros
    const double exponents = 2 * (p + 4) * (kProductRounding<double> + std::log(n) - log_sum);
    squares += std::pow(std::exp(log_sum) * (2 * n + exponents), 2);
  }
  return kHalfEpsilon * std::sqrt(squares) * longest_length(problem.V());
}

// What derivatives by the points of which scores are inner products are multiplied by for those by rows, at most.
double rows_for_points(const arma::mat& rows, Target target) {
  if (!has_unit_rows(target)) return std::pow(static_cast<double>(rows.n_cols), -0.25);
  const arma::vec lengths = lengths_of(rows), known = lengths.elem(arma::find(lengths > 0));
  return known.is_empty() ? 0 : 1 / known.min();  // zero rows have derivatives of 0
}

// Of the keys that have a weight in a row: the longest, and what the weights are off by because their scores are.
struct SeenKeys {
  double longest = 0, off = 0;
};

// With h = 4 (p + 2) u L what two scores of a row are off by, for the largest |score| and product of lengths L, and r
// the sum of the other weights over the largest: a row of weights is off by h at most, and by 2 r h, as the weight of a
// key that has nearly all of the row is near 1 whatever its score. 1 - b_max <= r.
SeenKeys seen_keys(const double* scores, double query, const arma::vec& keys, double p) {
  const double each = 4 * (p + 2) * kHalfEpsilon;
  const double* const best = std::max_element(scores, scores + keys.n_elem);
  const double top = *best, farthest = query * keys.max() + std::abs(top);
  const double lowest = top - 750 - each * farthest;  // exp(-746) is 0
  SeenKeys seen;
  double largest = 0, rest = 0;
  for (arma::uword j = 0; j < keys.n_elem; ++j) {
    if (!(scores[j] >= lowest)) continue;
    seen.longest = std::max(seen.longest, keys.at(j));
    largest = std::max(largest, std::abs(scores[j]));
    if (scores + j != best) rest += std::exp(scores[j] - top);
  }
  seen.off = each * (query * seen.longest + largest);
  if (seen.off < 1) seen.off *= std::min(1.0, 6 * rest);  // 2 r, for r that is off by a factor of e
  return seen;
}

// visit(i, scores) for the log-scores of every query i, by all keys.
template <typename Visit>
void visit_rows(const ExactTokens<double>& tokens, arma::uword p, const Visit& visit) {
  const arma::uword n_q = tokens.rows(), n_k = tokens.cols(), at_once = 32;
  parallel_for(blocks_of(n_q, at_once), at_once * n_k * p, [&](std::size_t b) {
    const arma::uword first = b * at_once;
    arma::mat scores(std::min(at_once, n_q - first), n_k, arma::fill::none);
    tokens.fill(first, 0, scores);
    const arma::mat by_row = transposed(scores);
    for (arma::uword i = 0; i < scores.n_rows; ++i) visit(first + i, by_row.colptr(i));
  });
}

// Row i of dX is sum_j d_ij (y_j - x_i) with |d_ij| <= c_ij ||g_i|| ||v_j||, a difference of two sums of at most n
// terms: it is off by (n + 6) u sum_j |d_ij| (||x_i|| + ||y_j||), in lengths from the middle of the points. A d_ij is
// off by p_v u for the product, and as its exponent s_ij is: by 2 (p + 4) u kProductRounding where it is one of inner
// products, by 2 (p + 4) u |s_ij| where it is one of differences. That counts times ||x_i - y_j||. dY has the same
// terms.
GradientRounding rounding_of_differences(const Problem<double>& problem, const arma::mat& cotangent) {
  const ExactTokens<double> tokens(problem, Target::kernelized);
  const auto p = static_cast<double>(problem.p()), n = static_cast<double>(std::max(problem.n_q(), problem.n_k()));
  const double scale = std::pow(p, -0.25);
  const arma::rowvec middle = middle_of(problem.Q(), problem.K());
  const auto from_middle = [&](const arma::mat& points) -> arma::vec {
    return lengths_of(scale * (points.each_row() - middle));
  };
  const arma::vec x = from_middle(problem.Q()), y = from_middle(problem.K()), v = lengths_of(problem.V()),
                  g = lengths_of(cotangent);
  const double sums = (n + 6) * kHalfEpsilon, product = (static_cast<double>(problem.p_v()) + 2) * kHalfEpsilon,
               exponent = 2 * (p + 4) * kHalfEpsilon;
  arma::vec rows(problem.n_q());
  visit_rows(tokens, problem.p(), [&](arma::uword i, const double* scores) {
    double sum = 0;
    for (arma::uword j = 0; j < y.n_elem; ++j) {
      const double s = std::max(-scores[j], 0.0);
      if (!(s < 750)) continue;  // exp(-746) is 0
      const double weight = product + exponent * std::max(s, kProductRounding<double>);
      sum += std::exp(-s) * v(j) * (sums * (x(i) + y(j)) + weight * std::sqrt(2 * s));
    }
    rows(i) = g(i) * sum;
  });
  return {scale * arma::norm(rows), scale * arma::accu(rows), 0};
}

}  // namespace

double largest_score(const Problem<double>& problem) {
  return longest_length(problem.Q()) * longest_length(problem.K()) / std::sqrt(static_cast<double>(problem.p()));
}

// An exponent is off by 2 (p + 2) u L, L = largest_score; the row sum that divides it by as much and n u; the product
// by another n u.
double weight_rounding(const Problem<double>& problem) {
  const auto n = static_cast<double>(problem.n_k()), p = static_cast<double>(problem.p());
  return kHalfEpsilon * (2 * n + 4 * (p + 2) * (1 + largest_score(problem)));
}

bool vanishes(const arma::mat& output, const Problem<double>& problem) {
  return frobenius_norm(output) <= rounding_of_means(problem, output.n_rows);
}

ExactAttention<double> as_reference(ExactAttention<double> exact, const Problem<double>& problem, Target target) {
  const bool zero = target == Target::softmax      ? weight_rounding(problem) < 1e-6 && vanishes(exact.output, problem)
                    : target == Target::kernelized ? frobenius_norm(exact.output) <= rounding_of_sums(exact, problem)
                                                   : false;
  if (zero) exact.output.zeros();
  return exact;
}

// The exact output is off by as much as that of a method that is exact.
bool is_rounding(double error, const Problem<double>& problem) {
  return error <= 2 * rounding_of_means(problem, problem.n_q());
}

// With G the cotangent, dS_ij = b_ij (g_i.v_j - g_i.o_i): a row is off by 2 ||g_i|| max ||v_j|| times the rounding of a
// weight, of products of width p_v, and of sums of n. For scores x_i.y_j, a row of dX = dS Y is off by this times the
// longest y_j that has a weight, dY = dS^T X by the sum of ||x_i|| times this, and db_t is a sum of at most n_q entries
// of dS. The part along a row that unit rows take away leaves (p + 4) u of itself, less than a weight is off by.
GradientRounding gradient_rounding(const Problem<double>& problem, Target target, const arma::mat& cotangent) {
  const SerialBlas serial;
  if (!is_normalised(target)) return rounding_of_differences(problem, cotangent);
  const ExactTokens<double> tokens(problem, target);
  const arma::vec x = lengths_of(tokens.q), y = arma::sqrt(arma::sum(arma::square(tokens.k), 0).t()),
                  g = lengths_of(cotangent);
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const auto p = static_cast<double>(problem.p()), n = static_cast<double>(std::max(n_q, n_k));
  const double always = kHalfEpsilon * (2 * n + 4 * (p + 2) + 2 * static_cast<double>(problem.p_v()));
  const double twice_longest = 2 * longest_length(problem.V());
  arma::vec rows(n_q), longest(n_q);
  visit_rows(tokens, problem.p(), [&](arma::uword i, const double* scores) {
    const SeenKeys seen = seen_keys(scores, x(i), y, p);
    rows(i) = twice_longest * g(i) * (always + seen.off);
    longest(i) = seen.longest;
  });
  return {arma::norm(rows % longest) * rows_for_points(problem.Q(), target),
          arma::accu(rows % x) * rows_for_points(problem.K(), target),
          arma::norm(rows) * std::sqrt(static_cast<double>(n_q))};
}

bool vanishes(const Gradient<double>& gradient, const Problem<double>& problem, Target target,
              const arma::mat& cotangent) {
  const GradientRounding rounding = gradient_rounding(problem, target, cotangent);
  return std::hypot(frobenius_norm(gradient.q), frobenius_norm(gradient.k)) <= rounding.q + rounding.k;
}

}  // namespace croquis
