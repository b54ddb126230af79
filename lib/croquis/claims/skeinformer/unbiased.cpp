// E[S S^T] = I: every outcome of small sketches in rational arithmetic, and the generator's draws against them.
#include <fmt/format.h>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/finite_sketches.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/sketch/distributions.hpp>
#include <croquis/stats/intervals.hpp>

namespace croquis::claims {
namespace {

// The mistakes, made in a draw. "shared-sign": rows 0 and 1 take one sign, as a hash that drops the lowest bit of the
// index gives. A row without its sign alone changes no entry of E[S S^T]: the other row's sign is still fair.
arma::mat mistaken(const Check& check, arma::mat s) {
  if (check.makes("shared-sign")) {
    for (arma::uword j = 0; j < s.n_cols; ++j) s(1, j) = std::abs(s(1, j)) * (s(0, j) < 0 ? -1 : 1);
  }
  if (check.makes("row-0-lost")) s.row(0).zeros();
  return s;
}

// The same in the documented distribution: what the enumeration must notice.
FiniteSketch mistaken(const Check& check, FiniteSketch sketch) {
  for (FiniteSketch::Outcome& outcome : sketch.outcomes) {
    if (check.makes("weights-swapped") && sketch.description.distribution == "importance") {
      for (Rational& scale : outcome.scales) scale = 1 / scale;
    }
    if (check.makes("addends-unscaled") && sketch.description.distribution == "accumulative") {
      for (Rational& scale : outcome.scales) scale /= 2;
    }
  }
  return sketch;
}

Finding enumerated_finding(const FiniteSketch& sketch) {
  Rational total = 0;
  for (const auto& outcome : sketch.outcomes) total += outcome.probability;
  const RationalMatrix mean = sketch.mean(), one = RationalMatrix::identity(mean.rows());
  double largest = 0;
  for (std::size_t i = 0; i < mean.rows(); ++i) {
    for (std::size_t k = 0; k < mean.cols(); ++k) {
      largest = std::max(largest, std::abs(static_cast<double>(Rational(mean(i, k) - one(i, k)))));
    }
  }
  Finding finding = decide_equation(sketch.name + " enumerated", mean == one && total == 1, largest, 0);
  finding.n = sketch.description.rows;
  finding.d = sketch.description.cols;
  finding.hypotheses = fmt::format("outcomes = {}; different S = {}", sketch.outcomes.size(), sketch.values().size());
  return finding;
}

// The binomial probability of a count as far from its mean, in either direction, at most doubled.
double two_sided(std::uint64_t count, std::uint64_t trials, double p) {
  const boost::math::binomial_distribution<> law(static_cast<double>(trials), p);
  const auto k = static_cast<double>(count);
  const double below = boost::math::cdf(law, k),
               above = count == 0 ? 1 : boost::math::cdf(boost::math::complement(law, k - 1));
  return std::min(1.0, 2 * std::min(below, above));
}

// A distribution of the library with its distinct outcomes S, by key_of(S).
struct DrawnSketch {
  std::string name;
  SketchDescription description;
  std::map<std::vector<int>, double> probabilities;
};

DrawnSketch drawn(const FiniteSketch& sketch) {
  DrawnSketch result{sketch.name, sketch.description, {}};
  for (const auto& [key, probability] : sketch.values()) result.probabilities[key] = static_cast<double>(probability);
  return result;
}

// Every outcome's count is binomial: an exact test of each, at level alpha over their number. The multinomial itself is
// thereby tested at level alpha, without an asymptotic law.
Finding generator_finding(const Check& check, const DrawnSketch& sketch, double alpha) {
  const std::uint64_t trials = check.trials(check.count("draws"));
  const auto& distribution = find_sketch_distribution<double>(sketch.description.distribution);
  const Key draw_key = check.draw_key.child(sketch.name);
  std::vector<std::vector<int>> keys(trials);
  parallel_for(trials, [&](std::size_t t) {
    if (check.interrupted()) throw Interrupted();
    keys[t] = key_of(mistaken(check, distribution.make(sketch.description, draw_key.child(t)).dense()));
  });
  std::map<std::vector<int>, std::uint64_t> counts;
  std::uint64_t foreign = 0;
  for (const auto& key : keys) {
    if (sketch.probabilities.contains(key)) {
      ++counts[key];
    } else {
      ++foreign;
    }
  }
  double least = 1, power = 0;
  const double share = alpha / static_cast<double>(sketch.probabilities.size());
  for (const auto& [key, p] : sketch.probabilities) {
    least = std::min(least, two_sided(counts[key], trials, p));
    // A normal approximation of what would be seen with probability 0.95, for information.
    const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), share / 2)) + 1.645;
    power = std::max(power, z * std::sqrt((1 - p) / (p * static_cast<double>(trials))));
  }
  if (foreign > 0) least = 0;
  Finding finding;
  finding.input = sketch.name + " drawn";
  finding.n = sketch.description.rows;
  finding.d = sketch.description.cols;
  finding.trials = trials;
  finding.failures = foreign;
  finding.confidence = 1 - alpha;
  finding.estimate = least;
  finding.observed = -least;
  finding.bound = -share;
  finding.power = power;
  finding.verdict = least < share ? Verdict::refuted : Verdict::verified;
  finding.hypotheses = fmt::format(
      "outcomes = {}; smallest binomial probability = {:.3g}; draws of no outcome = {}; power is a relative change of "
      "one probability",
      sketch.probabilities.size(), least, foreign);
  return finding;
}

