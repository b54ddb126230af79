#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/measure/choice_groups.hpp>
#include <croquis/measure/choice_seconds.hpp>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/method_errors.hpp>
#include <croquis/random/indices.hpp>
#include <map>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>

namespace croquis {
namespace {

// An error to be computed.
struct Evaluation {
  std::size_t head;
  Rung rung;
  ChoiceDraw draw;
};

double share_failed(const std::vector<double>& errors, double epsilon) {
  const auto failed = std::count_if(errors.begin(), errors.end(), [&](double e) { return !(e <= epsilon); });
  return static_cast<double>(failed) / static_cast<double>(errors.size());
}

// The options that add the columns a choice can be made by, and the place of the metric among them.
const std::set<std::string> kMetricOptions = {"--rows", "--row-errors"};

std::size_t place_of_metric(const ChoiceSettings& settings) {
  return Table{error_columns().list(kMetricOptions), {}}.column(settings.rows ? settings.metric + "_hi"
                                                                              : settings.metric);
}

template <typename T>
bool is_random(const MethodChoice& choice) {
  return find_method<T>(choice.name).random(choice.options);
}

// Whether trials on one sequence differ: by the draws of the method, or by the rows that its error is estimated from.
template <typename T>
bool differs_by_trial(const MethodChoice& choice, const ChoiceSettings& settings) {
  return settings.rows.has_value() || is_random<T>(choice);
}

// A head on one sequence: exact attention, and the methods that are still in its race.
template <typename T>
struct HeadAtWork {
  HeadAtWork(const Problem<double>& problem, const ErrorSettings& settings, const ErrorKeys& keys)
      : errors(in_precision<T>(problem), settings, keys) {}
  MethodErrors<T> errors;
  std::map<std::size_t, typename MethodErrors<T>::Prepared> prepared;  // by ladder
};

template <typename T>
class Chooser {
 public:
  Chooser(const ChoiceInputs& inputs, const CandidateLadders& candidates, const ChoiceSettings& settings,
          const Key& key, const ChoiceHooks& hooks)
      : inputs_(inputs),
        candidates_(candidates),
        settings_(settings),
        key_(key),
        hooks_(hooks),
        groups_(choice_groups(inputs, candidates, settings)),
        group_of_(inputs.heads.size()),
        one_sequence_(inputs.sequences.size() == 1),
        metric_(place_of_metric(settings)) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const std::size_t h : groups_[g].heads) group_of_[h] = g;
      wanted_.push_back(!hooks.wanted || hooks.wanted(groups_[g].input));
    }
  }

  // Whether all that was to be seen was seen.
  bool run() { return one_sequence_ ? over_draws() : over_sequences(); }

  // Nothing if it was stopped while it timed the heads.
  std::optional<std::vector<ChoiceRow>> rows() const {
    const bool by_random_tokens = settings_.cost == CostUnit::seconds && !one_sequence_;
    std::vector<ChoiceRow> rows;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!wanted_[g]) continue;
      const ChoiceGroup& group = groups_[g];
      rows.push_back(answer_of(group, inputs_, candidates_, settings_));
      rows.back().precision = precision();
      if (!by_random_tokens || rows.back().status != "chosen") continue;
      if (hooks_.stop && hooks_.stop()) return {};
      rows.back().time_ratio =
          time_ratio_on_heads<T>(group.candidate(*group.race->winner()), group.heads, inputs_, candidates_);
    }
    return rows;
  }

 private:
  static const char* precision() { return std::is_same_v<T, float> ? "float" : "double"; }

  bool over_sequences() {
    const arma::uword count = inputs_.sequences.size();
    const arma::uvec order = sample_without_replacement(count, count, key_.child("order of the sequences"));
    for (arma::uword i = 0; i < count && show(i, count) > 0; ++i) {
      if (!observe(order(i), 1, settings_.draws)) return false;
    }
    return true;
  }

  // A quarter more at a time: draws beyond those that decide are few, and exact attention is not computed often.
  bool over_draws() {
    constexpr std::uint64_t first = 8;
    for (std::uint64_t done = 0; done < settings_.draws && show(done, settings_.draws) > 0;) {
      const std::uint64_t last = std::min(settings_.draws, done + std::max(first, done / 4));
      if (!observe(0, done + 1, last)) return false;
      done = last;
    }
    return true;
  }

  // The number of choices that are still open.
  std::size_t show(std::uint64_t done, std::uint64_t of) const {
    std::size_t open = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) open += wanted_[g] && !groups_[g].race->is_over() ? 1 : 0;
    if (hooks_.progress) hooks_.progress(done, of, open);
    return open;
  }

  // Trials first ... last of the open rungs of a head; of what is not random, the first alone.
  void add_evaluations(std::size_t s, std::size_t h, std::uint64_t first, std::uint64_t last,
                       std::vector<Evaluation>& evaluations) const {
    const ChoiceHead& head = inputs_.heads[h];
    if (!wanted_[group_of_[h]]) return;
    const ChoiceGroup& group = groups_[group_of_[h]];
    const std::size_t shape = candidates_.number_of(inputs_.shape(s, h), h);
    for (const Rung rung : group.race->open()) {
      const ChoiceCandidate& candidate = group.candidate(rung);
      ChoiceDraw draw;
      draw.input = head.input;
      draw.layer = head.layer;
      draw.head = head.head;
      draw.sequence = inputs_.sequences[s];
      draw.method = candidate.choice.name;
      draw.preset = candidate.choice.preset;
      draw.features = candidate.features;
      draw.precision = precision();
      draw.cost_ratio = candidates_.cost_on(candidate, shape, settings_.max_cost) / candidates_.exact_costs[shape];
      if (!candidates_.is_used(candidate, shape, settings_.max_cost)) {
        draw.error = 0;
        draw.status = "exact";
      }
      const std::uint64_t end = differs_by_trial<T>(candidate.choice, settings_) ? last : 1;
      for (draw.trial = first; draw.trial <= end; ++draw.trial) evaluations.push_back({h, rung, draw});
    }
  }

  static std::vector<std::uint64_t> trials_of(const std::vector<Evaluation*>& evaluations) {
    std::set<std::uint64_t> trials;
    for (const Evaluation* e : evaluations) trials.insert(e->draw.trial);
    return {trials.begin(), trials.end()};
  }

  // Of another shape than the one that the costs are of, it could make the choice of a method that saves nothing.
  Problem<double> problem_of(std::size_t s, std::size_t h) const {
    const Problem<double> problem = inputs_.problem(s, h);
    const HeadShape shape = inputs_.shape(s, h);
    require(shape == HeadShape{problem.n_q(), problem.n_k(), problem.p(), problem.p_v()}, "choose",
            "problems of the shapes that the inputs state",
            {{"head", h},
             {"sequence", inputs_.sequences[s]},
             {"n_q", problem.n_q()},
             {"n_k", problem.n_k()},
             {"p", problem.p()},
             {"p_v", problem.p_v()},
             {"stated n_q", shape.n_q},
             {"stated n_k", shape.n_k},
             {"stated p", shape.p},
             {"stated p_v", shape.p_v}});
    return problem;
  }

  // The errors of evaluations of a few heads.
  void compute(const std::vector<Evaluation*>& wanted, std::size_t s) const {
    std::map<std::size_t, std::unique_ptr<HeadAtWork<T>>> heads;
    std::map<std::size_t, std::vector<Evaluation*>> of_head;
    for (Evaluation* e : wanted) of_head[e->head].push_back(e);
    const ErrorSettings settings{.rows = settings_.rows,
                                 .rows_of_each_trial = settings_.rows.has_value(),
                                 .row_errors = settings_.metric.starts_with("row_")};
    for (const auto& [h, list] : of_head) {
      const Key key = key_.child("draws").child(inputs_.sequences[s]).child(h);
      const ErrorKeys keys{key, key_.child("rows").child(inputs_.sequences[s])};
      heads.emplace(h, std::make_unique<HeadAtWork<T>>(problem_of(s, h), settings, keys));
    }
    std::vector<std::size_t> numbers;
    for (const auto& [h, list] : of_head) numbers.push_back(h);
    parallel_for(numbers.size(), [&](std::size_t i) {
      HeadAtWork<T>& head = *heads.at(numbers[i]);
      for (const Evaluation* e : of_head.at(numbers[i])) {
        if (head.prepared.contains(e->rung.ladder)) continue;
        const MethodChoice& choice = groups_[group_of_[e->head]].candidate(e->rung).choice;
        head.prepared.emplace(e->rung.ladder, head.errors.prepare(choice));
      }
    });
    if (settings_.rows) {
      for (const auto& [h, list] : of_head) heads.at(h)->errors.sample_rows(trials_of(list));
    }
    parallel_for(wanted.size(), [&](std::size_t i) {
      ChoiceDraw& draw = wanted[i]->draw;
      const ErrorRow row =
          heads.at(wanted[i]->head)->prepared.at(wanted[i]->rung.ladder).row(draw.features, draw.trial);
      draw.status = row.status;
      if (row.status == "ok") draw.error = number_in(error_columns().record(row, kMetricOptions)[metric_]);
    });
    if (!hooks_.made) return;
    for (const Evaluation* e : wanted) hooks_.made(e->draw);
  }

  // One sequence, or some draws on the only one. Returns false where it was stopped.
  bool observe(std::size_t s, std::uint64_t first, std::uint64_t last) {
    std::vector<Evaluation> evaluations;
    for (std::size_t h = 0; h < inputs_.heads.size(); ++h) add_evaluations(s, h, first, last, evaluations);
    std::vector<Evaluation*> wanted;  // of as many heads as there are threads
    std::set<std::size_t> heads;
    for (Evaluation& e : evaluations) {
      if (const auto known = hooks_.known ? hooks_.known(e.draw) : std::nullopt) {
        e.draw.error = *known;
        continue;
      }
      if (e.draw.status == "exact") {
        if (hooks_.made) hooks_.made(e.draw);
        continue;
      }
      if (!heads.contains(e.head) && heads.size() == static_cast<std::size_t>(threads())) {
        if (hooks_.stop && hooks_.stop()) return false;
        compute(wanted, s);
        wanted.clear();
        heads.clear();
      }
      heads.insert(e.head);
      wanted.push_back(&e);
    }
    if (hooks_.stop && hooks_.stop()) return false;
    if (!wanted.empty()) compute(wanted, s);
    judge(evaluations);
    return true;
  }

  // Tells the races. A unit is the sequence, or one draw on the only sequence; its loss is the share of the heads of a
  // choice, and of the draws on the sequence, that fail.
  void judge(const std::vector<Evaluation>& evaluations) {
    using Place = std::pair<std::size_t, std::size_t>;
    std::map<std::pair<std::size_t, std::uint64_t>, std::map<Place, std::vector<double>>> units;
    for (const Evaluation& e : evaluations) {
      const std::uint64_t unit = one_sequence_ ? e.draw.trial : 0;
      ++groups_[group_of_[e.head]].evaluations;
      units[{group_of_[e.head], unit}][{e.rung.ladder, e.rung.rung}].push_back(e.draw.error);
    }
    for (const auto& [unit, rungs] : units) {
      ChoiceGroup& group = groups_[unit.first];
      for (const auto& [place, errors] : rungs) {
        const Rung rung{place.first, place.second};
        if (group.race->state(rung) != RungState::open) continue;
        std::vector<double>& all = group.errors[rung.ladder][rung.rung];
        all.insert(all.end(), errors.begin(), errors.end());
        const double loss = share_failed(errors, settings_.epsilon);
        if (one_sequence_ && !differs_by_trial<T>(group.candidate(rung).choice, settings_)) {
          group.race->add_certain(rung, loss);
        } else {
          group.race->add(rung, loss);
        }
      }
      group.race->settle();
    }
  }

  const ChoiceInputs& inputs_;
  const CandidateLadders& candidates_;
  const ChoiceSettings& settings_;
  Key key_;
  const ChoiceHooks& hooks_;
  std::vector<ChoiceGroup> groups_;
  std::vector<std::size_t> group_of_;  // of each head
  std::vector<bool> wanted_;           // of each group
  bool one_sequence_;
  std::size_t metric_;  // its place in the records of ErrorRow
};

