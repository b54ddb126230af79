// The variance of positive features: Lemma 2.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/stats/intervals.hpp>

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
  constexpr double u = 0x1p-53;
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
      decide_identity(fmt::format("quadrature ||x+y||={}", s), std::abs(second - mean * mean - stated), bound);
  finding.estimate = second - mean * mean;
  finding.hypotheses = fmt::format("nodes = {}; stated variance = {:.12g}; relative difference = {:.2g}", count, stated,
                                   finding.observed / stated);
  return finding;
}

// Two points with x + y = s z and x - y of the same length, orthogonal to it.
Points points_along(const arma::vec& direction, double s, const Key& draw_key) {
  const arma::vec z = arma::normalise(direction);
  arma::vec g(z.n_elem);
  fill_normal(draw_key, 0, g.n_elem, g.memptr());
  g -= arma::dot(g, z) * z;
  g = 0.5 * arma::normalise(g);
  return {s / 2 * (z + g).t(), s / 2 * (z - g).t()};
}

// The variance of the library's estimate with m directions. m is so large that the mean of m log-normal values is
// nearly normal (excess kurtosis (e^{4 s^2} + 2 e^{3 s^2} + 3 e^{2 s^2} - 6) / m, reported), since the interval trusts
// the kurtosis of the sample.
Finding sampling_finding(const Check& check, const std::string& name, const Points& points, arma::uword m,
                         double alpha) {
  const std::uint64_t trials = check.trials(20000);
  const double s = arma::norm(points.x + points.y);
  Finding finding;
  finding.input = fmt::format("sampling {} ||x+y||={:.3g} m={}", name, s, m);
  Accumulator sample;
  for (const double value : run_trials(check, finding.input, trials, [&](const Key& draw_key) {
         const auto phi = FeaturePair<double>(points.x, points.y, m, {}, draw_key).matrices();
         return std::exp(phi.log_scale(0)) * arma::dot(phi.queries, phi.keys);
       })) {
    sample.add(value);
  }
  const double stated = stated_variance(check, points, check.makes("without-m") ? 1 : static_cast<double>(m));
  const auto power = [&](double k) { return std::exp(k * s * s); };
  finding.p = points.x.n_cols;
  finding.d = m;
  finding.trials = trials;
  finding.estimate = sample.variance() / stated;
  const Interval interval = asymptotic_variance_interval(sample, alpha);
  finding.interval = {interval.lo / stated, interval.hi / stated};
  finding.confidence = 1 - alpha;
  finding.bound = check.quick ? 0.5 : 0.1;  // half-width of the ratio
  finding.observed = finding.interval.width() / 2;
  finding.verdict = !finding.interval.contains(1)       ? Verdict::refuted
                    : finding.observed <= finding.bound ? Verdict::verified
                                                        : Verdict::inconclusive;
  finding.hypotheses =
      fmt::format("stated variance = {:.6g}; excess kurtosis by the distribution = {:.3g}, of the sample = {:.3g}",
                  stated, (power(4) + 2 * power(3) + 3 * power(2) - 6) / static_cast<double>(m), sample.kurtosis() - 3);
  return finding;
}

// x = -y: the estimate is e^{-||x||^2} in every draw, up to the rounding of its exponents.
Finding opposite_finding(const Check& check, arma::uword p) {
  Points points{arma::mat(1, p), {}};
  points.x.fill(1 / std::sqrt(static_cast<double>(p)));
  points.y = -points.x;
  const std::vector<double> values = run_trials(check, "opposite", check.trials(1000), [&](const Key& draw_key) {
    const auto phi = FeaturePair<double>(points.x, points.y, 4, {}, draw_key).matrices();
    return std::exp(phi.log_scale(0)) * arma::dot(phi.queries, phi.keys);
  });
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  // Exponents |w.x| are below p 9.5 / sqrt(p), each rounded some p + 4 times, on both sides.
  const auto width = static_cast<double>(p);
  const double bound = 8 * (width + 4) * 0x1p-53 * 9.5 * std::sqrt(width) + stated_variance(check, points, 4);
  Finding finding = decide_identity("opposite x = -y", *most - *least, bound);
  finding.p = p;
  finding.trials = values.size();
  finding.hypotheses = fmt::format("stated variance = {:.4g}", stated_variance(check, points, 4));
  return finding;
}

}  // namespace

Report check_feature_variance(const Check& check) {
  const arma::uword p = 8;
  Report report;
  for (const double s : {0.25, 0.5, 1.0, 1.5, 2.0}) report.findings.push_back(quadrature_finding(check, s));
  double relative = 0;
  for (const Finding& f : report.findings) relative = std::max(relative, f.observed / f.estimate);
  const Problem<double>& problem = check.subjects.front().problem;
  const Key draw_key = check.draw_key.child("points");
  const arma::vec ones(p, arma::fill::ones);
  const arma::vec own = problem.Q().row(0).t() + problem.K().row(0).t();
  struct Case {
    const char* name;
    arma::vec direction;
    double s;
    arma::uword m;
  };
  const std::vector<Case> cases = {{"+1/sqrt(p)", ones, 0.25, 16},
                                   {"-1/sqrt(p)", arma::vec(-ones), 0.5, 64},
                                   {"+1/sqrt(p)", ones, 0.75, 256},
                                   {"q + k", own, 0.5, 64}};
  for (const Case& c : cases) {
    if (arma::norm(c.direction) == 0) continue;
    report.findings.push_back(sampling_finding(check, c.name, points_along(c.direction, c.s, draw_key), c.m,
                                               check.alpha / static_cast<double>(cases.size())));
  }
  report.findings.push_back(opposite_finding(check, p));
  report.number = relative;
  report.sentence = "largest relative gap between quadrature and formula, ||x+y|| <= 2; sampled variances agree";
  return report;
}

}  // namespace croquis::claims
