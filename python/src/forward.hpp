// A forward pass that remembers what its derivatives need.
#pragma once

#include <croquis/attention/gradient.hpp>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "problems.hpp"

/// Exact attention to a target, or a draw of a method.
struct ForwardRequest {
  std::optional<std::string> target;           ///< none: softmax, or that of the method
  std::optional<std::string> method;           ///< none: exact attention
  std::map<std::string, std::string> options;  ///< of the method
  std::optional<arma::uword> features;         ///< none: 128, or as many as the head and the method take
  std::uint64_t seed = 1, trial = 1;
};

class Forward {
 public:
  /// Throws std::invalid_argument for arguments as those of `exact` and `approximate`, and with `differentiable` for a
  /// method without an adjoint.
  Forward(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
          const ForwardRequest& request, bool differentiable);

  /// O~ (n_q x p_v).
  py::array output() const;
  /// (dQ, dK, dV), or with a bias (dQ, dK, dV, dbias), of <G, O~> for G (n_q x p_v). Throws
  /// std::runtime_error where G is finite and one of them is not.
  py::tuple vjp(const py::object& cotangent) const;

 private:
  template <typename T>
  struct Pass {
    arma::Mat<T> output;
    croquis::Adjoint<T> adjoint;
    arma::uword queries;  // without padding
  };
  template <typename T>
  static Pass<T> run(const croquis::Problem<T>& problem, const ForwardRequest& request, bool differentiable);

  HeadArguments head_;  // whose memory the passes may use
  bool with_bias_;
  std::variant<std::monostate, Pass<float>, Pass<double>> pass_;
};
