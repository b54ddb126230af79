// Attention approximations with the tokens divided among the ranks: O(n / R) memory for each rank, and one or two
// reductions.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/distributed/split_head.hpp>
#include <croquis/random/key.hpp>
#include <string>
#include <vector>

namespace croquis {

/// The output rows of this rank, and its estimated row sums if the method has any.
///
/// Guarantees: the draws (landmarks, entries of S, directions) have the bits of the method of that name in
///   croquis/attention, for any number of ranks. Sums over tokens are added in another order: a sum of n terms x
///   differs by at most 2 n u sum |x|. The difference of the output depends on the method; an ill-conditioned core
///   amplifies it. If a method breaks down on one rank (lost row sums, no inverse of the core), all ranks throw
///   std::runtime_error; a CommunicatorError may be of one rank alone. The head must be as require_split_head asks:
///   a rank with another part throws std::invalid_argument, and the others may wait for it.
struct SplitApproximation {
  arma::mat output;
  std::optional<Denominators<double>> denominators;
};

/// The names: v-mean, linformer, skyformer, skyformer-softmax and performer, with their default options; for performer
/// also map=prf, trf, hyperbolic or sphere, projection and epsilon.
const std::vector<std::string>& split_method_names();

/// The method of that name with these options. Throws std::invalid_argument for other methods and options.
using SplitMethod =
    std::function<SplitApproximation(const SplitHead&, arma::uword d, const Key& draw_key, const Communicator& world)>;
SplitMethod split_method(const std::string& name, const OptionValues& options);

}  // namespace croquis
