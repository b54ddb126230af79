#include "support/gnuplot_script.hpp"

#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace {

// "a\073b" -> "a;b"
std::string plain(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    }
  }
  return out;
}

}  // namespace

const DrawnCurve& DrawnPlot::curve(const std::string& wanted) const {
  for (const DrawnCurve& one : curves) {
    if (one.title == wanted) return one;
  }
  throw std::out_of_range("no curve " + wanted + " in\n" + script);
}

DrawnPlot drawn_plot(const std::string& arguments, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::remove(folder / "script.gp");
  write_text(folder / "bin/gnuplot",
             "#!/bin/sh\ntee '" + (folder / "script.gp").string() + "' | /usr/bin/gnuplot \"$@\"\n");
  std::filesystem::permissions(folder / "bin/gnuplot", std::filesystem::perms::owner_all);
  DrawnPlot plot;
  plot.run = run_command("PATH=$PWD/bin:$PATH; $CROQUIS " + arguments, folder);
  if (!std::filesystem::exists(folder / "script.gp")) return plot;
  plot.script = read_text(folder / "script.gp");

  std::map<std::string, std::vector<std::vector<double>>> data;
  std::string block;
  std::istringstream lines(plot.script);
  static const std::regex text("\"([^\"]*)\""),
      curve(
          "(NaN|\\$\\w+) using (?:1|\\(\\$1\\*[0-9.]+\\)):2 with linespoints lc rgb '([^']*)' lw 2 dt "
          "(\\d+) pt (\\d+) ps [-0-9.pi ]+ title \"([^\"]*)\"");
  static const std::regex legend("title \"([^\"]*)\"");
  for (std::string line; std::getline(lines, line);) {
    if (line == "EOD") {
      block.clear();
    } else if (!block.empty()) {
      std::istringstream numbers(line);
      data[block].emplace_back();
      for (double x = 0; numbers >> x;) data[block].back().push_back(x);
    } else if (line.ends_with(" << EOD")) {
      block = line.substr(0, line.find(' '));
    } else if (line.starts_with("set title ") || line.starts_with("set label 1 ")) {
      plot.title.clear();
      for (std::sregex_iterator match(line.begin(), line.end(), text), end; match != end; ++match) {
        if ((*match)[1] != "\\n") plot.title += plain((*match)[1]) + "\n";
      }
    } else if (line.starts_with("plot ")) {
      for (std::sregex_iterator match(line.begin(), line.end(), legend), end; match != end; ++match) {
        plot.legend.push_back(plain((*match)[1]));
      }
      for (std::sregex_iterator match(line.begin(), line.end(), curve), end; match != end; ++match) {
        const auto& m = *match;
        plot.curves.push_back({plain(m[5]), m[2], std::stoi(m[4]), std::stoi(m[3]), data[m[1]]});
      }
    }
  }
  return plot;
}
