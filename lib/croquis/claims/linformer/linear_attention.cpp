#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/linformer/checks.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/nystrom/segment_means.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/gaussian.hpp>

namespace croquis::claims {
namespace {

// softmax of the rows of x.
arma::mat softmax_rows(arma::mat x) {
  x.each_col() -= arma::max(x, 1);
  x = arma::exp(x);
  x.each_col() /= arma::sum(x, 1);
  return x;
}

// The logits w E^T / sqrt(p) of all rows w, from E K.
arma::mat logits(const Problem<double>& problem, const arma::mat& projected_keys) {
  return problem.Q() * projected_keys.t() / std::sqrt(static_cast<double>(problem.p()));
}

// Largest ||softmax(w E^T) F V - softmax(w) V|| / (||softmax(w)|| ||V||) over the rows w: Eq. 8 is that it is <= eps.
double worst_ratio(const arma::mat& output, const arma::mat& exact, const arma::mat& scores, const arma::mat& v) {
  const arma::vec gap = arma::sqrt(arma::sum(arma::square(output - exact), 1));
  const arma::vec norms = arma::sqrt(arma::sum(arma::square(scores), 1));
  return largest_entry<double>(gap / norms) / spectral_norm<double>(v);
}

// Keys that stand for all: least squares for Y = F V at fixed W = E K, and steps of W against the gradient of the
// squared error, halved until they help.
struct Witness {
  arma::mat keys, values;  // W (k x p) and Y (k x p_v)
  double error = 0;        // ||softmax(Q W^T / sqrt(p)) Y - O||_F
};

arma::mat fit_values(const arma::mat& weights, const arma::mat& output) {
  return arma::pinv(weights, 1e-10) * output;
}

Witness with_keys(const Problem<double>& problem, const arma::mat& output, const arma::mat& keys) {
  const arma::mat weights = softmax_rows(logits(problem, keys));
  const arma::mat values = fit_values(weights, output);
  return {keys, values, arma::norm(weights * values - output, "fro")};
}

Witness best_witness(const Check& check, const Problem<double>& problem, const arma::mat& output, arma::uword k) {
  Witness best = with_keys(problem, output, segment_means(problem.K(), k));
  double step = 1;
  const auto steps = static_cast<int>(check.value("steps"));
  for (int i = 0; i < steps && best.error > 0; ++i) {
    if (check.interrupted()) throw Interrupted();
    const arma::mat weights = softmax_rows(logits(problem, best.keys));
    const arma::mat slope = (weights * best.values - output) * best.values.t();
    arma::mat inner = weights % slope;
    const arma::vec sums = arma::sum(inner, 1);
    inner -= weights.each_col() % sums;
    const arma::mat gradient = inner.t() * problem.Q();
    const double size = arma::norm(gradient, "fro");
    if (size == 0) break;
    bool helped = false;
    for (int halving = 0; halving < 12 && !helped; ++halving, step /= 2) {
      Witness next = with_keys(problem, output, best.keys - step * arma::norm(best.keys, "fro") / size * gradient);
      helped = next.error < best.error;
      if (helped) best = std::move(next);
    }
    if (!helped) break;
    step *= 4;
  }
  return best;
}

}  // namespace

// One row w, V = 1, delta -> 0: the weights are 1/k and the output is N(0, n/k^2), where exact attention gives 1 (T5).
Report check_construction(const Check& check) {
  const arma::uword k = check.count("k"), tokens = check.count("tokens");
  const double delta = check.value("delta"), epsilon = check.value("epsilon");
  Report report;
  report.number = 0;
  const boost::math::normal normal;
  const double decisions = 1 + static_cast<double>(check.subjects.size());
  const auto decide = [&](const std::string& input, const arma::rowvec& w) {
    const auto n = static_cast<double>(w.n_elem);
    const arma::mat scores = softmax_rows(w);
    const double size = arma::norm(scores) * std::sqrt(n);  // ||softmax(w)|| ||V||, V = 1
    ProbabilityClaim claim;
    claim.input = input;
    claim.bound = epsilon * size;
    claim.delta = 2 * std::exp(-(epsilon * epsilon * (1 - epsilon)) * static_cast<double>(k) / 4);
    claim.alpha = check.alpha / decisions;
    claim.most_trials = check.count("draws");
    Finding finding = decide_probability(check, claim, [&](const Key& draw_key) {
      if (check.makes("no-compression")) return 0.0;  // E = F = I
      const GaussianSketch r(w.n_elem, k, draw_key);
      const arma::mat weights = softmax_rows(delta * r.right(arma::mat(w)));
      return std::abs(arma::as_scalar(weights * (std::exp(-delta) * r.left(arma::mat(w.n_elem, 1, arma::fill::ones)))) -
                      1);
    });
    const double share = epsilon * size, root = static_cast<double>(k) / std::sqrt(n);
    const double failure = boost::math::cdf(boost::math::complement(normal, (1 + share) * root)) +
                           boost::math::cdf(normal, (1 - share) * root);
    finding.n = w.n_elem;
    finding.d = k;
    add_measured(finding, fmt::format("delta = {:.3g}; exact failure as delta -> 0 = {:.4g}", claim.delta, failure));
    judge_trivial(finding, {{"output 0", 1.0}});
    if (finding.verdict == Verdict::refuted) finding.verdict = Verdict::refuted_proof;
    report.number = std::max(report.number, finding.estimate);
    report.findings.push_back(std::move(finding));
  };
  decide("flat row, V = 1", arma::rowvec(tokens, arma::fill::zeros));
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, tokens);
    decide(subject.name + " row 0, V = 1", logits(problem, problem.K()).row(0));
  }
  report.sentence = "worst failure rate of a row at k = 64, V = 1 (allowed .27): as delta -> 0 the weights are 1/k";
  return report;
}

