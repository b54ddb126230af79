// The instability score of a small transformer in its first steps of training: readings of sky.instability.
#include <fmt/format.h>

#include <algorithm>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/claims/skyformer/two_layers.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/stats/decision.hpp>
#include <croquis/stats/intervals.hpp>
#include <optional>

namespace croquis::claims {
namespace {

// Which f the score is of.
struct Reading {
  arma::mat TwoLayers::Embedding::*f = nullptr;
  bool fresh_masks = false;  // a mask of dropout of its own at each evaluation, else no dropout
};

// ||f(x, W') - f(x, W)||^2 / ||W' - W||^2 of a step, the same with W in the place of W' (0 without dropout), ||f||^2.
struct StepScores {
  double moved = 0, unchanged = 0, size = 0;
};

double squared_distance(const arma::mat& a, const arma::mat& b) {
  return arma::accu(arma::square(a - b));
}

struct Trained {
  arma::uword tokens, batch, steps;
  double rate;
};

std::vector<StepScores> scores_of(const Check& check, TwoLayers model, const Trained& how, const Reading& reading,
                                  const Key& data) {
  constexpr std::uint64_t words = 15, classes = 10;
  std::vector<StepScores> result;
  for (arma::uword i = 0; i < how.steps; ++i) {
    if (check.interrupted()) throw Interrupted();
    const Key key = data.child(i);
    const auto f = [&](const arma::uvec& codes, const char* mask, arma::uword s) {
      return model.embed(codes, reading.fresh_masks ? std::optional(key.child(mask).child(s)) : std::nullopt).*
             reading.f;
    };
    std::vector<arma::uvec> batch;
    std::vector<arma::mat> before, gradient = model.zeros();
    StepScores scores;
    for (arma::uword s = 0; s < how.batch; ++s) {
      std::vector<std::uint64_t> drawn(how.tokens);
      fill_words(key.child("codes").child(s), 0, how.tokens, drawn.data());
      arma::uvec codes(how.tokens);
      for (arma::uword j = 0; j < how.tokens; ++j) codes[j] = place_of(drawn[j], words);
      before.push_back(f(codes, "second", s));
      if (reading.fresh_masks) scores.unchanged += squared_distance(f(codes, "first", s), before.back());
      scores.size += arma::accu(arma::square(before.back()));
      std::uint64_t label = 0;
      fill_words(key.child("labels"), s, 1, &label);
      model.add_gradient(codes, place_of(label, classes), key.child("training").child(s), gradient);
      batch.push_back(std::move(codes));
    }
    for (arma::mat& part : gradient) part /= static_cast<double>(how.batch);
    const double step = model.step(gradient, how.rate);
    for (arma::uword s = 0; s < how.batch; ++s) {
      scores.moved += squared_distance(f(batch[s], "first", s), before[s]);
    }
    scores.moved /= step * step;
    scores.unchanged /= step * step;
    result.push_back(scores);
  }
  return result;
}

// The mean over the steps of (score with kernelized) / (score with softmax attention), of each model.
struct Ratios {
  std::vector<double> moved, unchanged, size;
};

Ratios ratios_of(const Check& check, arma::uword tokens, const Reading& reading) {
  const Trained how = {tokens, check.count("batch"), check.count("steps"), check.value("rate")};
  TwoLayers::Sizes sizes;
  sizes.tokens = tokens;
  const std::uint64_t models = check.trials(check.count("models"));
  Ratios ratios = {std::vector<double>(models), std::vector<double>(models), std::vector<double>(models)};
  parallel_for(models, [&](std::size_t i) {
    const Key key = check.draw_key.child(tokens).child(i);
    const auto scores = [&](Target target) {
      TwoLayers model(sizes, target, key.child("weights"));
      // C V / n, the mean of what C V sums.
      if (target == Target::kernelized && check.makes("averaged")) model.divide_attention(static_cast<double>(tokens));
      return scores_of(check, std::move(model), how, reading, key.child("data"));
    };
    const auto of_b = scores(Target::softmax), of_c = scores(Target::kernelized);
    const auto mean_ratio = [&](double StepScores::*score) {
      double sum = 0;
      for (std::size_t s = 0; s < of_b.size(); ++s) sum += of_c[s].*score / of_b[s].*score;
      return sum / static_cast<double>(of_b.size());
    };
    ratios.moved[i] = mean_ratio(&StepScores::moved);
    ratios.unchanged[i] = mean_ratio(&StepScores::unchanged);
    ratios.size[i] = mean_ratio(&StepScores::size);
  });
  return ratios;
}

Accumulator sample_of(const std::vector<double>& ratios) {
  Accumulator sample;
  for (const double ratio : ratios) sample.add(ratio);
  return sample;
}

// The claim is about a population of models: for no more than `share` of them is the ratio not below 1. So it is
// decided by how many of the drawn models have such a ratio, which is binomial whatever the ratios' distribution is.
FailureLook look_at(const Check& check, const std::vector<double>& ratios, double alpha) {
  const auto failures = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return !(ratio < 1); });
  const std::uint64_t models = ratios.size();
  FailureDecision decision({.delta = check.value("share"), .alpha = alpha, .max_trials = models, .first_look = models});
  return decision.look(static_cast<std::uint64_t>(failures));
}

