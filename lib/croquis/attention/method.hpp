// The one interface of all attention approximations.
#pragma once

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
};

/// Estimated row sums of A: values(i) exp(log_scale(i)), values of either sign. The true ones are positive, so a
/// value <= 0 is a row that the method has lost.
template <typename T>
struct Denominators {
  arma::Col<T> values, log_scale;
};

/// An approximation of the exact output on the n() unpadded rows of a problem.
template <typename T>
struct Approximation {
  arma::Mat<T> output;                          ///< O~, n x p_v
  std::optional<LinearOperator<T>> scores;      ///< B~ with O~ = B~ V, where the method has one; applied, not stored
  std::optional<arma::Col<T>> row_sums;         ///< B~ 1, where it comes with the output
  std::optional<Denominators<T>> denominators;  ///< where the method divides by estimated row sums
  Diagnostics diagnostics;
};

/// O~ = B~ V of a method that is its score operator.
template <typename T>
Approximation<T> from_scores(LinearOperator<T> scores, const Problem<T>& problem);

/// A method on one problem: what d and the trials share has been computed. Thread-safe.
template <typename T>
struct BoundMethod {
  /// Throws std::invalid_argument for a d that the method does not take, std::runtime_error when it breaks down.
  std::function<Approximation<T>(arma::uword d, const Key& draw_key)> approximate;
  /// Leading terms of the work for d: two flops a multiply-add, one an exponential.
  std::function<double(double d)> flops;
};

/// A method by name. To add one: a file with its function and a `Method`, and a line in registry.cpp.
template <typename T>
struct Method {
  std::string name, summary, source;
  Target target = Target::softmax;
  bool quadratic = false;  ///< takes O(n^2) work whatever d is, as exact attention does
  /// false: with these options nothing is drawn, one trial is all there is
  std::function<bool(const OptionValues&)> random = [](const OptionValues&) { return true; };
  std::vector<OptionInfo> options;
  std::function<BoundMethod<T>(const Problem<T>&, const OptionValues&)> bind;
};

/// All methods, in the order of the documentation.
template <typename T>
const std::vector<Method<T>>& methods();

/// The method of that name. Throws std::invalid_argument, with the names there are, when there is none.
template <typename T>
const Method<T>& find_method(std::string_view name);

/// method.bind after a check that it has the options. Throws std::invalid_argument for another option.
template <typename T>
BoundMethod<T> bind(const Method<T>& method, const Problem<T>& problem, const OptionValues& options = {});

}  // namespace croquis
