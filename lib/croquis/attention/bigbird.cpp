#include <algorithm>
#include <croquis/attention/bigbird.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/core/require.hpp>
#include <croquis/random/indices.hpp>

namespace croquis {
namespace {

constexpr arma::uword kBlocksInBudget = 10;  // 2 g + w + r of the authors: 4 + 3 + 3

arma::uword block_for(arma::uword d, const BigBirdOptions& options) {
  return options.block > 0 ? options.block : std::max<arma::uword>(1, d / kBlocksInBudget);
}

// Blocks that a query meets before any random ones: global queries meet all, which counts g more for each query unless
// they meet no more than what is before them.
arma::uword fixed_blocks(const BigBirdOptions& options, bool causal) {
  return (causal ? 1 : 2) * options.global + options.window;
}

// The blocks that row block t of m meets, random ones included, ascending. Under a causal mask the global blocks are
// all at the start, and the window ends at the block of the query.
std::vector<arma::uword> blocks_met(arma::uword t, arma::uword m, arma::uword random, const BigBirdOptions& options,
                                    bool causal, const Key& draw_key) {
  if (causal) m = t + 1;
  const arma::uword at_start = causal ? std::min(m, options.global) : std::min(m, (options.global + 1) / 2),
                    at_end = causal ? 0 : std::min(m - at_start, options.global / 2),
                    reach = causal ? options.window - 1 : options.window / 2;
  std::vector<arma::uword> met;
  const auto add = [&met](arma::uword first, arma::uword end) {
    for (arma::uword s = first; s < end; ++s) met.push_back(s);
  };
  if (t < at_start || t >= m - at_end) {  // a global block meets all
    add(0, m);
    return met;
  }
  add(0, at_start);
  add(std::max(at_start, t - std::min(t, reach)), std::min(m - at_end, t + reach + 1));
  add(m - at_end, m);
  // Draw j stands for the j-th block that is not among these.
  const std::vector<arma::uword> fixed = met;
  const arma::uword others = m - fixed.size();
  for (arma::uword s : sample_without_replacement(others, std::min(random, others), draw_key.child(t))) {
    for (const arma::uword f : fixed) s += f <= s ? 1 : 0;
    met.push_back(s);
  }
  std::sort(met.begin(), met.end());
  return met;
}

template <typename T>
Pattern bigbird_pattern(const Problem<T>& problem, arma::uword d, const BigBirdOptions& options, const Key& draw_key) {
  Pattern pattern(problem);
  const arma::uword n = problem.n();
  const bool causal = problem.is_causal();
  const arma::uword b = block_for(d, options), m = (n + b - 1) / b;
  const arma::uword random = d / b - fixed_blocks(options, causal);
  std::vector<std::uint32_t> keys;
  for (arma::uword t = 0; t < m; ++t) {
    keys.clear();
    for (const arma::uword block : blocks_met(t, m, random, options, causal, draw_key)) {
      for (arma::uword j = block * b; j < std::min(n, (block + 1) * b); ++j) {
        keys.push_back(static_cast<std::uint32_t>(j));
      }
    }
    for (arma::uword i = t * b; i < std::min(n, (t + 1) * b); ++i) pattern.add(keys);
  }
  return pattern;
}

const Options<BigBirdOptions>& options_of_bigbird() {
  using O = BigBirdOptions;
  static const Options<O> options =
      Options<O>()
          .count("block", &O::block, 0, 1000000, "tokens a block; 0: d/10")
          .count("global", &O::global, 0, 1000, "blocks, first and last, that attend to all and that all attend to")
          .count("window", &O::window, 1, 1001, "blocks about the query's own, odd; random ones take the rest of d");
  return options;
}

}  // namespace

template <typename T>
Approximation<T> bigbird(const Problem<T>& problem, arma::uword d, const Key& draw_key, const BigBirdOptions& options) {
  require_square(problem, "bigbird");
  const arma::uword n = problem.n();
  require(d >= 1 && d <= n, "bigbird", "1 <= d <= n", {{"d", d}, {"n", n}});
  require(options.window % 2 == 1, "bigbird", "window odd", {{"window", options.window}});
  const arma::uword b = block_for(d, options);
  require(d == n || b * fixed_blocks(options, problem.is_causal()) <= d, "bigbird",
          problem.is_causal()
              ? "block (global + window) <= d, the keys that a query attends to before any random ones"
              : "block (2 global + window) <= d, the keys that a query attends to before any random ones",
          {{"block", b}, {"global", options.global}, {"window", options.window}, {"d", d}});
  if (d == n) return softmax_over_all_keys(problem);
  return sparse_softmax(problem.Q(), problem.K(), problem,
                        bigbird_pattern(problem, d, options, draw_key.child("random")));
}

template <typename T>
Method<T> bigbird_method() {
  Method<T> method;
  method.name = "bigbird";
  method.summary = "softmax over global, window and random blocks; d keys a query";
  method.source = "Skeinformer Table 1";
  method.causal = true;
  method.options = options_of_bigbird().infos();
  method.rows_sum_to_one = always(true);
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n(); };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const BigBirdOptions options = options_of_bigbird().read(values);
    require(options.window % 2 == 1, "bigbird", "window odd", {{"window", options.window}});
    const auto p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return bigbird(problem, d, draw_key, options); },
            [=](double d) { return most_visits(problem, d) * pair_flops(p, p_v); }};
  };
  return method;
}

template Approximation<float> bigbird(const Problem<float>&, arma::uword, const Key&, const BigBirdOptions&);
template Approximation<double> bigbird(const Problem<double>&, arma::uword, const Key&, const BigBirdOptions&);
template Method<float> bigbird_method();
template Method<double> bigbird_method();

}  // namespace croquis
