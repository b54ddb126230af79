// Row sums to epsilon with probability 1 - delta: vat.verified-d.

#include <algorithm>
#include <cmath>
#include <croquis/attention/vattention.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/vattention/checks.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/random/draws.hpp>
#include <functional>
#include <numeric>

namespace croquis::claims {
namespace {

// Of one query: its exponentials, and which keys are met for certain.
struct VerifiedRow {
  std::vector<double> tail;   // of the keys between sinks and window, the largest among them
  std::vector<bool> largest;  // which of them those are
  double known = 0;           // sum over sinks, window and the largest
  double sum = 0;             // D

  VerifiedRow(const arma::vec& logits, arma::uword sinks, arma::uword window, arma::uword top) {
    arma::vec a = arma::exp(logits - logits.max());
    sum = arma::accu(a);
    const arma::uword last = a.n_elem - window;
    tail.assign(a.begin() + static_cast<std::ptrdiff_t>(sinks), a.begin() + static_cast<std::ptrdiff_t>(last));
    std::vector<std::size_t> order(tail.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return tail[i] > tail[j]; });
    largest.assign(tail.size(), false);
    known = arma::accu(a.head(sinks)) + arma::accu(a.tail(window));
    for (std::size_t s = 0; s < std::min<std::size_t>(top, order.size()); ++s) {
      largest[order[s]] = true;
      known += tail[order[s]];
    }
  }

