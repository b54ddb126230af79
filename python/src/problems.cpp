#include "problems.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace {

// Rounded to T, where a number that is too large would become an infinite one, which nobody has given.
template <typename T>
arma::Col<T> bias_of(const std::vector<double>& bias) {
  for (const double b : bias) {
    if (std::isfinite(b) && std::abs(b) > static_cast<double>(std::numeric_limits<T>::max())) {
      throw std::invalid_argument(
          fmt::format("bias: {} is too large for float32, which Q, K and V have; give them as float64", b));
    }
  }
  return arma::conv_to<arma::Col<T>>::from(bias);
}

}  // namespace

HeadArguments::HeadArguments(const py::handle& q, const py::handle& k, const py::handle& v, const py::dict& options)
    : q_(matrix_argument(q, "Q")),
      k_(matrix_argument(k, "K")),
      v_(matrix_argument(v, "V")),
      causal_(options["causal"].cast<bool>()) {
  if (!options["bias"].is_none()) bias_ = options["bias"].cast<std::vector<double>>();
  if (!options["length"].is_none()) length_ = options["length"].cast<arma::uword>();
}

template <typename T>
croquis::Problem<T> HeadArguments::problem() const {
  return {matrix_of<T>(q_), matrix_of<T>(k_), matrix_of<T>(v_), length_, {bias_of<T>(bias_), causal_}};
}

std::vector<arma::uword> features_or_range(const Features& given, arma::uword end) {
  if (given) return *given;
  constexpr arma::uword first = 16, most = 256;
  const arma::uword last = std::min(end, most);
  std::vector<arma::uword> range;
  for (arma::uword d = first; d < last; d *= 2) range.push_back(d);
  range.push_back(last);
  return range;
}

template croquis::Problem<float> HeadArguments::problem() const;
template croquis::Problem<double> HeadArguments::problem() const;
