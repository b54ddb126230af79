#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/hyperattention.hpp>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/stopwatch.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/finite.hpp>
#include <croquis/measure/method_errors.hpp>
#include <croquis/measure/method_row.hpp>
#include <croquis/measure/row_errors.hpp>
#include <croquis/measure/vanishing.hpp>
#include <exception>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

// Scores of more pairs are not stored: 134 MB in double, for the exact ones and for each thread's.
constexpr double kMostPairs = 4096.0 * 4096.0;

constexpr std::uint64_t kEveryTrial = 0;  // trials begin at 1

// Of what was computed NaN is a failure. In the row it would read as a number that does not apply to the method.
void require_defined(const char* column, double value) {
  if (std::isnan(value)) throw std::runtime_error(status_of({{column, value}}));
}

// Undefined where B~^T X overflows in T, as 1 / D~ of a row sum near underflow does, or the norm cannot be computed:
// the output may be good all the same.
template <typename T>
void set_score_errors(ErrorRow& row, const ScoreReference& reference, const LinearOperator<T>& scores, const Key& key) {
  try {
    const ScoreErrors errors = reference.compare(scores, key);
    if (!std::isfinite(errors.spectral_abs) || std::isinf(errors.spectral_rel)) return;
    row.scores_spectral_abs = errors.spectral_abs;
    row.scores_spectral_rel = errors.spectral_rel;
  } catch (const std::exception&) {  // stays undefined
  }
}

}  // namespace

Key ErrorKeys::draw(const std::string& method, arma::uword d, std::uint64_t trial) const {
  return draws.child(method).child(d).child(trial);
}

ErrorKeys error_keys(std::uint64_t seed, const std::string& kind) {
  const Key key = Key(seed).child("error");
  return {key.child(kind), key.child("rows")};
}

template <typename T>
MethodErrors<T>::MethodErrors(Problem<T> problem, ErrorSettings settings, ErrorKeys keys)
    : problem_(std::move(problem)), exact_(in_precision<double>(problem_)), settings_(settings), keys_(keys) {
  if (settings_.rows) require_sampled_rows(*settings_.rows, problem_.n_q(), "rows");
  if (settings_.bounds && settings_.rows) {
    throw std::invalid_argument("bounds: goes without rows; the bounds need all of the scores");
  }
  if (settings_.bounds) bounds_.emplace(exact_);
}

template <typename T>
const typename MethodErrors<T>::Reference& MethodErrors<T>::reference_of(Target target) {
  if (const auto found = references_.find(target); found != references_.end()) return found->second;
  Reference reference;
  reference.normalised = is_normalised(target);
  if (settings_.rows) {
    if (!settings_.rows_of_each_trial) reference.samples.emplace(kEveryTrial, sample(target, keys_.sample));
  } else {
    auto exact = as_reference(exact_attention(exact_, target), exact_, target);
    reference.output.emplace(std::move(exact.output));
    reference.log_row_sums = std::move(exact.log_row_sums);
  }
  if (settings_.scores) {
    try {
      reference.scores.emplace(exact_, target, Key(1).child("norm of the exact scores"));
    } catch (const std::exception&) {
      reference.scores.reset();  // errors of the outputs can be measured without
    }
  }
  const double pairs = static_cast<double>(exact_.n_q()) * static_cast<double>(exact_.n_k());
  if (settings_.row_errors && !settings_.rows && reference.normalised && pairs <= kMostPairs) {
    reference.dense_scores = exact_scores(exact_, target).dense();
  }
  return references_.emplace(target, std::move(reference)).first->second;
}

template <typename T>
typename MethodErrors<T>::Sample MethodErrors<T>::sample(Target target, const Key& key) const {
  try {
    return {SampledReference(exact_, target, *settings_.rows, key), ""};
  } catch (const std::exception& reason) {
    return {{}, reason.what()};
  }
}

template <typename T>
void MethodErrors<T>::sample_rows(const std::vector<std::uint64_t>& trials) {
  for (auto& [target, reference] : references_) {
    std::vector<Sample> samples(trials.size());
    parallel_for(trials.size(),
                 [&, target = target](std::size_t i) { samples[i] = sample(target, keys_.sample.child(trials[i])); });
    for (std::size_t i = 0; i < trials.size(); ++i) reference.samples.emplace(trials[i], std::move(samples[i]));
  }
}