void check(const ChoiceInputs& inputs, const CandidateLadders& candidates, const ChoiceSettings& settings) {
  constexpr const char* where = "choose";
  require(settings.epsilon > 0 && std::isfinite(settings.epsilon), where, "epsilon > 0, and finite",
          {{"epsilon", settings.epsilon}});
  require(settings.delta > 0 && settings.delta < 1, where, "0 < delta < 1", {{"delta", settings.delta}});
  require(settings.confidence > 0 && settings.confidence < 1, where, "0 < confidence < 1",
          {{"confidence", settings.confidence}});
  require(settings.max_cost > 0, where, "max_cost > 0", {{"max_cost", settings.max_cost}});
  require(settings.draws >= 1, where, "draws >= 1", {{"draws", settings.draws}});
  require(!inputs.heads.empty() && !inputs.sequences.empty(), where, "at least one head and one sequence");
  require_distinct_sequences(inputs.sequences, where);
  const bool layers = std::all_of(inputs.heads.begin(), inputs.heads.end(),
                                  [](const ChoiceHead& head) { return head.layer.has_value(); });
  require(settings.per != ChoicePer::layer || layers, where,
          "heads with layers, or one choice for each head or for the model");
  const std::vector<std::string>& metrics = choice_metrics(settings.rows.has_value());
  require(std::find(metrics.begin(), metrics.end(), settings.metric) != metrics.end(), where,
          fmt::format("a metric among {}", fmt::join(metrics, ", ")), {{"metric", std::string_view(settings.metric)}});
  if (!settings.rows) return;
  for (const HeadShape& shape : candidates.shapes) require_sampled_rows(*settings.rows, shape.n_q, "rows");
}

}  // namespace

