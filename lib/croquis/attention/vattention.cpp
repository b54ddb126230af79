#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/attention/vattention.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/larger_first.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/draws.hpp>
#include <numeric>
#include <utility>

namespace croquis {
namespace {

using KeyList = std::vector<std::uint32_t>;
constexpr arma::uword kQueriesVerified = 64;

// What a query meets.
struct Verification {
  KeyList certain;       // ascending
  KeyList sampled;       // as drawn
  double weight = 1;     // of a sampled key
  bool all = false;      // every key that it may meet, and nothing else
  bool limited = false;  // fewer samples than the budget
};

// The keys of F but for those of the largest scores.
KeyList certain_keys(arma::uword count, arma::uword sinks, arma::uword window, arma::uword own, arma::uword visible,
                     bool causal) {
  KeyList keys;
  for (arma::uword j = 0; j < std::min(sinks, visible); ++j) keys.push_back(static_cast<std::uint32_t>(j));
  const arma::uword before = std::min(own, causal ? window - std::min<arma::uword>(1, window) : window / 2);
  for (arma::uword j = own - before; j < std::min(visible, own - before + window) && keys.size() < count; ++j) {
    if (j >= sinks) keys.push_back(static_cast<std::uint32_t>(j));
  }
  return keys;
}

// `count` keys of largest logit that are no sinks, to the keys that are there.
template <typename T>
void add_largest(const T* logits, arma::uword visible, arma::uword sinks, arma::uword count, KeyList& keys) {
  if (visible <= sinks) return;
  KeyList others(visible - sinks);
  std::iota(others.begin(), others.end(), static_cast<std::uint32_t>(sinks));
  keep_largest(logits, count, others);
  keys.insert(keys.end(), others.begin(), others.end());
  std::sort(keys.begin(), keys.end());
}

// `count` uniform keys of those below `visible` that are not in `certain`.
KeyList uniform_others(const KeyList& certain, arma::uword visible, arma::uword count, const Key& draw_key) {
  const arma::uword n_s = visible - certain.size();
  std::vector<std::uint64_t> words(count);
  fill_words(draw_key, 0, count, words.data());
  KeyList chosen(count);
  for (arma::uword s = 0; s < count; ++s) {
    const std::uint64_t place = place_of(words[s], n_s);
    // Before the place-th other key there are those of `certain` that have at most `place` others before them.
    std::size_t low = 0, high = certain.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      (certain[middle] - middle <= place ? low : high) = certain[middle] - middle <= place ? middle + 1 : middle;
    }
    chosen[s] = static_cast<std::uint32_t>(place + low);
  }
  return chosen;
}

double verified_budget(double n_s, double spread, double tolerance, double delta, VattentionOptions::Sides sides) {
  return sampling_budget(n_s, spread, tolerance, sides == VattentionOptions::Sides::two ? delta : 2 * delta);
}

// Keys and values a column, for products with a few of them. A budget is relative, so values may be of any size.
template <typename T>
struct VerifiedTokens {
  arma::Mat<T> queries, keys, values;

  explicit VerifiedTokens(const Problem<T>& problem)
      : queries(transposed(problem.Q())),
        keys(transposed<T>(scaled(problem.K(), 1 / std::sqrt(static_cast<T>(problem.p()))))),
        values(over_power_of_two(transposed(problem.V()))) {}

  std::vector<T> logits(arma::uword query, const KeyList& chosen) const {
    std::vector<T> result(chosen.size());
    dots(queries.colptr(query), keys.memptr(), keys.n_rows, chosen.data(), chosen.size(), result.data());
    return result;
  }