  std::vector<double> residual() const {
    std::vector<double> others;
    for (std::size_t j = 0; j < tail.size(); ++j) {
      if (!largest[j]) others.push_back(tail[j]);
    }
    return others;
  }
};

struct Spread {
  double mean = 0, deviation = 0;
};

Spread spread_of(const std::vector<double>& x, double divisor) {
  Spread spread;
  for (const double e : x) spread.mean += e / static_cast<double>(x.size());
  for (const double e : x) spread.deviation += (e - spread.mean) * (e - spread.mean) / divisor;
  spread.deviation = std::sqrt(spread.deviation);
  return spread;
}

std::vector<std::size_t> uniform_places(std::size_t n, std::size_t count, const Key& draw_key) {
  std::vector<std::uint64_t> words(count);
  fill_words(draw_key, 0, count, words.data());
  std::vector<std::size_t> places(count);
  for (std::size_t s = 0; s < count; ++s) places[s] = place_of(words[s], n);
  return places;
}

// |D~ - D| / D of one query with the budget of the lemma; by a pilot, or with the spread and D known.
double verified_error(const Check& check, const VerifiedRow& row, bool by_pilot, const Key& draw_key) {
  const std::vector<double> others = row.residual();
  const auto n_s = static_cast<double>(others.size());
  Spread spread = spread_of(others, n_s);
  double sum = row.sum;
  std::size_t least = 1;
  if (by_pilot) {
    least = std::max<std::size_t>(2, static_cast<std::size_t>(check.value("pilot share") * n_s));
    std::vector<double> pilot;
    for (const std::size_t place : uniform_places(others.size(), least, draw_key.child("pilot"))) {
      pilot.push_back(others[place]);
    }
    spread = spread_of(pilot, static_cast<double>(pilot.size()) - 1);
    sum = row.known + n_s * spread.mean;
  }
  double budget = sampling_budget(n_s, spread.deviation, check.value("epsilon") * sum, check.value("delta"));
  if (check.makes("all-keys")) budget = n_s;
  if (check.makes("few-samples")) budget /= 20;
  budget = std::max(std::ceil(budget), check.makes("few-samples") ? 2 : static_cast<double>(least));
  if (!(budget < n_s)) return 0;  // all keys are fewer than the samples
  double sampled = 0;
  for (const std::size_t place :
       uniform_places(others.size(), static_cast<std::size_t>(budget), draw_key.child("keys"))) {
    sampled += others[place];
  }
  return std::fabs(row.known + n_s / budget * sampled - row.sum) / row.sum;
}

// The same as AdaptiveSamplingMasker has it: the pilot and the samples are of the whole tail, the largest keys are in
// the estimate of the row sum twice and keep the weight 1, a key that is drawn twice counts once, and the quantile is
// that at 1 - delta.
double code_error(const Check& check, const VerifiedRow& row, const Key& draw_key) {
  const auto n_s = static_cast<double>(row.tail.size());
  const std::size_t pilots = std::max<std::size_t>(2, static_cast<std::size_t>(check.value("pilot share") * n_s));
  std::vector<double> pilot;
  std::vector<bool> seen(row.tail.size(), false);
  double sum = row.known;
  for (const std::size_t place : uniform_places(row.tail.size(), pilots, draw_key.child("pilot"))) {
    pilot.push_back(row.tail[place]);
    if (!seen[place]) sum += row.tail[place] * n_s / static_cast<double>(pilots);
    seen[place] = true;
  }
  const double spread = spread_of(pilot, static_cast<double>(pilots) - 1).deviation;
  double budget = std::floor(sampling_budget(n_s, spread, check.value("epsilon") * sum, 2 * check.value("delta")));
  budget = std::clamp(budget, static_cast<double>(pilots), n_s);
  if (check.makes("all-keys")) return 0;
  std::fill(seen.begin(), seen.end(), false);
  double sampled = 0;
  for (const std::size_t place :
       uniform_places(row.tail.size(), static_cast<std::size_t>(budget), draw_key.child("keys"))) {
    if (!seen[place] && !row.largest[place]) sampled += row.tail[place];
    seen[place] = true;
  }
  return std::fabs(row.known + n_s / budget * sampled - row.sum) / row.sum;
}

// Queries are drawn with the keys: the mean over the queries of a head.
Report verified_report(const Check& check, const std::function<double(const VerifiedRow&, const Key&)>& error) {
  Report report;
  for (const Subject& subject : check.subjects) {
    const arma::uword tokens = check.count("tokens");
    // Of fewer keys sinks and window leave few to sample, or none, and a pilot of a twentieth of them is two.
    if (subject.problem.n() < tokens) {
      report.findings.push_back(too_few_tokens(subject.name, tokens));
      report.findings.back().n = subject.problem.n();
      continue;
    }
    const Problem<double> problem = first_tokens(subject.problem, tokens);
    const arma::mat logits = scores_transposed(problem.Q(), problem.K());
    const arma::uword n = problem.n_k(), top = static_cast<arma::uword>(check.value("largest share") * double(n));
    std::vector<VerifiedRow> rows;
    for (arma::uword i = 0; i < logits.n_cols; ++i) {
      rows.emplace_back(logits.col(i), check.count("sinks"), check.count("window"), top);
    }
    const double alpha = check.alpha / static_cast<double>(check.subjects.size());
    Finding finding = decide_probability(
        check, {subject.name, check.value("epsilon"), check.value("delta"), alpha, check.count("draws")},
        [&](const Key& draw_key) {
          const std::size_t query = uniform_places(rows.size(), 1, draw_key.child("query")).front();
          return error(rows[query], draw_key);
        });
    finding.n = n;
    report.number = std::fmax(report.number, finding.estimate);
    report.findings.push_back(std::move(finding));
  }
  report.sentence = "largest failure rate over the inputs, eps = delta = .05: queries and samples drawn";
  return report;
}

}  // namespace

Report check_verified_known(const Check& check) {
  return verified_report(
      check, [&](const VerifiedRow& row, const Key& draw_key) { return verified_error(check, row, false, draw_key); });
}

Report check_verified_pilot(const Check& check) {
  return verified_report(
      check, [&](const VerifiedRow& row, const Key& draw_key) { return verified_error(check, row, true, draw_key); });
}

Report check_verified_code(const Check& check) {
  return verified_report(check,
                         [&](const VerifiedRow& row, const Key& draw_key) { return code_error(check, row, draw_key); });
}

}  // namespace croquis::claims
