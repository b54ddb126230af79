#include <cmath>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/bounds.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/sampling/column_norms.hpp>

namespace croquis {
namespace {

constexpr double kDelta = 1 - ErrorBounds::kProbability;

bool has_only(const MethodChoice& choice, const std::map<std::string, std::string>& allowed) {
  for (const auto& [name, value] : choice.options.all()) {
    const auto found = allowed.find(name);
    if (found == allowed.end() || found->second != value) return false;
  }
  return true;
}

// Outputs that need no method: 0, and the mean of the values.
std::string trivial_outputs(const Problem<double>& problem, const arma::mat& exact, double bound) {
  std::string names;
  if (spectral_norm<double>(exact) <= bound) names = "output 0";
  const arma::mat mean = arma::repmat(arma::mean(problem.V(), 0), exact.n_rows, 1);
  if (spectral_norm<double>(arma::mat(exact - mean)) <= bound) names += names.empty() ? "V-mean" : ", V-mean";
  return names;
}

}  // namespace

const ErrorBounds::Scores& ErrorBounds::scores() const {
  if (!scores_) {
    const arma::vec columns = column_norms(problem_.Q(), problem_.K()).norms;
    const arma::vec values = arma::sqrt(arma::sum(arma::square(problem_.V()), 1));
    scores_ = Scores{arma::norm(columns), arma::dot(columns, values)};
  }
  return *scores_;
}

const RidgeLeverage<double>& ErrorBounds::leverage() const {
  if (!leverage_) leverage_.emplace(LiftedPoints<double>(problem_.Q(), problem_.K()).kernel());
  return *leverage_;
}

// The smallest lambda with 6.52 (2n max l_i(lambda) + 1) log(2n / delta) <= d: the left side falls with lambda.
std::optional<double> ErrorBounds::skyformer(arma::uword d) const {
  const auto points = 2 * static_cast<double>(problem_.n());
  const auto asked = [&](double lambda) {
    return 6.52 * (points * leverage().scores(lambda).max() + 1) * std::log(points / kDelta);
  };
  const auto enough = static_cast<double>(d);
  const double norm = leverage().eigenvalues().max();
  double lo = std::log(1e-14 * norm), hi = std::log(1e4 * norm);
  std::optional<double> lambda;
  if (asked(std::exp(hi)) <= enough) {
    constexpr int halvings = 40;
    for (int i = 0; i < halvings; ++i) {
      const double middle = (lo + hi) / 2;
      (asked(std::exp(middle)) <= enough ? hi : lo) = middle;
    }
    lambda = std::exp(hi);
  }
  return lambda;
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
  ErrorBound bound;
  bound.probability = kProbability;
  const auto features = static_cast<double>(d);
  if (choice.name == "skyformer" &&
      has_only(choice, {{"landmarks", "uniform"}, {"inverse", "pinv"}, {"preset", "paper"}})) {
    const auto lambda = skyformer(d);
    if (!lambda) return std::nullopt;
    bound.value = *lambda / 2 * spectral_norm<double>(problem_.V());
    bound.source = "skyformer T9";
  } else if (choice.name == "linformer-unreduced" && has_only(choice, {{"preset", "paper"}})) {
    const double product = scores().frobenius * frobenius_norm(problem_.V()), output = frobenius_norm(exact);
    bound.value = std::sqrt((product * product + output * output) / (features * kDelta));
    bound.source = "linformer T1";
  } else if (choice.name == "sampled-columns" && choice.options.all().count("p") > 0 &&
             has_only(choice, {{"p", "exact"}, {"preset", "paper"}})) {
    bound.value = (1 + std::sqrt(2 * std::log(1 / kDelta))) * scores().weighted / std::sqrt(features);
    bound.source = "skeinformer T12";
  } else {
    return std::nullopt;
  }
  bound.trivial = trivial_outputs(problem_, exact, bound.value);
  return bound;
}

}  // namespace croquis