  // b for what the pilot shows.
  double budget(arma::uword query, const KeyList& certain, const KeyList& pilot, double n_s,
                const VattentionOptions& options) const {
    std::vector<T> a = logits(query, pilot), known = logits(query, certain);
    T top = maximum(a.data(), a.size());
    if (!known.empty()) top = std::max(top, maximum(known.data(), known.size()));
    exp_shifted(a.data(), a.size(), top);
    const double of_certain = known.empty() ? 0 : static_cast<double>(exp_shifted(known.data(), known.size(), top));
    const auto count = static_cast<double>(pilot.size());
    double mean = 0, square = 0;
    for (const T x : a) mean += static_cast<double>(x) / count;
    for (const T x : a) square += std::pow(static_cast<double>(x) - mean, 2) / (count - 1);
    const double row_sum = of_certain + n_s * mean;
    if (options.verified == VattentionOptions::Verified::denominator) {
      return verified_budget(n_s, std::sqrt(square), options.epsilon * row_sum, options.delta, options.sides);
    }
    // Lemma 4.2: 2 (eps_1 + eps_2), delta_1 + delta_2.
    double trace = 0, norm = 0;
    for (arma::uword c = 0; c < values.n_rows; ++c) {
      double sum = 0, numerator = 0, spread = 0;
      for (std::size_t s = 0; s < pilot.size(); ++s) sum += static_cast<double>(a[s] * values(c, pilot[s])) / count;
      for (std::size_t s = 0; s < pilot.size(); ++s) {
        spread += std::pow(static_cast<double>(a[s] * values(c, pilot[s])) - sum, 2) / (count - 1);
      }
      for (std::size_t j = 0; j < certain.size(); ++j)
        numerator += static_cast<double>(known[j] * values(c, certain[j]));
      trace += spread;
      norm += std::pow(numerator + n_s * sum, 2);
    }
    const double eps = options.epsilon / 4, delta = options.delta / 2;
    return std::max(verified_budget(n_s, std::sqrt(square), eps * row_sum, delta, options.sides),
                    verified_budget(n_s, std::sqrt(trace), eps * std::sqrt(norm), delta, options.sides));
  }
};

template <typename T>
std::vector<Verification> verifications(const Problem<T>& problem, const Pattern& pattern, arma::uword d,
                                        const Key& draw_key, const VattentionOptions& options) {
  const VerifiedTokens<T> tokens(problem);
  const arma::uword n_q = problem.n_q(), most_certain = (d + 1) / 2, sinks = std::min(options.sinks, d / 4);
  const bool oracle = options.certain == VattentionOptions::Certain::oracle;
  const Key of_pilot = draw_key.child("pilot"), of_keys = draw_key.child("keys");
  std::vector<Verification> rows(n_q);
  parallel_for(blocks_of(n_q, kQueriesVerified), [&](std::size_t block) {
    const arma::uword first = block * kQueriesVerified, last = std::min(n_q, first + kQueriesVerified) - 1;
    arma::Mat<T> logits;
    if (oracle)
      logits = scores_transposed<T>(problem.Q().rows(first, last), problem.K().head_rows(pattern.visible(last)));
    for (arma::uword i = first; i <= last; ++i) {
      Verification& row = rows[i];
      const arma::uword visible = pattern.visible(i);
      if (visible <= d) {
        row.all = true;
        continue;
      }
      row.certain = certain_keys(most_certain, sinks, oracle ? 0 : most_certain - sinks, pattern.own(i), visible,
                                 problem.is_causal());
      if (oracle) add_largest(logits.colptr(i - first), visible, sinks, most_certain - sinks, row.certain);
      const arma::uword n_s = visible - row.certain.size(), m = d - row.certain.size(),
                        pilots = m < 3 ? 0 : std::max<arma::uword>(2, m / 4);
      arma::uword samples = m - pilots;
      row.limited = true;
      if (pilots > 0) {
        const KeyList pilot = uniform_others(row.certain, visible, pilots, of_pilot.child(i));
        const double budget =
            std::max(static_cast<double>(pilots),
                     std::ceil(tokens.budget(i, row.certain, pilot, static_cast<double>(n_s), options)));
        row.limited = !(budget <= static_cast<double>(samples));
        if (!row.limited) samples = static_cast<arma::uword>(budget);
      }
      row.sampled = uniform_others(row.certain, visible, samples, of_keys.child(i));
      row.weight = static_cast<double>(n_s) / static_cast<double>(std::max<arma::uword>(1, samples));
    }
  });
  return rows;
}

const Options<VattentionOptions>& options_of_vattention() {
  using O = VattentionOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: sides=one, repeats=once", {{"paper", {}}, {"code", O::code()}})
          .choice("certain", &O::certain, in_order<O::Certain>({"window", "oracle"}),
                  "keys that are attended to for certain: sinks and a window, or the largest scores, quadratic in n")
          .choice("verified", &O::verified, in_order<O::Verified>({"denominator", "output"}),
                  "what the samples are to estimate to epsilon")
          .number("epsilon", &O::epsilon, 1e-6, 1, "relative error that is allowed")
          .number("delta", &O::delta, 1e-6, 0.5, "with probability 1 - delta")
          .choice("sides", &O::sides, in_order<O::Sides>({"two", "one"}), "quantile at 1 - delta/2; or at 1 - delta")
          .choice("repeats", &O::repeats, in_order<O::Repeats>({"counted", "once"}),
                  "a key that is drawn twice counts twice; or once, which is biased")
          .count("sinks", &O::sinks, 0, 1000000, "first keys, at most a quarter of d");
  return options;
}

}  // namespace

