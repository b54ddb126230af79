#include "gnuplot.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "results/whole_file.hpp"

namespace {

std::string terminal_of(const std::string& path, double panels) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".svg") {
    return fmt::format("svg size 860,{:.0f} dynamic font 'sans,14' background '#ffffff'", 560 * panels);
  }
  if (extension == ".png") return fmt::format("pngcairo size 1290,{:.0f} font 'sans,18'", 840 * panels);
  if (extension == ".pdf") return fmt::format("pdfcairo size 17cm,{:.1f}cm font 'sans,11'", 11 * panels);
  throw std::invalid_argument(fmt::format("{}: a plot ends in .svg, .png or .pdf", path));
}

// Whether an svg, png or pdf has its end: gnuplot does not say that the disk was full.
bool is_whole(const std::string& path) {
  constexpr std::streamoff tail = 16;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (!file || size < tail) return false;
  std::string end(tail, '\0');
  file.seekg(size - tail).read(end.data(), tail);
  return file && (end.find("</svg>") != std::string::npos || end.find("IEND") != std::string::npos ||
                  end.find("%%EOF") != std::string::npos);
}

}  // namespace

void check_plot_name(const std::string& path) {
  terminal_of(path, 1);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw std::invalid_argument(fmt::format("{}: there is no folder {}", path, folder.string()));
  }
}

std::string plot_header(const std::string& path, double panels) {
  return fmt::format("set terminal {}\nset output {}\n", terminal_of(path, panels), gnuplot_string(part_of(path)));
}

std::string gnuplot_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string plot_colour(std::size_t i) {
  static constexpr const char* colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                            "#E69F00", "#56B4E9", "#8B4513", "#7F7F7F"};
  return colours[i % std::size(colours)];
}

void run_gnuplot(const std::string& script, const std::string& path) {
  const auto previous = std::signal(SIGPIPE, SIG_IGN);  // without gnuplot nobody reads the pipe
  std::FILE* pipe = ::popen("gnuplot >/dev/null 2>&1", "w");
  const bool written = pipe != nullptr && std::fwrite(script.data(), 1, script.size(), pipe) == script.size();
  const int status = pipe != nullptr ? ::pclose(pipe) : -1;
  std::signal(SIGPIPE, previous);
  std::error_code error;
  if (!written || status != 0 || !is_whole(part_of(path))) {
    std::filesystem::remove(part_of(path), error);
    throw std::runtime_error(fmt::format(
        "{}: not drawn; is gnuplot installed (Debian: gnuplot-nox), the folder writable and the disk not full?", path));
  }
  publish(path);
}
