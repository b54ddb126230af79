// prf-rpe and nprf-rpe by their definition, for the tests of both.
#pragma once

#include <cmath>
#include <croquis/attention/prf_rpe.hpp>
#include <croquis/features/feature_pair.hpp>
#include <limits>
#include <utility>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/relative.hpp"

template <typename T>
croquis::Problem<T> with_relative_position(const croquis::Problem<T>& problem, croquis::RelativePosition<T> position) {
  return {problem.Q(), problem.K(), problem.V(), {}, std::move(position)};
}

/// B~ by its definition, with the features of the library: row by row in long double.
template <typename T>
Dense plain_scores(const croquis::Problem<T>& problem, bool unit_length, arma::uword d, const croquis::Key& draw_key,
                   const croquis::FeatureOptions& options) {
  const T scale = std::pow(static_cast<T>(problem.p()), T(-0.25));
  const arma::Mat<T> x = unit_length ? arma::Mat<T>(arma::normalise(problem.Q(), 2, 1))
                                     : arma::Mat<T>(scale * problem.Q()),
                     y = unit_length ? arma::Mat<T>(arma::normalise(problem.K(), 2, 1))
                                     : arma::Mat<T>(scale * problem.K());
  const auto phi = croquis::FeaturePair<T>(x, y, d, options, draw_key.child("features")).matrices();
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const Dense b = pairwise_bias(problem);
  Dense scores(n_q, n_k);
  for (arma::uword i = 0; i < n_q; ++i) {
    long double top = -std::numeric_limits<long double>::infinity(), sum = 0;
    for (arma::uword j = 0; j < n_k; ++j) top = std::max(top, b(i, j));
    for (arma::uword j = 0; j < n_k; ++j) {
      for (arma::uword r = 0; r < d; ++r) {
        scores(i, j) += static_cast<long double>(phi.queries(i, r)) * static_cast<long double>(phi.keys(j, r));
      }
      scores(i, j) *= std::exp(b(i, j) - top);
      sum += scores(i, j);
    }
    for (arma::uword j = 0; j < n_k; ++j) scores(i, j) /= sum;
  }
  return scores;
}

template <typename T>
Dense plain_output(const croquis::Problem<T>& problem, bool unit_length, arma::uword d, const croquis::Key& draw_key,
                   const croquis::FeatureOptions& options) {
  return plain_scores(problem, unit_length, d, draw_key, options) * problem.V();
}

/// nprf-rpe where rows have unit length, prf-rpe otherwise.
template <typename T>
croquis::Approximation<T> run(const croquis::Problem<T>& problem, bool unit_length, arma::uword d,
                              const croquis::Key& draw_key, const croquis::RelativeFeatureOptions& options) {
  return unit_length ? croquis::nprf_rpe(problem, d, draw_key, options)
                     : croquis::prf_rpe(problem, d, draw_key, options);
}
