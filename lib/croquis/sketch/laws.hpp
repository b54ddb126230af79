// The laws of sketches by name.
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

/// A parameter of a law: range and default in words, and their values.
struct SketchParameter {
  std::string name, range, fallback, effect;
  std::function<ParameterLimits(arma::uword n, arma::uword d)> limits;
};

/// A law by name. To add one: a file with its operator, and an entry in laws.cpp.
template <typename T>
struct SketchLaw {
  std::string name, source, summary;
  std::vector<SketchParameter> parameters;
  bool weighted = false;  ///< takes a weight for every row
  std::function<AnySketch<T>(const SketchDescription& complete, const Stream& stream)> make;
};

/// All laws, in the order of the documentation.
template <typename T>
const std::vector<SketchLaw<T>>& sketch_laws();

/// The law of that name. Throws std::invalid_argument, with the names there are, when there is none.
template <typename T>
const SketchLaw<T>& find_sketch_law(std::string_view name);

}  // namespace croquis
