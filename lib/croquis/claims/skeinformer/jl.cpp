// The oblivious Johnson-Lindenstrauss guarantee of Gaussian sketches, by the chi-squared distribution; the other
// distributions of the library are measured beside it.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/operators.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/sketch/distributions.hpp>

namespace croquis::claims {
namespace {

// P(|chi^2_d / d - 1| > eps), by the incomplete gamma functions: relative error below 1e-12.
double failure_of(double d, double epsilon) {
  return boost::math::gamma_q(d / 2, d * (1 + epsilon) / 2) + boost::math::gamma_p(d / 2, d * (1 - epsilon) / 2);
}

double columns_for(const Check& check, double epsilon, double delta) {
  const double constant = check.makes("half-constant") ? 5.29 / 2 : 5.29;
  const double power = check.makes("epsilon-for-epsilon-squared") ? 1 : 2;
  const double log_term = check.makes("without-log") ? 1 : std::log((check.makes("log-1/delta") ? 1 : 2) / delta);
  return std::ceil(constant * std::pow(epsilon, -power) * log_term);
}

// The smallest d whose failure is at most delta, by bisection: it falls with d but for the last digits.
double smallest_columns(double epsilon, double delta, double most) {
  const auto enough = [&](double d) { return failure_of(d, epsilon) <= delta; };
  double low = 1, d = most;
  while (d - low > 1) {
    const double middle = std::floor((low + d) / 2);
    (enough(middle) ? d : low) = middle;
  }
  return d;
}

Finding law_finding(const Check& check, double epsilon, double delta) {
  const double d = columns_for(check, epsilon, delta), failure = failure_of(d, epsilon);
  Finding finding = decide_identity(fmt::format("chi^2_d eps={:g} delta={:g}", epsilon, delta), failure, delta);
  finding.d = static_cast<arma::uword>(d);
  const double needed = smallest_columns(epsilon, delta, d) * epsilon * epsilon / std::log(2 / delta);
  finding.tightness = {1, 5.29 / needed};
  finding.hypotheses = fmt::format("smallest c in c eps^-2 log(2/delta) = {:.4g}", needed);
  return finding;
}

// d ||S^T b||^2 / ||b||^2 of the library's sketch against chi^2_d: the Dvoretzky-Kiefer-Wolfowitz inequality.
Finding generator_finding(const Check& check, const std::string& name, const arma::vec& b, double alpha) {
  const arma::uword d = check.count("d");
  const std::uint64_t trials = check.trials(check.count("draws"));
  const auto& distribution = find_sketch_distribution<double>("gaussian");
  const SketchDescription description = describe_sketch("gaussian", b.n_elem, d, Key(0));
  const std::vector<double> values = run_trials(check, name, trials, [&](const Key& draw_key) {
    arma::vec y = distribution.make(description, draw_key).left(b);
    if (check.makes("unscaled")) y *= 1.25;
    // The first d/8 columns again and again: a generator that starts anew.
    if (check.makes("repeated-columns")) {
      for (arma::uword j = 2; j < d; ++j) y(j) = y(j % 2);
    }
    const auto degrees = static_cast<double>(d);
    return boost::math::gamma_p(degrees / 2,
                                degrees * arma::dot(y, y) / arma::dot(b, b) / 2);  // uniform, if it is chi^2
  });
  Finding finding = decide_distance(fmt::format("draws, b = {}", name), distance_to_uniform(values), trials, alpha);
  finding.n = b.n_elem;
  finding.d = d;
  return finding;
}

// The share of draws in which the worst of many b fails, on draws that did not choose it: spikes of 1, 2, 4, ...
// entries and cosines. The paper claims nothing for these distributions.
Finding measured_finding(const Check& check, const Operator& op, double epsilon) {
  const std::uint64_t trials = check.trials(check.count("measured draws"));
  const arma::uword n = op.description().rows;
  arma::mat b;
  std::vector<std::string> names;
  for (arma::uword k = 1; k <= n; k *= 2) {
    arma::vec spikes(n, arma::fill::zeros), cosine(n);
    for (arma::uword i = 0; i < n; ++i) {
      if (i < k) spikes(i) = 1;
      cosine(i) = std::cos(arma::datum::pi * double(k) * (double(i) + 0.5) / double(n));
    }
    b = arma::join_rows(b, arma::normalise(spikes), arma::normalise(cosine));
    names.push_back(fmt::format("{} spikes", k));
    names.push_back(fmt::format("cosine {}", k));
  }
  const auto failures = [&](const char* purpose, const arma::mat& vectors) {
    arma::umat failed(vectors.n_cols, trials);
    const Key draw_key = check.draw_key.child(purpose).child(op.name());
    parallel_for(trials, [&](std::size_t t) {
      if (check.interrupted()) throw Interrupted();
      const arma::mat y = op.draw(draw_key.child(t)).left(vectors);
      failed.col(t) = arma::abs(arma::sum(arma::square(y), 0) - 1).t() > epsilon;
    });
    return arma::uvec(arma::sum(failed, 1));
  };
  const arma::uword worst = failures("search", b).index_max();
  const arma::uword again = failures("again", b.col(worst))(0);
  Finding finding;
  finding.input = fmt::format("{} measured", op.name());
  finding.verdict = Verdict::not_applicable;  // not the paper's claim
  finding.n = n;
  finding.d = op.description().cols;
  finding.trials = trials;
  finding.failures = again;
  finding.estimate = static_cast<double>(again) / static_cast<double>(trials);
  finding.hypotheses = fmt::format("eps = {:g}; worst b = {}", epsilon, names[worst]);
  return finding;
}

}  // namespace

Report check_jl(const Check& check) {
  Report report;
  double largest = 0;
  for (const double epsilon : check.values("epsilon")) {
    for (const double delta : check.values("delta")) {
      report.findings.push_back(law_finding(check, epsilon, delta));
      largest = std::max(largest, 5.29 / report.findings.back().tightness.hi);
    }
  }
  const Problem<double> problem = first_tokens(check.subjects.front().problem, check.count("tokens"));
  arma::vec spike(problem.n(), arma::fill::zeros);
  spike(0) = 1;
  report.findings.push_back(generator_finding(check, "e_0", spike, check.alpha / 3));
  report.findings.push_back(generator_finding(check, "1", arma::ones(problem.n()), check.alpha / 3));
  if (arma::norm(problem.V().col(0)) > 0) {
    report.findings.push_back(generator_finding(check, "V column", problem.V().col(0), check.alpha / 3));
    report.findings.back().input = check.of_own("V column");
  }
  if (check.mutant.empty() && !check.quick) {
    for (const Operator& op : operators(check.count("measured tokens"), check.count("measured d"))) {
      report.findings.push_back(measured_finding(check, op, check.value("measured epsilon")));
    }
  }
  report.number = largest;
  report.sentence = "largest c that an (eps, delta) needs in d = c eps^-2 log(2/delta); 5.29 suffices for eps <= 1/2";
  report.tightness = {1, 5.29 / largest};
  return report;
}

}  // namespace croquis::claims
