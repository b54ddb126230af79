// Inputs on which Skyformer's bounds are least generous: what is achieved over what is allowed.
#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/special_functions/binomial.hpp>
#include <cmath>
#include <croquis/claims/papers.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/stats/chernoff.hpp>
#include <croquis/stats/search.hpp>

namespace croquis::claims {
namespace {

// M - M~ for the lift M and the landmarks.
arma::mat residual_of(const arma::mat& lift, const arma::uvec& landmarks) {
  if (landmarks.is_empty()) return lift;
  const auto inverse = pseudo_inverse_psd<double>(arma::symmatu(lift.submat(landmarks, landmarks)), 1e-13);
  return lift - lift.cols(landmarks) * inverse.apply(lift.rows(landmarks));
}

// The rows are q_1, q_2, k_1, k_2; the landmark is q_2. ||C - C~|| over ||M - M~|| / 2.
double lift_share(const arma::mat& points, const Check&) {
  const arma::mat error = residual_of(gaussian_kernel<double>(points), {1});
  const double whole = spectral_norm<double>(error);
  return whole > 1e-6 ? 2 * spectral_norm<double>(arma::mat(error.submat(0, 2, 1, 3))) / whole : 0;
}

// Landmarks in the rows. gamma / max D_M over the smallest eigenvalue of N.
double smallest_eigenvalue_share(const arma::mat& landmarks, const Check& check) {
  const double gamma = check.values("gamma").front();
  arma::mat core = gaussian_kernel<double>(landmarks);
  core.diag() += gamma;
  const arma::vec sums = arma::sum(core, 1), root = arma::sqrt(sums);
  core.each_col() /= root;
  core.each_row() /= root.t();
  return gamma / sums.max() / arma::eig_sym(arma::symmatu(core)).min();
}

// The smallest number of uniform landmarks with which ||M - M~|| <= lambda fails with probability delta at most. All
// sets of the N points are tried: with F_j sets of j points that fail, and more points never worse, d draws fail with
// probability sum_j F_j p_j(d), where p_j(d) = sum_i (-1)^(j-i) C(j, i) (i/N)^d is that of drawing all of j points and
// no others.
std::uint64_t landmarks_needed(const arma::mat& lift, double lambda, double delta) {
  const arma::uword points = lift.n_rows;
  std::vector<double> failing(points + 1);
  for (unsigned set = 0; set < 1U << points; ++set) {
    std::vector<arma::uword> chosen;
    for (arma::uword i = 0; i < points; ++i) {
      if ((set >> i & 1U) != 0) chosen.push_back(i);
    }
    const double size = spectral_norm<double>(residual_of(lift, arma::uvec(chosen)));
    if (size > lambda * (1 + 1e-9)) ++failing[chosen.size()];
  }
  const auto fails = [&](std::uint64_t d) {
    double failure = 0;
    for (unsigned j = 1; j <= points; ++j) {
      double exactly = 0;
      for (unsigned i = 1; i <= j; ++i) {
        exactly += ((j - i) % 2 == 0 ? 1 : -1) * boost::math::binomial_coefficient<double>(j, i) *
                   std::pow(double(i) / double(points), double(d));
      }
      failure += failing[j] * exactly;
    }
    return failure > delta;
  };
  std::uint64_t d = 1;
  while (fails(d)) ++d;
  return d;
}

// The rows are q_1 ... q_n, k_1 ... k_n. What the theorem needs over what T9 asks for.
double landmarks_share(const arma::mat& points, const Check& check) {
  const double delta = check.value("delta");
  const arma::uword n = points.n_rows / 2;
  const arma::mat lift = gaussian_kernel<double>(points);
  const double lambda =
      check.value("epsilon of the search") * spectral_norm<double>(arma::mat(lift.submat(0, n, n - 1, 2 * n - 1)));
  if (!(lambda > 1e-6)) return 0;
  const arma::mat leverage = lift * arma::inv_sympd(arma::mat(lift + lambda * arma::eye(2 * n, 2 * n)));
  const double both = 2 * static_cast<double>(n);
  return static_cast<double>(landmarks_needed(lift, lambda, delta)) /
         (kHalfOfMean * (both * leverage.diag().max() + 1) * std::log(both / delta));
}

// Diagonal sums of signs, by the binomial law: x_1 sets how many entries there are, x_2 how small the probability is.
// The largest t that is reached with more than that probability, over the t of the lemma.
double bernstein_share(const arma::mat& x, const Check& check) {
  const double terms = check.value("largest"), tail = 0.5 * std::pow(10.0, -290 * std::abs(x(1))),
               size = std::max(1.0, std::round(std::pow(terms, std::abs(x(0)))));
  const boost::math::binomial_distribution<> law(terms, 0.5);
  const double of_one = -std::expm1(std::log1p(-tail) / size);
  // P(|S| >= 2k - terms) > of_one up to k.
  const auto half = static_cast<std::uint64_t>(terms / 2);
  const std::uint64_t beyond = bisect(half, 2 * half + 1, [&](std::uint64_t k) {
    return !(2 * boost::math::cdf(boost::math::complement(law, static_cast<double>(k) - 1)) > of_one);
  });
  const double reached = 2 * static_cast<double>(beyond - 1) - terms;
  const double log_term = std::log(2 * size / tail), linear = log_term / 3;
  return reached / (linear + std::sqrt(linear * linear + 2 * terms * log_term));
}

// m equal queries and keys and all other tokens isolated: the eigenvalues of M are 2m and ones. d_stat over its bound,
// where the bound is below 2n.
double dimension_share(const arma::mat& x, const Check& check) {
  const double most = check.value("largest tokens"), epsilon = check.value("epsilon"),
               equal = std::round(std::pow(most, std::abs(x(0)))), alone = std::round(std::pow(most, std::abs(x(1))));
  const double lambda = epsilon * equal;
  if (lambda <= 1) return 0;
  return (2 * equal / (2 * equal + lambda) + 2 * alone / (1 + lambda)) * lambda / (2 * (equal + alone));
}

}  // namespace

std::vector<SearchedBound> skyformer_bounds() {
  return {{.name = "sky.lift",
           .claim = "sky.lift/strict",
           .space = {4, 2, 3},
           .starts = {{{0, 0}, {3, 0}, {0, 0}, {3, 0}}},
           .share = lift_share},
          {.name = "sky.lemma3",
           .claim = "sky.lemma3/charitable",
           .space = {3, 2, 3},
           .starts = {arma::mat(3, 2, arma::fill::zeros)},
           .share = smallest_eigenvalue_share},
          // Three pairs: one at one place, the others alone.
          {.name = "sky.thm2",
           .claim = "sky.thm2/charitable",
           .space = {6, 2, 8},
           .starts = {{{0, 0}, {8, 0}, {-8, 0}, {0, 0}, {0, 8}, {0, -8}}},
           .share = landmarks_share},
          {.name = "sky.lemmaC1",
           .claim = "sky.lemmaC1/strict",
           .space = {1, 2, 1},
           .starts = {{{0, 1}}},
           .share = bernstein_share},
          {.name = "sky.dstat-growth",
           .claim = "sky.dstat-growth/charitable",
           .space = {1, 2, 1},
           .starts = {{{0.3, 0.9}}},
           .share = dimension_share}};
}

}  // namespace croquis::claims
