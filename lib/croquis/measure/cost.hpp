// Time, memory and flops of a call against n and d: what `croquis cost` measures.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/measure/groups.hpp>
#include <croquis/random/key.hpp>
#include <croquis/stats/regression.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// One timed call; the columns say what each member is. NaN is what there is nothing to say about.
struct CostRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, method, preset;
  std::uint64_t n = 0, p = 0, p_v = 0, features = 0, repeat = 0, seed = 0;
  std::string precision;
  std::uint64_t threads = 0;
  double seconds = kUndefined, peak_bytes = kUndefined, flops = kUndefined;
  std::string status = "ok";
};

const Columns<CostRow>& cost_columns();

/// What is timed: a method with its options, or exact attention to a target.
struct CostCandidate {
  MethodChoice choice;  ///< of exact attention the name alone: "exact", "exact-kernelized", ...
  std::optional<Target> exact = {};
};

/// Exact softmax attention, exact attention to every other target of the methods that costs something else (kernelized
/// and, with a position, those that have one; unit rows change nothing), then the methods.
std::vector<CostCandidate> cost_candidates(const std::vector<MethodChoice>& methods, bool with_position);

/// The same for a text that parse_methods takes; "all": without best-rank-d, an oracle; "exact": exact attention alone.
/// Throws as parse_methods and require_usable.
std::vector<CostCandidate> cost_candidates(const std::string& methods, TokenAlignment shape, bool causal,
                                           bool with_position, const std::string& where = "--methods");

/// The leading terms of exact attention's work, as those of methods: two flops a multiply-add, one an exponential, for
/// the pairs of a query and a key that it attends to.
double exact_flops(TokenAlignment tokens, arma::uword p, arma::uword p_v, bool causal);

struct CostSettings {
  std::uint64_t repeats = 7;  ///< timed calls, >= 1
  std::uint64_t warmup = 1;   ///< calls before them
};

/// Rows 1, ..., repeats of a candidate at d (which exact attention has none of: 0), one call after the other on all
/// threads of the library. A call is what a single problem costs, preparation included. A failure becomes the status of
/// all rows. input and seed are the caller's.
/// Times are those of the build: a library without optimisation has none worth knowing. peak_bytes is of one more call,
/// and of the whole process: nothing else should run meanwhile.
/// Randomness: all calls draw from `key`. Throws std::invalid_argument for repeats = 0.
template <typename T>
std::vector<CostRow> call_costs(const Problem<T>& problem, const CostCandidate& candidate, arma::uword d,
                                const Key& key, const CostSettings& settings = {});

/// The time of a curve as c n^slope.
struct Growth {
  std::string label;  ///< of its groups
  LineFit fit;        ///< of the logarithms of the median times, by least squares
};

/// Of groups whose axis is n: of every curve with three sizes or more, in the order of the groups.
/// Throws std::invalid_argument for another axis.
std::vector<Growth> growth_of_time(const Grouping& grouping);

}  // namespace croquis