template <typename T>
const SampledReference* MethodErrors<T>::sample_of(const Reference& reference, std::uint64_t trial) const {
  if (!settings_.rows) return nullptr;
  const auto sample = reference.samples.find(settings_.rows_of_each_trial ? trial : kEveryTrial);
  if (sample == reference.samples.end()) {
    throw std::logic_error(fmt::format("MethodErrors: trial {} has no rows; call sample_rows after prepare", trial));
  }
  if (!sample->second.rows) throw std::runtime_error(sample->second.failure);
  return &*sample->second.rows;
}

template <typename T>
typename MethodErrors<T>::Prepared MethodErrors<T>::prepare(const MethodChoice& choice) {
  return prepare(find_method<T>(choice.name), choice.options, choice.preset);
}

template <typename T>
typename MethodErrors<T>::Prepared MethodErrors<T>::prepare(const Method<T>& method, const OptionValues& options,
                                                            const std::string& preset) {
  Prepared prepared;
  prepared.owner_ = this;
  prepared.method_ = &method;
  prepared.choice_ = {method.name, options, preset};
  const Stopwatch stopwatch;
  try {
    if (settings_.rows && method.quadratic(options)) {
      throw std::runtime_error("takes O(n^2) work, which --rows is to avoid");
    }
    prepared.prepared_ = croquis::prepare(method, problem_, options);
    prepared.preparation_ = stopwatch.seconds();
    prepared.reference_ = &reference_of(method.target);
  } catch (const std::exception& reason) {
    prepared.failure_ = reason.what();
  }
  return prepared;
}

template <typename T>
const arma::mat* MethodErrors<T>::exact_output(Target target) {
  const Reference& reference = reference_of(target);
  return reference.output ? &reference.output->exact() : nullptr;
}

// The errors of single rows: of the output, and of the scores where both are stored.
template <typename T>
void MethodErrors<T>::compare_rows(ErrorRow& row, const arma::mat& exact, const arma::mat& output,
                                   const Approximation<T>& approximation, const Reference& reference) const {
  const RowErrors errors = row_errors(exact, output);
  row.row_rel_q50 = errors.relative_q50;
  row.row_rel_q90 = errors.relative_q90;
  row.row_rel_q99 = errors.relative_q99;
  row.row_rel_max = errors.relative_max;
  row.row_cosine_mean = errors.cosine_mean;
  row.row_cosine_q10 = errors.cosine_q10;
  if (reference.dense_scores.is_empty() || !approximation.scores) return;
  const auto scores = arma::conv_to<arma::mat>::from(approximation.scores->dense());
  const TailErrors tail = tail_errors(reference.dense_scores, scores, exact_.V());
  row.tail_mass = tail.mass;
  row.tail_shift = tail.shift;
  const RowDivergences divergences = row_divergences(reference.dense_scores, scores);
  if (!std::isfinite(divergences.mean)) return;
  row.row_kl_mean = divergences.mean;
  row.row_kl_q90 = divergences.q90;
}

template <typename T>
void MethodErrors<T>::compare(ErrorRow& row, const Approximation<T>& approximation, const Reference& reference,
                              const Key& key) const {
  const SampledReference* const sample = sample_of(reference, row.trial);
  if (reference.normalised && approximation.scores) row.row_sum_dev = row_sum_deviation(approximation);
  const auto output = arma::conv_to<arma::mat>::from(approximation.output);
  const auto& denominators = approximation.denominators;
  if (sample != nullptr) {
    const arma::uvec& rows = sample->rows();
    if (denominators) {
      const Denominators<T> sampled{denominators->values.elem(rows), denominators->log_scale.elem(rows)};
      row.min_denominator = smallest_denominator(sampled, sample->log_row_sums());
    }
    set_errors(row, sample->compare(output));
    if (settings_.row_errors) compare_rows(row, sample->exact(), output.rows(rows), approximation, reference);
  } else {
    if (denominators) row.min_denominator = smallest_denominator(*denominators, reference.log_row_sums);
    set_errors(row, reference.output->compare(output));
    if (settings_.row_errors) compare_rows(row, reference.output->exact(), output, approximation, reference);
  }
  if (approximation.scores && reference.normalised) require_defined("row_sum_dev", row.row_sum_dev);
  if (denominators) require_defined("min_denominator", row.min_denominator);
  if (reference.scores && approximation.scores) {
    set_score_errors(row, *reference.scores, *approximation.scores, key.child("norm of the error"));
  }
}

