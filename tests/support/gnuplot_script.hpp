// What the program gives gnuplot to draw.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/program.hpp"

/// A curve of a plot: its points as x, line, lower and upper end of the band, mark of heavy tails.
struct DrawnCurve {
  std::string title, colour;
  int marker = 0, dash = 0;
  std::vector<std::vector<double>> points;
};

struct DrawnPlot {
  ProgramRun run;
  std::string script;
  std::string title;                ///< its lines, each with a line break
  std::vector<std::string> legend;  ///< titles in order, headings too
  std::vector<DrawnCurve> curves;

  /// Throws std::out_of_range when there is none.
  const DrawnCurve& curve(const std::string& title) const;
};

/// croquis ARGUMENTS in the folder, with a gnuplot that notes its script and then draws. What is read of the script is
/// the last plot that it draws; nothing when the program draws none.
DrawnPlot drawn_plot(const std::string& arguments, const std::filesystem::path& folder);
