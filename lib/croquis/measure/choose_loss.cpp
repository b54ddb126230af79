#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/measure/choose_loss.hpp>
#include <croquis/measure/cost_hull.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/stats/intervals.hpp>
#include <type_traits>
#include <utility>

namespace croquis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A step of a layer from one point of its hull to a cheaper one.
struct Step {
  arma::uword layer;
  CostPoint before, after;
};

// A pass of the model in which heads are replaced, and what it is looked at for.
struct Pass {
  enum class Measure { divergence, rise };
  ChoiceDraw draw;
  Replacement replacement;
  Measure measure;
};

std::vector<arma::uword> numbers_to(arma::uword count) {
  std::vector<arma::uword> numbers;
  for (arma::uword i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

template <typename T>
class LossChooser {
 public:
  LossChooser(const LossInputs& inputs, const CandidateLadders& candidates, const LossSettings& settings,
              const Key& key, const ChoiceHooks& hooks)
      : inputs_(inputs),
        candidates_(candidates),
        settings_(settings),
        key_(key),
        hooks_(hooks),
        heads_(numbers_to(inputs.model.config().heads)) {
    const arma::uword count = inputs.sequences.size();
    const arma::uvec order = sample_without_replacement(count, count, key_.child("order of the sequences"));
    for (arma::uword i = 0; i < count; ++i) (i < settings.search_sequences ? search_ : test_).push_back(order(i));
    for (arma::uword s = 0; s < count; ++s) {
      all_.push_back(s);
      shapes_.push_back(candidates.number_of(inputs.shape(s)));
    }
    // The steps must not depend on the sequences that test them, their lengths included.
    for (const auto& ladder : candidates.ladders) {
      for (const ChoiceCandidate& candidate : ladder) {
        const bool is_used = std::any_of(search_.begin(), search_.end(), [&](arma::uword s) {
          return candidates.is_used(candidate, shapes_[s], settings.max_cost);
        });
        if (is_used) options_.push_back({&candidate, cost_ratio(&candidate, search_), 0});
      }
    }
  }

  std::optional<LossChoice> run() {
    const auto steps = find_steps();
    if (!steps) return {};
    return test(*steps);
  }

 private:
  // The sum over some sequences of the costs of a head; nullptr: of exact attention.
  double cost_on(const ChoiceCandidate* candidate, const std::vector<arma::uword>& sequences) const {
    double sum = 0;
    for (const arma::uword s : sequences) {
      const std::size_t shape = shapes_[s];
      sum += candidate == nullptr ? candidates_.exact_costs[shape]
                                  : candidates_.cost_on(*candidate, shape, settings_.max_cost);
    }
    return sum;
  }
  double cost_ratio(const ChoiceCandidate* candidate, const std::vector<arma::uword>& sequences) const {
    return cost_on(candidate, sequences) / cost_on(nullptr, sequences);
  }

  // The same for all shapes.
  double flops_limit(const ChoiceCandidate& candidate) const {
    return candidates_.flops_limit(candidate, 0, settings_.max_cost);
  }

  HeadMethod method_of(const ChoiceCandidate& candidate) const {
    return {candidate.choice, candidate.features, flops_limit(candidate)};
  }

  ChoiceDraw draw_of(std::size_t sequence, std::string name) const {
    ChoiceDraw draw;
    draw.input = std::move(name);
    draw.sequence = inputs_.sequences[sequence];
    draw.trial = 1;
    draw.precision = std::is_same_v<T, float> ? "float" : "double";
    return draw;
  }

  // What passes on some sequences were looked at for, in order; `passes_on` gives those of one. Nothing: stopped.
  std::optional<std::vector<std::vector<double>>> measure(
      const std::vector<arma::uword>& sequences, const std::function<std::vector<Pass>(std::size_t)>& passes_on) {
    std::vector<std::vector<double>> all;
    for (const arma::uword s : sequences) {
      if (hooks_.progress) hooks_.progress(done_, inputs_.sequences.size(), 1);
      std::vector<Pass> passes = passes_on(s);
      std::vector<Pass*> wanted;
      for (Pass& pass : passes) {
        const auto known = hooks_.known ? hooks_.known(pass.draw) : std::nullopt;
        if (known) pass.draw.error = *known;
        if (!known) wanted.push_back(&pass);
      }
      if (hooks_.stop && hooks_.stop()) return {};
      if (!wanted.empty()) compute(wanted, s);
      if (hooks_.stop && hooks_.stop()) return {};
      all.emplace_back();
      for (const Pass& pass : passes) all.back().push_back(std::isnan(pass.draw.error) ? kInfinity : pass.draw.error);
      ++done_;
    }
    return all;
  }

  void compute(const std::vector<Pass*>& wanted, std::size_t s) const {
    const ModelOnSequence sequence(inputs_.model, inputs_.read(s));
    const Key key = key_.child("loss").child(inputs_.sequences[s]);
    parallel_for(wanted.size(), [&](std::size_t i) {
      if (hooks_.stop && hooks_.stop()) return;
      const ModelRow row = sequence.row<T>(wanted[i]->replacement, key);
      wanted[i]->draw.status = row.status;
      if (row.status != "ok") return;
      wanted[i]->draw.error = wanted[i]->measure == Pass::Measure::rise ? row.loss - row.loss_exact : row.kl;
    });
    if (!hooks_.made || (hooks_.stop && hooks_.stop())) return;
    for (const Pass* pass : wanted) hooks_.made(pass->draw);
  }

  std::optional<std::vector<Step>> find_steps() {
    const arma::uword layers = inputs_.model.config().layers;
    const auto measured = measure(search_, [&](std::size_t s) {
      std::vector<Pass> passes;
      for (arma::uword l = 0; l < layers; ++l) {
        for (const CostPoint& option : options_) {
          const ChoiceCandidate& c = *option.candidate;
          Pass pass{draw_of(s, fmt::format("{};layer={}", inputs_.name, l)),
                    same_replacement(fmt::format("{}", l), {l}, heads_, method_of(c)), Pass::Measure::divergence};
          pass.draw.layer = l;
          pass.draw.method = c.choice.name;
          pass.draw.preset = c.choice.preset;
          pass.draw.features = c.features;
          passes.push_back(std::move(pass));
        }
      }
      return passes;
    });
    if (!measured) return {};
    std::vector<Step> steps;
    for (arma::uword l = 0; l < layers; ++l) {
      std::vector<CostPoint> options = {{nullptr, 1, 0}};
      for (std::size_t c = 0; c < options_.size(); ++c) {
        CostPoint option = options_[c];
        for (const auto& of_sequence : *measured) option.rise += of_sequence[l * options_.size() + c];
        option.rise /= static_cast<double>(measured->size());
        options.push_back(option);
      }
      const std::vector<CostPoint> hull = lower_hull(std::move(options));
      for (std::size_t i = 1; i < hull.size(); ++i) steps.push_back({l, hull[i - 1], hull[i]});
    }
    // Of one layer they are in this order already, as its hull is convex.
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return slope(a.before, a.after) < slope(b.before, b.after); });
    double sum = 0;
    const auto hopeless = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      sum += step.after.rise - step.before.rise;
      return sum > kTargetsToTest * settings_.target;
    });
    untested_ = static_cast<std::size_t>(steps.end() - hopeless);
    steps.erase(hopeless, steps.end());
    return steps;
  }

  std::optional<LossChoice> test(const std::vector<Step>& steps) {
    const auto measured = measure(test_, [&](std::size_t s) {
      std::vector<Pass> passes;
      Replacement replacement{.layers = "all", .method = "choice", .preset = "", .features = 0};
      for (std::size_t k = 0; k < steps.size(); ++k) {
        const ChoiceCandidate& c = *steps[k].after.candidate;
        for (const arma::uword h : heads_) {
          replacement.heads.insert_or_assign({steps[k].layer, h}, method_of(c));
        }
        passes.push_back(
            {draw_of(s, fmt::format("{};step={}", inputs_.name, k + 1)), replacement, Pass::Measure::rise});
        passes.back().draw.method = "choice";
        passes.back().draw.preset = "paper";
      }
      return passes;
    });
    if (!measured) return {};
    LossChoice result;
    result.untested = untested_;
    std::vector<const Step*> certified(inputs_.model.config().layers, nullptr);
    double cost = static_cast<double>(certified.size()), predicted = 0;
    bool all = true;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const Step& step = steps[k];
      cost += cost_ratio(step.after.candidate, all_) - cost_ratio(step.before.candidate, all_);
      predicted += step.after.rise - step.before.rise;
      LossStep row = tested(*measured, k);
      row.step = k + 1;
      row.layer = step.layer;
      row.method = step.after.candidate->choice.name;
      row.preset = step.after.candidate->choice.preset;
      row.features = step.after.candidate->features;
      row.cost_ratio = cost / static_cast<double>(certified.size());
      row.predicted = predicted;
      all = all && row.rise_upper <= settings_.target;
      row.status = all ? "certified" : "not certified";
      if (all) certified[step.layer] = &step;
      result.steps.push_back(std::move(row));
    }
    for (arma::uword l = 0; l < certified.size(); ++l) result.layers.push_back(answer(l, certified[l], result.steps));
    return result;
  }

  LossStep tested(const std::vector<std::vector<double>>& measured, std::size_t k) const {
    LossStep row;
    row.sequences = measured.size();
    Accumulator rises;
    for (const auto& of_sequence : measured) {
      if (!std::isfinite(of_sequence[k])) {
        row.rise = row.rise_upper = kInfinity;
        return row;
      }
      rises.add(of_sequence[k]);
    }
    row.rise = rises.mean();
    row.rise_error = rises.standard_error();
    row.rise_upper = student_interval(rises, 1 - settings_.confidence, Side::upper).hi;
    return row;
  }

  ChoiceRow answer(arma::uword layer, const Step* step, const std::vector<LossStep>& steps) const {
    ChoiceRow row;
    row.input = fmt::format("{};layer={}", inputs_.name, layer);
    row.layer = layer;
    row.eps = settings_.target;
    row.delta = ChoiceRow::kUndefined;
    row.confidence = settings_.confidence;
    row.metric = "loss";
    row.method = row.status = "exact";
    row.preset = "paper";
    row.cost_unit = "flops";
    // An exact layer has the model's own attention, as in the passes that were tested.
    row.target = name_of(step == nullptr ? Target::softmax : candidates_.target);
    row.precision = std::is_same_v<T, float> ? "float" : "double";
    row.exact_cost = row.cost =
        cost_on(nullptr, all_) / static_cast<double>(all_.size()) * static_cast<double>(heads_.size());
    row.heads = heads_.size();
    row.evaluations = options_.size() * search_.size() + steps.size() * test_.size();
    if (step != nullptr) {
      row.method = step->after.candidate->choice.name;
      row.preset = step->after.candidate->choice.preset;
      row.features = step->after.candidate->features;
      row.cost = row.exact_cost * cost_ratio(step->after.candidate, all_);
      row.flops_limit = flops_limit(*step->after.candidate);
      row.error_median = step->after.rise;
      row.status = "chosen";
      row.draws = row.sequences = test_.size();
    }
    row.cost_ratio = row.cost / row.exact_cost;
    return row;
  }

  const LossInputs& inputs_;
  const CandidateLadders& candidates_;
  const LossSettings& settings_;
  Key key_;
  const ChoiceHooks& hooks_;
  std::vector<arma::uword> heads_, search_, test_, all_;
  std::vector<std::size_t> shapes_;  // of each sequence
  std::vector<CostPoint> options_;
  std::uint64_t done_ = 0;
  std::size_t untested_ = 0;
};

}  // namespace

