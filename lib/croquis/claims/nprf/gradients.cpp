// How much the derivatives of attention by random features vary from draw to draw: rpe.gradient.
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/power.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/measure/gradient_errors.hpp>
#include <croquis/random/draws.hpp>
#include <functional>
#include <stdexcept>

namespace croquis::claims {
namespace {

// Queries and keys of length 1, to be brought to the norms of the claim, and the key of cotangent and features.
struct DirectedTokens {
  std::string name;
  arma::mat q, k, v;
  Key draw_key;

  // Scores are q.k in the paper, q.k / sqrt(p) here.
  Problem<double> of_norm(double norm) const {
    const double length = norm * std::pow(static_cast<double>(q.n_cols), 0.25);
    return {length * q, length * k, v};
  }
};

std::vector<DirectedTokens> token_sets(const Check& check) {
  const arma::uword n = check.count("tokens"), p = check.count("width");
  std::vector<DirectedTokens> sets;
  if (check.own_input) {
    for (const Subject& subject : check.subjects) {
      const Problem<double> problem = first_tokens(subject.problem, n);
      sets.push_back({subject.name, unit_rows(problem.Q()), unit_rows(problem.K()), problem.V(),
                      check.draw_key.child("draws").child(subject.name)});
    }
    return sets;
  }
  for (arma::uword i = 0; i < check.count("sets"); ++i) {
    const Key key = check.draw_key.child("tokens").child(i);
    const auto normal = [&](const char* name) {
      arma::mat rows(n, p);
      fill_normal(key.child(name), 0, rows.n_elem, rows.memptr());
      return rows;
    };
    const std::string name = fmt::format("sphere {}", i + 1);
    sets.push_back({name, unit_rows(normal("query")), unit_rows(normal("key")), normal("value"),
                    check.draw_key.child("draws").child(name)});
  }
  return sets;
}

// The root of the mean squared distance of the derivatives by Q and K from their mean over draws, for a white
// cotangent: as it is, over the norm of the exact derivatives, and how these and a draw agree.
struct GradientSpread {
  double absolute = 0, relative = 0, cosine = 0;
};

// Throws std::runtime_error where a draw is refused.
GradientSpread spread_at(const Check& check, const DirectedTokens& tokens, double norm, arma::uword m,
                         std::uint64_t draws, const std::string& method) {
  if (check.interrupted()) throw Interrupted();
  const Problem<double> problem = tokens.of_norm(norm);
  GradientErrors<double> errors(problem, tokens.draw_key);
  const auto prepared = errors.prepare(method_choice(method, {{"projection", "iid"}}));
  GradientSpread spread;
  const std::vector<GradientRow> rows = prepared.rows(m, draws);
  for (const GradientRow& row : rows) {
    if (row.status != "ok") throw std::runtime_error(row.status);
    spread.relative += row.qk_spread * row.qk_spread / static_cast<double>(rows.size());
    spread.cosine += row.qk_cosine / static_cast<double>(rows.size());
  }
  spread.relative = std::sqrt(spread.relative);
  // Derivatives by the paper's queries and keys, whose scores are q.k.
  const Gradient<double> exact = exact_adjoint(problem, find_method<double>(method).target)(errors.cotangent());
  const double root = std::pow(static_cast<double>(problem.p()), 0.25);
  spread.absolute = spread.relative * root * std::hypot(arma::norm(exact.q, "fro"), arma::norm(exact.k, "fro"));
  // Of values whose squares vanish or overflow: one such head is no reason to leave out the others.
  for (const double number : {spread.absolute, spread.relative, spread.cosine}) {
    if (!std::isfinite(number)) throw std::runtime_error("the spread or the cosine of the derivatives is not finite");
  }
  return spread;
}

// One number of each of the sets.
struct MeanSpread {
  arma::vec absolute, relative, cosine;
};

struct SpreadCase {
  std::string name;
  std::vector<DirectedTokens> sets;
  std::uint64_t draws;  // of each of them
  arma::uword m;

