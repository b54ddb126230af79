// Maps over the layers and heads of a model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pictures/picture.hpp"

/// A head's place in the model; without a number where there is one layer, as in an array of heads, or one head.
struct HeadPlace {
  std::optional<long long> layer, head;
  auto operator<=>(const HeadPlace&) const = default;  // NOLINT(modernize-use-nullptr): no pointer is there
};

/// The place that the name of an input has, as "arrays:q;layer=1;head=3"; none when it has neither number.
std::optional<HeadPlace> place_in_name(const std::string& input);

struct HeatCell {
  HeadPlace place;
  double value = 0;
};

/// A map with its title, in lines.
struct HeatMap {
  std::string title;
  std::vector<std::string> lines;
  std::vector<HeatCell> cells;  ///< one at least
};

/// How numbers become colours and text.
struct HeatScale {
  bool logarithmic = false;  ///< then some value is positive; those that are not have the lightest colour
  /// Of the numbers in the cells, which are left out where there are too many; empty: digits after the point that tell
  /// them apart, from 2 to 4.
  std::string format = {};
};

/// Draws the maps into one picture, side by side on one scale of colours, over the layers and heads that some of them
/// has. `lines` say what is common to all, above them. Throws std::runtime_error when gnuplot fails.
void draw_heat_maps(const std::vector<HeatMap>& maps, const std::vector<std::string>& lines, const HeatScale& scale,
                    const Picture& picture);
