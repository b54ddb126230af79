// One approximation of croquis error against the exact output, or against a sample of its rows.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "error.hpp"

/// The exact output of a target, all of it or a sample of its rows.
struct Reference {
  std::optional<croquis::OutputReference> output;
  std::optional<croquis::SampledReference> sample;  ///< with --rows
  arma::vec log_row_sums;
  std::optional<croquis::ScoreReference> scores;  ///< with --scores, unless their norm could not be computed
};

/// References by target, each computed when the first method asks for it. Keeps references to what it is given.
class References {
 public:
  References(const croquis::Problem<double>& problem, const ErrorOptions& options)
      : problem_(problem), options_(options) {}

  const Reference& of(croquis::Target target);

 private:
  Reference make(croquis::Target target) const;

  const croquis::Problem<double>& problem_;
  const ErrorOptions& options_;
  std::map<croquis::Target, Reference> made_;
};

/// What a row of the results has; NaN where there is nothing to say.
struct Measured {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  croquis::OutputErrors errors{kUndefined, kUndefined, kUndefined, kUndefined, kUndefined};
  croquis::Interval spectral_rel{kUndefined, kUndefined}, frobenius_rel{kUndefined, kUndefined};  ///< with --rows
  double row_sum_deviation = kUndefined, smallest_denominator = kUndefined;
  croquis::ScoreErrors scores{kUndefined, kUndefined};
  double seconds = kUndefined;
  std::string status = "ok";
};

/// A row that says why there are no numbers in it, but for the seconds.
Measured failed(const Measured& measured, std::string status);

/// The same where a number has overflowed, `measured` itself otherwise.
Measured checked(Measured measured);

/// Approximates and compares; what fails, or is not finite, becomes the status.
template <typename T>
Measured measure(const croquis::BoundMethod<T>& method, croquis::Target target, const Reference& reference,
                 arma::uword d, const croquis::Key& draw_key);