void require_distinct_sequences(const std::vector<std::uint64_t>& sequences, const char* where) {
  std::set<std::uint64_t> seen;
  for (const std::uint64_t sequence : sequences) {
    require(seen.insert(sequence).second, where, "sequences with numbers of their own", {{"twice", sequence}});
  }
}

bool is_current(const ChoiceDraw& draw, const ChoiceInputs& inputs, const CandidateLadders& candidates,
                double max_cost) {
  const auto s = std::find(inputs.sequences.begin(), inputs.sequences.end(), draw.sequence);
  const auto h = std::find_if(inputs.heads.begin(), inputs.heads.end(),
                              [&](const ChoiceHead& head) { return head.input == draw.input; });
  if (s == inputs.sequences.end() || h == inputs.heads.end()) return false;
  const auto head = static_cast<std::size_t>(h - inputs.heads.begin());
  const std::size_t shape =
      candidates.number_of(inputs.shape(static_cast<std::size_t>(s - inputs.sequences.begin()), head), head);
  for (const auto& ladder : candidates.ladders) {
    for (const ChoiceCandidate& c : ladder) {
      if (c.choice.name != draw.method || c.choice.preset != draw.preset || c.features != draw.features) continue;
      return candidates.is_used(c, shape, max_cost) == (draw.status != "exact");
    }
  }
  return false;
}

template <typename T>
std::optional<std::vector<ChoiceRow>> choose(const ChoiceInputs& inputs, const CandidateLadders& candidates,
                                             const ChoiceSettings& settings, const Key& key, const ChoiceHooks& hooks) {
  check(inputs, candidates, settings);
  Chooser<T> chooser(inputs, candidates, settings, key, hooks);
  if (!chooser.run()) return {};
  return chooser.rows();
}

template std::optional<std::vector<ChoiceRow>> choose<float>(const ChoiceInputs&, const CandidateLadders&,
                                                             const ChoiceSettings&, const Key&, const ChoiceHooks&);
template std::optional<std::vector<ChoiceRow>> choose<double>(const ChoiceInputs&, const CandidateLadders&,
                                                              const ChoiceSettings&, const Key&, const ChoiceHooks&);

}  // namespace croquis
