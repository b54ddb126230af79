// Landmarks that contain all points, and the 64 that are "often sufficient": nys.lemma2, nys.landmarks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/nystromformer.hpp>
#include <croquis/attention/v_mean.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nystromformer/checks.hpp>
#include <croquis/claims/nystromformer/cores.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/linalg/norms.hpp>
#include <vector>

namespace croquis::claims {
namespace {

// Kernel values with rows divided by their sums: softmax over the points `columns` of the queries `rows`.
RationalMatrix softmax(const RationalMatrix& kernel, const std::vector<std::size_t>& rows,
                       const std::vector<std::size_t>& columns) {
  RationalMatrix s(rows.size(), columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Rational sum = 0;
    for (const std::size_t c : columns) sum += kernel(rows[i], c);
    for (std::size_t j = 0; j < columns.size(); ++j) s(i, j) = kernel(rows[i], columns[j]) / sum;
  }
  return s;
}

// F A^+ G - B for landmarks that are the points of a list, in exact arithmetic.
Finding superset_finding(const std::string& input, const RationalMatrix& kernel,
                         const std::vector<std::size_t>& landmarks) {
  std::vector<std::size_t> all(kernel.rows());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const RationalMatrix b = softmax(kernel, all, all), f = softmax(kernel, all, landmarks),
                       a = softmax(kernel, landmarks, landmarks), g = softmax(kernel, landmarks, all);
  const RationalMatrix error = f * pseudo_inverse(a) * g - b;
  Rational largest = 0;
  for (std::size_t i = 0; i < error.rows(); ++i) {
    for (std::size_t j = 0; j < error.cols(); ++j) {
      largest = std::max<Rational>(largest, boost::multiprecision::abs(error(i, j)));
    }
  }
  Finding finding = decide_equation(input, largest == 0, static_cast<double>(largest), 0);
  finding.hypotheses = fmt::format("largest entry of the error = {}", largest.str());
  return finding;
}

}  // namespace

Report check_superset_strict(const Check& check) {
  // The third row is the sum of the others: A is singular. The first point is a landmark twice.
  const RationalMatrix kernel = {{9, 1, 1}, {1, 9, 9}, {10, 10, 10}};
  const std::vector<std::size_t> twice = {0, 0, 1, 2}, once = {0, 1, 2};
  Report report;
  report.findings = {superset_finding("kernel values (9,1,1; 1,9,9; 10,10,10), point 1 twice", kernel,
                                      check.makes("each-once") ? once : twice)};
  report.number = report.findings.front().observed;
  report.sentence =
      "largest entry of F A^+ G - B = 512/6897: all points are landmarks, one of them twice, A is singular";
  return report;
}

Report check_superset_charitable(const Check& check) {
  // A non-singular core that contains all points: a fourth landmark that is no point.
  RationalMatrix kernel = {{9, 1, 1, 2}, {1, 9, 1, 5}, {1, 1, 9, 7}, {3, 2, 4, 8}};
  std::vector<std::size_t> points = {0, 1, 2}, landmarks = {0, 1, 2, 3};
  if (check.makes("a-point-less")) landmarks = {0, 1, 3};
  const RationalMatrix b = softmax(kernel, points, points), f = softmax(kernel, points, landmarks),
                       a = softmax(kernel, landmarks, landmarks), g = softmax(kernel, landmarks, points);
  const RationalMatrix error = f * pseudo_inverse(a) * g - b;
  const bool exact = error == RationalMatrix(3, 3);
  double largest = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) largest = std::max(largest, std::abs(static_cast<double>(error(i, j))));
  }
  Report report;
  report.findings = {decide_equation("3 points and a fourth landmark, A non-singular", exact, largest, 0)};
  report.findings.push_back(
      superset_finding("3 points, each a landmark, A non-singular", {{9, 1, 1}, {1, 9, 1}, {1, 1, 9}}, {0, 1, 2}));
  report.number = largest;
  report.sentence = "largest entry of F A^+ G - B for non-singular A with all points among the landmarks, in rationals";
  return report;
}

Report check_landmarks_sufficient(const Check& check) {
  const double good = check.value("relative error"), share = check.value("share of v-mean");
  const arma::uword landmarks = check.count("landmarks");
  Report report;
  std::size_t sufficient = 0, inputs = 0;
  for (const Subject& subject : check.subjects) {
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    if (landmarks >= problem.n()) {
      report.findings.push_back(all_points_finding(subject.name, problem));
      continue;
    }
    const arma::uword d = check.makes("all-points") ? problem.n() : landmarks;
    NystromformerOptions options;
    if (check.makes("all-points")) options.exact_at_n = true;
    const arma::mat exact = exact_attention(problem, Target::softmax).output;
    if (vanishes(exact, problem)) {
      report.findings.push_back(not_applicable(subject.name, kOutputVanishes));
      continue;
    }
    const double size = spectral_norm<double>(exact);
    const auto error = [&](const arma::mat& output) { return spectral_norm<double>(output - exact) / size; };
    const double observed = error(nystromformer(problem, d, check.draw_key, options).output),
                 mean = error(v_mean(problem).output);
    if (is_rounding(observed * size, problem) && is_rounding(mean * size, problem)) {
      report.findings.push_back(not_applicable(subject.name, kErrorsVanish));
      continue;
    }
    double allowed = good;
    lower(allowed, share * mean);
    Finding finding = decide_identity(subject.name, observed, allowed);
    finding.n = problem.n();
    finding.p = problem.p();
    finding.d = d;
    finding.threshold = fmt::format("{}; {}", check.stated("relative error"), check.stated("share of v-mean"));
    const bool enough = finding.verdict == Verdict::verified;
    sufficient += enough ? 1 : 0;
    ++inputs;
    add_measured(finding, fmt::format("relative error of v-mean = {:.4g}", mean));
    finding.hypotheses += enough ? "; sufficient = yes" : "; sufficient = no";
    // "Often": no single input decides.
    if (finding.verdict != Verdict::inconclusive) finding.verdict = Verdict::not_applicable;
    report.number = std::fmax(report.number, observed);
    report.findings.push_back(std::move(finding));
  }
  if (inputs > 0) {
    const double failing = 1 - static_cast<double>(sufficient) / static_cast<double>(inputs);
    const std::size_t given = check.subjects.size();
    Finding often = decide_identity(
        check.of_own(given == 1 ? "alone" : fmt::format("{}{} inputs", check.own_input ? "and others, " : "", given)),
        failing, 1 - check.value("share of inputs"));
    often.threshold = check.stated("share of inputs");
    often.hypotheses = fmt::format("sufficient on = {} of {}", sufficient, inputs);
    report.findings.push_back(std::move(often));
  }
  report.sentence =
      fmt::format("largest relative error with {} landmarks; at most {:g}, and {:g} of v-mean's, on {} of {} inputs",
                  landmarks, good, share, sufficient, inputs);
  return report;
}

}  // namespace croquis::claims
