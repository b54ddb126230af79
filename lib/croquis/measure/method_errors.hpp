// Errors of methods against exact attention, against d: what `croquis error` measures.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/measure/bounds.hpp>
#include <croquis/measure/error_row.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

struct ErrorSettings {
  std::optional<arma::uword> rows;  ///< estimate errors from this many random rows of the exact output
  bool rows_of_each_trial = false;  ///< other rows for every trial, with the keys sample.child(trial) (sample_rows)
  bool scores = false;              ///< measure the errors of the score matrices too
  bool row_errors = false;          ///< measure the errors of single rows too
  bool bounds = false;              ///< add the error bounds of theorems (bounds.hpp); not with `rows`
};

/// The random keys of a measurement.
struct ErrorKeys {
  Key draws, sample;  ///< `sample`: the rows of ErrorSettings::rows

  /// The key of one draw: draws.child(method).child(d).child(trial).
  Key draw(const std::string& method, arma::uword d, std::uint64_t trial) const;
};

/// The keys of `croquis error --seed`, for this kind of input ("arrays", "model", "gaussian", ...).
ErrorKeys error_keys(std::uint64_t seed, const std::string& kind);

/// Errors of any methods on one problem, in precision T, against references in double, which are computed when the
/// first method needs its target. The references are computed from the same rounded numbers that the methods get. There
/// are no relative errors where the exact output is rounding alone (as_reference).
/// Thread-safe after preparation.
template <typename T>
class MethodErrors {
  struct Reference;

 public:
  /// Throws std::invalid_argument for rows outside SampledReference::kFewestRows ... n_q, and for bounds with rows.
  MethodErrors(Problem<T> problem, ErrorSettings settings, ErrorKeys keys);

  /// A prepared method, for any d and trial. If its preparation failed, its rows have the failure as their status.
  class Prepared {
   public:
    /// The row of one draw. A failure becomes its status. The caller sets input, seed and precision. If `output` is not
    /// nullptr, it becomes O~ (n_q x p_v), or empty if the method failed.
    ErrorRow row(arma::uword d, std::uint64_t trial, arma::mat* output = nullptr) const;

   private:
    friend class MethodErrors;
    const MethodErrors* owner_ = nullptr;
    const Method<T>* method_ = nullptr;
    const Reference* reference_ = nullptr;  // of its target
    MethodChoice choice_;
    PreparedMethod<T> prepared_;
    double preparation_ = 0;  // seconds, shared by the rows and part of the cost of each
    std::string failure_;
  };
  /// The result refers to this object, which must outlive it.
  Prepared prepare(const MethodChoice& choice);
  /// The same for a method that need not be one of methods(); it must outlive the result as well. `preset` is what the
  /// rows call these options.
  Prepared prepare(const Method<T>& method, const OptionValues& options = {}, const std::string& preset = "paper");

  /// With ErrorSettings::rows_of_each_trial: computes the exact rows of these trials for the targets of all methods
  /// that have been prepared. Must be called before Prepared::row() for one of these trials, and not at the same time.
  void sample_rows(const std::vector<std::uint64_t>& trials);

  /// The exact output of a target, 0 where it is rounding alone (as_reference); nullptr with ErrorSettings::rows,
  /// because then only some of its rows are known.
  const arma::mat* exact_output(Target target);

 private:
  struct Sample {
    std::optional<SampledReference> rows;
    std::string failure;  // where there are none
  };
  struct Reference {
    bool normalised = false;  // each row of the scores sums to 1
    std::optional<OutputReference> output;
    std::map<std::uint64_t, Sample> samples;  // by trial, or one for all
    arma::vec log_row_sums;
    std::optional<ScoreReference> scores;
    arma::mat dense_scores;  // of row_errors, where they are stored
  };
  const Reference& reference_of(Target target);
  Sample sample(Target target, const Key& key) const;
  const SampledReference* sample_of(const Reference& reference, std::uint64_t trial) const;
  void compare_rows(ErrorRow& row, const arma::mat& exact, const arma::mat& output,
                    const Approximation<T>& approximation, const Reference& reference) const;
  void compare(ErrorRow& row, const Approximation<T>& approximation, const Reference& reference, const Key& key) const;

  Problem<T> problem_;
  Problem<double> exact_;  // of the same, rounded, numbers
  ErrorSettings settings_;
  ErrorKeys keys_;
  std::map<Target, Reference> references_;
  std::optional<ErrorBounds> bounds_;
};

/// All rows: for every method, d and trial 1, ..., trials (one trial if a method with these options is not random).
/// Randomness: that of `keys`; for a single key, {key.child("draws"), key.child("rows")}.
/// Cost: exact attention for each target, and a call of a method for each row. The draws of a method run in parallel,
///   one on each thread.
template <typename T>
std::vector<ErrorRow> method_errors(const Problem<T>& problem, const std::vector<MethodChoice>& methods,
                                    const std::vector<arma::uword>& features, std::uint64_t trials,
                                    const ErrorKeys& keys, const ErrorSettings& settings = {});
template <typename T>
std::vector<ErrorRow> method_errors(const Problem<T>& problem, const std::vector<MethodChoice>& methods,
                                    const std::vector<arma::uword>& features, std::uint64_t trials, const Key& key,
                                    const ErrorSettings& settings = {});

}  // namespace croquis
