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

/// One draw of a method at one d, compared with the exact output of its target; the columns say what each member is.
/// NaN is what there is nothing to say about.
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

/// Those of --rows, --scores, --row-errors and --bounds are added by these options.
const Columns<ErrorRow>& error_columns();

/// Writes errors into a row; without intervals where all rows were compared.
void set_errors(ErrorRow& row, const OutputErrors& errors);
void set_errors(ErrorRow& row, const SampledErrors& errors);
/// The row with what failed as its status, and no number but the time.
ErrorRow failed(ErrorRow row, const std::string& status);
/// The row, or where a number overflowed failed() with its name.
ErrorRow checked(ErrorRow row);

struct ErrorSettings {
  std::optional<arma::uword> rows;  ///< so many random rows of the exact output stand for all
  bool scores = false;              ///< measure the errors of the score matrices too
  bool row_errors = false;          ///< measure the errors of single rows too
  bool bounds = false;              ///< what theorems guarantee stands beside the errors (bounds.hpp); not with `rows`
};

/// The random keys of a measurement.
struct ErrorKeys {
  Key draws, sample;  ///< `sample`: the rows of ErrorSettings::rows

  /// Of one draw: draws.child(method).child(d).child(trial).
  Key draw(const std::string& method, arma::uword d, std::uint64_t trial) const;
};

/// Those of `croquis error --seed`, for an input of this kind ("arrays", "model", "gaussian", ...).
ErrorKeys error_keys(std::uint64_t seed, const std::string& kind);

/// Throws std::invalid_argument, beginning with `where`, unless there are features, each from 1 to n, and a method's
/// n x d numbers of so many bytes fit into memory.
void require_features(const std::vector<arma::uword>& features, arma::uword n, std::size_t bytes,
                      const std::string& where = "--features");
/// Likewise unless so many rows can be sampled of n_q.
void require_sampled_rows(arma::uword rows, arma::uword n_q, const std::string& where = "--rows");

/// Errors of any methods on one problem, in precision T against references in double, which are computed when the first
/// method asks for their target. Errors are those of the method on the numbers that it gets.
/// Thread-safe once prepared.
template <typename T>
class MethodErrors {
 public:
  /// Throws std::invalid_argument for more rows than the problem has.
  MethodErrors(Problem<T> problem, ErrorSettings settings, ErrorKeys keys);

  /// A method that is ready for any d and trial. A method that fails here has that as the status of its rows.
  class Prepared {
   public:
    /// The row of one draw; a failure becomes its status. input, seed and precision are the caller's. With `output`,
    /// that becomes O~ (n_q x p_v), and is empty where the method failed.
    ErrorRow row(arma::uword d, std::uint64_t trial, arma::mat* output = nullptr) const;

   private:
    friend class MethodErrors;
    const MethodErrors* owner_ = nullptr;
    const Method<T>* method_ = nullptr;
    MethodChoice choice_;
    PreparedMethod<T> prepared_;
    double preparation_ = 0;  // seconds, shared by the rows and part of the cost of each
    std::string failure_;
  };
  /// The result uses this object, which has to outlive it.
  Prepared prepare(const MethodChoice& choice);

  /// The exact output of a target; with ErrorSettings::rows nothing, as only some of its rows are known.
  const arma::mat* exact_output(Target target);

 private:
  struct Reference {
    std::optional<OutputReference> output;
    std::optional<SampledReference> sample;
    arma::vec log_row_sums;
    std::optional<ScoreReference> scores;
    arma::mat dense_scores;  // of row_errors, where they are stored
  };
  const Reference& reference_of(Target target);
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

/// All rows: for every method, d and trial 1, ..., trials (one where a method with these options draws nothing).
/// Cost: a call of exact attention for each target, and a call of a method for each row. The draws of a method run side
/// by side, one a thread.
/// Randomness: that of `keys`; of a key alone, {key.child("draws"), key.child("rows")}.
template <typename T>
std::vector<ErrorRow> method_errors(const Problem<T>& problem, const std::vector<MethodChoice>& methods,
                                    const std::vector<arma::uword>& features, std::uint64_t trials,
                                    const ErrorKeys& keys, const ErrorSettings& settings = {});
template <typename T>
std::vector<ErrorRow> method_errors(const Problem<T>& problem, const std::vector<MethodChoice>& methods,
                                    const std::vector<arma::uword>& features, std::uint64_t trials, const Key& key,
                                    const ErrorSettings& settings = {});

}  // namespace croquis