  MeanSpread at(const Check& check, double norm, const std::string& method) const {
    MeanSpread mean{arma::vec(sets.size()), arma::vec(sets.size()), arma::vec(sets.size())};
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const GradientSpread spread = spread_at(check, sets[i], norm, m, draws, method);
      mean.absolute(i) = spread.absolute;
      mean.relative(i) = spread.relative;
      mean.cosine(i) = spread.cosine;
    }
    return mean;
  }
};

// The draws of a user's own head are shared among as many cotangents as there are sets of tokens otherwise: their
// means differ by the error of the mean of all.
std::vector<DirectedTokens> with_cotangents(const Check& check, const DirectedTokens& tokens) {
  std::vector<DirectedTokens> sets(check.count("sets"), tokens);
  for (std::size_t i = 0; i < sets.size(); ++i) sets[i].draw_key = tokens.draw_key.child(i);
  return sets;
}

std::vector<SpreadCase> spread_cases(const Check& check) {
  std::vector<SpreadCase> cases;
  const std::vector<DirectedTokens> sets = token_sets(check);
  const std::uint64_t draws = check.count("draws");
  for (const arma::uword m : check.counts("features")) {
    if (check.own_input) {
      for (const DirectedTokens& tokens : sets) {
        cases.push_back(
            {fmt::format("{} m={}", tokens.name, m), with_cotangents(check, tokens), draws / check.count("sets"), m});
      }
    } else {
      cases.push_back({fmt::format("m={}", m), sets, draws, m});
    }
  }
  return cases;
}

// Whether the exact derivatives of one of the sets are rounding alone, at one of the norms.
bool is_flat(const SpreadCase& on, const std::vector<double>& norms, const std::string& method) {
  const Target target = find_method<double>(method).target;
  for (const DirectedTokens& tokens : on.sets) {
    for (const double norm : norms) {
      const Problem<double> problem = tokens.of_norm(norm);
      const GradientErrors<double> errors(problem, tokens.draw_key);
      if (vanishes(exact_adjoint(problem, target)(errors.cotangent()), problem, target, errors.cotangent()))
        return true;
    }
  }
  return false;
}

// The rows that `add` makes of every case whose derivatives can be compared.
Report report_of_cases(const Check& check, const std::vector<double>& norms, const std::string& method,
                       const std::function<void(Report&, const SpreadCase&)>& add) {
  Report report;
  for (const SpreadCase& on : spread_cases(check)) {
    if (is_flat(on, norms, method)) {
      report.findings.push_back(not_applicable(on.name, kGradientVanishes));
    } else {
      add_unless_refused(report, on.name, [&] { add(report, on); });
    }
  }
  return report;
}

// The number that the sentence is about is one at the most features. Of several heads it is that of the head nearest to
// refuting the claim, or farthest beyond: the smallest or the largest.
enum class Extreme { smallest, largest };

void tell_number(const Check& check, const SpreadCase& on, Extreme extreme, double number, Report& report) {
  if (on.m != check.counts("features").back()) return;
  const bool smallest = extreme == Extreme::smallest;
  report.number = smallest ? std::fmin(report.number, number) : std::fmax(report.number, number);
}

std::string of_heads(const Check& check, Extreme extreme) {
  if (!check.own_input || check.subjects.size() == 1) return "";
  return fmt::format("{} of the heads: ", extreme == Extreme::smallest ? "smallest" : "largest");
}

double relative_error_of(const arma::vec& sample, double mean) {
  return arma::stddev(sample) / std::sqrt(static_cast<double>(sample.n_elem)) / std::abs(mean);
}

// The quotient of two means, which is to be at most `bound`. Both are of the same cotangents and, with one method, of
// the same directions, so that its error is that of a - quotient b.
Finding decide_quotient(const Check& check, const SpreadCase& on, const std::string& name, const arma::vec& a,
                        const arma::vec& b, double sign, double bound) {
  const double quotient = arma::mean(a) / arma::mean(b);
  Finding finding = decide_identity(fmt::format("{} {}", on.name, name), sign * quotient, sign * bound);
  finding.n = on.sets.front().q.n_rows;
  finding.p = on.sets.front().q.n_cols;
  finding.d = on.m;
  finding.trials = check.count("draws");
  finding.estimate = quotient;
  // Over the mean: squares of differences of tiny spreads would vanish, and with them the error.
  finding.power = power_of_means(relative_error_of((a - quotient * b) / arma::mean(a), 1));
  finding.threshold = fmt::format("{:g}; draws = {}; sets = {}", bound, check.count("draws"), on.sets.size());
  return finding;
}

std::string text_of(double norm, const MeanSpread& spread) {
  return fmt::format("R = {:g}: {:.3g} ({:.3g} of the exact norm, cosine {:.2f})", norm, arma::mean(spread.absolute),
                     arma::mean(spread.relative), arma::mean(spread.cosine));
}

// What is nearer to its bound than its error is left undecided.
void add_compared(Report& found, Finding finding, std::string measured) {
  withhold_within_error(finding);
  add_measured(finding, std::move(measured));
  found.findings.push_back(std::move(finding));
}

}  // namespace

