#include <algorithm>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/attention/vertical_slash.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/whole_part.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/larger_first.hpp>
#include <limits>
#include <numeric>

namespace croquis {
namespace {

using PlacesOfWeight = std::vector<arma::uword>;

// The queries whose rows choose: the last ones, or some of all parts.
template <typename T>
arma::uvec choosing_queries(const Problem<T>& problem, arma::uword wanted) {
  const arma::uword n_q = problem.n_q(), count = std::min(wanted, n_q);
  arma::uvec rows(count);
  for (arma::uword r = 0; r < count; ++r) {
    rows(r) = problem.is_causal() ? n_q - count + r : (2 * r + 1) * n_q / (2 * count);
  }
  return rows;
}

// The places of the `count` largest weights, the first of equals.
PlacesOfWeight largest_places(const std::vector<double>& weights, arma::uword count) {
  PlacesOfWeight places(weights.size());
  std::iota(places.begin(), places.end(), arma::uword{0});
  keep_largest(weights.data(), count, places);
  return places;
}

// Diagonal u = j + n_q - 1 - i has the keys j = u - (n_q - 1) + i; u = n_k - 1 is that of the queries' own keys.
struct ColumnsAndDiagonals {
  PlacesOfWeight columns, diagonals;
};

template <typename T>
ColumnsAndDiagonals columns_and_diagonals(const Problem<T>& problem, arma::uword d, const VerticalSlashOptions& options,
                                          const Pattern& pattern) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const arma::uvec rows = choosing_queries(problem, options.last);
  std::vector<double> columns(n_k), diagonals(problem.is_causal() ? n_k : n_k + n_q - 1);
  arma::Mat<T> scores = scores_transposed<T>(problem.Q().rows(rows), problem.K());  // a query a column
  for (arma::uword r = 0; r < rows.n_elem; ++r) {
    const arma::uword end = pattern.visible(rows(r));
    if (end < n_k) scores.col(r).tail(n_k - end).fill(std::numeric_limits<T>::lowest() / 8);  // exp gives 0
  }
  softmax_columns(scores);
  for (arma::uword r = 0; r < rows.n_elem; ++r) {
    for (arma::uword j = 0; j < pattern.visible(rows(r)); ++j) {
      columns[j] += static_cast<double>(scores(j, r));
      diagonals[j + n_q - 1 - rows(r)] += static_cast<double>(scores(j, r));
    }
  }
  // What is chosen anyway is heavier than any sum of L <= 10^6 weights, the first column and the nearest diagonal most.
  constexpr double forced = 1e12;
  for (arma::uword j = 0; j < std::min(n_k, options.first); ++j) columns[j] = forced - static_cast<double>(j);
  const arma::uword own = n_k - 1;
  arma::uword near = 0;
  const auto force = [&](arma::uword u) {
    if (u < diagonals.size() && near < options.recent) diagonals[u] = forced - static_cast<double>(near++);
  };
  force(own);
  for (arma::uword distance = 1; near < std::min<arma::uword>(options.recent, diagonals.size()); ++distance) {
    force(own + distance);  // none under a mask, where the queries' own keys are the last diagonal
    if (distance <= own) force(own - distance);
  }
  const arma::uword v = std::min(whole_part(options.vertical, d), d - 1);
  return {largest_places(columns, v), largest_places(diagonals, d - v)};
}

template <typename T>
Pattern vertical_slash_pattern(const Problem<T>& problem, arma::uword d, const VerticalSlashOptions& options) {
  Pattern pattern(problem);
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const ColumnsAndDiagonals chosen = columns_and_diagonals(problem, d, options, pattern);
  std::vector<std::uint32_t> keys;
  for (arma::uword i = 0; i < n_q; ++i) {
    keys.assign(chosen.columns.begin(), chosen.columns.end());
    for (const arma::uword u : chosen.diagonals) {
      const arma::uword place = u + i;  // n_q - 1 more than the key
      if (place >= n_q - 1 && place - (n_q - 1) < n_k) keys.push_back(static_cast<std::uint32_t>(place - (n_q - 1)));
    }
    pattern.add(keys);
  }
  return pattern;
}

const Options<VerticalSlashOptions>& options_of_vertical_slash() {
  using O = VerticalSlashOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: first=30, recent=100", {{"paper", {}}, {"code", {.first = 30, .recent = 100}}})
          .count("last", &O::last, 1, 1000000, "queries whose exact rows choose")
          .number("vertical", &O::vertical, 0, 1, "share of d that columns take")
          .count("first", &O::first, 0, 1000000, "columns, the first ones, that are chosen whatever their weight")
          .count("recent", &O::recent, 0, 1000000, "diagonals, the nearest ones, that are");
  return options;
}

}  // namespace

template <typename T>
Approximation<T> vertical_slash(const Problem<T>& problem, arma::uword d, const VerticalSlashOptions& options) {
  const arma::uword n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "vertical-slash", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  require(options.last >= 1, "vertical-slash", "last >= 1", {{"last", options.last}});
  require(options.vertical >= 0 && options.vertical <= 1, "vertical-slash", "vertical in [0, 1]",
          {{"vertical", options.vertical}});
  if (d == problem.n_k()) return softmax_over_all_keys(problem);
  return sparse_softmax(problem.Q(), problem.K(), problem, vertical_slash_pattern(problem, d, options));
}

template <typename T>
Method<T> vertical_slash_method() {
  Method<T> method;
  method.name = "vertical-slash";
  method.summary = "softmax over columns and diagonals of most weight in the last queries' exact rows; d keys a query";
  method.source = "Jiang et al. 2024, MInference";
  method.causal = true;
  method.random = always(false);
  method.options = options_of_vertical_slash().infos();
  method.rectangular = method.rows_sum_to_one = always(true);
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const VerticalSlashOptions options = options_of_vertical_slash().read(values);
    const auto p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v()),
               n_k = static_cast<double>(problem.n_k()),
               chosen_by = static_cast<double>(std::min(options.last, problem.n_q()));
    return {[=](arma::uword d, const Key&) { return vertical_slash(problem, d, options); },
            [=](double d) {
              const double choice = d < n_k ? chosen_by * n_k * (2 * p + 1) : 0;
              return most_visits(problem, d) * pair_flops(p, p_v) + choice;
            }};
  };
  return method;
}

template Approximation<float> vertical_slash(const Problem<float>&, arma::uword, const VerticalSlashOptions&);
template Approximation<double> vertical_slash(const Problem<double>&, arma::uword, const VerticalSlashOptions&);
template Method<float> vertical_slash_method();
template Method<double> vertical_slash_method();

}  // namespace croquis