Finding decide_ratio(const Check& check, arma::uword tokens, const Ratios& ratios, double alpha) {
  const FailureLook look = look_at(check, ratios.moved, alpha);
  Finding finding;
  finding.input = fmt::format("n = {}", tokens);
  finding.n = tokens;
  finding.verdict = verdict_of(look.outcome);
  finding.trials = look.trials;
  finding.failures = look.failures;
  finding.estimate = static_cast<double>(look.failures) / static_cast<double>(look.trials);
  finding.interval = look.interval;
  finding.confidence = 1 - alpha;
  finding.bound = 1;
  finding.observed = quantile_of(ratios.moved, 1 - check.value("share"));
  finding.power = power_of_counting(look.trials, check.value("share"), alpha / 2);  // what the one look spends
  finding.threshold = check.stated("share");
  const Accumulator moved = sample_of(ratios.moved);
  const Interval student = student_interval(moved, 1 - check.value("confidence"));
  finding.hypotheses =
      fmt::format("mean ratio = {:.3g}; Student's {:g} % interval = {:.3g} to {:.3g}; ||f||^2 = {:.3g}", moved.mean(),
                  100 * check.value("confidence"), student.lo, student.hi, sample_of(ratios.size).mean());
  if (look.outcome == Outcome::undecided) {
    finding.hypotheses += fmt::format("; models that would decide = {}",
                                      look.trials_needed ? std::to_string(*look.trials_needed) : "more than 8e9");
  }
  return finding;
}

Report report_on(const Check& check, const Reading& reading, const char* what) {
  Report report;
  const std::vector<arma::uword> sizes = check.counts("tokens");
  for (const arma::uword tokens : sizes) {
    const Ratios ratios = ratios_of(check, tokens, reading);
    const double alpha = check.alpha / static_cast<double>(sizes.size());
    Finding finding = decide_ratio(check, tokens, ratios, reading.fresh_masks ? alpha / 2 : alpha);
    if (reading.fresh_masks) {
      // Where the ratio of unchanged weights is below 1 too, the score is of dropout, whatever the weights do.
      finding.confidence = 1 - alpha;
      finding.hypotheses +=
          fmt::format("; mean ratio of unchanged weights = {:.3g}", sample_of(ratios.unchanged).mean());
      const bool passes = look_at(check, ratios.unchanged, alpha / 2).outcome == Outcome::holds;
      if (passes)
        judge_trivial(finding, {{"unchanged weights", quantile_of(ratios.unchanged, 1 - check.value("share"))}});
    }
    report.number = finding.observed;
    report.findings.push_back(std::move(finding));
  }
  report.sentence = fmt::format("median ratio of scores over the models, {}, n = {}", what, sizes.back());
  return report;
}

}  // namespace

Report check_instability_before_norm(const Check& check) {
  return report_on(check, {&TwoLayers::Embedding::before}, "before the last LayerNorm, no dropout");
}

Report check_instability_after_norm(const Check& check) {
  return report_on(check, {&TwoLayers::Embedding::after}, "after the last LayerNorm, no dropout");
}

Report check_instability_fresh_masks(const Check& check) {
  return report_on(check, {&TwoLayers::Embedding::after, true}, "fresh masks of dropout");
}

}  // namespace croquis::claims
