// What a renormalised mask leaves out: each row of the library's B~ and O~ against B and the two means.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/topk/checks.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/norms.hpp>
#include <limits>
#include <map>
#include <string>

namespace croquis::claims {
namespace {

struct MaskedMethod {
  const char* name;
  OptionValues options;
};

const std::vector<MaskedMethod>& masked_methods() {
  using Values = std::map<std::string, std::string>;
  const Values no_rest = {{"rest", "none"}};
  static const std::vector<MaskedMethod> methods = {{"top-keys", OptionValues(no_rest)},
                                                    {"streaming", OptionValues()},
                                                    {"vertical-slash", OptionValues()},
                                                    {"mra-2", OptionValues(no_rest)}};
  return methods;
}

// Some keys of a row: the log of the sum of exp over them, and the mean of their values with these weights.
struct Share {
  double log_sum = -std::numeric_limits<double>::infinity();
  arma::rowvec mean;
};

Share share_of(const arma::rowvec& logits, const arma::uvec& keys, const arma::mat& v, bool plain) {
  Share share{-std::numeric_limits<double>::infinity(), arma::rowvec(v.n_cols, arma::fill::zeros)};
  if (keys.is_empty()) return share;
  const arma::rowvec chosen = logits.elem(keys).t();
  const arma::rowvec weights = arma::exp(chosen - chosen.max());
  const double sum = arma::accu(weights);
  share.log_sum = chosen.max() + std::log(sum);
  share.mean = plain ? arma::rowvec(arma::mean(v.rows(keys), 0)) : arma::rowvec(weights * v.rows(keys) / sum);
  return share;
}

// The largest gaps over the rows of one input and one mask, and what they are gaps of.
struct Gaps {
  double mass = 0, output = 0;  // the two sides of the identities
  double largest_error = 0, smallest_tau = 1, largest_tau = 0;
  double entry = 0;  // relative error of an entry of B, B~ or a mean's weight
  double value = 0;  // largest |V|
  arma::uword n = 0, d = 0;
};

Gaps gaps_of(const Problem<double>& problem, const MaskedMethod& method, const Check& check) {
  const arma::uword n = problem.n(), d = std::min(check.count("keys"), n);
  const auto approximation =
      prepare(find_method<double>(method.name), problem, method.options).approximate(d, check.draw_key);
  const arma::mat near = approximation.scores->dense();
  const arma::mat logits = problem.Q() * problem.K().t() / std::sqrt(static_cast<double>(problem.p()));
  const arma::uvec all = arma::regspace<arma::uvec>(0, n - 1);
  Gaps gaps;
  gaps.n = n;
  gaps.d = d;
  for (arma::uword i = 0; i < n; ++i) {
    const arma::rowvec row = logits.row(i), b_near = near.row(i);
    const arma::uvec inside = arma::find(b_near != 0), outside = arma::find(b_near == 0);
    const Share head = share_of(row, inside, problem.V(), false),
                tail = share_of(row, outside, problem.V(), check.makes("plain-means"));
    const double top = std::max(head.log_sum, tail.log_sum);
    const double log_sum = top + std::log(std::exp(head.log_sum - top) + std::exp(tail.log_sum - top));
    const double tau = std::exp(tail.log_sum - log_sum);
    double divergence = 0, variation = tau;
    for (const arma::uword j : inside) {
      const double log_b = row(j) - log_sum, b_tilde = check.makes("not-renormalised") ? std::exp(log_b) : b_near(j);
      divergence += b_tilde * (std::log(b_tilde) - log_b);
      variation += std::abs(b_near(j) - std::exp(log_b));
    }
    const double of_divergence =
        check.makes("pinsker") ? std::sqrt(std::max(0.0, divergence) / 2) : -std::expm1(-divergence);
    raise(gaps.mass, std::abs(of_divergence - tau));
    raise(gaps.mass, std::abs(variation / 2 - tau));
    // Where nothing is outside, tau = 0 and there is no second mean.
    const double exact_tau = check.makes("head-mass") ? 1 - tau : tau;
    const arma::rowvec error = share_of(row, all, problem.V(), false).mean - approximation.output.row(i);
    raise(gaps.output, largest_entry<double>(error - exact_tau * (tail.mean - head.mean)));
    gaps.largest_error = std::max(gaps.largest_error, arma::abs(error).max());
    gaps.smallest_tau = std::min(gaps.smallest_tau, tau);
    gaps.largest_tau = std::max(gaps.largest_tau, tau);
  }
  // A logit is off by (p + 6) u s, on either side and in the largest one; sums of n positive terms by n u.
  const double s = std::sqrt(arma::sum(arma::square(problem.Q()), 1).max() *
                             arma::sum(arma::square(problem.K()), 1).max() / static_cast<double>(problem.p()));
  gaps.entry = 4 * ((static_cast<double>(problem.p()) + 6) * s + static_cast<double>(n) + 4) * kUnit;
  gaps.value = arma::abs(problem.V()).max();
  return gaps;
}

struct Case {
  std::string input;
  Gaps gaps;
};

std::vector<Case> cases_of(const Check& check) {
  const auto& methods = masked_methods();
  std::vector<Case> cases(check.subjects.size() * methods.size());
  parallel_for(cases.size(), [&](std::size_t i) {
    const Subject& subject = check.subjects[i / methods.size()];
    const MaskedMethod& method = methods[i % methods.size()];
    const Problem<double> problem = first_tokens(subject.problem, check.count("tokens"));
    cases[i] = {fmt::format("{} {}", subject.name, method.name), gaps_of(problem, method, check)};
  });
  return cases;
}

// Of all cases: `finding` decides one, `share` is its gap over its bound.
template <typename Decide>
Report report_of(const Check& check, const char* what, const Decide& decide) {
  Report report;
  double worst = 0, least = 1, most = 0;
  for (const Case& c : cases_of(check)) {
    Finding finding = decide(c);
    finding.n = c.gaps.n;
    finding.d = c.gaps.d;
    // Both sides are 0 then, whatever the formulas: of a head of as few tokens as a query attends to.
    if (c.gaps.largest_tau == 0) judge_trivial(finding, {{"no weight is left out", 0}});
    add_measured(finding, fmt::format("tau = {:.3g} to {:.3g}", c.gaps.smallest_tau, c.gaps.largest_tau));
    worst = std::max(worst, finding.observed);
    least = std::min(least, c.gaps.smallest_tau);
    most = std::max(most, c.gaps.largest_tau);
    report.findings.push_back(std::move(finding));
  }
  report.number = worst;
  report.sentence =
      fmt::format("{} is at most {:.1e}; the masks leave out {:.2g} to {:.2g} of a row", what, worst, least, most);
  return report;
}

}  // namespace

Report check_tail_mass(const Check& check) {
  return report_of(check, "|tau - (1 - exp(-KL))| or |tau - TV|", [](const Case& c) {
    // d (1 - exp(-KL)) <= d KL, a mean of logarithms that are off by `entry` each, and the sum of B~ off by `entry`.
    return decide_identity(c.input, c.gaps.mass, 4 * c.gaps.entry, c.gaps.largest_tau);
  });
}

Report check_tail_output(const Check& check) {
  return report_of(check, "the gap, over the largest value,", [](const Case& c) {
    // o, o~ and the two means: four averages of values whose weights are off by `entry`.
    const double value = c.gaps.value > 0 ? c.gaps.value : 1;
    return decide_identity(c.input, c.gaps.output / value, 8 * c.gaps.entry, c.gaps.largest_error / value);
  });
}

}  // namespace croquis::claims
