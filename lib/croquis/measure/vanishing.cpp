#include <algorithm>
#include <cmath>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/measure/vanishing.hpp>
#include <limits>

namespace croquis {
namespace {

constexpr double kHalfEpsilon = std::numeric_limits<double>::epsilon() / 2;  // u

double longest_length(const arma::mat& x) {
  return std::sqrt(squared_row_norms(x).max());
}

// An exponent is off by 2 (p + 2) u L, L = `largest`; the row sum that divides it by as much and n u; the product by
// another n u.
double rounding_of_weights(const Problem<double>& problem, double largest) {
  const auto n = static_cast<double>(problem.n_k()), p = static_cast<double>(problem.p());
  return kHalfEpsilon * (2 * n + 4 * (p + 2) * (1 + largest));
}

// A row of B V is a mean of the values: each is off by weight_rounding of the longest one. In the Frobenius norm.
double rounding_of_means(const Problem<double>& problem) {
  return std::sqrt(static_cast<double>(problem.n_q())) * weight_rounding(problem) * longest_length(problem.V());
}

// The points of which scores are inner products, and what derivatives by them are multiplied by for those by the rows.
struct ScorePoints {
  double longest = 0, norm = 0, factor = 0;
};

ScorePoints score_points(const arma::mat& rows, Target target) {
  const arma::vec lengths = arma::sqrt(squared_row_norms(rows));
  if (!has_unit_rows(target)) {
    const double scale = std::pow(static_cast<double>(rows.n_cols), -0.25);
    return {scale * lengths.max(), scale * frobenius_norm(rows), scale};
  }
  const arma::vec known = lengths.elem(arma::find(lengths > 0));  // zero rows have derivatives of 0
  if (known.is_empty()) return {};
  return {1, std::sqrt(static_cast<double>(known.n_elem)), 1 / known.min()};
}

// The largest |b_t| that a score of this size at most can have beside it in a weight other than 0: b_0 is that of a
// query with itself, and exp(-746) is 0.
double largest_bias(const Problem<double>& problem, Target target, double score) {
  const arma::vec& bias = problem.position().bias;
  if (!has_position(target) || bias.is_empty()) return 0;
  const double lowest = bias(bias.n_elem / 2) - 746 - 2 * score;
  return arma::abs(bias.elem(arma::find(bias >= lowest))).max();
}

}  // namespace

double largest_score(const Problem<double>& problem) {
  return longest_length(problem.Q()) * longest_length(problem.K()) / std::sqrt(static_cast<double>(problem.p()));
}

double weight_rounding(const Problem<double>& problem) {
  return rounding_of_weights(problem, largest_score(problem));
}

bool vanishes(const arma::mat& output, const Problem<double>& problem) {
  return frobenius_norm(output) <= rounding_of_means(problem);
}

// The exact output is off by as much as that of a method that is exact.
bool is_rounding(double error, const Problem<double>& problem) {
  return error <= 2 * rounding_of_means(problem);
}

// With G the cotangent, dS_ij = b_ij (g_i.v_j - g_i.o_i): a row is off by 2 ||g_i|| max ||v_j|| times the rounding of a
// weight and of products of width p_v. For scores x_i.y_j, dX = dS Y has means of points, dY = dS^T X is at most
// ||dS||_F ||X||_F, and db_t a sum of at most n_q entries of dS. The part along a row that unit rows take away leaves
// (p + 4) u of itself, less than a weight is off by.
GradientRounding gradient_rounding(const Problem<double>& problem, Target target, const arma::mat& cotangent) {
  if (!is_normalised(target)) return {};
  const ScorePoints x = score_points(problem.Q(), target), y = score_points(problem.K(), target);
  const double score = x.longest * y.longest, bias = largest_bias(problem, target, score);
  const double entry =
      rounding_of_weights(problem, score + bias) + 2 * kHalfEpsilon * static_cast<double>(problem.p_v());
  const double scores = 2 * entry * frobenius_norm(cotangent) * longest_length(problem.V());
  return {scores * y.longest * x.factor, scores * x.norm * y.factor,
          scores * std::sqrt(static_cast<double>(problem.n_q()))};
}

bool vanishes(const Gradient<double>& gradient, const Problem<double>& problem, Target target,
              const arma::mat& cotangent) {
  const GradientRounding rounding = gradient_rounding(problem, target, cotangent);
  return std::hypot(frobenius_norm(gradient.q), frobenius_norm(gradient.k)) <= rounding.q + rounding.k;
}

}  // namespace croquis
