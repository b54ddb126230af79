#include "pictures/spectra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <croquis/stats/summary.hpp>
#include <map>

#include "files/text_table.hpp"
#include "pictures/gnuplot.hpp"
#include "pictures/heat_map.hpp"

using croquis::SpectrumSummary;

namespace {

// "bv" -> "BV": as the matrices are written; a file keeps its name.
std::string in_capitals(std::string matrix) {
  const auto& known = croquis::spectrum_matrices();
  if (std::find(known.begin(), known.end(), matrix) == known.end()) return matrix;
  for (char& c : matrix) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return matrix;
}

// A cell for each head; of several inputs, as sequences of a batch, their median. None where nothing is known.
HeatMap map_of(const std::vector<const SpectrumSummary*>& drawn) {
  const auto all = [&](const auto& is) { return std::all_of(drawn.begin(), drawn.end(), is); };
  const SpectrumSummary& first = *drawn.front();
  const bool at_128 = all([](const auto* s) { return !std::isnan(s->cumulative_128); });
  const arma::uword count = singular_values_of(first);
  const bool same = all([&](const auto* s) { return singular_values_of(*s) == count; });
  std::map<HeadPlace, std::vector<double>> values;
  for (const SpectrumSummary* s : drawn) {
    const double value = at_128 ? s->cumulative_128 : s->cumulative_quarter;
    if (!std::isnan(value)) values[*place_in_name(s->input)].push_back(value);
  }
  HeatMap map{fmt::format("cumulative spectrum of {} at ", in_capitals(first.matrix)), {}, {}};
  if (same) {
    map.title += fmt::format("index {} of {}", at_128 ? croquis::kCumulativeIndex : count / 4, count);
  } else {
    map.title += at_128 ? fmt::format("index {}", croquis::kCumulativeIndex) : "a quarter of its indices";
  }
  bool several = false;
  for (const auto& [place, of_inputs] : values) {
    several = several || of_inputs.size() > 1;
    map.cells.push_back({place, croquis::summarise(of_inputs).q50});
  }
  if (several) map.lines.emplace_back("median over inputs");
  return map;
}

}  // namespace

void print_spectra(const std::vector<SpectrumSummary>& summaries) {
  constexpr auto left = TextColumn::Side::left, right = TextColumn::Side::right;
  TextTable table(
      {{left, 5}, {left, 6}, {left, 7}, {right, 10}, {right, 10}, {right, 11}, {right, 6}, {right, 12}, {right, 12}});
  table.add({"input", "matrix", "method", "norm", "condition", "stable rank", "rank", "sum to 128", "sum to 1/4"});
  const auto text = [](double x) { return std::isnan(x) ? std::string("-") : fmt::format("{:.4g}", x); };
  for (const SpectrumSummary& s : summaries) {
    table.add({s.input, s.matrix, s.method, text(s.spectral), text(s.condition), text(s.stable_rank), text(s.rank),
               text(s.cumulative_128), text(s.cumulative_quarter)});
  }
  fmt::print("\n{}", table.text());
}

void draw_spectra(const std::vector<SpectrumSummary>& summaries, const Picture& picture) {
  std::vector<const SpectrumSummary*> drawn, cells;
  std::map<std::string, std::size_t> inputs;
  for (const SpectrumSummary& s : summaries) {
    if (s.status != "ok") continue;
    drawn.push_back(&s);
    ++inputs[s.input];
  }
  if (drawn.empty()) throw NothingToDraw(picture, "no singular values to draw");
  const bool has_b = std::any_of(drawn.begin(), drawn.end(), [](const auto* s) { return s->matrix == "b"; });
  for (const SpectrumSummary* s : drawn) {
    if (place_in_name(s->input) && s->matrix == (has_b ? "b" : drawn.front()->matrix)) cells.push_back(s);
  }
  if (inputs.size() > 1 && cells.size() == inputs.size()) {
    const HeatMap map = map_of(cells);
    if (!map.cells.empty()) return draw_heat_maps({map}, {}, {}, picture);
  }

  const auto label = [&](const SpectrumSummary& s) {
    const std::string name = in_capitals(s.matrix);
    return inputs.size() > 1 ? fmt::format("{} of {}", name, s.input) : name;
  };
  double smallest = 1;
  arma::uword most = 1;
  std::string script = plot_header(picture, 1.4), data, sums = "plot ", values = "plot ", zeros;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const SpectrumSummary& s = *drawn[i];
    data += fmt::format("$d{} << EOD\n0 0 NaN\n", i);
    for (arma::uword k = 0; k < s.values.n_elem; ++k) {
      data += fmt::format("{} {:.9g} {:.9g}\n", k + 1, s.cumulative(k), s.values(k) / s.values(0));
    }
    data += "EOD\n";
    most = std::max(most, s.values.n_elem);
    const arma::vec positive = s.values.elem(arma::find(s.values > 0));
    if (!positive.is_empty()) smallest = std::min(smallest, positive.min() / s.values(0));
    if (const arma::uword missing = s.values.n_elem - positive.n_elem; missing > 0) {
      zeros += fmt::format("{}{} (k = {}{})", zeros.empty() ? "not drawn, zero: " : ", ", label(s), positive.n_elem + 1,
                           missing == 1 ? "" : fmt::format(" to {}", s.values.n_elem));
    }
    // Spectra often coincide: the first ones are drawn broad enough to be seen under the others.
    const double broad = 2 + (drawn.size() <= 8 ? 2 * static_cast<double>(drawn.size() - 1 - i) : 0);
    constexpr arma::uword few = 16;  // then a mark for each: a line through one value has no length
    const std::string style =
        fmt::format("with {} lc rgb '{}' lw {} dt {} title {} noenhanced{}",
                    s.values.n_elem > few ? "lines" : "linespoints pt 7 ps 0.8", plot_colour(i), broad, 1 + i / 8,
                    gnuplot_string(label(s)), i + 1 < drawn.size() ? ", " : "\n");
    sums += fmt::format("$d{} using 1:2 {}", i, style);
    values += fmt::format("$d{} using 1:3 {}", i, style);
  }
  const SpectrumSummary& first = *drawn.front();
  script += data + "set multiplot layout 2,1\nset grid lc rgb '#dddddd'\nset format x '%g'\nset xlabel 'index k'\n";
  script += fmt::format("set xrange [0:{}]\n", most);
  const PlotWords words(picture,
                        fmt::format("{}n = {}, p = {}", inputs.size() > 1 ? "" : first.input + ", ", first.n, first.p),
                        {}, "sum to k over sum of all, and singular value over the largest, against index k");
  script += plot_title(words);
  script += "set key outside right top\nset ylabel 'sum to k over sum of all'\nset yrange [0:1.02]\n" + sums;
  // Below this everything is rounding: an axis down to 1e-300 would show nothing else.
  script += zeros.empty() ? "unset title\n" : fmt::format("set title {} noenhanced\n", gnuplot_string(zeros));
  script +=
      fmt::format("set logscale y\nset format y '10^{{%L}}'\nset yrange [{:g}:2]\n", std::max(smallest / 2, 1e-17));
  script += "set ylabel 'singular value over the largest'\n" + values;
  run_gnuplot(script + "unset multiplot\n", picture.path, words);
}
