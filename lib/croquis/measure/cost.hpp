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

/// One timed call. cost_columns() documents the members. NaN marks a number that does not apply.
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

/// A candidate for timing: a method with its options, or exact attention to a target.
struct CostCandidate {
  MethodChoice choice;  ///< for exact attention only a name: "exact", "exact-kernelized", ...
  std::optional<Target> exact = {};
};

/// Exact attention to a target, by the name of `croquis cost`.
CostCandidate exact_candidate(Target target);

/// Exact softmax attention, then exact attention to every other target of the methods that has another cost (kernelized
/// and, if with_position says that there is a bias, targets with a bias; unit rows make no difference), then the
/// methods.
std::vector<CostCandidate> cost_candidates(const std::vector<MethodChoice>& methods, bool with_position);

/// The same for a text as parse_methods reads it. "all" leaves out best-rank-d, which is an oracle; "exact" means exact
/// attention alone. Throws as parse_methods and require_usable.
std::vector<CostCandidate> cost_candidates(const std::string& methods, TokenAlignment shape, PositionParts position,
                                           const std::string& where = "--methods");

/// The methods among the candidates, without exact attention.
std::vector<MethodChoice> methods_among(const std::vector<CostCandidate>& candidates);

/// The leading terms of the flops of exact attention, counted as for methods: two flops for a multiply-add, one for an
/// exponential, over the pairs of a query and a key that are not masked.
double exact_flops(TokenAlignment tokens, arma::uword p, arma::uword p_v, bool causal);

struct CostSettings {
  std::uint64_t repeats = 7;  ///< timed calls, >= 1
  std::uint64_t warmup = 1;   ///< calls before them, not timed
};

/// The rows of repeats 1, ..., `repeats` of a candidate at d (0 for exact attention), called one after the other on all
/// threads of the library. A call costs what a single problem costs, preparation included. A failure becomes the status
/// of all rows. The caller sets input and seed.
///
/// Times depend on the build; those of a library without optimisation are meaningless. peak_bytes is measured in one
/// more call and is that of the whole process, so nothing else should run in it meanwhile.
/// Randomness: all calls use `key`.
/// Throws: std::invalid_argument for repeats = 0.
template <typename T>
std::vector<CostRow> call_costs(const Problem<T>& problem, const CostCandidate& candidate, arma::uword d,
                                const Key& key, const CostSettings& settings = {});

/// The time of a call as a single number (s): the median of `repeats` calls on all threads after one that is not timed,
/// preparation included. Calls so short that all repeats take less than 20 ms are repeated for 20 ms, at most 1000
/// times.
/// Randomness: all calls use Key(1).
/// Throws: std::runtime_error if a call fails; as call_costs.
template <typename T>
double call_seconds(const Problem<T>& problem, const CostCandidate& candidate, arma::uword d,
                    std::uint64_t repeats = 5);

/// A power law c n^slope fitted to the times of a curve.
struct Growth {
  std::string label;  ///< of the groups of the curve
  LineFit fit;        ///< least-squares fit to the logarithms of the median times
};

/// The growth of every curve with at least three sizes, for groups whose axis is n, in the order of the groups. Throws
/// std::invalid_argument for another axis.
std::vector<Growth> growth_of_time(const Grouping& grouping);

}  // namespace croquis
