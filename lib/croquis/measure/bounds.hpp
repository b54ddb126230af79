// Error bounds that proved theorems give for a method on one problem.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/sampling/leverage.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

namespace croquis {

/// ||O - O~|| <= value with probability at least `probability` over the draws of the method.
struct ErrorBound {
  double value = 0;
  double probability = 0;
  std::string source;   ///< the theorem, by its name in docs/claims/
  std::string trivial;  ///< trivial outputs that are also within the bound; empty if none is known
};

/// Bounds by theorems that are proved in the claims ledger, for these methods and options:
/// - skyformer with inverse=pinv and ridge=0, any landmarks: ||C - C~|| <= ||M|| / 2 for every draw and every d, as
///   0 <= M~ <= M (the lift of docs/claims/skyformer.md), so ||O - O~|| <= ||M|| ||V|| / 2. With landmarks=uniform also
///   T9 there, solved for lambda by bisection: ||O - O~|| <= lambda ||V|| / 2. The bound is T9's where its lambda is
///   below ||M||, else the lift's, whose probability is 1.
/// - linformer-unreduced (Gaussian S): T1 of docs/claims/linformer.md over all columns of V: E||B S S^T V - B V||_F^2 =
///   (||B||_F^2 ||V||_F^2 + ||B V||_F^2) / d, and Markov's inequality.
/// - sampled-columns with p=exact or p=uniform: T12 of docs/claims/skeinformer.md, with the largest beta that the
///   probabilities have. That of p=pilot is random, so there is no bound for it here.
/// T1 and T12 bound the Frobenius norm, and so the spectral norm too. There are bounds only for full (not causal)
/// attention with n_q = n_k = n <= kLargestN. Thread-safe. Deterministic.
/// Cost: what a method needs is computed on first use: 72 n^3 flops and 4 n^2 numbers for skyformer, 2 n^2 p flops and
///   n^2 exponentials for the others.
class ErrorBounds {
 public:
  static constexpr arma::uword kLargestN = 2048;
  static constexpr double kProbability = 0.9;

  explicit ErrorBounds(Problem<double> problem) : problem_(std::move(problem)) {}

  /// The bound of a method with its options at d, which holds for all draws; it is computed once. `exact` is the exact
  /// output of the method's target, the same in all calls.
  std::optional<ErrorBound> of(const MethodChoice& choice, arma::uword d, const arma::mat& exact) const;

 private:
  struct Scores {
    double frobenius = 0;         // ||B||_F
    double sum = 0, largest = 0;  // of ||B^(i)|| ||V_i|| over the columns i
  };
  const Scores& scores() const;
  const RidgeLeverage<double>& leverage() const;
  std::optional<double> ridge_of_theorem9(arma::uword d) const;
  std::optional<ErrorBound> skyformer(const OptionValues& values, arma::uword d) const;
  std::optional<ErrorBound> sampled_columns(const OptionValues& values, arma::uword d) const;
  std::optional<ErrorBound> compute(const MethodChoice& choice, arma::uword d, const arma::mat& exact) const;

  /// A method with its options, and d.
  using Case = std::tuple<std::string, std::map<std::string, std::string>, arma::uword>;

  Problem<double> problem_;
  mutable std::mutex mutex_;
  mutable std::optional<Scores> scores_;
  mutable std::optional<RidgeLeverage<double>> leverage_;
  mutable std::map<Case, std::optional<ErrorBound>> known_;
};

}  // namespace croquis