template <typename T>
ErrorRow MethodErrors<T>::Prepared::row(arma::uword d, std::uint64_t trial, arma::mat* output) const {
  ErrorRow row = method_row<ErrorRow>(choice_, method_->target, owner_->problem_, d, trial);
  row.rows = owner_->settings_.rows;
  if (!failure_.empty()) return failed(row, failure_);
  const Key key = owner_->keys_.draw(method_->name, d, trial);
  row.flops = prepared_.flops(static_cast<double>(d));
  try {
    const Stopwatch stopwatch;
    const Approximation<T> approximation = prepared_.approximate(d, key);
    row.seconds = stopwatch.seconds() + preparation_;
    owner_->compare(row, approximation, *reference_, key);
    // Quadratic, so only where the exact scores are stored anyway.
    if (!reference_->dense_scores.is_empty()) {
      const auto condition = sampling_condition(owner_->problem_, choice_.name, choice_.options, d, key);
      if (condition && std::isfinite(condition->alpha)) row.alpha = condition->alpha;
      if (condition && std::isfinite(condition->kappa)) row.kappa = condition->kappa;
    }
    if (owner_->bounds_ && reference_->output) {
      if (const auto bound = owner_->bounds_->of(choice_, d, reference_->output->exact())) {
        row.bound_abs = bound->value;
        row.bound_probability = bound->probability;
        row.bound_source = bound->source;
        row.bound_trivial = bound->trivial;
      }
    }
    if (output != nullptr) *output = arma::conv_to<arma::mat>::from(approximation.output);
  } catch (const std::exception& failure) {
    return failed(row, reason_of(failure));
  }
  return checked(row);
}

template <typename T>
std::vector<ErrorRow> method_errors(const Problem<T>& problem, const std::vector<MethodChoice>& methods,
                                    const std::vector<arma::uword>& features, std::uint64_t trials,
                                    const ErrorKeys& keys, const ErrorSettings& settings) {
  MethodErrors<T> errors(problem, settings, keys);
  std::vector<ErrorRow> rows;
  for (const MethodChoice& choice : methods) {
    const auto prepared = errors.prepare(choice);
    const std::uint64_t draws = find_method<T>(choice.name).random(choice.options) ? trials : 1;
    const std::size_t before = rows.size();
    rows.resize(before + features.size() * draws);
    parallel_for(rows.size() - before,
                 [&](std::size_t i) { rows[before + i] = prepared.row(features[i / draws], i % draws + 1); });
  }
  return rows;
}

template <typename T>
std::vector<ErrorRow> method_errors(const Problem<T>& problem, const std::vector<MethodChoice>& methods,
                                    const std::vector<arma::uword>& features, std::uint64_t trials, const Key& key,
                                    const ErrorSettings& settings) {
  return method_errors(problem, methods, features, trials, ErrorKeys{key.child("draws"), key.child("rows")}, settings);
}

template class MethodErrors<float>;
template class MethodErrors<double>;
#define CROQUIS_INSTANTIATE(T, Keys)                                                                        \
  template std::vector<ErrorRow> method_errors(const Problem<T>&, const std::vector<MethodChoice>&,         \
                                               const std::vector<arma::uword>&, std::uint64_t, const Keys&, \
                                               const ErrorSettings&)
CROQUIS_INSTANTIATE(float, ErrorKeys);
CROQUIS_INSTANTIATE(double, ErrorKeys);
CROQUIS_INSTANTIATE(float, Key);
CROQUIS_INSTANTIATE(double, Key);

}  // namespace croquis
