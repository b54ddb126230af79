// A problem in another precision.
#pragma once

#include <croquis/attention/problem.hpp>

namespace croquis {

/// The same problem with its entries rounded to `To`, without the rows of padding. Throws as the constructor of
/// Problem.
template <typename To, typename From>
Problem<To> in_precision(const Problem<From>& problem) {
  const auto rounded = [](const arma::Mat<From>& m) { return arma::conv_to<arma::Mat<To>>::from(m); };
  const RelativePosition<From>& position = problem.position();
  return {rounded(problem.Q()),
          rounded(problem.K()),
          rounded(problem.V()),
          {},
          {arma::conv_to<arma::Col<To>>::from(position.bias), position.causal, position.height}};
}

}  // namespace croquis
