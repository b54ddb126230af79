// Error bounds that proved theorems give for a method on one problem.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/sampling/leverage.hpp>
#include <map>
#include <memory>
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
  std::string trivial;  ///< a trivial output that is also within the bound; empty if none is known
};

/// For each method with its options, the sharpest bound that is proved in the claims ledger, if there is one:
/// - skyformer with uniform landmarks and the pseudo-inverse: T9 of docs/claims/skyformer.md, solved for lambda by
///   bisection: ||C - C~|| <= lambda / 2, so ||O - O~|| <= lambda ||V|| / 2. None while d < 6.52 log(2n / delta).
/// - linformer-unreduced (Gaussian S): T1 of docs/claims/linformer.md over all columns of V: E||B S S^T V - B V||_F^2 =
///   (||B||_F^2 ||V||_F^2 + ||B V||_F^2) / d, and Markov's inequality.
/// - sampled-columns with p=exact: T12 of docs/claims/skeinformer.md with beta = 1 and S = sum ||B^(i)|| ||V_i|| in
///   place of ||B||_F ||V||_F.
/// T1 and T12 bound the Frobenius norm, and so the spectral norm too. There are bounds only for full (not causal)
/// attention with n_q = n_k = n <= kLargestN. Thread-safe. Deterministic.
/// Cost: what a method needs is computed on first use: 72 n^3 flops for skyformer, n^2 exponentials for the others.
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
    double frobenius = 0, weighted = 0;  // ||B||_F, sum ||B^(i)|| ||V_i||
  };
  const Scores& scores() const;
  const RidgeLeverage<double>& leverage() const;
  std::optional<double> skyformer(arma::uword d) const;
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
