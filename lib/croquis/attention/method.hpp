// The common interface of all attention approximations. A method is a function of a problem, d, a random key and its
// options, such as skyformer(), and a Method, which describes it in the registry.
//
// The headers of the methods state the allowed d at the end of "Cost", as in "1 <= d <= n_k". For another d and for
// options outside their ranges, a function throws std::invalid_argument. Only prepare() refuses causal problems for
// methods without a causal form: what their functions return for a causal problem has no meaning.
#pragma once

#include <croquis/attention/gradient.hpp>
#include <croquis/attention/options.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// Diagnostics of an approximation; NaN or empty if a method does not have them.
struct Diagnostics {
  double residual = std::numeric_limits<double>::quiet_NaN();  ///< ||I - N Z||_F of an iterative inverse
  int iterations = 0;                                          ///< the steps of the iterative inverse
  std::optional<arma::uword> rank;                             ///< rank kept by a pseudo-inverse
  std::optional<arma::uword> direct_rows;  ///< rows of a Toeplitz product that were computed without FFT
  std::string mode;                        ///< the mode that a method chose by itself
  std::optional<arma::uword> leaves;       ///< landmarks that are the leaves of a tree
  std::optional<arma::uword> cells;        ///< clusters of keys
  std::optional<arma::uword> fallen_rows;  ///< rows for which the method used a simpler approximation
  /// ridge of a regression; infinite if nothing is corrected
  double ridge = std::numeric_limits<double>::quiet_NaN();
  /// leave-one-out estimate of the relative Frobenius error, by which the method chooses; not an error to report
  double leave_one_out = std::numeric_limits<double>::quiet_NaN();
  /// what the mean of all values gets of every query's weight; large where the method misses much of attention
  double mean_share = std::numeric_limits<double>::quiet_NaN();
};

/// Estimated row sums of A: values(i) exp(log_scale(i)), where values may have either sign. The true row sums are
/// positive, so for a value <= 0 the normalisation of the row is lost.
template <typename T>
struct Denominators {
  arma::Col<T> values, log_scale;
};

/// An approximation of the exact output on the n_q() unpadded rows of a problem.
template <typename T>
struct Approximation {
  arma::Mat<T> output;                          ///< O~, n_q x p_v
  std::optional<LinearOperator<T>> scores;      ///< B~ (n_q x n_k), O~ = B~ V, where there is one; applied, not stored
  std::optional<arma::Col<T>> row_sums;         ///< B~ 1, where it comes with the output
  std::optional<Denominators<T>> denominators;  ///< where the method divides by estimated row sums
  /// G -> the derivatives of <G, O~> with respect to Q, K, V and the bias; empty if the method has no adjoint. What was
  /// drawn or chosen (which rows are landmarks, which columns, the directions, trees) is held constant; the landmarks
  /// themselves move with Q and K. The adjoint recomputes the forward pass when it is called, and costs nothing before.
  Adjoint<T> adjoint = {};
  Diagnostics diagnostics;
};

/// The approximation O~ = B~ V of a method that is given by its score operator.
template <typename T>
Approximation<T> from_scores(LinearOperator<T> scores, const Problem<T>& problem);

/// The flops of softmax attention on one pair of a query and a key, counted as in PreparedMethod::flops: the score, its
/// exponential, and the weighted value.
constexpr double pair_flops(double p, double p_v) {
  return 2 * (p + p_v) + 1;
}

/// A method on one problem. It caches the work that does not depend on d or on the draw. Thread-safe.
template <typename T>
struct PreparedMethod {
  /// Throws std::invalid_argument for a d that the method does not take, std::runtime_error when it breaks down.
  std::function<Approximation<T>(arma::uword d, const Key& draw_key)> approximate;
  /// Leading terms of the work for d: two flops a multiply-add, one an exponential.
  std::function<double(double d)> flops;
};

/// A fact about a method that depends on its options.
using OptionFact = std::function<bool(const OptionValues&)>;
inline OptionFact always(bool value) {
  return [value](const OptionValues&) { return value; };
}

/// A number of features that depends on the shape of the problem; empty if there is no such number.
using ShapeFact = std::function<std::optional<arma::uword>(TokenAlignment shape, const OptionValues&)>;
inline ShapeFact no_number() {
  return [](TokenAlignment, const OptionValues&) { return std::nullopt; };
}

/// A named method. To add one, write a file with its function and its `Method`, and add a line to registry.cpp. The
/// tests over all methods check the facts.
template <typename T>
struct Method {
  std::string name, summary, source;
  Target target = Target::softmax;
  /// Takes O(n_q n_k) work or more whatever d is, as exact attention does.
  OptionFact quadratic = always(false);
  /// Has a causal form, in which no weight goes to later keys. (An oracle that is quadratic may give them some.) If
  /// false, prepare refuses causal problems.
  bool causal = false;
  /// Another draw gives another result. If false, nothing is drawn, and one trial is enough.
  OptionFact random = always(true);
  /// Takes problems with n_q != n_k. If false, prepare refuses them.
  OptionFact rectangular = always(false);
  /// Row i of O~ depends only on query i, the keys, the values and the draw; not on other queries, and not on i, as a
  /// window around the query or a draw of its own does.
  OptionFact rowwise = always(false);
  /// Rows of B~ sum to 1, up to rounding.
  OptionFact rows_sum_to_one = always(false);
  /// O~ = O, up to rounding, without a mask, if all queries are equal and all keys are equal, whatever the values.
  OptionFact exact_on_equal_tokens = always(false);
  /// Approximations come with an adjoint.
  OptionFact adjoint = always(false);
  /// The largest d that the method takes; empty: any d.
  ShapeFact largest_d = no_number();
  /// The d at which O~ = O, up to rounding, for all inputs and draws; empty: there is none.
  ShapeFact exact_at = no_number();
  std::vector<OptionInfo> options;
  std::function<PreparedMethod<T>(const Problem<T>&, const OptionValues&)> prepare;
};

/// All methods, in the order of the documentation.
template <typename T>
const std::vector<Method<T>>& methods();

/// The method of that name. Throws std::invalid_argument if there is none; the message lists the known names.
template <typename T>
const Method<T>& find_method(std::string_view name);

/// Throws std::invalid_argument unless the problem is square; the message lists the methods that take rectangular
///   problems.
void require_square(TokenAlignment tokens, std::string_view name);
template <typename T>
void require_square(const Problem<T>& problem, std::string_view name);

/// Throws std::invalid_argument if `problem` is causal; the message lists the methods that have a causal form.
template <typename T>
void require_not_causal(const Problem<T>& problem, std::string_view name);

/// Throws std::invalid_argument unless the method with these options has an adjoint; the message lists the methods that
///   have one.
template <typename T>
void require_adjoint(const Method<T>& method, const OptionValues& options);

/// Calls method.prepare after checking that the method has these options, and that it takes rectangular and causal
/// problems if `problem` is one. Throws std::invalid_argument otherwise.
template <typename T>
PreparedMethod<T> prepare(const Method<T>& method, const Problem<T>& problem, const OptionValues& options = {});

}  // namespace croquis
