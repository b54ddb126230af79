#include <cmath>
#include <croquis/claims/unit.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/rows.hpp>

namespace croquis::claims {
namespace {

double longest_row(const arma::mat& x) {
  return std::sqrt(squared_row_norms(x).max());
}

// A row of B V is a mean of the values: each is off by weight_rounding of the longest one. In the Frobenius norm.
double rounding_of_means(const Problem<double>& problem) {
  return std::sqrt(static_cast<double>(problem.n_q())) * weight_rounding(problem) * longest_row(problem.V());
}

}  // namespace

double largest_score(const Problem<double>& problem) {
  return longest_row(problem.Q()) * longest_row(problem.K()) / std::sqrt(static_cast<double>(problem.p()));
}

// An exponent is off by 2 (p + 2) u L, L = largest_score; the row sum that divides it by as much and n u; the product
// by another n u.
double weight_rounding(const Problem<double>& problem) {
  const auto n = static_cast<double>(problem.n_k()), p = static_cast<double>(problem.p());
  return kUnit * (2 * n + 4 * (p + 2) * (1 + largest_score(problem)));
}

bool vanishes(const arma::mat& output, const Problem<double>& problem) {
  return frobenius_norm(output) <= rounding_of_means(problem);
}

// The exact output is off by as much as that of a method that is exact.
bool is_rounding(double error, const Problem<double>& problem) {
  return error <= 2 * rounding_of_means(problem);
}

// With G the cotangent, dS_ij = b_ij (g_i.v_j - g_i.o_i): a row is off by 2 ||g_i|| max ||v_j|| times the rounding of a
// weight and of products of width p_v. dQ = dS K / sqrt(p) has means of keys, dK = dS^T Q / sqrt(p) is at most ||dS||_F
// ||Q||_F / sqrt(p).
bool vanishes(const Gradient<double>& gradient, const Problem<double>& problem, const arma::mat& cotangent) {
  const double entry = weight_rounding(problem) + 2 * kUnit * static_cast<double>(problem.V().n_cols);
  const double scores = 2 * entry * frobenius_norm(cotangent) * longest_row(problem.V());
  const double root = std::sqrt(static_cast<double>(problem.p()));
  return std::hypot(frobenius_norm(gradient.q), frobenius_norm(gradient.k)) <=
         scores * (longest_row(problem.K()) + frobenius_norm(problem.Q())) / root;
}

}  // namespace croquis::claims
