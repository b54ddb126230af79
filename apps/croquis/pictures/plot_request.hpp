// What croquis plot was asked for.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "files/shown_groups.hpp"
#include "pictures/picture.hpp"

/// A result to be drawn: the picture, and of curves which ones and how. Empty: the default.
struct PlotRequest {
  Picture picture;
  std::string metric = {};                   ///< a column
  std::vector<std::string> methods = {};     ///< the curves, by the name of the method, operator or map
  std::vector<std::uint64_t> features = {};  ///< the d that are drawn
  std::string x = {};                        ///< what curves run over: features, flops, seconds
  Statistic statistic = Statistic::median;
  bool heat_map = false;  ///< over layers and heads, in place of curves
};

/// Of a command that has one picture: throws std::invalid_argument for a request of anything but that.
inline void require_one_picture(const PlotRequest& request, const std::string& command) {
  const std::pair<bool, const char*> options[] = {{!request.metric.empty(), "--metric"},
                                                  {!request.methods.empty(), "--methods"},
                                                  {!request.features.empty(), "--features"},
                                                  {!request.x.empty(), "--x"},
                                                  {request.statistic != Statistic::median, "--statistic"},
                                                  {request.heat_map, "--heat-map"}};
  for (const auto& [given, option] : options) {
    if (given)
      throw std::invalid_argument(
          std::string(option).append(": a result of croquis ").append(command).append(" has one plot"));
  }
}
