// Errors of methods against exact attention, against d: what `croquis error` measures.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/measure/bounds.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// One draw of a method at one d, compared with the exact output of its target. error_columns() documents the members.
/// NaN marks a number that does not apply.
struct ErrorRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, method, preset, target;
  std::uint64_t n = 0, p = 0, p_v = 0, features = 0, trial = 0, seed = 0;
  std::string precision = "double";
  double spectral_abs = kUndefined, spectral_rel = kUndefined;
  double frobenius_abs = kUndefined, frobenius_rel = kUndefined, max_abs = kUndefined;
  double row_sum_dev = kUndefined, min_denominator = kUndefined;
  double seconds = kUndefined, flops = kUndefined;
  std::string status = "ok";
  std::optional<std::uint64_t> sequence = {}, layer = {}, head = {};
  std::uint64_t n_q = 0;
  std::optional<std::uint64_t> rows;
  double spectral_rel_lo = kUndefined, spectral_rel_hi = kUndefined;
  double frobenius_rel_lo = kUndefined, frobenius_rel_hi = kUndefined;
  double scores_spectral_abs = kUndefined, scores_spectral_rel = kUndefined;
  double row_rel_q50 = kUndefined, row_rel_q90 = kUndefined, row_rel_q99 = kUndefined;
  double row_rel_max = kUndefined;
  double row_cosine_mean = kUndefined, row_cosine_q10 = kUndefined;
  double row_kl_mean = kUndefined, row_kl_q90 = kUndefined;
  double tail_mass = kUndefined, tail_shift = kUndefined;
  double alpha = kUndefined, kappa = kUndefined;
  double bound_abs = kUndefined, bound_probability = kUndefined;
  std::string bound_source, bound_trivial;
};

/// The columns. The options --rows, --scores, --row-errors and --bounds add some.
const Columns<ErrorRow>& error_columns();

/// Writes errors into a row; without intervals if all rows were compared.
void set_errors(ErrorRow& row, const OutputErrors& errors);
void set_errors(ErrorRow& row, const SampledErrors& errors);
/// The row with the failure as its status, and without numbers except the time.
ErrorRow failed(ErrorRow row, const std::string& status);
/// The row, or failed() with the name of the first number that overflowed.
ErrorRow checked(ErrorRow row);

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

/// The methods of this text for heads of these shapes. "all" stands for those that take them; for errors that are
/// estimated from some rows (ErrorSettings::rows), for those of less than n^2 work, and another that is named is
/// refused, since it takes as long as the exact attention that is avoided. Throws as parse_methods and require_usable.
std::vector<MethodChoice> error_methods(const std::string& text, const std::vector<TokenAlignment>& shapes,
                                        PositionParts position, bool some_rows, const std::string& where = "--methods");

/// Throws std::invalid_argument, with a message that begins with `where`, unless there are features, each from 1
///   to what every one of the methods takes (Method::largest_d), and the n_k x d numbers of a method, of `bytes` bytes
///   each, fit into memory.
void require_features(const std::vector<arma::uword>& features, const std::vector<MethodChoice>& methods,
                      TokenAlignment shape, std::size_t bytes, const std::string& where = "--features");
/// The same unless this many rows can be sampled from n_q.
void require_sampled_rows(arma::uword rows, arma::uword n_q, const std::string& where = "--rows");

/// Errors of any methods on one problem, in precision T, against references in double, which are computed when the
/// first method needs its target. The references are computed from the same rounded numbers that the methods get.
/// Thread-safe after preparation.
template <typename T>
class MethodErrors {
  struct Reference;

 public:
  /// Throws std::invalid_argument for more rows than the problem has.
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

  /// With ErrorSettings::rows_of_each_trial: the exact rows of these trials, which have to be there before a row of one
  /// of them is asked for, for the targets of all methods that are prepared. Not while rows are made.
  void sample_rows(const std::vector<std::uint64_t>& trials);

  /// The exact output of a target; nullptr with ErrorSettings::rows, because then only some of its rows are known.
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
