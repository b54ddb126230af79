// The distributions of sketches by name.
#pragma once

#include <croquis/sketch/description.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// What a parameter may be for an n x d sketch; whole: an integer.
struct ParameterLimits {
  double least = 0, most = 0, fallback = 0;
  bool whole = true;
};

/// A parameter of a distribution: range and default in words, and their values.
struct SketchParameter {
  std::string name, range, fallback, effect;
  std::function<ParameterLimits(arma::uword n, arma::uword d)> limits;
};

/// A distribution by name. To add one: a file with its operator, and an entry in distributions.cpp.
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

/// The distribution of that name. Throws std::invalid_argument, with the names there are, when there is none.
template <typename T>
const SketchDistribution<T>& find_sketch_distribution(std::string_view name);

}  // namespace croquis
