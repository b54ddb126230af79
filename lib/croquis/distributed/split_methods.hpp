// Attention approximations with the tokens divided over the ranks: O(n / R) memory a rank, one or two reductions.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/distributed/split_head.hpp>
#include <croquis/random/key.hpp>
#include <string>
#include <vector>

namespace croquis {

/// The output rows of this rank, and its estimated row sums where the method has some.
///
/// Guarantees: the draws (landmarks, entries of S, directions) have the bits of the method of that name in
///   croquis/attention, for any number of ranks; sums over tokens are added in another order. An entry of a sum of n
///   terms x differs by at most 2 n u sum |x|, and the output by what the method makes of that: an ill-conditioned core
/// multiplies it. Failures are found by all ranks together: all of them throw std::runtime_error.
struct SplitApproximation {
  arma::mat output;
  std::optional<Denominators<double>> denominators;
};

/// The names: v-mean, linformer, skyformer, skyformer-softmax, performer; with the options they have by default, and
/// performer with map=prf, trf, hyperbolic or sphere, projection and epsilon.
const std::vector<std::string>& split_method_names();

/// What all draws share. Throws std::invalid_argument for a method that is not divided, and for options.
using SplitMethod =
    std::function<SplitApproximation(const SplitHead&, arma::uword d, const Key& draw_key, const Communicator& world)>;
SplitMethod split_method(const std::string& name, const OptionValues& options);

}  // namespace croquis
