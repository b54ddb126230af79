// Drawing by gnuplot, which runs as a process of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pictures/picture.hpp"

/// Throws std::invalid_argument unless `path` ends in .svg, .png or .pdf and its folder is there, and as WholeFile
/// where that cannot be written.
void check_plot_name(const std::string& path);

/// A legend beside the plot: its lines, and the letters of the longest one.
struct PlotLegend {
  std::size_t lines = 0, letters = 0;
};

/// The beginning of every script: the terminal for the picture. Where the user gives no size it is `panels` plots tall
/// and has room for the legend; else letters are as small as they must be. The name of the file is no part
/// of a script: gnuplot writes to its standard output.
std::string plot_header(const Picture& picture, double panels = 1, const PlotLegend& legend = {});

/// What a plot says in words. Its title is the user's in place of `measured`, what was measured on what; below it stand
/// `lines`, which say what the numbers are and always stand there, but for empty ones. `shown`, "y against x", is for
/// readers who do not see the axes.
struct PlotWords {
  PlotWords(const Picture& picture, const std::string& measured, const std::vector<std::string>& below = {},
            std::string axes = "");

  std::string title;
  std::vector<std::string> lines;
  std::string shown;
};

/// Title and lines as strings of gnuplot, a line each.
std::string title_text(const PlotWords& words);

/// `set title`.
std::string plot_title(const PlotWords& words);

/// Text as a gnuplot string in which nothing is code: all but letters, digits and a few signs are octal escapes, so
/// that no quote, backquote (which runs a shell), macro or escape of the text's own stands in the script. (Single
/// quotes would not do: gnuplot 5.4 misreads a doubled quote right after the first.) Control characters become '?', as
/// do bytes that are not UTF-8, and the last sign of "]]>", of which gnuplot escapes none: these would make an .svg
/// that no browser opens.
std::string gnuplot_string(const std::string& text);

/// Colour of curve i, as on a light page of croquis report. The first three are of Okabe and Ito's palette, whose
/// yellow and sky blue are too faint on white: these have a contrast of at least 3, and colour-blind readers tell them
/// apart by their lightness.
std::string plot_colour(std::size_t i);

/// The same as `set label` over the whole width of a picture that has one plot, legend and all.
std::string picture_title(const PlotWords& words);

/// How curve i is drawn. No two of the first 40 curves have the same colour, marker and dashes.
struct PlotStyle {
  std::string colour;
  int marker = 0, dash = 0;  ///< numbers of gnuplot; the marker filled, one less is the same open
};
PlotStyle plot_style(std::size_t i);

/// Whether gnuplot can place the number on a logarithmic axis, whose ends lie a factor beyond the numbers.
bool is_drawable(double value);

/// Draws; an .svg has the words as its name and description. Throws std::runtime_error when gnuplot is missing or
/// leaves no whole picture; `path` is then as it was.
void run_gnuplot(const std::string& script, const std::string& path, const PlotWords& words);
