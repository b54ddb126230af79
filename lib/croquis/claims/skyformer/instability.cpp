// The instability score of a small transformer in its first steps of training: readings of sky.instability.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/power.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/two_layers.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/stats/intervals.hpp>

namespace croquis::claims {
namespace {

// ||f(x, W') - f(x, W)||^2 over ||W' - W||^2 of a step.
struct StepScores {
  double before_norm = 0, after_norm = 0;  // f before and after the last LayerNorm, without dropout
  double fresh = 0, unchanged = 0;         // after it, with masks of its own for each f; and with W in the place of W'
  double size = 0;                         // ||f||^2 before the last LayerNorm
};

double squared_distance(const arma::mat& a, const arma::mat& b) {
  return arma::accu(arma::square(a - b));
}

struct Trained {
  arma::uword tokens, batch, steps;
  double rate;
};

std::vector<StepScores> scores_of(const Check& check, TwoLayers model, const Trained& how, const Key& data) {
  constexpr std::uint64_t words = 15, classes = 10;
  std::vector<StepScores> result;
  for (arma::uword i = 0; i < how.steps; ++i) {
    if (check.interrupted()) throw Interrupted();
    const Key key = data.child(i);
    std::vector<arma::uvec> batch;
    for (arma::uword s = 0; s < how.batch; ++s) {
      std::vector<std::uint64_t> drawn(how.tokens);
      fill_words(key.child("codes").child(s), 0, how.tokens, drawn.data());
      arma::uvec codes(how.tokens);
      for (arma::uword j = 0; j < how.tokens; ++j) codes[j] = place_of(drawn[j], words);
      batch.push_back(std::move(codes));
    }
    const auto mask = [&](const char* name, arma::uword s) { return key.child(name).child(s); };
    struct Before {
      TwoLayers::Embedding plain;
      arma::mat first, second;
    };
    std::vector<Before> before;
    std::vector<arma::mat> gradient = model.zeros();
    StepScores scores;
    for (arma::uword s = 0; s < how.batch; ++s) {
      before.push_back({model.embed(batch[s], {}), model.embed(batch[s], mask("first", s)).after,
                        model.embed(batch[s], mask("second", s)).after});
      scores.unchanged += squared_distance(before.back().first, before.back().second);
      scores.size += arma::accu(arma::square(before.back().plain.before));
      std::uint64_t label = 0;
      fill_words(key.child("labels"), s, 1, &label);
      model.add_gradient(batch[s], place_of(label, classes), mask("training", s), gradient);
    }
    for (arma::mat& part : gradient) part /= static_cast<double>(how.batch);
    const double moved = model.step(gradient, how.rate), squared = moved * moved;
    for (arma::uword s = 0; s < how.batch; ++s) {
      const TwoLayers::Embedding plain = model.embed(batch[s], {});
      scores.before_norm += squared_distance(plain.before, before[s].plain.before);
      scores.after_norm += squared_distance(plain.after, before[s].plain.after);
      scores.fresh += squared_distance(model.embed(batch[s], mask("first", s)).after, before[s].second);
    }
    for (double* score : {&scores.before_norm, &scores.after_norm, &scores.fresh, &scores.unchanged}) *score /= squared;
    result.push_back(scores);
  }
  return result;
}

// The mean over the steps of (score with kernelized) / (score with softmax attention), of every model.
struct InstabilityRatios {
  Accumulator before_norm, after_norm, fresh, unchanged, size;
};

InstabilityRatios ratios_of(const Check& check, arma::uword tokens) {
  const Trained how = {tokens, check.count("batch"), check.count("steps"), check.value("rate")};
  TwoLayers::Sizes sizes;
  sizes.tokens = tokens;
  InstabilityRatios ratios;
  for (arma::uword i = 0; i < check.count("models"); ++i) {
    const Key key = check.draw_key.child(tokens).child(i);
    TwoLayers softmax(sizes, Target::softmax, key.child("weights")),
        kernelized(sizes, Target::kernelized, key.child("weights"));
    // C V / n, the mean of what C V sums.
    if (check.makes("averaged")) kernelized.divide_attention(static_cast<double>(tokens));
    const auto of_b = scores_of(check, softmax, how, key.child("data")),
               of_c = scores_of(check, kernelized, how, key.child("data"));
    const auto add = [&](Accumulator& sum, double StepScores::*score) {
      double mean = 0;
      for (std::size_t s = 0; s < of_b.size(); ++s) {
        mean += of_c[s].*score / of_b[s].*score / static_cast<double>(of_b.size());
      }
      sum.add(mean);
    };
    add(ratios.before_norm, &StepScores::before_norm);
    add(ratios.after_norm, &StepScores::after_norm);
    add(ratios.fresh, &StepScores::fresh);
    add(ratios.unchanged, &StepScores::unchanged);
    add(ratios.size, &StepScores::size);
  }
  return ratios;
}

// Holds or is refuted where Student's interval of the mean over models is on one side of 1.
Finding decide_ratio(const Check& check, arma::uword tokens, const InstabilityRatios& ratios, const Accumulator& of) {
  Finding finding;
  finding.input = fmt::format("n = {}", tokens);
  finding.n = tokens;
  finding.trials = check.count("models");
  finding.estimate = finding.observed = of.mean();
  finding.confidence = check.value("confidence");
  finding.interval = student_interval(of, 1 - finding.confidence);
  finding.bound = 1;
  finding.power = power_of_means(relative_error_of_mean(of));
  finding.verdict = finding.interval.lo > 1   ? Verdict::refuted
                    : finding.interval.hi < 1 ? Verdict::holds
                                              : Verdict::inconclusive;
  finding.threshold = check.stated("confidence");
  finding.hypotheses = fmt::format(
      "without dropout before the last LayerNorm = {:.3g}, after it = {:.3g}; after it with fresh "
      "masks = {:.3g}, with unchanged weights = {:.3g}; ||f||^2 before it = {:.3g}",
      ratios.before_norm.mean(), ratios.after_norm.mean(), ratios.fresh.mean(), ratios.unchanged.mean(),
      ratios.size.mean());
  return finding;
}

Report report_on(const Check& check, const Accumulator InstabilityRatios::*which, const char* what) {
  Report report;
  for (const arma::uword tokens : check.counts("tokens")) {
    const InstabilityRatios ratios = ratios_of(check, tokens);
    report.findings.push_back(decide_ratio(check, tokens, ratios, ratios.*which));
    report.number = report.findings.back().estimate;
  }
  report.sentence = fmt::format("mean ratio of scores, {}, n = {}", what, check.counts("tokens").back());
  return report;
}

}  // namespace

Report check_instability_before_norm(const Check& check) {
  return report_on(check, &InstabilityRatios::before_norm, "before the last LayerNorm, no dropout");
}

Report check_instability_after_norm(const Check& check) {
  return report_on(check, &InstabilityRatios::after_norm, "after the last LayerNorm, no dropout");
}

// With fresh masks the ratio is what it is without a step: the score is of dropout, whatever the weights do.
Report check_instability_fresh_masks(const Check& check) {
  Report report;
  for (const arma::uword tokens : check.counts("tokens")) {
    const InstabilityRatios ratios = ratios_of(check, tokens);
    Finding finding = decide_ratio(check, tokens, ratios, ratios.fresh);
    judge_trivial(finding, {{"unchanged weights", ratios.unchanged.mean()}});
    report.number = finding.estimate;
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      fmt::format("mean ratio of scores with fresh masks of dropout, n = {}; unchanged weights have it too",
                  check.counts("tokens").back());
  return report;
}

}  // namespace croquis::claims
