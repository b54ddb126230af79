// The distributions of sketches, by name.
#pragma once

#include <croquis/sketch/description.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The values that a parameter may have for an n x d sketch. `whole` means that it must be an integer.
struct ParameterLimits {
  double minimum = 0, maximum = 0, default_value = 0;
  bool whole = true;
};

/// A parameter of a distribution. `range` and `default_value` describe it in words, `limits` gives the numbers.
struct SketchParameter {
  std::string name, range, default_value, effect;
  std::function<ParameterLimits(arma::uword n, arma::uword d)> limits;
};

/// A named distribution. To add one, write a file with its operator and add an entry to distributions.cpp.
template <typename T>
struct SketchDistribution {
  std::string name, source, summary;
  std::vector<SketchParameter> parameters;
  bool weighted = false;  ///< takes a weight for every row
  std::function<AnySketch<T>(const SketchDescription& complete, const Key& key)> make;
};

/// All distributions, in the order of the documentation.
template <typename T>
const std::vector<SketchDistribution<T>>& sketch_distributions();

/// The distribution of that name. Throws std::invalid_argument if there is none; the message lists the known names.
template <typename T>
const SketchDistribution<T>& find_sketch_distribution(std::string_view name);

}  // namespace croquis
