// The candidates of choose() and their costs, which are known before any error is measured.
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

/// A method at one d, on the heads where it takes d and costs less than exact attention; on others it is exact
/// attention.
struct ChoiceCandidate {
  MethodChoice choice;
  arma::uword features = 0;
  std::vector<double> costs;  ///< of the method for each of the shapes; infinite where it does not take d
  std::vector<double> rates;  ///< cost / flops for each of the shapes: 1, or the seconds of a flop
};

/// A ladder for each method: its candidates in descending order of d.
struct CandidateLadders {
  Target target = Target::softmax;  ///< of all of them
  std::vector<std::vector<ChoiceCandidate>> ladders;
  std::size_t methods = 0;          ///< the number of given methods, those without a ladder included
  std::vector<HeadShape> shapes;    ///< the shapes for which costs are known
  std::vector<double> exact_costs;  ///< of exact attention to the target, for each shape
  std::vector<double> exact_rates;  ///< cost / flops of exact attention, for each shape
  /// Where heads were timed themselves (timed_on_heads()), which entry of `shapes` has the costs of each head; there
  /// may be several of one shape. Empty: costs depend on the shape alone.
  std::vector<std::size_t> shape_of_head = {};

  /// The entry of `shapes` with the costs of head number `head`, which has this shape. Throws std::invalid_argument if
  /// there is none.
  std::size_t number_of(const HeadShape& shape, std::size_t head = 0) const;
  /// The entry of `shapes` at which seconds are measured: that of median n_k, of two in the middle the longer one,
  /// among those with a finite cost, of which there is one.
  std::size_t timed_shape(const std::vector<double>& costs) const;
  /// Whether the method is used on heads of shape number s: its cost is below max_cost times that of exact attention.
  bool is_used(const ChoiceCandidate& candidate, std::size_t s, double max_cost) const {
    return candidate.costs[s] < max_cost * exact_costs[s];
  }
  /// The cost of the candidate on heads of shape number s: that of exact attention where the method is not used.
  double cost_on(const ChoiceCandidate& candidate, std::size_t s, double max_cost) const {
    return is_used(candidate, s, max_cost) ? candidate.costs[s] : exact_costs[s];
  }
  /// is_used() as a rule for flops: the method is used where its flops are below this number times those of exact
  /// attention. It is the same for all shapes, unless heads were timed themselves.
  double flops_limit(const ChoiceCandidate& candidate, std::size_t s, double max_cost) const {
    return max_cost * exact_rates[s] / candidate.rates[s];
  }
};

/// The candidates for heads of these shapes. A method takes a d that is at most n_k and its largest d; a d that it
/// takes for none of the shapes is left out. If all heads have one shape, of several candidates of a method with the
/// same cost only that with the largest d is kept. Methods that compute all scores whatever d is (Method::quadratic)
/// are refused, because they can save only a part of the work, as top-keys saves that for the values.
///
/// Costs in flops are the leading terms, as in the rows of `croquis error`, preparation included; they are computed on
/// random entries of the same shape, on which they do not depend. Costs in seconds, which for some methods do depend on
/// the head (timed_on_heads()), are those of call_seconds() on such a problem. They are measured at one shape
/// (CandidateLadders::timed_shape()), and scaled in proportion to flops for the others.
/// `position` is that of all heads.
/// Throws: std::invalid_argument for methods of different targets, for a quadratic method, if a list is empty, and if
///   no candidate is left; also as require_usable. std::runtime_error if a timed call fails.
template <typename T>
CandidateLadders choice_candidates(const std::vector<MethodChoice>& methods, const std::vector<arma::uword>& features,
                                   const std::vector<HeadShape>& shapes, PositionParts position, CostUnit unit,
                                   std::uint64_t repeats = 5);

/// The largest d of a range of numbers of features without an end of its own: n_k if all heads have one shape,
/// otherwise the largest number, as the set of candidates must not depend on the lengths of sequences. Throws
/// std::invalid_argument if there is no shape.
arma::uword end_of_range(const std::vector<HeadShape>& shapes);

/// The methods of "all" that can be candidates: of the target softmax, or with a bias of softmax_rpe, not quadratic,
/// and with a causal or a rectangular form if that is needed.
std::vector<MethodChoice> usual_candidates(const std::vector<HeadShape>& shapes, PositionParts position);

}  // namespace croquis