const Columns<LossStep>& loss_step_columns() {
  static const Columns<LossStep> columns = {
      {{"step", Role::axis, "the number of the step, from 1"}, &LossStep::step},
      {{"layer", Role::key, "the layer that takes another method than before"}, &LossStep::layer},
      {{"method", Role::curve, "what it takes"}, &LossStep::method},
      {{"preset", Role::curve, "the preset, then other options"}, &LossStep::preset},
      {{"features", Role::key, "number of features d"}, &LossStep::features},
      {{"cost_ratio", Role::number, "flops of all layers after the step, in units of exact attention's"},
       &LossStep::cost_ratio},
      {{"predicted", Role::number,
        "the sum over the layers of the divergence KL(exact ‖ approximated) of the predictions with that layer alone "
        "replaced, mean over the sequences of the search: the rise of the loss, if the model's probabilities were the "
        "true ones and layers "
        "add up"},
       &LossStep::predicted},
      {{"rise", Role::metric, "loss - exact loss after the step, mean over the sequences of the test"},
       &LossStep::rise},
      {{"rise_error", Role::number, "its standard error between sequences"}, &LossStep::rise_error},
      {{"rise_upper", Role::number, "its upper confidence limit (Student, one-sided)"}, &LossStep::rise_upper},
      {{"sequences", Role::number, "sequences of the test"}, &LossStep::sequences},
      {{"status", Role::note, "`certified`: this step and all before it are within the target"}, &LossStep::status}};
  return columns;
}

