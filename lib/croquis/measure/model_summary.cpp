#include <algorithm>
#include <cmath>
#include <croquis/measure/model_summary.hpp>
#include <limits>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

namespace croquis {
namespace {

constexpr double kUnknown = ModelRow::kUndefined;

using GroupKey = std::tuple<std::string, std::string, std::string, std::string, std::uint64_t>;

GroupKey key_of(const ModelRow& row) {
  return {row.model, row.layers, row.method, row.preset, row.features};
}

// The rows of each group by sequence, groups in the order of their first rows.
struct PassGroup {
  GroupKey key;
  std::map<std::uint64_t, std::vector<const ModelRow*>> sequences;
  std::uint64_t failed = 0;
};

std::vector<PassGroup> groups_of(const std::vector<ModelRow>& rows) {
  std::vector<PassGroup> groups;
  std::map<GroupKey, std::size_t> places;
  for (const ModelRow& row : rows) {
    const auto [place, added] = places.emplace(key_of(row), groups.size());
    if (added) groups.push_back({key_of(row), {}, 0});
    PassGroup& group = groups[place->second];
    if (row.status == "ok") {
      group.sequences[row.sequence].push_back(&row);
    } else {
      ++group.failed;
    }
  }
  return groups;
}

struct Ratio {
  double mean = kUnknown, error = kUnknown;
};

// sum w y / sum w over sequences, y the mean of the draws of one, and its standard error between them (as of a ratio of
// two means).
template <typename Number>
Ratio weighted(const PassGroup& group, const Number& number) {
  std::vector<std::pair<double, double>> values;  // weight, mean
  double weights = 0, sum = 0;
  for (const auto& [sequence, rows] : group.sequences) {
    double mean = 0;
    for (const ModelRow* row : rows) mean += number(*row) / static_cast<double>(rows.size());
    const auto weight = static_cast<double>(rows.front()->counted);
    values.emplace_back(weight, mean);
    weights += weight;
    sum += weight * mean;
  }
  if (values.empty()) return {};
  Ratio ratio{sum / weights, kUnknown};
  if (values.size() < 2) return ratio;
  double squares = 0;
  for (const auto& [weight, mean] : values) squares += std::pow(weight * (mean - ratio.mean), 2);
  const auto count = static_cast<double>(values.size());
  ratio.error = std::sqrt(count / (count - 1) * squares) / weights;
  return ratio;
}

ModelSummary summary_of(const PassGroup& group) {
  ModelSummary s;
  std::tie(s.model, s.layers, s.method, s.preset, s.features) = group.key;
  s.failed = group.failed;
  s.sequences = group.sequences.size();
  for (const auto& [sequence, rows] : group.sequences) {
    s.counted += rows.front()->counted;
    s.draws = std::max<std::uint64_t>(s.draws, rows.size());
  }
  const auto set = [&](auto number, double& mean, double& error) {
    const Ratio ratio = weighted(group, number);
    mean = ratio.mean;
    error = ratio.error;
  };
  const auto mean = [&](auto number) { return weighted(group, number).mean; };
  set([](const ModelRow& row) { return row.loss; }, s.loss, s.loss_error);
  set([](const ModelRow& row) { return row.loss - row.loss_exact; }, s.increase, s.increase_error);
  set([](const ModelRow& row) { return row.accuracy; }, s.accuracy, s.accuracy_error);
  set([](const ModelRow& row) { return row.agreement; }, s.agreement, s.agreement_error);
  set([](const ModelRow& row) { return row.kl; }, s.kl, s.kl_error);
  set([](const ModelRow& row) { return row.hidden_rel; }, s.hidden_rel, s.hidden_rel_error);
  s.loss_exact = mean([](const ModelRow& row) { return row.loss_exact; });
  s.accuracy_exact = mean([](const ModelRow& row) { return row.accuracy_exact; });
  s.seconds = mean([](const ModelRow& row) { return row.seconds; });
  s.flops = mean([](const ModelRow& row) { return row.flops; });
  s.flops_ratio = s.flops / mean([](const ModelRow& row) { return row.flops_exact; });
  return s;
}

std::vector<double> numbers_in(const std::string& text) {
  static const Column number{.name = "by_layer", .type = ValueType::number};
  std::istringstream words(text);
  std::vector<double> numbers;
  for (std::string word; words >> word;) numbers.push_back(number_in(parse_value(number, word)));
  return numbers;
}

}  // namespace

const Columns<ModelSummary>& model_summary_columns() {
  static const Columns<ModelSummary> columns = {
      {{"model", Role::key, "the model"}, &ModelSummary::model},
      {{"layers", Role::key, "the layers that are approximated"}, &ModelSummary::layers},
      {{"method", Role::curve, "the method"}, &ModelSummary::method},
      {{"preset", Role::curve, "the preset"}, &ModelSummary::preset},
      {{"features", Role::axis, "d", "d"}, &ModelSummary::features},
      {{"sequences", Role::number, "sequences that did not fail"}, &ModelSummary::sequences},
      {{"draws", Role::number, "draws of a sequence"}, &ModelSummary::draws},
      {{"counted", Role::number, "positions with a label, over all sequences"}, &ModelSummary::counted},
      {{"failed", Role::number, "rows that failed, which are left out"}, &ModelSummary::failed},
      {{"loss", Role::metric, "mean loss of a counted position"}, &ModelSummary::loss},
      {{"loss_error", Role::number, "its standard error between sequences"}, &ModelSummary::loss_error},
      {{"loss_exact", Role::number, "the loss with exact attention, of the same sequences"}, &ModelSummary::loss_exact},
      {{"increase", Role::metric, "loss - loss_exact", "loss - exact loss"}, &ModelSummary::increase},
      {{"increase_error", Role::number, "its standard error, of differences of the same sequence"},
       &ModelSummary::increase_error},
      {{"accuracy", Role::metric, "share of counted positions whose label is the most likely token"},
       &ModelSummary::accuracy},
      {{"accuracy_error", Role::number, "its standard error"}, &ModelSummary::accuracy_error},
      {{"accuracy_exact", Role::number, "the same with exact attention"}, &ModelSummary::accuracy_exact},
      {{"agreement", Role::metric, "share of counted positions with the most likely token of exact attention"},
       &ModelSummary::agreement},
      {{"agreement_error", Role::number, "its standard error"}, &ModelSummary::agreement_error},
      {{"kl", Role::metric, "mean KL(exact ‖ approximated)", "KL(exact || approximated)"}, &ModelSummary::kl},
      {{"kl_error", Role::number, "its standard error"}, &ModelSummary::kl_error},
      {{"hidden_rel", Role::metric,
        "mean relative Frobenius error of the last hidden state, over positions as the loss is",
        "||X - X~||_F / ||X||_F"},
       &ModelSummary::hidden_rel},
      {{"hidden_rel_error", Role::number, "its standard error"}, &ModelSummary::hidden_rel_error},
      {{"seconds", Role::number, "mean time of a pass, over positions as the loss is", "", "s"},
       &ModelSummary::seconds},
      {{"flops", Role::number, "mean flops of the approximated heads of a sequence, over positions as the loss is"},
       &ModelSummary::flops},
      {{"flops_ratio", Role::number, "the same over those of exact attention"}, &ModelSummary::flops_ratio}};
  return columns;
}

std::vector<ModelSummary> summarise_models(const std::vector<ModelRow>& rows) {
  std::vector<ModelSummary> summaries;
  for (const PassGroup& group : groups_of(rows)) summaries.push_back(summary_of(group));
  return summaries;
}

const Columns<LayerError>& layer_error_columns() {
  static const Columns<LayerError> columns = {
      {{"model", Role::key, "the model"}, &LayerError::model},
      {{"layers", Role::key, "the layers that are approximated"}, &LayerError::layers},
      {{"method", Role::curve, "the method"}, &LayerError::method},
      {{"preset", Role::curve, "the preset"}, &LayerError::preset},
      {{"features", Role::axis, "d", "d"}, &LayerError::features},
      {{"layer", Role::axis, "the layer whose output is compared, from 0"}, &LayerError::layer},
      {{"passes", Role::number, "sequences and draws"}, &LayerError::passes},
      {{"hidden_rel", Role::metric, "mean of ‖X - X~‖_F / ‖X‖_F"}, &LayerError::hidden_rel},
      {{"smallest", Role::number, "the smallest"}, &LayerError::smallest},
      {{"largest", Role::number, "the largest"}, &LayerError::largest}};
  return columns;
}

std::vector<LayerError> errors_by_layer(const std::vector<ModelRow>& rows) {
  std::vector<LayerError> errors;
  for (const PassGroup& group : groups_of(rows)) {
    std::vector<std::vector<double>> of_layers;
    for (const auto& [sequence, passes] : group.sequences) {
      for (const ModelRow* row : passes) {
        const std::vector<double> numbers = numbers_in(row->by_layer);
        of_layers.resize(std::max(of_layers.size(), numbers.size()));
        for (std::size_t l = 0; l < numbers.size(); ++l) {
          if (!std::isnan(numbers[l])) of_layers[l].push_back(numbers[l]);
        }
      }
    }
    for (std::size_t l = 0; l < of_layers.size(); ++l) {
      LayerError error;
      std::tie(error.model, error.layers, error.method, error.preset, error.features) = group.key;
      error.layer = l;
      error.passes = of_layers[l].size();
      if (of_layers[l].empty()) {  // relative to an output of zeros
        error.hidden_rel = error.smallest = error.largest = std::numeric_limits<double>::quiet_NaN();
        errors.push_back(error);
        continue;
      }
      for (const double number : of_layers[l]) error.hidden_rel += number / static_cast<double>(of_layers[l].size());
      const auto [smallest, largest] = std::minmax_element(of_layers[l].begin(), of_layers[l].end());
      error.smallest = *smallest;
      error.largest = *largest;
      errors.push_back(error);
    }
  }
  return errors;
}

}  // namespace croquis
