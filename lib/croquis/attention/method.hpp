// The one interface of all attention approximations.
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

/// What a method says of its own reliability; NaN where it has nothing to say.
struct Diagnostics {
  double residual = std::numeric_limits<double>::quiet_NaN();  ///< ||I - N Z||_F of an iterative inverse
  int iterations = 0;                                          ///< its steps
  std::optional<arma::uword> rank;                             ///< rank kept by a pseudo-inverse
  std::optional<arma::uword> direct_rows;  ///< rows of a Toeplitz product that were computed without FFT
  std::string mode;                        ///< what a method took that chooses by itself
  std::optional<arma::uword> leaves;       ///< landmarks that are the leaves of a tree
  std::optional<arma::uword> cells;        ///< clusters of keys
  std::optional<arma::uword> fallen_rows;  ///< rows that took a simpler approximation, as theirs was out of bounds
  /// ridge of a regression, infinite where there was none
  double ridge = std::numeric_limits<double>::quiet_NaN();
  /// relative Frobenius error that the method expects, by leaving out what it knows; to choose by, not to report
  double leave_one_out = std::numeric_limits<double>::quiet_NaN();
};

/// Estimated row sums of A: values(i) exp(log_scale(i)), values of either sign. The true ones are positive, so a
/// value <= 0 is a row that the method has lost.
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
  /// G -> the derivatives of <G, O~> by Q, K, V and the bias, where the method has an adjoint; else empty. What was
  /// drawn and chosen (landmarks, columns, directions, trees) is held constant. It computes the forward pass again, so
  /// that the output costs nothing more for it.
  Adjoint<T> adjoint = {};
  Diagnostics diagnostics;
};

/// O~ = B~ V of a method that is its score operator.
template <typename T>
Approximation<T> from_scores(LinearOperator<T> scores, const Problem<T>& problem);

/// A method on one problem: what d and the trials share has been computed. Thread-safe.
template <typename T>
struct PreparedMethod {
  /// Throws std::invalid_argument for a d that the method does not take, std::runtime_error when it breaks down.
  std::function<Approximation<T>(arma::uword d, const Key& draw_key)> approximate;
  /// Leading terms of the work for d: two flops a multiply-add, one an exponential.
  std::function<double(double d)> flops;
};

/// A fact about a method that its options decide.
using OptionFact = std::function<bool(const OptionValues&)>;
inline OptionFact always(bool value) {
  return [value](const OptionValues&) { return value; };
}

/// A number of features that depends on the shape of the problem; none where there is no such number.
using ShapeFact = std::function<std::optional<arma::uword>(TokenAlignment shape, const OptionValues&)>;
inline ShapeFact no_number() {
  return [](TokenAlignment, const OptionValues&) { return std::nullopt; };
}

/// A method by name. To add one: a file with its function and a `Method`, and a line in registry.cpp. The facts are
/// what the tests over all methods hold it to.
template <typename T>
struct Method {
  std::string name, summary, source;
  Target target = Target::softmax;
  bool quadratic = false;  ///< takes O(n_q n_k) work whatever d is, as exact attention does
  /// Has a causal form, in which no row sees a later key (an oracle, which is quadratic, may). Where it is false,
  /// prepare refuses causal problems.
  bool causal = false;
  /// false: nothing is drawn, one trial is all there is
  OptionFact random = always(true);
  /// Takes problems with n_q != n_k. Where it is false, prepare refuses them.
  OptionFact rectangular = always(false);
  /// Row i of O~ is a function of query i, the keys, the values and the draw: other queries do not matter.
  OptionFact rowwise = always(false);
  /// Rows of B~ sum to 1, to rounding.
  OptionFact rows_sum_to_one = always(false);
  /// O~ = O, to rounding, where all queries are equal and all keys are, whatever the values.
  OptionFact exact_on_equal_tokens = always(false);
  /// Approximations come with an adjoint.
  OptionFact adjoint = always(false);
  /// The largest d that is taken; none: any.
  ShapeFact largest_d = no_number();
  /// The d at which O~ = O, to rounding, for all inputs and draws; none: never.
  ShapeFact exact_at = no_number();
  std::vector<OptionInfo> options;
  std::function<PreparedMethod<T>(const Problem<T>&, const OptionValues&)> prepare;
};

/// All methods, in the order of the documentation.
template <typename T>
const std::vector<Method<T>>& methods();

/// The method of that name. Throws std::invalid_argument, with the names there are, when there is none.
template <typename T>
const Method<T>& find_method(std::string_view name);

/// Throws std::invalid_argument, with the methods that take rectangular problems, unless the problem is square.
void require_square(TokenAlignment tokens, std::string_view name);
template <typename T>
void require_square(const Problem<T>& problem, std::string_view name);

/// Throws std::invalid_argument, with the methods that have a causal form, if `problem` is causal.
template <typename T>
void require_not_causal(const Problem<T>& problem, std::string_view name);

/// Throws std::invalid_argument, with the methods that have one, unless the method with these options has an adjoint.
template <typename T>
void require_adjoint(const Method<T>& method, const OptionValues& options);

/// method.prepare after a check that it has the options, and that it takes rectangular problems and causal ones if
/// `problem` is one. Throws std::invalid_argument for another option and another problem.
template <typename T>
PreparedMethod<T> prepare(const Method<T>& method, const Problem<T>& problem, const OptionValues& options = {});

}  // namespace croquis