// All outcomes of srct, n = 4, d = 2, equally likely: sqrt(n/d) times two different rows of an orthogonal matrix, with
// signs.
std::vector<arma::mat> cosine_outcomes() {
  constexpr arma::uword n = 4, d = 2;
  arma::mat c(n, n);
  for (arma::uword r = 0; r < n; ++r) {
    for (arma::uword i = 0; i < n; ++i) {
      c(r, i) =
          std::sqrt((r == 0 ? 1.0 : 2.0) / n) * std::cos(arma::datum::pi * double(r) * (2 * double(i) + 1) / (2.0 * n));
    }
  }
  std::vector<arma::mat> outcomes;
  for (unsigned bits = 0; bits < 16; ++bits) {
    arma::vec signs(n);
    for (unsigned i = 0; i < n; ++i) signs(i) = (bits >> i & 1U) != 0 ? -1 : 1;
    for (arma::uword a = 0; a < n; ++a) {
      for (arma::uword b = 0; b < n; ++b) {
        if (a == b) continue;
        outcomes.emplace_back(std::sqrt(double(n) / d) * arma::diagmat(signs) * c.rows(arma::uvec{a, b}).t());
      }
    }
  }
  return outcomes;
}

// Its entries are irrational: the sum over outcomes has rounding, and only that.
Finding cosine_finding(const std::vector<arma::mat>& outcomes) {
  const arma::uword n = outcomes.front().n_rows;
  const auto count = static_cast<double>(outcomes.size());
  arma::mat sum(n, n, arma::fill::zeros);
  for (const arma::mat& s : outcomes) sum += s * s.t();
  Finding finding = decide_identity("srct enumerated, to rounding",
                                    largest_entry<double>(sum / count - arma::eye(n, n)), 64 * kUnit, 1);
  finding.n = n;
  finding.d = outcomes.front().n_cols;
  finding.hypotheses = fmt::format("outcomes = {}", count);
  return finding;
}

DrawnSketch drawn_cosines(const std::vector<arma::mat>& outcomes) {
  const Key any(0);  // draws take another
  DrawnSketch result{"srct", describe_sketch("srct", outcomes.front().n_rows, outcomes.front().n_cols, any), {}};
  for (const arma::mat& s : outcomes) result.probabilities[key_of(s)] += 1 / static_cast<double>(outcomes.size());
  return result;
}

}  // namespace

