// A sketch written down, and made again from what was written.
#pragma once

#include <croquis/random/key.hpp>
#include <croquis/sketch/any_sketch.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// All that a sketch is: the same description gives the same S, bit for bit. Distributions and parameters:
/// sketch/distributions.hpp.
struct SketchDescription {
  std::string distribution;                  ///< as `croquis list sketches` names it
  arma::uword rows = 0, cols = 0;            ///< n and d
  std::string key;                           ///< Key::name(), 32 hexadecimal digits
  std::map<std::string, double> parameters;  ///< those of the distribution by name
  std::vector<double> weights;               ///< n numbers for the distribution "importance", none for the others

  bool operator==(const SketchDescription&) const = default;

  /// One line of JSON, {"distribution": ..., "rows": ..., "cols": ..., "key": ..., "parameters": {...}} and, where
  /// there are any, "weights": [...]. Numbers in as many digits as give them back exactly.
  std::string to_json() const;
  /// The description in a JSON text, complete (see `completed`). "parameters" and "weights" may be absent.
  /// Throws std::invalid_argument, in one line, for anything else, another field included.
  static SketchDescription from_json(std::string_view text);
};

/// The description with every parameter of its distribution, absent ones by their default; so a later change of a
/// default does not change what was written down.
/// Throws std::invalid_argument for an unknown distribution or parameter, a size of 0, a parameter out of its range, a
///   key that is no name, and weights that the distribution does not take or whose number is not n.
SketchDescription completed(SketchDescription description);

/// The complete description of a sketch on a key.
SketchDescription describe_sketch(std::string distribution, arma::uword rows, arma::uword cols, const Key& key,
                                  std::map<std::string, double> parameters = {}, std::vector<double> weights = {});

/// The sketch of a description. Throws as `completed`, and as the sketch's constructor for sizes that its distribution
/// refuses.
template <typename T>
AnySketch<T> make_sketch(const SketchDescription& description);

}  // namespace croquis
