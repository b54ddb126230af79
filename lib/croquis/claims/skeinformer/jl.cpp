// The oblivious Johnson-Lindenstrauss guarantee, operator by operator.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/skeinformer/operators.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/stats/design.hpp>
#include <croquis/stats/intervals.hpp>
#include <croquis/stats/search.hpp>
#include <set>
#include <utility>

namespace croquis::claims {
namespace {

constexpr arma::uword kTokens = 256, kSubspace = 8;

struct Guarantee {
  double epsilon, delta;

  // P(|chi^2_d / d - 1| > eps) <= 2 exp(-d (eps^2 / 4 - eps^3 / 6)): the d that makes it delta, as a multiple of 4.
  arma::uword columns() const {
    const double e = epsilon, d = std::log(2 / delta) / (e * e / 4 - e * e * e / 6);
    return static_cast<arma::uword>(4 * std::ceil(d / 4));
  }
};

// The distributions that mix all rows into every column: for them the guarantee is claimed (Gaussian by the paper, the
// others by the sources of the library). The rest, which pick or hash single rows, is measured beside it.
bool is_mixing(const std::string& name) {
  static const std::set<std::string> mixing = {"gaussian", "rademacher", "srht", "srct", "sjlt", "sparse-stack"};
  return mixing.contains(name);
}

// Unit vectors b, one a column: spikes for the sketches that pick rows, flat and periodic ones for those that
// transform, and what attention multiplies.
struct Vectors {
  arma::mat b;
  std::vector<std::string> names;

