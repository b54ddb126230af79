// Sums over all singular values of an operator, by stochastic Lanczos quadrature.
#pragma once

#include <armadillo>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/random/key.hpp>
#include <functional>

namespace croquis {

struct SpectralSumOptions {
  int probes = 16;          ///< random vectors, at least 2
  int max_steps = 100;      ///< maximum number of Lanczos steps for each vector
  double tolerance = 1e-3;  ///< stop when the bracket of the quadrature is at most this fraction of the value
  double failure = 0.05;    ///< probability that the interval does not contain the value
};

/// An estimate of sum_i f(sigma_i).
struct SpectralSum {
  double value = 0;
  double lower = 0, upper = 0;  ///< the interval
  double bracket = 0;           ///< the part of its width that comes from the quadrature and not from the probes
  int steps = 0;                ///< products with A and with A^T, of at most `probes` columns each
};

/// The sum of f(sigma_i) over the cols(A) singular values of an m x n operator (zeros included). f must satisfy f(0) =
/// 0, and x -> f(sqrt(x)) must be a Bernstein function. Examples are sigma (nuclear norm), sigma^2 (Frobenius norm) and
/// sigma / (sigma + lambda) (statistical dimension).
///
/// The columns of `known` (n x k, may be empty) are orthonormal singular vectors v_i, and `values` are their sigma_i.
/// Their contribution is computed exactly, and the probes estimate only the rest, as in Hutch++ (Meyer et al. 2021).
/// Guarantees: for a probe z = (I - V V^T) s with independent signs s, E z^T f(|A|) z is the rest. Each form is
///   bracketed by Gauss quadrature (above) and Gauss-Radau quadrature with a node at 0 (below), because the even
///   derivatives of f(sqrt(x)) are <= 0 and the odd ones >= 0 (Golub and Meurant 2010, ch. 6). The interval is a
///   Student interval over the probes, computed from these two sides. It is asymptotic in the number of probes, and not
///   a bound for every spectrum.
/// Randomness: the signs of probe i are the bits of key.child(i).
/// Cost: 2 steps products with at most `probes` columns, and O((m + n) probes steps^2) flops.
/// Throws: std::invalid_argument for options out of range, and unless there is a vector for each value;
///   std::runtime_error if the singular value solver fails.
template <typename T>
SpectralSum spectral_sum(const LinearOperator<T>& a, const std::function<double(double)>& f, const arma::vec& values,
                         const arma::Mat<T>& known, const Key& key, const SpectralSumOptions& options = {});

}  // namespace croquis
