// The variance of positive features: Lemma 2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/features/feature_pair.hpp>

namespace croquis::claims {
namespace {

struct Points {
  arma::mat x, y;  // one row each
};

// (1/m) (e^{||x+y||^2} - 1) e^{2 x.y}
double stated_variance(const Check& check, const Points& points, double m) {
  const double s = arma::norm(points.x + points.y), product = arma::dot(points.x, points.y);
  const double one = check.makes("without-1") ? 0 : 1;
  const double exponent = check.makes("difference") ? std::pow(arma::norm(points.x - points.y), 2) : s * s;
  return (std::exp(exponent) - one) * std::exp(2 * product) / m;
}

// Nodes and weights of sum_k w_k f(g_k) = E f(g), g ~ N(0,1): eigenvalues of the Jacobi matrix of the Hermite
// polynomials (Golub and Welsch), and w_k = 1 / sum_{j<N} h_j(g_k)^2, h_j orthonormal, by their recurrence.
struct Quadrature {
  arma::vec nodes, weights;

  explicit Quadrature(arma::uword count) {
    arma::mat jacobi(count, count, arma::fill::zeros);
    for (arma::uword j = 1; j < count; ++j) jacobi(j, j - 1) = jacobi(j - 1, j) = std::sqrt(static_cast<double>(j));
    arma::eig_sym(nodes, jacobi);
    weights.set_size(count);
    for (arma::uword k = 0; k < count; ++k) {
      double before = 0, h = 1, sum = 1;
      for (arma::uword j = 1; j < count; ++j) {
        const auto i = static_cast<double>(j);
        const double next = (nodes(k) * h - std::sqrt(i - 1) * before) / std::sqrt(i);
        before = h;
        h = next;
        sum += h * h;
      }
      weights(k) = 1 / sum;
    }
  }
};

// phi(x).phi(y) of one direction is v = e^{s g - (||x||^2+||y||^2)/2}, g = w.(x+y)/s ~ N(0,1): Var = E v^2 - (E v)^2.
//
// Rounding, N nodes, J the Jacobi matrix, ||J|| < 2 sqrt(N): a node is off by N u ||J|| at most, which changes e^{2 s
// g} by the factor 1 + 2 s N u ||J||, and its weight by 2 sqrt(N) times that error, since h_j' = sqrt(j) h_{j-1} and
// Schwarz give |(sum h_j^2)'| <= 2 sqrt(N) sum h_j^2; sums and recurrences add 8 N u. All of it relative to E v^2,
// which is a sum of positive terms, then to the difference. Truncation: (2s)^(2N) N! / (2N)! e^{2 s ||J||}.
Finding quadrature_finding(const Check& check, double s) {
  constexpr arma::uword count = 64;
  constexpr double u = kUnit;
  static const Quadrature rule(count);
  // x.y = 0.1 s^2, so that a wrong factor e^{x.y} shows.
  Points points{arma::mat(1, 2), arma::mat(1, 2)};
  const double g = s * std::sqrt(0.6);  // ||x - y||: x.y = (s^2 - g^2) / 4
  points.x.row(0) = arma::rowvec{s / 2, g / 2};
  points.y.row(0) = arma::rowvec{s / 2, -g / 2};
  const double halves = (s * s + g * g) / 4;  // (||x||^2 + ||y||^2) / 2
  const arma::vec v = arma::exp(s * rule.nodes - halves);
  const double mean = arma::dot(rule.weights, v), second = arma::dot(rule.weights, arma::square(v));
  const double stated = stated_variance(check, points, 1);
  const double n = count, norm = 2 * std::sqrt(n);
  const double nodes = n * u * norm;
  const double truncation =
      std::exp(2 * n * std::log(2 * s) + std::lgamma(n + 1) - std::lgamma(2 * n + 1) + 2 * s * norm);
  const double bound = 2 * second * (2 * s * nodes + 2 * std::sqrt(n) * nodes + 8 * n * u) + truncation;
  Finding finding =
      decide_identity(fmt::format("quadrature ||x+y||={}", s), std::abs(second - mean * mean - stated), bound, stated);
  finding.estimate = second - mean * mean;
  finding.hypotheses = fmt::format("nodes = {}; stated variance = {:.12g}; relative difference = {:.2g}", count, stated,
                                   finding.observed / stated);
  return finding;
}

// Two independent directions, by the product of two rules: the variance of their mean is half.
Finding two_directions_finding(const Check& check, double s) {
  static const Quadrature rule(48);
  const Points points{arma::mat(arma::rowvec{s / 2, s / 4}), arma::mat(arma::rowvec{s / 2, -s / 4})};
  const double halves = (arma::dot(points.x, points.x) + arma::dot(points.y, points.y)) / 2;
  const arma::vec v = arma::exp(s * rule.nodes - halves);
  double mean = 0, second = 0;
  for (arma::uword a = 0; a < v.n_elem; ++a) {
    for (arma::uword b = 0; b < v.n_elem; ++b) {
      const double weight = rule.weights(a) * rule.weights(b), both = (v(a) + v(b)) / 2;
      mean += weight * both;
      second += weight * both * both;
    }
  }
  const double stated = stated_variance(check, points, check.makes("without-m") ? 1 : 2);
  const double n = 48;
  Finding finding = decide_identity(fmt::format("quadrature m=2 ||x+y||={}", s),
                                    std::abs(second - mean * mean - stated), second * 64 * n * n * kUnit, stated);
  finding.d = 2;
  finding.estimate = second - mean * mean;
  return finding;
}

// The generator: with one direction the logarithm of the library's estimate is N(-(||x||^2+||y||^2)/2, ||x+y||^2). All
// draws against it by the Dvoretzky-Kiefer-Wolfowitz inequality: a sample variance of log-normal numbers would have no
// honest interval.
Finding generator_finding(const Check& check, const std::string& name, const arma::rowvec& direction, double alpha) {
  const std::uint64_t trials = check.trials(check.count("draws"));
  const arma::mat x(direction), y(0.5 * direction);
  const double s = 1.5 * arma::norm(direction), halves = 1.25 * arma::dot(direction, direction) / 2;
  const std::vector<double> values = run_trials(check, name, trials, [&](const Key& draw_key) {
    const auto phi = FeaturePair<double>(x, y, 1, {}, draw_key).matrices();
    const double z = (phi.log_scale(0) + std::log(phi.queries(0, 0) * phi.keys(0, 0)) + halves) / s;
    return std::erfc(-z / std::sqrt(2.0)) / 2;
  });
  Finding finding = decide_distance(fmt::format("draws along {}", name), distance_to_uniform(values), trials, alpha);
  finding.p = direction.n_elem;
  finding.d = 1;
  return finding;
}

// x = -y: the estimate is e^{-||x||^2} in every draw, up to the rounding of its exponents.
Finding opposite_finding(const Check& check, arma::uword p) {
  Points points{arma::mat(1, p), {}};
  points.x.fill(1 / std::sqrt(static_cast<double>(p)));
  points.y = -points.x;
  const std::vector<double> values =
      run_trials(check, "opposite", check.trials(check.count("opposite draws")), [&](const Key& draw_key) {
        const auto phi = FeaturePair<double>(points.x, points.y, 4, {}, draw_key).matrices();
        return std::exp(phi.log_scale(0)) * arma::dot(phi.queries, phi.keys);
      });
  double least = values.front(), most = least;
  for (const double x : values) {
    lower(least, x);
    raise(most, x);
  }
  // Exponents |w.x| are below p 9.5 / sqrt(p), each rounded some p + 4 times, on both sides.
  const auto width = static_cast<double>(p);
  const double bound = 8 * (width + 4) * kUnit * 9.5 * std::sqrt(width) + stated_variance(check, points, 4);
  Finding finding = decide_identity("opposite x = -y", most - least, bound);
  finding.p = p;
  finding.trials = values.size();
  finding.power = power_of_counting(values.size(), 0, 0);  // one draw that is off refutes
  finding.hypotheses = fmt::format("stated variance = {:.4g}", stated_variance(check, points, 4));
  return finding;
}

}  // namespace

Report check_feature_variance(const Check& check) {
  const arma::uword p = check.count("width");
  Report report;
  for (const double s : check.values("norm of x + y")) report.findings.push_back(quadrature_finding(check, s));
  double relative = 0;
  for (const Finding& f : report.findings) relative = std::max(relative, f.observed / f.estimate);
  for (const double s : check.values("norm of x + y at m = 2"))
    report.findings.push_back(two_directions_finding(check, s));
  const arma::rowvec ones(p, arma::fill::value(1 / std::sqrt(static_cast<double>(p))));
  report.findings.push_back(generator_finding(check, "+1/sqrt(p)", ones, check.alpha / 2));
  report.findings.push_back(generator_finding(check, "-1/sqrt(p)", -ones, check.alpha / 2));
  report.findings.push_back(opposite_finding(check, p));
  report.number = relative;
  report.sentence =
      "largest relative gap between quadrature and formula, ||x+y|| <= 2; the draws are log-normal as they should be";
  return report;
}

}  // namespace croquis::claims
