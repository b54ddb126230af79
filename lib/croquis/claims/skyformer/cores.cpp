// The cores S^T Abar S and S^T M S of the lifts of A and C, what a step of the parameters does to the output, and the
// gain of more features.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/v_mean.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/power.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/rounding.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>

namespace croquis::claims {
namespace {

// The Gaussian kernel of the points, M where they are all, and exp(x.y) of the same points up to its scale, Abar.
arma::mat gaussian_core(const arma::mat& points) {
  return gaussian_kernel<double>(points);
}
arma::mat softmax_core(const arma::mat& points) {
  arma::mat exponents = points * points.t();
  return arma::exp(exponents - exponents.max());
}

double condition_of(const arma::mat& core) {
  const arma::vec values = arma::eig_sym(arma::symmatu(core));
  return values.max() / std::max(values.min(), kUnit * values.max());
}

// All points (Q; K) / p^{1/4}.
arma::mat points_of(const Problem<double>& problem) {
  return arma::mat(arma::join_cols(problem.Q(), problem.K()) / std::pow(static_cast<double>(problem.p()), 0.25));
}

}  // namespace

// Eigenvalues of a principal submatrix lie between the smallest and the largest of the matrix (Cauchy): of either lift.
Report check_interlacing(const Check& check) {
  Report report;
  const std::uint64_t draws = check.trials(check.count("draws"));
  for (const Subject& subject : check.subjects) {
    const auto part = first_tokens(subject.problem, check.count("tokens"));
    const arma::mat points = points_of(part);
    for (const bool softmax : {true, false}) {
      const char* const name = softmax ? "Abar" : "M";
      const arma::mat lift = softmax ? softmax_core(points) : gaussian_core(points);
      const arma::vec whole = arma::eig_sym(arma::symmatu(lift));
      const double rounding = 4 * solver_rounding(lift.n_rows) * whole.max();
      for (const arma::uword d : check.counts("landmarks")) {
        const std::string input = fmt::format("{} {} d={}", subject.name, name, d);
        if (d > points.n_rows) {
          report.findings.push_back(not_applicable(input, fmt::format("fewer than {} queries and keys", d)));
          continue;
        }
        double outside = -1;
        for (std::uint64_t t = 0; t < draws; ++t) {
          arma::uvec landmarks =
              sample_without_replacement(points.n_rows, d, check.draw_key.child(subject.name).child(d).child(t));
          arma::mat core = lift.submat(landmarks, landmarks);
          if (check.makes("weighted")) core *= 2;  // columns of S that are no unit vectors
          const arma::vec values = arma::eig_sym(arma::symmatu(core));
          outside = std::max({outside, values.max() - whole.max(), whole.min() - values.min()});
        }
        Finding finding = decide_identity(input, outside, rounding, whole.max());
        finding.n = part.n();
        finding.d = d;
        finding.trials = draws;
        finding.power = power_of_counting(draws, 0, 0);  // one draw outside refutes
        finding.hypotheses =
            fmt::format("smallest eigenvalue of {} = {:.3g}; largest = {:.3g}", name, whole.min(), whole.max());
        report.number = std::fmax(report.number, std::max(0.0, outside / whole.max()));
        report.findings.push_back(std::move(finding));
      }
    }
  }
  report.sentence =
      "eigenvalues of cores outside those of their lift X, over ||X||: cond(S^T X S) <= cond(X), a fact beside it";
  return report;
}

Report check_inherited(const Check& check) {
  const arma::uword d = check.count("landmarks");
  arma::uword fewest = d, most = 0;
  Report report;
  for (const Subject& subject : check.subjects) {
    const auto part = first_tokens(subject.problem, check.count("tokens"));
    const arma::mat points = points_of(part);
    const arma::uword landmarks = std::min(d, points.n_rows / 2);
    fewest = std::min(fewest, landmarks);
    most = std::max(most, landmarks);
    std::vector<double> of_a(check.trials(check.count("draws"))), of_c(of_a.size());
    parallel_for(of_a.size(), [&](std::size_t t) {
      const arma::mat chosen = points.rows(
          sample_without_replacement(points.n_rows, landmarks, check.draw_key.child(subject.name).child(t)));
      of_a[t] = condition_of(softmax_core(chosen));
      of_c[t] = condition_of(check.makes("exchanged") ? arma::mat(arma::square(softmax_core(chosen)))
                                                      : gaussian_core(chosen));
    });
    const double a = quantile_of(of_a, 0.5), c = quantile_of(of_c, 0.5);
    Finding finding = decide_identity(subject.name, c, a);
    if (!(a > c)) finding.verdict = Verdict::refuted;  // equal is not above
    finding.n = part.n();
    finding.d = landmarks;
    finding.trials = of_a.size();
    finding.power = power_of_medians(of_a, of_c);
    withhold_within_error(finding);
    add_measured(finding, fmt::format("median cond(S^T Abar S) = {:.3g}; median cond(S^T M S) = {:.3g}", a, c));
    // A condition number near 1/u is not known: of two such, neither is said to be smaller.
    if (std::min(a, c) > check.value("unknown above") / kUnit) finding.verdict = Verdict::not_applicable;
    if (finding.verdict != Verdict::not_applicable && !(report.number < a / c)) report.number = a / c;
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      fmt::format("smallest (median cond S^T Abar S) / (median cond S^T M S), {} landmarks, where double tells",
                  fewest == most ? fmt::to_string(most) : fmt::format("{} to {}", fewest, most));
  return report;
}

// Q = K = 0: C = 1 1^T and B = 1 1^T / n, so that a step of V moves C V by n times what it moves B V.
Report check_instability(const Check& check) {
  Report report;
  for (const std::size_t n : check.counts("tokens")) {
    RationalMatrix ones(n, n), step(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
      step(i, 0) = static_cast<int>(i) + 1;
      for (std::size_t j = 0; j < n; ++j) ones(i, j) = 1;
    }
    const Rational tokens(static_cast<int>(n));
    const RationalMatrix b = Rational(1) / tokens * ones, c = check.makes("averaged") ? b : ones;
    const auto square = [](const RationalMatrix& x) { return (x.transposed() * x)(0, 0); };
    const Rational ratio = square(c * step) / square(b * step);
    report.number = static_cast<double>(ratio);
    report.findings.push_back(decide_exactly(fmt::format("Q = K = 0, n = {}", n), ratio <= 1, report.number, 1));
    report.findings.back().n = n;
  }
  report.sentence = "(instability score of C V) / (that of B V) for a step of V at Q = K = 0: n^2";
  return report;
}

// What one layer does with a step of V, of every input. The table of the paper is about training.
Report check_instability_table(const Check& check) {
  Report report;
  for (const Subject& subject : check.subjects) {
    const auto problem = first_tokens(subject.problem, check.count("tokens"));
    const arma::mat c = exact_scores(problem, Target::kernelized).dense(),
                    b = exact_scores(problem, Target::softmax).dense();
    arma::mat step(problem.n(), 1);
    fill_normal(check.draw_key.child(subject.name), 0, step.n_elem, step.memptr());
    const Problem<double> moved(problem.Q(), problem.K(), step);
    const arma::mat change = exact_attention(moved, Target::kernelized).output,
                    dense = (check.makes("transposed") ? arma::mat(c.t()) : c) * step;
    Finding finding;
    finding.input = subject.name;
    finding.n = problem.n();
    finding.p = problem.p();
    finding.estimate = finding.observed = arma::accu(arma::square(c)) / arma::accu(arma::square(b));
    finding.hypotheses = fmt::format("this step of V = {:.4g}; would decide = the paper's models, trained on its tasks",
                                     std::pow(arma::norm(change) / arma::norm(b * step), 2));
    // The one thing that can fail: both are sums of n entries in [0, 1] times the step, off by rounding alone.
    const double rounding = 1e-9 * (1 + arma::accu(arma::abs(step)));
    finding.verdict = arma::abs(change - dense).max() > rounding ? Verdict::refuted : Verdict::inconclusive;
    report.number = std::isnan(report.number) ? finding.estimate : std::min(report.number, finding.estimate);
    report.findings.push_back(std::move(finding));
  }
  report.sentence = "smallest ||C||_F^2 / ||B||_F^2, the ratio of one layer and a step of V";
  return report;
}

namespace {

struct Gain {
  double value = 0, error = 0;  // and its relative standard error
  double uncapped = 0;
  bool to_rounding = false;  // the error at 256 is rounding alone
};

double factor_of(const Check& check) {
  return check.value("factor") * (check.makes("thousandth") ? 0.001 : 1);
}

// min(error(16), error of the mean of the values) / error(256) of the output, each the mean over draws, of every method
// of the figure: what is worse than the mean of the values approximates nothing, and coming back from there is no gain.
// What starts at rounding alone gains nothing. Without the cap, error(16) / error(256), it is shown.
Finding gain_finding(const Check& check, const std::string& input, const Problem<double>& problem) {
  const double factor = factor_of(check);
  const arma::uword draws = check.count("draws"), small = check.count("small d"), large = check.count("large d");
  // Of the lengths in the figure n / 2 is the largest number of features. Near n a method is exact or nearly so.
  if (2 * large > problem.n()) return too_few_tokens(input, 2 * large);
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  if (vanishes(exact, problem)) return not_applicable(input, kOutputVanishes);
  const double mean = spectral_norm<double>(v_mean(problem).output - exact);
  const auto gain_of = [&](const char* name) {
    const auto prepared = prepare(find_method<double>(name), problem);
    const auto error_at = [&](arma::uword d) {
      Accumulator sample;
      for (std::uint64_t t = 0; t < draws; ++t) {
        if (check.interrupted()) throw Interrupted();
        sample.add(spectral_norm<double>(
            prepared.approximate(d, check.draw_key.child(input).child(name).child(d).child(t)).output - exact));
      }
      return sample;
    };
    const Accumulator few = error_at(small), many = error_at(large);
    const bool capped = !(few.mean() < mean);  // by a number that is not drawn
    const double start = capped ? mean : few.mean();
    return Gain{is_rounding(start, problem) ? 0 : start / many.mean(),
                std::hypot(capped ? 0 : relative_error_of_mean(few), relative_error_of_mean(many)),
                few.mean() / many.mean(), is_rounding(many.mean(), problem)};
  };
  const Gain own = gain_of(check.makes("another") ? "informer" : "skyformer-softmax");
  if (own.value == 0) return not_applicable(input, kErrorsVanish);
  Gain best;
  std::string others, uncapped;
  for (const char* name : {"nystromformer", "performer", "informer"}) {
    const Gain gain = gain_of(name);
    if (gain.value > best.value) best = gain;
    fmt::format_to(std::back_inserter(others), "; {} = {:.3g}", name, gain.value);
    fmt::format_to(std::back_inserter(uncapped), "; uncapped {} = {:.3g}", name, gain.uncapped);
  }
  if (own.to_rounding && best.to_rounding) return not_applicable(input, kErrorsVanish);
  Finding finding = decide_identity(input, factor * best.value, own.value);
  finding.trials = draws;
  finding.power = power_of_means(std::hypot(own.error, best.error));
  withhold_within_error(finding);
  finding.threshold = fmt::format("factor = {:g}", factor);
  add_measured(finding, fmt::format("gain of skyformer-softmax = {:.3g}{}; uncapped skyformer-softmax = {:.3g}{}",
                                    own.value, others, own.uncapped, uncapped));
  return finding;
}

Report compare_gains(const Check& check, const std::vector<Subject>& subjects) {
  Report report;
  for (const Subject& subject : subjects) {
    const auto problem = first_tokens(subject.problem, check.count("tokens"));
    add_unless_refused(report, subject.name,
                       [&] { report.findings.push_back(gain_finding(check, subject.name, problem)); });
    Finding& finding = report.findings.back();
    finding.n = problem.n();
    finding.p = problem.p();
    report.number = std::fmin(report.number, factor_of(check) * finding.slack());  // of no gain: NaN, which is left out
  }
  report.sentence = "smallest (gain of skyformer-softmax, d = 16 to 256) / (largest of another method of the figure)";
  return report;
}

}  // namespace

Report check_gain_everywhere(const Check& check) {
  return compare_gains(check, check.subjects);
}

Report check_gain(const Check& check) {
  // The paper's figure is of initialised and trained BERT: of the default inputs the text alone.
  std::vector<Subject> subjects;
  for (const Subject& subject : check.subjects) {
    if (check.own_input || subject.name == "text:sample") subjects.push_back(subject);
  }
  return compare_gains(check, subjects);
}

}  // namespace croquis::claims
