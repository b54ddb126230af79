#include "problems.hpp"

#include <pybind11/stl.h>

#include <algorithm>

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
  return {matrix_of<T>(q_),
          matrix_of<T>(k_),
          matrix_of<T>(v_),
          length_,
          {arma::conv_to<arma::Col<T>>::from(bias_), causal_}};
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
