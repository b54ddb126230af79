// Searches for the inputs on which a bound is tightest. Not installed.
#pragma once

#include <croquis/claims/claim.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace croquis::claims {

/// The inputs of a search: matrices without a row longer than `radius`.
struct SearchSpace {
  arma::uword rows = 1, cols = 1;
  double radius = 1;
};

/// How long to search: the number of random starts, and of steps of local improvement from each.
struct SearchEffort {
  arma::uword starts = 8, steps = 100;
};

/// An input, and achieved / allowed there.
struct WorstCase {
  arma::mat input;
  double share = 0;
};

/// The largest share(input) that is found. Starts are the given inputs, then random ones: rows in uniform directions,
/// with lengths from radius / 1000 to radius whose logarithm is uniform. From each start the search takes normal steps
/// of one row or of all; a step that helps is kept and makes the next steps longer, any other makes them shorter. A
/// share that is not finite counts as 0.
/// Randomness: start s has key.child(s). Throws std::invalid_argument for an empty space, for a radius that is not
/// positive and finite, without a start and for a start of another size; what share() throws; and Interrupted.
/// Cost: (starts + given) * (steps + 1) evaluations, the starts on the library's threads.
WorstCase search_worst(const SearchSpace& space, const SearchEffort& effort, const std::vector<arma::mat>& given,
                       const std::function<double(const arma::mat&)>& share, const Key& key,
                       const std::function<bool()>& interrupted);

/// A bound for all inputs whose worst input is searched for.
struct SearchedBound {
  std::string name;   ///< of the file in tests/claims/worst/ that has the largest share found so far
  std::string claim;  ///< id of the reading whose bound it is, and whose numbers of thresholds.csv `share` asks for
  SearchSpace space;
  std::vector<arma::mat> starts = {};  ///< structured inputs to start from
  /// What is achieved over what the bound allows: by exact arithmetic on a known distribution where anything is random.
  std::function<double(const arma::mat& input, const Check& check)> share;
  /// Where `share` is measured on draws that the search maximises over: the same on draws that it has not seen, which
  /// is what is published. Empty where `share` is exact.
  std::function<double(const arma::mat& input, const Check& check)> again = {};
};

/// The searched bounds of all papers, in the order of papers().
const std::vector<SearchedBound>& searched_bounds();
/// Throws std::invalid_argument for an unknown name.
const SearchedBound& searched_bound(std::string_view name);

/// The input in the file of that name, with the share that it was stored with; no rows when there is no file.
WorstCase stored_worst(std::string_view name);

/// Sets the tightness of the report to {proved, 1 / share} and adds the row of the search: the stored input, evaluated
/// again, and in a run that is not quick, for the reading whose bound it is, a search from the stored input and from
/// random ones. Where the bound has `again`, the share is that of the stored input and of the one found, on the draws
/// that the search has not seen. REFUTED where the share is above 1 but for rounding; an input that is worse than the
/// one on file is in `hypotheses`, row by row. All numbers of the row are shares of what the reading allows:
/// `generous` is how many times that is what the bound of that name allows. `seen` is the largest such share in the
/// report's other rows: where it is larger, the tightness is 1 / seen. With an input of the user's own there is no row:
/// the tightness is that of the stored input and of `seen`.
void add_worst(Report& report, const Check& check, std::string_view name, double proved, double generous,
               double seen = 0);

}  // namespace croquis::claims
