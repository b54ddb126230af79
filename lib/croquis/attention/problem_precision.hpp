// A problem in another precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <croquis/attention/problem.hpp>
#include <croquis/core/require.hpp>
#include <limits>
#include <type_traits>

namespace croquis {

/// Throws std::invalid_argument for a problem that is infinite in float, where the constructor of Problem would find
/// entries that nobody gave; with the largest numbers allowed.
inline void require_within_float(const Problem<double>& problem) {
  const arma::uword n = std::max(problem.n_q(), problem.n_k());
  const LongestRow longest = longest_row(problem.Q(), problem.K(), problem.V());
  const double most = largest_row_norm<float>(n);
  require(longest.norm <= most, "precision float", "rows whose squares do not overflow in float; take double otherwise",
          {{"matrix", longest.matrix},
           {"row", longest.row},
           {"norm", longest.norm},
           {"largest norm", 0.99 * most}});  // rounded to float it is still within
  const arma::vec& bias = problem.position().bias;
  const double most_bias = static_cast<double>(std::numeric_limits<float>::max()) / 64;  // that of require_valid()
  for (arma::uword t = 0; t < bias.n_elem; ++t) {
    require(std::abs(bias(t)) <= most_bias || !std::isfinite(bias(t)), "precision float",
            "finite entries of the bias up to a 64th of the largest float; take double otherwise, or -inf for a mask",
            {{"entry", t}, {"value", bias(t)}, {"largest value", most_bias}});
  }
}

/// The same problem with its entries rounded to `To`, without the rows of padding. Throws as the constructor of
/// Problem, and from double to float as require_within_float().
template <typename To, typename From>
Problem<To> in_precision(const Problem<From>& problem) {
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) require_within_float(problem);
  const auto rounded = [](const arma::Mat<From>& m) { return arma::conv_to<arma::Mat<To>>::from(m); };
  const RelativePosition<From>& position = problem.position();
  return {rounded(problem.Q()),
          rounded(problem.K()),
          rounded(problem.V()),
          {},
          {arma::conv_to<arma::Col<To>>::from(position.bias), position.causal, position.height}};
}

}  // namespace croquis