template <typename T>
std::optional<LossChoice> choose_by_loss(const LossInputs& inputs, const CandidateLadders& candidates,
                                         const LossSettings& settings, const Key& key, const ChoiceHooks& hooks) {
  constexpr const char* where = "choose_by_loss";
  require(settings.target > 0 && std::isfinite(settings.target), where, "target > 0, and finite",
          {{"target", settings.target}});
  require(settings.confidence > 0 && settings.confidence < 1, where, "0 < confidence < 1",
          {{"confidence", settings.confidence}});
  require(settings.max_cost > 0, where, "max_cost > 0", {{"max_cost", settings.max_cost}});
  require(settings.search_sequences >= 1 && inputs.sequences.size() >= settings.search_sequences + 2, where,
          "at least two sequences beside those of the search",
          {{"sequences", inputs.sequences.size()}, {"of the search", settings.search_sequences}});
  require_distinct_sequences(inputs.sequences, where);
  return LossChooser<T>(inputs, candidates, settings, key, hooks).run();
}

template std::optional<LossChoice> choose_by_loss<float>(const LossInputs&, const CandidateLadders&,
                                                         const LossSettings&, const Key&, const ChoiceHooks&);
template std::optional<LossChoice> choose_by_loss<double>(const LossInputs&, const CandidateLadders&,
                                                          const LossSettings&, const Key&, const ChoiceHooks&);

}  // namespace croquis