  void add(const std::string& name, const arma::vec& x) {
    if (arma::norm(x) == 0) return;
    b = arma::join_rows(b, arma::normalise(x));
    names.push_back(name);
  }
};

Vectors vectors_of(const Check& check, arma::uword n) {
  Vectors all;
  arma::vec spike(n, arma::fill::zeros);
  spike(0) = 1;
  all.add("e_0", spike);
  spike(1) = 1;
  all.add("e_0 + e_1", spike);
  all.add("1", arma::vec(n, arma::fill::ones));
  all.add("cosine 8", arma::cos(arma::datum::pi * 8 * (2 * arma::regspace(0, static_cast<double>(n) - 1) + 1) /
                                (2 * static_cast<double>(n))));
  const Problem<double> first = first_tokens(check.subjects.front().problem, n),
                        last = first_tokens(check.subjects.back().problem, n);
  all.add("V column", first.V().col(0));
  all.add("B row", softmax_transposed<double>(last.Q().row(0), last.K()));
  return all;
}

arma::mat sketched(const Check& check, const Operator& op, const Key& draw_key, const arma::mat& b) {
  arma::mat y = op.draw(draw_key).left(b);
  if (check.makes("unscaled")) y *= 1.25;
  // The first d/8 columns again and again: a generator that starts anew.
  if (check.makes("repeated-columns")) {
    const arma::uword own = std::max<arma::uword>(1, y.n_rows / 8);
    for (arma::uword j = own; j < y.n_rows; ++j) y.row(j) = y.row(j % own);
  }
  return y;
}

// Failures | ||S^T b||^2 - 1 | > eps of every b over the trials.
arma::uvec failures_of(const Check& check, const Operator& op, const Vectors& vectors, double epsilon,
                       std::uint64_t trials, const Key& draw_key) {
  arma::umat failed(vectors.b.n_cols, trials);
  parallel_for(trials, [&](std::size_t t) {
    if (check.interrupted()) throw Interrupted();
    const arma::mat y = sketched(check, op, draw_key.child(t), vectors.b);
    failed.col(t) = arma::abs(arma::sum(arma::square(y), 0) - 1).t() > epsilon;
  });
  return arma::sum(failed, 1);
}

Operator with_columns(const Operator& op, arma::uword d) {
  for (Operator& other : operators(op.description().rows, d)) {
    if (other.name() == op.name()) return other;
  }
  return op;
}

// The smallest d, a multiple of 4, from which on the worst vector fails no more often than delta in 400 trials, and its
// failures there; n when none does.
std::pair<arma::uword, arma::uword> smallest_columns(const Check& check, const Operator& op, const Vectors& vectors,
                                                     const Guarantee& wanted) {
  const std::uint64_t trials = check.trials(400);
  const arma::uword n = op.description().rows;
  const auto failures = [&](arma::uword quarter) -> arma::uword {
    const Operator other = with_columns(op, 4 * quarter);
    const Key draw_key = check.draw_key.child("smallest").child(op.name()).child(4 * quarter);
    return failures_of(check, other, vectors, wanted.epsilon, trials, draw_key).max();
  };
  const arma::uword quarter = bisect(0, n / 4, [&](arma::uword d) {
    return static_cast<double>(failures(d)) <= wanted.delta * static_cast<double>(trials);
  });
  return {4 * quarter, failures(quarter)};
}

// Quantiles of the smallest and the largest singular value of S^T U, U the first coordinates: injectivity and dilation.
std::string subspace_text(const Check& check, const Operator& op) {
  const std::uint64_t trials = check.trials(200);
  const arma::mat u = arma::eye(op.description().rows, kSubspace);
  std::vector<double> smallest(trials), largest(trials);
  const Key draw_key = check.draw_key.child("subspace").child(op.name());
  parallel_for(trials, [&](std::size_t t) {
    const arma::vec values = arma::svd(arma::mat(op.draw(draw_key.child(t)).left(u)));
    smallest[t] = values.min();
    largest[t] = values.max();
  });
  return fmt::format("e_0..e_7: sigma_min 5 % = {:.3g}, sigma_max 95 % = {:.3g}", quantile_of(smallest, 0.05),
                     quantile_of(largest, 0.95));
}

Finding finding_of(const Check& check, const Operator& op, const Vectors& vectors, const Guarantee& wanted,
                   double alpha) {
  const double share = alpha / static_cast<double>(vectors.b.n_cols);
  // Enough to decide for a distribution that fails a quarter as often as it may.
  const std::uint64_t enough = trials_to_decide(wanted.delta / 4, wanted.delta, share / 2, 1e-3);
  const std::uint64_t trials = std::min(enough, check.most_trials.value_or(enough));
  Finding finding;
  finding.input = fmt::format("{} eps={:g} delta={:g}", op.name(), wanted.epsilon, wanted.delta);
  finding.n = op.description().rows;
  finding.d = op.description().cols;
  finding.trials = trials;
  const arma::uvec failures =
      failures_of(check, op, vectors, wanted.epsilon, trials, check.draw_key.child(finding.input));
  const arma::uword worst = failures.index_max();
  finding.failures = failures(worst);
  finding.interval = clopper_pearson(failures(worst), trials, share);
  finding.estimate = static_cast<double>(failures(worst)) / static_cast<double>(trials);
  finding.confidence = 1 - alpha;
  finding.bound = wanted.delta;
  finding.observed = finding.estimate;
  finding.verdict = finding.interval.hi <= wanted.delta  ? Verdict::verified
                    : finding.interval.lo > wanted.delta ? Verdict::refuted
                                                         : Verdict::inconclusive;
  finding.hypotheses =
      fmt::format("mixes all rows = {}; worst b = {}", is_mixing(op.name()) ? "yes" : "no", vectors.names[worst]);
  if (!is_mixing(op.name())) finding.verdict = Verdict::not_applicable;
  return finding;
}

}  // namespace

Report check_jl(const Check& check) {
  const arma::uword n = std::min<arma::uword>(kTokens, check.subjects.front().problem.n());
  std::vector<Guarantee> guarantees = {{0.5, 0.05}};
  if (!check.quick) guarantees.insert(guarantees.end(), {{0.5, 0.01}, {0.3, 0.05}});
  Report report;
  const Vectors vectors = n > kSubspace ? vectors_of(check, n) : Vectors{};
  double largest = 0;
  std::string at;
  for (const Guarantee& wanted : guarantees) {
    if (wanted.columns() >= n) {
      Finding finding;
      finding.input = fmt::format("eps={:g} delta={:g}", wanted.epsilon, wanted.delta);
      finding.verdict = Verdict::vacuous;
      finding.n = n;
      finding.hypotheses = fmt::format("d asked for = {} >= n", wanted.columns());
      report.findings.push_back(finding);
      continue;
    }
    const std::vector<Operator> all = operators(n, wanted.columns());
    for (const Operator& op : all) {
      Finding finding =
          finding_of(check, op, vectors, wanted, check.alpha / static_cast<double>(all.size() * guarantees.size()));
      if (&wanted == &guarantees.front() && check.mutant.empty()) {
        const auto [smallest, failures] = smallest_columns(check, op, vectors, wanted);
        const Interval rate = clopper_pearson(failures, check.trials(400), 1e-3);
        const double constant =
            static_cast<double>(smallest) * wanted.epsilon * wanted.epsilon / std::log(1 / wanted.delta);
        finding.hypotheses +=
            fmt::format("; smallest d = {}{}, where a share of {:.3g} to {:.3g} fails (99.9 %); constant = {:.3g}; {}",
                        smallest < n ? "" : ">= ", smallest, rate.lo, rate.hi, constant, subspace_text(check, op));
        if (is_mixing(op.name()) && constant > largest) {
          largest = constant;
          at = op.name();
        }
      }
      report.findings.push_back(std::move(finding));
    }
  }
  report.number = largest;
  if (at.empty()) {
    report.sentence = "not searched for, or d as large as n";
    return report;
  }
  report.sentence = fmt::format(
      "largest c (of {}) in d = c eps^-2 log(1/delta), of 6 mixing distributions; sampling ones miss e_0", at);
  return report;
}

}  // namespace croquis::claims
