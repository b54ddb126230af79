// Sums over all singular values of an operator, by stochastic Lanczos quadrature.
#pragma once

#include <armadillo>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>
#include <functional>

namespace croquis {

struct SpectralSumOptions {
  int probes = 16;          ///< random vectors, at least 2
  int max_steps = 100;      ///< Lanczos steps of each
  double tolerance = 1e-3;  ///< stop when the quadrature's bracket is this part of the value
  double failure = 0.05;    ///< probability that the interval misses
};

/// What is said of sum_i f(sigma_i).
struct SpectralSum {
  double value = 0;
  double lower = 0, upper = 0;  ///< the interval
  double bracket = 0;           ///< of it, the width that the quadrature leaves, whatever the probes
  int steps = 0;                ///< products with A and with A^T, of `probes` columns each
};

/// sum of f(sigma_i) over the cols(A) singular values (zeros included), for f with f(0) = 0 and x -> f(sqrt(x)) a
/// Bernstein function: sigma (nuclear norm), sigma^2 (Frobenius), sigma / (sigma + lambda) (statistical dimension).
///
/// `known` has singular vectors v_i in its columns (orthonormal, may be empty) and `values` their sigma_i: their part
/// is summed as it is, and the probes see the rest alone, as in Hutch++ (Meyer et al. 2021).
/// Guarantees: for a probe z = (I - V V^T) s, s independent signs, E z^T f(|A|) z is the rest. Each form is bracketed
///   by Gauss (above) and Gauss-Radau quadrature with a node at 0 (below): the even derivatives of f(sqrt(x)) are <= 0
///   and the odd ones >= 0 (Golub and Meurant 2010, ch. 6). The interval is Student's over the probes from these two
///   sides: asymptotic in the probes, not a bound for every spectrum.
/// Randomness: signs of `key`. Cost: 2 steps products with `probes` columns, O((m + n) probes steps^2) flops.
template <typename T>
SpectralSum spectral_sum(const LinearOperator<T>& a, const std::function<double(double)>& f, const arma::vec& values,
                         const arma::Mat<T>& known, const Key& key, const SpectralSumOptions& options = {});

}  // namespace croquis
