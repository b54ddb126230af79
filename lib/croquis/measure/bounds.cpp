#include <cmath>
#include <croquis/attention/sampled_columns.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/core/power_of_two.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/measure/bounds.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/sampling/column_norms.hpp>
#include <croquis/stats/chernoff.hpp>
#include <croquis/stats/search.hpp>

namespace croquis {
namespace {

constexpr double kDelta = 1 - ErrorBounds::kProbability;

// Outputs that need no method: 0, the mean of the values and, where rows of the scores do not sum to 1, the output of
// the constant scores that fit best, which is another multiple of that mean.
std::string trivial_outputs(const Problem<double>& problem, const arma::mat& exact, double bound, bool rows_sum_to_1) {
  const arma::rowvec mean = arma::mean(problem.V(), 0);
  const double unit = power_of_two_below(largest_entry<double>(mean));  // squares in it do not vanish
  std::string names;
  const auto add = [&](const std::string& name, double multiple) {
    const arma::mat output = arma::repmat(multiple * mean, exact.n_rows, 1);
    if (spectral_norm<double>(arma::mat(exact - output)) <= bound) names += (names.empty() ? "" : ", ") + name;
  };
  add("output 0", 0);
  add("V-mean", 1);
  const double square = arma::dot(mean / unit, mean / unit);
  if (!rows_sum_to_1 && square > 0) {
    add("constant scores", arma::dot(arma::rowvec(arma::mean(exact, 0)) / unit, mean / unit) / square);
  }
  return names;
}

}  // namespace

const ErrorBounds::Scores& ErrorBounds::scores() const {
  if (!scores_) {
    const arma::vec columns = column_norms(problem_.Q(), problem_.K()).norms;
    const arma::vec values = row_norms(problem_.V());
    scores_ = Scores{arma::norm(columns), arma::dot(columns, values), arma::max(columns % values)};
  }
  return *scores_;
}

const RidgeLeverage<double>& ErrorBounds::leverage() const {
  if (!leverage_) leverage_.emplace(LiftedPoints<double>(problem_.Q(), problem_.K()).kernel());
  return *leverage_;
}

// The smallest lambda with 6.52 (2n max l_i(lambda) + 1) log(2n / delta) <= d: the left side falls with lambda. None
// where it is above ||M||: it then says less than the lift.
std::optional<double> ErrorBounds::ridge_of_theorem9(arma::uword d) const {
  const auto points = 2 * static_cast<double>(problem_.n());
  const auto is_enough = [&](double lambda) {
    const double leverage_sum = points * leverage().scores(lambda).max();
    return kHalfOfMean * (leverage_sum + 1) * std::log(points / kDelta) <= static_cast<double>(d);
  };
  const double norm = leverage().eigenvalues().max();
  if (!is_enough(norm)) return std::nullopt;
  return smallest_sufficient(1e-14 * norm, norm, 1e-10, is_enough);
}

std::optional<ErrorBound> ErrorBounds::skyformer(const OptionValues& values, arma::uword d) const {
  const SkyformerOptions options = skyformer_options(values);
  if (options.inverse != SkyformerOptions::Inverse::pinv || options.ridge > 0) return std::nullopt;
  ErrorBound bound{leverage().eigenvalues().max(), 1, "skyformer lift", {}};
  if (options.landmarks == LandmarkPolicy::uniform) {
    if (const auto lambda = ridge_of_theorem9(d)) bound = {*lambda, kProbability, "skyformer T9", {}};
  }
  bound.value *= spectral_norm<double>(problem_.V()) / 2;
  return bound;
}

// T12 is (S / sqrt(beta d)) (1 + sqrt((2 / beta) log(1 / delta))), where p_i >= beta ||B^(i)|| ||V_i|| / S: with p_i =
// 1/n, S / beta is n times the largest ||B^(i)|| ||V_i||.
std::optional<ErrorBound> ErrorBounds::sampled_columns(const OptionValues& values, arma::uword d) const {
  using Probabilities = SampledColumnsOptions::Probabilities;
  const Probabilities p = sampled_columns_options(values).probabilities;
  if (p == Probabilities::pilot) return std::nullopt;
  const double sum = scores().sum, features = static_cast<double>(d);
  const double over_beta = p == Probabilities::exact ? sum : static_cast<double>(problem_.n_k()) * scores().largest;
  return ErrorBound{
      (std::sqrt(sum) * std::sqrt(over_beta) + over_beta * std::sqrt(2 * std::log(1 / kDelta))) / std::sqrt(features),
      kProbability,
      "skeinformer T12",
      {}};
}

std::optional<ErrorBound> ErrorBounds::of(const MethodChoice& choice, arma::uword d, const arma::mat& exact) const {
  if (problem_.is_causal() || problem_.n_q() != problem_.n_k() || problem_.n_k() > kLargestN) return std::nullopt;
  const std::lock_guard lock(mutex_);
  Case asked{choice.name, choice.options.all(), d};
  if (const auto known = known_.find(asked); known != known_.end()) return known->second;
  return known_.emplace(std::move(asked), compute(choice, d, exact)).first->second;
}

std::optional<ErrorBound> ErrorBounds::compute(const MethodChoice& choice, arma::uword d,
                                               const arma::mat& exact) const {
  std::optional<ErrorBound> bound;
  if (choice.name == "skyformer") {
    bound = skyformer(choice.options, d);
  } else if (choice.name == "sampled-columns") {
    bound = sampled_columns(choice.options, d);
  } else if (choice.name == "linformer-unreduced") {
    const double product = scores().frobenius * frobenius_norm(problem_.V()), output = frobenius_norm(exact);
    bound = {
        std::hypot(product, output) / std::sqrt(static_cast<double>(d) * kDelta), kProbability, "linformer T1", {}};
  }
  if (bound) {
    const Target target = find_method<double>(choice.name).target;
    bound->trivial = trivial_outputs(problem_, exact, bound->value, is_normalised(target));
  }
  return bound;
}

}  // namespace croquis
