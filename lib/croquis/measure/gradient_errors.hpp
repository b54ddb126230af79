// Errors of the gradients of methods against exact attention, against d: what `croquis gradient` measures.
#pragma once

#include <croquis/attention/gradient.hpp>
#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/measure/vanishing.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// One draw of a method at one d: its gradient for a white cotangent, compared with the exact gradient of its target
/// for the same cotangent. gradient_columns() documents the members. NaN marks a number that does not apply.
struct GradientRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input = {}, method = {}, preset = {}, target = {};
  std::uint64_t n = 0, n_q = 0, p = 0, p_v = 0, features = 0, trial = 0, seed = 0;
  std::string precision = "double";
  double output_rel = kUndefined;
  double qk_rel = kUndefined, qk_cosine = kUndefined, qk_spread = kUndefined;
  double q_rel = kUndefined, q_cosine = kUndefined, q_spread = kUndefined;
  double k_rel = kUndefined, k_cosine = kUndefined, k_spread = kUndefined;
  double v_rel = kUndefined, v_cosine = kUndefined, v_spread = kUndefined;
  double bias_rel = kUndefined, bias_cosine = kUndefined, bias_spread = kUndefined;
  double seconds = kUndefined, seconds_adjoint = kUndefined;
  std::string status = "ok";
  std::optional<std::uint64_t> sequence = {}, layer = {}, head = {};
};

const Columns<GradientRow>& gradient_columns();

/// The key of GradientErrors in `croquis gradient`, for this --seed and kind of input ("arrays", "gaussian", ...).
Key gradient_key(std::uint64_t seed, const std::string& kind);

/// parse_methods for problems of these shapes. "all" means the methods that have an adjoint and take these problems.
/// Throws as parse_methods and require_usable, and for a method without an adjoint.
std::vector<MethodChoice> gradient_methods(const std::string& text, const std::vector<TokenAlignment>& shapes,
                                           PositionParts position, const std::string& where = "--methods");

/// Powers of two in which squares of derivatives neither overflow nor vanish. Those by Q and K are taken together.
struct GradientUnits {
  double qk = 1, v = 1, bias = 1;
};

/// Gradients of any methods on one problem, in precision T, against exact ones in double, which are computed when the
/// first method needs its target. All use the same cotangent, with N(0, 1) entries from key.child("cotangent").
/// Thread-safe after preparation.
template <typename T>
class GradientErrors {
 public:
  GradientErrors(Problem<T> problem, const Key& key);

  /// A prepared method, for any d. If its preparation failed, its rows have the failure as their status.
  class Prepared {
   public:
    /// The rows of trials 1, ..., trials at d. A failure becomes the status of its row. The caller sets input, seed and
    /// precision. With the exact derivative g, that of trial t, g_t, and the mean m of the T trials that did not fail:
    /// rel = ||g_t - g||_F / ||g||_F, cosine = <g_t, g> / (||g_t||_F ||g||_F), spread = ||g_t - m||_F sqrt(T / (T - 1))
    /// / ||g||_F. Undefined where ||g||_F is at most its gradient_rounding(); the cosine also where ||g_t||_F is at
    /// most this, for precision T, and ||g||_F / 1000, as where a method's weights are constant.
    /// Randomness: trial t uses key.child("draws").child(method).child(d).child(t), as in MethodErrors.
    /// Memory: the gradients of all trials.
    std::vector<GradientRow> rows(arma::uword d, std::uint64_t trials) const;

   private:
    friend class GradientErrors;

    const GradientErrors* owner_ = nullptr;
    const Method<T>* method_ = nullptr;
    MethodChoice choice_;
    PreparedMethod<T> prepared_;
    std::string failure_;
  };
  /// The result refers to this object, which must outlive it. Throws std::invalid_argument for a method without an
  /// adjoint.
  Prepared prepare(const MethodChoice& choice);

  /// The cotangent, n_q x p_v.
  const arma::Mat<T>& cotangent() const { return cotangent_; }

 private:
  struct Reference {
    arma::mat output;
    GradientUnits units;
    Gradient<double> gradient;  // in these units, and the same of its rounding
    GradientRounding rounding;
  };
  const Reference& reference_of(Target target);

  Problem<T> problem_;
  Key draws_;
  arma::Mat<T> cotangent_;
  std::map<Target, Reference> references_;
};

/// All rows: for every method, d and trial 1, ..., trials (one trial if a method with these options is not random).
/// Cost: exact attention, its adjoint (together 3.5 times the flops of exact attention) and gradient_rounding() for
///   each target, and a method and its adjoint for each row. Throws as GradientErrors::prepare.
template <typename T>
std::vector<GradientRow> gradient_errors(const Problem<T>& problem, const std::vector<MethodChoice>& methods,
                                         const std::vector<arma::uword>& features, std::uint64_t trials,
                                         const Key& key);

}  // namespace croquis
