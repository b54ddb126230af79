#include "measured.hpp"

#include <chrono>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <stdexcept>
#include <utility>

#include "results/finite.hpp"

using croquis::Key;
using croquis::Target;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double kUndefined = Measured::kUndefined;

// Undefined where B~^T X overflows in T, as 1 / D~ of a row sum near underflow does, or the norm cannot be computed:
// the output may be good all the same.
template <typename T>
croquis::ScoreErrors score_errors(const croquis::ScoreReference& reference, const croquis::LinearOperator<T>& scores,
                                  const Key& draw_key) {
  try {
    const croquis::ScoreErrors errors = reference.compare(scores, draw_key);
    if (std::isfinite(errors.spectral_abs) && !std::isinf(errors.spectral_rel)) return errors;
  } catch (const std::exception&) {
  }
  return {kUndefined, kUndefined};
}

template <typename T>
double smallest_denominator(const croquis::Approximation<T>& approximation, const Reference& reference) {
  if (!approximation.denominators) return kUndefined;
  if (!reference.sample) return croquis::smallest_denominator(*approximation.denominators, reference.log_row_sums);
  const arma::uvec& rows = reference.sample->rows();
  const croquis::Denominators<T> sampled{approximation.denominators->values.elem(rows),
                                         approximation.denominators->log_scale.elem(rows)};
  return croquis::smallest_denominator(sampled, reference.sample->log_row_sums());
}

}  // namespace

const Reference& References::of(Target target) {
  auto found = made_.find(target);
  if (found == made_.end()) found = made_.emplace(target, make(target)).first;
  return found->second;
}

Reference References::make(Target target) const {
  Reference reference;
  if (options_.rows) {
    const Key draw_key = Key(options_.run.seed).child("error").child("rows");
    reference.sample.emplace(problem_, target, static_cast<arma::uword>(*options_.rows), draw_key);
  } else {
    auto exact = croquis::exact_attention(problem_, target);
    reference.output.emplace(std::move(exact.output));
    reference.log_row_sums = std::move(exact.log_row_sums);
  }
  if (options_.scores) {
    try {
      reference.scores.emplace(problem_, target, Key(1).child("norm of the exact scores"));
    } catch (const std::exception&) {
      reference.scores.reset();  // errors of the outputs can be measured without
    }
  }
  return reference;
}

Measured failed(const Measured& measured, std::string status) {
  Measured row;
  row.seconds = measured.seconds;
  row.status = std::move(status);
  return row;
}

Measured checked(Measured measured) {
  const croquis::OutputErrors& e = measured.errors;
  const std::string status = status_of({{"spectral_abs", e.spectral_abs},
                                        {"frobenius_abs", e.frobenius_abs},
                                        {"max_abs", e.max_abs},
                                        {"spectral_rel", e.spectral_rel, true},
                                        {"frobenius_rel", e.frobenius_rel, true},
                                        {"spectral_rel_hi", measured.spectral_rel.hi, true},
                                        {"frobenius_rel_hi", measured.frobenius_rel.hi, true},
                                        {"row_sum_dev", measured.row_sum_deviation, true},
                                        {"min_denominator", measured.smallest_denominator, true}});
  return status == "ok" ? measured : failed(measured, status);
}

template <typename T>
Measured measure(const croquis::BoundMethod<T>& method, Target target, const Reference& reference, arma::uword d,
                 const Key& draw_key) {
  Measured measured;
  try {
    const auto start = Clock::now();
    const croquis::Approximation<T> approximation = method.approximate(d, draw_key);
    measured.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (is_normalised(target) && approximation.scores) {
      measured.row_sum_deviation = row_sum_deviation(approximation);
    }
    measured.smallest_denominator = smallest_denominator(approximation, reference);
    const auto output = arma::conv_to<arma::mat>::from(approximation.output);
    if (reference.sample) {
      const croquis::SampledErrors sampled = reference.sample->compare(output);
      measured.errors = sampled.errors;
      measured.spectral_rel = sampled.spectral_rel;
      measured.frobenius_rel = sampled.frobenius_rel;
    } else {
      measured.errors = reference.output->compare(output);
    }
    if (reference.scores && approximation.scores) {
      measured.scores = score_errors(*reference.scores, *approximation.scores, draw_key.child("norm of the error"));
    }
  } catch (const std::exception& failure) {
    return failed(measured, failure.what());
  }
  return checked(std::move(measured));
}

template Measured measure(const croquis::BoundMethod<float>&, Target, const Reference&, arma::uword, const Key&);
template Measured measure(const croquis::BoundMethod<double>&, Target, const Reference&, arma::uword, const Key&);