// E = F = k uniform rows of I: a row fails with probability 32 mu^2 / (eps^2 k) at most (T4).
Report check_sampled_keys(const Check& check) {
  const double delta = check.value("delta"), epsilon = check.value("epsilon"), heavy = check.value("weight");
  const arma::uword n = check.count("tokens");
  const double part = check.makes("half-constant")        ? 0.5
                      : check.makes("hundredth-constant") ? 0.01
                      : check.makes("no-delta")           ? delta
                                                          : 1;
  Report report;
  double loosest = std::numeric_limits<double>::infinity();
  const auto decide = [&](const std::string& input, const arma::vec& logs, const arma::mat& v) {
    const arma::vec lengths = arma::sqrt(arma::sum(arma::square(v), 1));
    const double size = arma::norm(lengths), mu = std::sqrt(static_cast<double>(n)) * lengths.max() / size;
    const double spread = check.makes("no-mu") ? 1 : mu * mu;
    const auto k = static_cast<arma::uword>(std::ceil(part * 32 * spread / (epsilon * epsilon * delta)));
    const arma::rowvec s = softmax_rows(logs.t()).row(0), exact = s * v;
    ProbabilityClaim claim;
    claim.input = input;
    claim.bound = epsilon * arma::norm(s) * size;
    claim.delta = delta;
    claim.alpha = check.alpha / (check.makes("no-mu") ? 3 : 2);
    claim.most_trials = check.count("draws");
    Finding finding = decide_probability(check, claim, [&](const Key& draw_key) {
      const arma::uvec chosen = check.makes("first-keys")
                                    ? arma::uvec(arma::regspace<arma::uvec>(0, std::min(k, n / 2) - 1))
                                    : sample_with_replacement(n, k, draw_key);
      const arma::rowvec weights = softmax_rows(arma::mat(logs(chosen)).t()).row(0);
      return arma::norm(weights * v.rows(chosen) - exact);
    });
    finding.n = n;
    finding.d = k;
    add_measured(finding,
                 fmt::format("mu = {:.3g}; k / n = {:.3g}", mu, static_cast<double>(k) / static_cast<double>(n)));
    loosest = std::min(loosest, finding.slack());
    judge_trivial(finding, {{"output 0", arma::norm(exact)},
                            {"V-mean", arma::norm(exact - arma::mean(v, 0))},
                            {"all keys, k >= n", k >= n ? 0 : std::numeric_limits<double>::infinity()}});
    report.findings.push_back(std::move(finding));
  };
  // Half of the keys have 19 times the weight, and the values 1 of it and -1 of the others: neither 0 nor the mean.
  arma::vec halves(n, arma::fill::zeros), signs(n, arma::fill::ones);
  halves.tail(n / 2).fill(std::log(heavy));
  signs.head(n / 2).fill(-1);
  decide("two halves, V = 1 and -1", halves, signs);
  if (check.makes("no-mu")) {  // it has to be drawn, and mu^2 = n asks for more than all keys
    arma::vec one(n, arma::fill::zeros), value(n, arma::fill::zeros);
    one(0) = 50;
    value(0) = 1;
    decide("one key with all the weight and the only value", one, value);
  }
  const Problem<double> own = first_tokens(check.subjects.front().problem, n);
  if (own.n() == n) decide(check.subjects.front().name + " row 0", logits(own, own.K()).row(0).t(), own.V());
  report.number = loosest;
  report.sentence = "smallest bound / (quantile of the error) with k = 32 mu^2 / (eps^2 delta) uniform keys, one row";
  add_worst(report, check, "lin.thm2", part, part);
  return report;
}

