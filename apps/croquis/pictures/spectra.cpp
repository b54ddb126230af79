#include "pictures/spectra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include "pictures/gnuplot.hpp"

using croquis::SpectrumSummary;

namespace {

// The number after ";layer=" or ";head=" in the name of an input.
std::optional<long long> number_after(const std::string& name, const std::string& what) {
  const std::size_t start = name.find(";" + what + "=");
  if (start == std::string::npos) return {};
  const std::size_t from = start + what.size() + 2;
  const std::string text = name.substr(from, name.find(';', from) - from);
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// "bv" -> "BV": as the matrices are written; a file keeps its name.
std::string in_capitals(std::string matrix) {
  const auto& known = croquis::spectrum_matrices();
  if (std::find(known.begin(), known.end(), matrix) == known.end()) return matrix;
  for (char& c : matrix) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return matrix;
}

void draw_heat_map(const std::vector<const SpectrumSummary*>& cells, const std::string& path) {
  const SpectrumSummary& first = *cells.front();
  const bool at_128 = !std::isnan(first.cumulative_128);
  std::string data;
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double first_head = kFar, last_head = -kFar, first_layer = kFar, last_layer = -kFar;
  constexpr std::size_t kMostLabels = 200;
  for (const SpectrumSummary* s : cells) {
    const double value = at_128 ? s->cumulative_128 : s->cumulative_quarter;
    const long long layer = number_after(s->input, "layer").value_or(0),
                    head = number_after(s->input, "head").value_or(0);
    data += fmt::format("{} {} {:.9g}\n", head, layer, value);
    first_head = std::min(first_head, static_cast<double>(head));
    last_head = std::max(last_head, static_cast<double>(head));
    first_layer = std::min(first_layer, static_cast<double>(layer));
    last_layer = std::max(last_layer, static_cast<double>(layer));
  }
  std::string script = plot_header(path);
  script +=
      fmt::format("set title {} noenhanced\n",
                  gnuplot_string(fmt::format("cumulative spectrum of {} at index {} of {}", in_capitals(first.matrix),
                                             at_128 ? croquis::kCumulativeIndex : first.n / 4, first.n)));
  script += "set xlabel 'head'\nset ylabel 'layer'\nset xtics 1\nset ytics 1\nunset key\n";
  // Light enough for the numbers; boxes, since an image of one layer or one head is refused.
  script += "set palette defined (0 '#fff5eb', 0.5 '#fdae6b', 1 '#e6550d')\nset style fill solid\n";
  script += fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]\n", first_head - 0.5, last_head + 0.5,
                        first_layer - 0.5, last_layer + 0.5);
  script += fmt::format("$cells << EOD\n{}EOD\nplot $cells using 1:2:(0.5):(0.5):3 with boxxyerror fc palette", data);
  if (cells.size() <= kMostLabels) script += ", $cells using 1:2:(sprintf('%.2f', $3)) with labels font ',11'";
  run_gnuplot(script + "\n", path);
}

}  // namespace

void print_spectra(const std::vector<SpectrumSummary>& summaries) {
  std::size_t width = 5;
  for (const SpectrumSummary& s : summaries) width = std::max(width, s.input.size());
  const auto text = [](double x) { return std::isnan(x) ? std::string("-") : fmt::format("{:.4g}", x); };
  fmt::print("\n{:<{}}  {:<6}  {:<7}  {:>10}  {:>10}  {:>11}  {:>6}  {:>12}  {:>12}\n", "input", width, "matrix",
             "method", "norm", "condition", "stable rank", "rank", "sum to 128", "sum to 1/4");
  for (const SpectrumSummary& s : summaries) {
    fmt::print("{:<{}}  {:<6}  {:<7}  {:>10}  {:>10}  {:>11}  {:>6}  {:>12}  {:>12}\n", s.input, width, s.matrix,
               s.method, text(s.spectral), text(s.condition), text(s.stable_rank), text(s.rank), text(s.cumulative_128),
               text(s.cumulative_quarter));
  }
}

void draw_spectra(const std::vector<SpectrumSummary>& summaries, const std::string& path) {
  std::vector<const SpectrumSummary*> drawn, cells;
  std::map<std::string, std::size_t> inputs;
  for (const SpectrumSummary& s : summaries) {
    if (s.status != "ok") continue;
    drawn.push_back(&s);
    ++inputs[s.input];
  }
  if (drawn.empty()) throw std::invalid_argument(fmt::format("{}: no singular values to draw", path));
  const bool has_b = std::any_of(drawn.begin(), drawn.end(), [](const auto* s) { return s->matrix == "b"; });
  for (const SpectrumSummary* s : drawn) {
    const bool placed = number_after(s->input, "layer") || number_after(s->input, "head");
    if (placed && s->matrix == (has_b ? "b" : drawn.front()->matrix)) cells.push_back(s);
  }
  if (inputs.size() > 1 && cells.size() == inputs.size()) return draw_heat_map(cells, path);

  const auto label = [&](const SpectrumSummary& s) {
    const std::string name = in_capitals(s.matrix);
    return inputs.size() > 1 ? fmt::format("{} of {}", name, s.input) : name;
  };
  double smallest = 1;
  arma::uword most = 1;
  std::string script = plot_header(path, 1.4), data, sums = "plot ", values = "plot ";
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const SpectrumSummary& s = *drawn[i];
    data += fmt::format("$d{} << EOD\n0 0 NaN\n", i);
    for (arma::uword k = 0; k < s.values.n_elem; ++k) {
      data += fmt::format("{} {:.9g} {:.9g}\n", k + 1, s.cumulative(k), s.values(k) / s.values(0));
    }
    data += "EOD\n";
    most = std::max(most, s.values.n_elem);
    smallest = std::min(smallest, s.values.min() / s.values(0));
    // Spectra often coincide: the first ones are drawn broad enough to be seen under the others.
    const double broad = 2 + (drawn.size() <= 8 ? 2 * static_cast<double>(drawn.size() - 1 - i) : 0);
    const std::string style =
        fmt::format("with lines lc rgb '{}' lw {} dt {} title {} noenhanced{}", plot_colour(i), broad, 1 + i / 8,
                    gnuplot_string(label(s)), i + 1 < drawn.size() ? ", " : "\n");
    sums += fmt::format("$d{} using 1:2 {}", i, style);
    values += fmt::format("$d{} using 1:3 {}", i, style);
  }
  const SpectrumSummary& first = *drawn.front();
  script += data + "set multiplot layout 2,1\nset grid lc rgb '#dddddd'\nset xlabel 'index k'\n";
  script += fmt::format("set xrange [0:{}]\n", most);
  script += fmt::format(
      "set title {} noenhanced\n",
      gnuplot_string(fmt::format("{}n = {}, p = {}", inputs.size() > 1 ? "" : first.input + ", ", first.n, first.p)));
  script += "set key outside right top\nset ylabel 'sum to k over sum of all'\nset yrange [0:1.02]\n" + sums;
  // Below this everything is rounding: an axis down to 1e-300 would show nothing else.
  script += fmt::format("unset title\nset logscale y\nset format y '10^{{%L}}'\nset yrange [{:g}:2]\n",
                        std::max(smallest / 2, 1e-17));
  script += "set ylabel 'singular value over the largest'\n" + values;
  run_gnuplot(script + "unset multiplot\n", path);
}
