// What choose() chooses among, and what each of it costs: known before any error is.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace croquis {

/// The size of a head, without its numbers.
struct HeadShape {
  arma::uword n_q = 0, n_k = 0, p = 0, p_v = 0;
  bool operator==(const HeadShape&) const = default;
};

enum class CostUnit { flops, seconds };
/// "flops" and "seconds". Throws std::invalid_argument for any other text.
CostUnit cost_unit_from_name(const std::string& name);

/// A method at one d: a rung of its ladder.
struct ChoiceCandidate {
  MethodChoice choice;
  arma::uword features = 0;
  std::vector<double> costs;  ///< of each shape
};

/// The methods, each with its numbers of features in descending order: the rung that is first has the largest d.
struct CandidateLadders {
  Target target = Target::softmax;  ///< of all of them
  std::vector<std::vector<ChoiceCandidate>> ladders;
  std::vector<HeadShape> shapes;    ///< that costs are known of
  std::vector<double> exact_costs;  ///< of exact attention to the target, for each shape
};

/// The candidates for heads of these shapes. Left out are numbers of features that are more than the tokens of a shape
/// or than the method takes, and of those of one method at the same cost all but the largest. A method that takes
/// O(n^2) work whatever d is (Method::quadratic) is never cheaper than exact attention, and is refused.
///
/// Costs: flops are the leading terms, as in the rows of `croquis error`, preparation included; of random numbers of
/// the same shape, since they do not depend on the numbers. Seconds are the median of `repeats` calls on such a problem
/// with all threads, preparation included, at the shape of median n_k alone, in proportion to flops at others.
/// `with_bias`, `causal`: what the position of the heads is. Throws: std::invalid_argument for methods of different
/// targets, and as require_usable; if nothing is left.
template <typename T>
CandidateLadders choice_candidates(const std::vector<MethodChoice>& methods, const std::vector<arma::uword>& features,
                                   const std::vector<HeadShape>& shapes, bool with_bias, bool causal, CostUnit unit,
                                   std::uint64_t repeats = 5);

/// The methods among those of "all" that can be candidates: of the target softmax, linear in the work, with a causal or
/// a rectangular form where that is needed.
std::vector<MethodChoice> usual_candidates(const std::vector<HeadShape>& shapes, bool causal);

}  // namespace croquis
