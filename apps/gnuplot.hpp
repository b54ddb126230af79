// Drawing by gnuplot, which runs as a process of its own.
#pragma once

#include <cstddef>
#include <string>

/// Throws std::invalid_argument unless `path` ends in .svg, .png or .pdf and its folder is there.
void check_plot_name(const std::string& path);

/// The beginning of every script: terminal and output for `path`, `panels` plots tall.
std::string plot_header(const std::string& path, double panels = 1);

/// Text inside a double-quoted gnuplot string.
std::string gnuplot_string(const std::string& text);

/// Colour of curve i: Okabe and Ito's palette, told apart by colour-blind readers too.
std::string plot_colour(std::size_t i);

/// Throws std::runtime_error when gnuplot is missing or leaves no file at `path`.
void run_gnuplot(const std::string& script, const std::string& path);