Report check_gradient_absolute(const Check& check) {
  const std::vector<double>& norms = check.values("R");
  const std::string method = check.makes("normalised") ? "nprf" : "performer";
  Report report = report_of_cases(check, norms, method, [&](Report& found, const SpreadCase& on) {
    const MeanSpread small = on.at(check, norms.front(), method), large = on.at(check, norms.back(), method);
    add_compared(found,
                 decide_quotient(check, on, fmt::format("R={:g} over R={:g}", norms.back(), norms.front()),
                                 large.absolute, small.absolute, -1, check.value("growth")),
                 fmt::format("spread at {}; at {}", text_of(norms.front(), small), text_of(norms.back(), large)));
    tell_number(check, on, Extreme::smallest, found.findings.back().estimate, found);
  });
  report.sentence =
      fmt::format("{}spread of (dQ, dK) at R = {:g} over that at R = {:g}, m = {}", of_heads(check, Extreme::smallest),
                  norms.back(), norms.front(), check.counts("features").back());
  return report;
}

Report check_gradient_relative(const Check& check) {
  std::vector<double> norms = check.values("R");
  if (check.makes("moderate-norms")) norms.pop_back();
  Report report = report_of_cases(check, norms, "performer", [&](Report& found, const SpreadCase& on) {
    std::vector<MeanSpread> spreads;
    spreads.reserve(norms.size());
    for (const double norm : norms) spreads.push_back(on.at(check, norm, "performer"));
    for (std::size_t i = 1; i < norms.size(); ++i) {
      add_compared(
          found,
          decide_quotient(check, on, fmt::format("R={:g} over R={:g}", norms[i], norms[i - 1]), spreads[i].relative,
                          spreads[i - 1].relative, -1, 1),
          fmt::format("spread at {}; at {}", text_of(norms[i - 1], spreads[i - 1]), text_of(norms[i], spreads[i])));
      if (i + 1 == norms.size()) {
        tell_number(check, on, Extreme::smallest, found.findings.back().estimate, found);
      }
    }
  });
  report.sentence = fmt::format(
      "{}spread of (dQ, dK) in units of the exact norm, R = {:g} over R = {:g}, m = {}: our own question",
      of_heads(check, Extreme::smallest), norms.back(), norms[norms.size() - 2], check.counts("features").back());
  return report;
}