double sampling_budget(double n_s, double spread, double tolerance, double delta) {
  require(delta > 0 && delta <= 1, "sampling_budget", "0 < delta <= 1", {{"delta", delta}});
  if (spread == 0) return 0;
  const double z = std::sqrt(2.0) * boost::math::erfc_inv(delta);
  return std::pow(z * n_s * spread / tolerance, 2);
}

template <typename T>
Approximation<T> vattention(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const VattentionOptions& options) {
  require(d >= 1 && d <= problem.n_k(), "vattention", "1 <= d <= n_k", {{"d", d}, {"n_k", problem.n_k()}});
  require(options.epsilon > 0 && options.delta > 0 && options.delta <= 0.5, "vattention",
          "epsilon > 0 and 0 < delta <= 0.5", {{"epsilon", options.epsilon}, {"delta", options.delta}});
  Pattern pattern(problem);
  std::vector<Verification> rows = verifications(problem, pattern, d, draw_key, options);
  arma::uword limited = 0;
  KeyList keys;
  for (const Verification& row : rows) {
    limited += row.limited ? 1 : 0;
    if (row.all) {
      pattern.add_all();
      continue;
    }
    keys = row.certain;
    keys.insert(keys.end(), row.sampled.begin(), row.sampled.end());
    pattern.add(keys, options.repeats == VattentionOptions::Repeats::counted);
  }
  PatternWeights<T> weights = pattern_weights(problem.Q(), problem.K(), pattern);
  SparseColumns<T>& scores = weights.rows;
  parallel_for(rows.size(), 4 * d, [&](std::size_t i) {
    const Verification& row = rows[i];
    const std::size_t begin = scores.start[i], end = scores.start[i + 1];
    auto certain = row.certain.begin();
    T sum = 0;
    for (std::size_t e = begin; e < end; ++e) {
      if (certain != row.certain.end() && *certain == scores.index[e]) {
        ++certain;
      } else {
        scores.value[e] *= static_cast<T>(row.weight);
      }
      sum += scores.value[e];
    }
    weights.sums(i) = sum;
    for (std::size_t e = begin; e < end; ++e) scores.value[e] /= sum;
  });
  Approximation<T> approximation = from_divided(std::move(weights), problem);
  approximation.diagnostics.fallen_rows = limited;
  return approximation;
}

template <typename T>
Method<T> vattention_method() {
  Method<T> method;
  method.name = "vattention";
  method.summary =
      "softmax over sinks, a window and as many samples of the other keys as a pilot asks for; d keys a query";
  method.source = "vAttention (arXiv 2510.05688) Sec. 4";
  method.causal = true;
  method.options = options_of_vattention().infos();
  method.rectangular = method.rows_sum_to_one = always(true);
  method.quadratic = [](const OptionValues& values) {
    return options_of_vattention().read(values).certain == VattentionOptions::Certain::oracle;
  };
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const VattentionOptions options = options_of_vattention().read(values);
    const auto p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    const double pairs = most_visits(problem, static_cast<double>(problem.n_k()));
    const bool oracle = options.certain == VattentionOptions::Certain::oracle;
    return {[=](arma::uword d, const Key& draw_key) { return vattention(problem, d, draw_key, options); },
            [=](double d) { return most_visits(problem, d) * pair_flops(p, p_v) + (oracle ? 2 * pairs * p : 0); }};
  };
  return method;
}

template Approximation<float> vattention(const Problem<float>&, arma::uword, const Key&, const VattentionOptions&);
template Approximation<double> vattention(const Problem<double>&, arma::uword, const Key&, const VattentionOptions&);
template Method<float> vattention_method();
template Method<double> vattention_method();

}  // namespace croquis