Report check_unbiased(const Check& check) {
  const std::vector<FiniteSketch> all = finite_sketches();
  const std::vector<arma::mat> cosines = cosine_outcomes();
  const auto distributions = static_cast<double>(all.size() + 1);
  Report report;
  std::size_t outcomes = 0;
  double least = 1;
  const auto add_drawn = [&](const DrawnSketch& sketch) {
    report.findings.push_back(generator_finding(check, sketch, check.alpha / distributions));
    least = std::min(least, report.findings.back().estimate);
  };
  for (const FiniteSketch& sketch : all) {
    report.findings.push_back(enumerated_finding(mistaken(check, sketch)));
    add_drawn(drawn(sketch));
    outcomes += sketch.outcomes.size();
  }
  report.findings.push_back(cosine_finding(cosines));
  add_drawn(drawn_cosines(cosines));
  report.number = static_cast<double>(outcomes);
  report.sentence = fmt::format(
      "outcomes of {} distributions summed in rationals, E[S S^T] = I; draws of {} agree (smallest p-value {:.2g})",
      all.size(), distributions, least);
  return report;
}

// Gaussian: (S S^T)_ik is a mean of d products of independent normals, so 1 on and 0 off the diagonal. The draws: each
// sqrt(d) S_ij against the normal distribution by the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant,
// and the signs of products of two entries, which are fair.
Report check_unbiased_gaussian(const Check& check) {
  constexpr arma::uword n = 4, d = 2;
  const std::uint64_t trials = check.trials(check.count("draws"));
  const auto& distribution = find_sketch_distribution<double>("gaussian");
  const SketchDescription description = describe_sketch("gaussian", n, d, Key(0));
  arma::mat draws(n * d, trials);
  const Key draw_key = check.draw_key.child("draws");
  parallel_for(trials, [&](std::size_t t) {
    if (check.interrupted()) throw Interrupted();
    arma::mat s = distribution.make(description, draw_key.child(t)).dense();
    if (check.makes("entries-copied")) s.row(1) = s.row(0);
    if (check.makes("variance-1/n")) s *= std::sqrt(double(d) / n);
    draws.col(t) = std::sqrt(double(d)) * arma::vectorise(s);
  });
  const boost::math::normal normal;
  const arma::uword entries = n * d, pairs = entries * (entries - 1) / 2;
  const double share = check.alpha / static_cast<double>(entries + pairs);
  Report report;
  double worst = 0;
  for (arma::uword e = 0; e < entries; ++e) {
    std::vector<double> uniform(trials);
    for (arma::uword t = 0; t < trials; ++t) uniform[t] = boost::math::cdf(normal, draws(e, t));
    raise(worst, distance_to_uniform(std::move(uniform)));
  }
  Finding marginal = decide_distance("entries against N(0, 1)", worst, trials, share);
  double least = 1;
  for (arma::uword a = 0; a < entries; ++a) {
    for (arma::uword b = 0; b < a; ++b) {
      const auto positive = static_cast<std::uint64_t>(arma::accu(draws.row(a) % draws.row(b) > 0));
      least = std::min(least, two_sided(positive, trials, 0.5));
    }
  }
  Finding pairs_finding = decide_identity("signs of products of two entries", -least, -share);
  pairs_finding.power = (std::sqrt(2 * std::log(2 / share)) + 1.645) / std::sqrt(static_cast<double>(trials));
  pairs_finding.trials = trials;
  withhold_without_power(pairs_finding, 1);  // an entry that is another one, or its negative
  add_measured(pairs_finding, fmt::format("smallest binomial probability = {:.3g}; needed = {:.3g}", least, share));
  // Each entry and each pair has the same share of alpha.
  marginal.confidence = 1 - share * static_cast<double>(entries);
  pairs_finding.confidence = 1 - share * static_cast<double>(pairs);
  for (Finding* finding : {&marginal, &pairs_finding}) {
    finding->n = n;
    finding->d = d;
    report.findings.push_back(*finding);
  }
  report.number = worst;
  report.sentence =
      fmt::format("largest gap to the normal distribution of {} entries; {:.3g} is allowed", entries, marginal.bound);
  return report;
}

}  // namespace croquis::claims
