// Descriptions of sketches, which can be saved and from which the same sketch is created again.
#pragma once

#include <croquis/random/key.hpp>
#include <croquis/sketch/any_sketch.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// Everything that determines a sketch: the same description gives the same S, bit for bit on one machine. Between
/// processors with and without fused multiply-add the normals of "gaussian" and the cosines of "srct" differ by a few
/// units in the last place. Distributions and their parameters are in sketch/distributions.hpp.
struct SketchDescription {
  std::string distribution;                  ///< a name from `croquis list sketches`
  arma::uword rows = 0, cols = 0;            ///< n and d
  std::string key;                           ///< Key::name(), 32 hexadecimal digits
  std::map<std::string, double> parameters;  ///< parameters of the distribution, by name
  std::vector<double> weights;               ///< n numbers for "importance", empty otherwise

  bool operator==(const SketchDescription&) const = default;

  /// One line of JSON, {"distribution": ..., "rows": ..., "cols": ..., "key": ..., "parameters": {...}}, with
  /// "weights": [...] if there are any. Numbers have as many digits as are needed to read them back exactly.
  std::string to_json() const;
  /// Reads a description from JSON text and completes it (see `completed`). "parameters" and "weights" may be absent.
  /// Throws: std::invalid_argument, with a message of one line, for anything else, including an unknown field and a
  /// field that occurs twice (parse_json_object).
  static SketchDescription from_json(std::string_view text);
};

/// The description with every parameter of its distribution; a missing parameter gets its default value. A saved
/// description therefore stays valid when a default value changes later.
/// Throws: std::invalid_argument for an unknown distribution or parameter, a size of 0, a parameter outside its range,
///   a key that is not 32 hexadecimal digits, weights for a distribution that takes none, another number of weights
///   than n, and a weight that is not finite.
SketchDescription completed(SketchDescription description);

/// The complete description of a sketch on a random key. Throws as `completed`.
SketchDescription describe_sketch(std::string distribution, arma::uword rows, arma::uword cols, const Key& key,
                                  std::map<std::string, double> parameters = {}, std::vector<double> weights = {});

/// Creates the sketch of a description (rows x cols).
/// Throws: as `completed`, and as the sketch's constructor for sizes that its distribution refuses.
template <typename T>
AnySketch<T> make_sketch(const SketchDescription& description);

}  // namespace croquis