// d = n, Q = K = t I: the scores are (a - b) I + b 1 1^T, a + (n - 1) b = 1, where t sets a / b. V = I, or the first
// columns of it. Of the output's rows with a one in V, g that are within eps ||s|| ||V|| have a squared error of
// g eps^2 ||s||^2 at most, and of (g - k) (a - b)^2 at least: their singular values are a - b and more (T18).
Report check_every_projection(const Check& check) {
  const double success = check.value("success"), epsilon = check.value("epsilon");
  const std::vector<double>& constants = check.values("constant");
  const std::vector<arma::uword> sizes = check.counts("tokens");
  Report report;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const arma::uword n = sizes.at(i);
    const auto tokens = static_cast<double>(n);
    const double least = std::min(9 * tokens * std::log(tokens), 5 * std::log(tokens));
    const auto k = static_cast<arma::uword>(std::ceil(constants[i] * least / (epsilon * epsilon)));
    const arma::uword width = check.makes("narrow") ? k : n;
    const Rational b = Rational(1) / (1000000 * n), a = 1 - (n - 1) * b, gap = (a - b) * (a - b),
                   allowed = Rational(epsilon) * Rational(epsilon) * (a * a + (n - 1) * b * b);
    const Rational most = k * gap / (gap - allowed), rows = width;
    const double share = static_cast<double>(std::min<Rational>(most, rows) / rows);
    Finding finding =
        decide_least(fmt::format("d = n = {}, constant {:g}", n, constants[i]), share >= success, share, success);
    finding.n = finding.p = n;
    finding.d = k;
    finding.threshold = check.stated("success");
    finding.hypotheses = fmt::format("rows within eps, at most = {:.0f} of {}",
                                     std::floor(static_cast<double>(std::min<Rational>(most, rows))), width);
    report.findings.push_back(std::move(finding));
  }
  report.number = report.findings.front().estimate;
  report.sentence = fmt::format("largest share of rows that any E, F of k = {} bring within eps; d = n = {}, V = I",
                                *report.findings.front().d, *report.findings.front().n);
  return report;
}

Report check_existence(const Check& check) {
  Report report;
  const double epsilon = check.value("epsilon");
  const std::vector<arma::uword> numbers = check.counts("k");
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p());
    const arma::mat scores = softmax_rows(logits(problem, problem.K())), exact = scores * problem.V();
    const double asked = std::min(9 * p * std::log(p), 5 * std::log(n)) / (epsilon * epsilon);
    if (vanishes(exact, problem)) {
      report.findings.push_back(not_applicable(subject.name, kOutputVanishes));
      continue;
    }
    for (const arma::uword k : numbers) {
      const std::string input = fmt::format("{} d={}", subject.name, k);
      if (k >= problem.n()) {
        report.findings.push_back(too_few_tokens(input, k + 1));
        continue;
      }
      const Witness witness = best_witness(check, problem, exact, k);
      // E and F themselves, of E K = W and F V = Y; least norm, exact when K and V have full column rank.
      const arma::mat e = witness.keys * arma::pinv(problem.K()), f = witness.values * arma::pinv(problem.V());
      const arma::mat& left = check.makes("exchanged") ? f : e;
      const arma::mat& right = check.makes("exchanged") ? e : f;
      const arma::mat output = softmax_rows(logits(problem, left * problem.K())) * (right * problem.V());
      const double relative = arma::norm(output - exact, "fro") / arma::norm(exact, "fro");
      const double fitted = witness.error / arma::norm(exact, "fro");
      const bool realised = problem.n() >= std::max(problem.p(), problem.p_v()) &&
                            arma::rank(problem.K()) == problem.p() && arma::rank(problem.V()) == problem.p_v();
      Finding finding;
      finding.input = input;
      finding.n = problem.n();
      finding.p = problem.p();
      finding.d = k;
      finding.estimate = finding.observed = relative;
      finding.bound = epsilon;
      // No number decides a statement with free constants. What can fail is the witness: E and F must do what the
      // search says, up to the rounding of two pseudo-inverses.
      const bool sound = !realised || !(relative > fitted + 1e-6);
      finding.verdict = sound ? Verdict::inconclusive : Verdict::refuted;
      // E = 0 and F = 1 1^T / n give the mean of the values: where that is within epsilon on every row w, the input
      // says nothing of E and F.
      const arma::mat mean = arma::repmat(arma::mean(problem.V(), 0), problem.n(), 1);
      const arma::vec gaps = arma::sqrt(arma::sum(arma::square(mean - exact), 1)),
                      sizes = arma::sqrt(arma::sum(arma::square(scores), 1)) * spectral_norm<double>(problem.V());
      judge_trivial(finding, {{"V-mean", arma::max(gaps / sizes)}});
      finding.hypotheses = fmt::format(
          "k of the theorem with constants 1 = {:.0f}; error over ||softmax(w)|| ||V|| = {:.3g}; K and V of full rank "
          "= {}; share of rows within epsilon for V-mean = {:.2f}",
          asked, worst_ratio(output, exact, scores, problem.V()), realised ? "yes" : "no",
          arma::mean(arma::conv_to<arma::vec>::from(gaps <= epsilon * sizes)));
      if (finding.verdict == Verdict::inconclusive) {
        finding.hypotheses += "; would decide = a lower bound on the error over all E and F, or a proof";
      }
      if (k == numbers.back()) report.number = std::fmax(report.number, relative);
      report.findings.push_back(std::move(finding));
    }
  }
  report.sentence = "worst ||O - O~||_F / ||O||_F of the best E, F found for k = 64; no constant is claimed";
  return report;
}

}  // namespace croquis::claims
