// A sketch written down, and made again from what was written.
#pragma once

#include <croquis/core/random.hpp>
#include <croquis/sketch/any_sketch.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// All that a sketch is: the same description gives the same S, bit for bit. Laws and parameters: sketch/laws.hpp.
struct SketchDescription {
  std::string law;                           ///< as `croquis list sketches` names it
  arma::uword rows = 0, cols = 0;            ///< n and d
  std::string stream;                        ///< Stream::name(), 32 hexadecimal digits
  std::map<std::string, double> parameters;  ///< those of the law by name
  std::vector<double> weights;               ///< n numbers for the law "importance", none for the others

  bool operator==(const SketchDescription&) const = default;

  /// One line of JSON, {"law": ..., "rows": ..., "cols": ..., "stream": ..., "parameters": {...}} and, where there are
  /// any, "weights": [...]. Numbers in as many digits as give them back exactly.
  std::string to_json() const;
  /// The description in a JSON text, complete (see `completed`). "parameters" and "weights" may be absent.
  /// Throws std::invalid_argument, in one line, for anything else, another key included.
  static SketchDescription from_json(std::string_view text);
};

/// The description with every parameter of its law, absent ones by their default; so a later change of a default does
/// not change what was written down.
/// Throws std::invalid_argument for an unknown law or parameter, a size of 0, a parameter out of its range, a stream
///   that is no name, and weights that the law does not take or whose number is not n.
SketchDescription completed(SketchDescription description);

/// The complete description of a sketch on a stream.
SketchDescription describe_sketch(std::string law, arma::uword rows, arma::uword cols, const Stream& stream,
                                  std::map<std::string, double> parameters = {}, std::vector<double> weights = {});

/// The sketch of a description. Throws as `completed`, and as the sketch's constructor for sizes that its law refuses.
template <typename T>
AnySketch<T> make_sketch(const SketchDescription& description);

}  // namespace croquis