// Whether derivatives vary as one estimate of exp(q.k) does, whose relative variance is (e^(|q+k|^2) - 1) / m (Lemma
// 2).
Report check_gradient_explosion(const Check& check) {
  const std::vector<double>& norms = check.values("R");
  const double from = norms.front(), to = check.makes("same-norm") ? from : norms.back();
  // |q + k|^2 of independent directions is 2 R^2 in the mean.
  const double growth = std::sqrt(std::expm1(2 * to * to) / std::expm1(2 * from * from));
  Report report = report_of_cases(check, {from, to}, "performer", [&](Report& found, const SpreadCase& on) {
    const MeanSpread small = on.at(check, from, "performer"), large = on.at(check, to, "performer");
    add_compared(found,
                 decide_quotient(check, on, fmt::format("R={:g} over R={:g}", to, from), large.absolute, small.absolute,
                                 -1, growth),
                 fmt::format("spread at {}; at {}", text_of(from, small), text_of(to, large)));
    tell_number(check, on, Extreme::smallest, found.findings.back().estimate, found);
  });
  report.sentence = fmt::format(
      "{}spread of (dQ, dK) at R = {:g} over that at R = {:g}, m = {}; relative one of an estimate of exp(q.k) {:.2g}",
      of_heads(check, Extreme::smallest), to, from, check.counts("features").back(), growth);
  return report;
}

Report check_gradient_direction(const Check& check) {
  const double norm = check.value("R");
  const std::string method = check.makes("normalised") ? "nprf" : "performer";
  Report report = report_of_cases(check, {norm}, method, [&](Report& found, const SpreadCase& on) {
    const MeanSpread spread = on.at(check, norm, method);
    const double cosine = arma::mean(spread.cosine);
    Finding finding = decide_identity(fmt::format("{} R={:g}", on.name, norm), cosine, check.value("cosine"));
    finding.n = on.sets.front().q.n_rows;
    finding.p = on.sets.front().q.n_cols;
    finding.d = on.m;
    finding.trials = check.count("draws");
    finding.power = power_of_means(relative_error_of(spread.cosine, cosine));
    finding.threshold = check.stated("cosine");
    tell_number(check, on, Extreme::largest, cosine, found);
    add_compared(found, std::move(finding), fmt::format("spread at {}", text_of(norm, spread)));
  });
  report.sentence = fmt::format("{}mean cosine of (dQ, dK) with the exact one at R = {:g}, m = {}",
                                of_heads(check, Extreme::largest), norm, check.counts("features").back());
  return report;
}

Report check_gradient_normalised(const Check& check) {
  const std::vector<double>& norms = check.values("R");
  const std::string normalised = check.makes("not-normalised") ? "performer" : "nprf";
  Report report = report_of_cases(check, norms, normalised, [&](Report& found, const SpreadCase& on) {
    const MeanSpread small = on.at(check, norms.front(), normalised), large = on.at(check, norms.back(), normalised),
                     plain = on.at(check, norms.back(), "performer");
    add_compared(
        found,
        decide_quotient(check, on, fmt::format("R={:g} against prf", norms.back()), large.absolute, plain.absolute, 1,
                        check.value("share")),
        fmt::format("spread of nprf at {}; of prf at {}", text_of(norms.back(), large), text_of(norms.back(), plain)));
    tell_number(check, on, Extreme::largest, found.findings.back().estimate, found);
    // Rows of unit length have the same derivatives along the sphere, over the norm that they had before.
    const double rounding = check.value("rounding");
    Finding same = decide_quotient(check, on, fmt::format("R={:g} as R={:g}", norms.back(), norms.front()),
                                   large.relative, small.relative, 1, 1 + rounding);
    same.observed = std::abs(same.estimate - 1);
    same.bound = rounding;
    same.verdict = same.observed <= rounding ? Verdict::verified : Verdict::refuted;
    // An identity of every draw, on as many as were averaged.
    same.power = same.bound + same.observed;
    same.hypotheses = fmt::format("spread at {}; at {}", text_of(norms.front(), small), text_of(norms.back(), large));
    found.findings.push_back(std::move(same));
  });
  report.sentence = fmt::format("{}spread of (dQ, dK) of nprf over that of prf at R = {:g}, m = {}",
                                of_heads(check, Extreme::largest), norms.back(), check.counts("features").back());
  return report;
}

}  // namespace croquis::claims
