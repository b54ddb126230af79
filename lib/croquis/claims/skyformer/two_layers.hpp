// A small transformer of two layers, with gradients and Adam: how much a training step changes its output.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <optional>
#include <vector>

namespace croquis::claims {

/// Tokens to classes: an embedding with positions, two layers x + D(A(LN x)), x + D(W_2 D(relu(LN(x) W_1))), LayerNorm,
/// the mean over tokens and a linear classifier. A is exact attention of one head to a target (softmax or kernelized)
/// with weights for q, k, v and the output, D dropout, LN has neither gain nor shift; there are no biases. Initial
/// weights are N(0, 1 / (3 rows)), the variance that PyTorch has, embeddings N(0, .02^2).
class TwoLayers {
 public:
  struct Sizes {
    arma::uword tokens = 64, width = 32, inner = 64, words = 15, classes = 10;
  };

  /// Randomness: the weights, from the key.
  TwoLayers(const Sizes& sizes, Target target, const Key& draw_key);

  /// Divides attention's output by this; the default value is 1.
  void divide_attention(double divisor) { divisor_ = divisor; }

  /// The tokens' representations after both layers, before and after the last LayerNorm; tokens x width. `codes`: one
  /// word per token, below `words`. With a key there is dropout, whose masks depend on the key alone.
  struct Embedding {
    arma::mat before, after;
  };
  Embedding embed(const arma::uvec& codes, const std::optional<Key>& dropout) const;

  /// Returns the cross-entropy of one sequence's class, and adds its gradient with respect to every weight to
  /// `gradient` (same shapes as weights()).
  double add_gradient(const arma::uvec& codes, arma::uword label, const std::optional<Key>& dropout,
                      std::vector<arma::mat>& gradient) const;

  /// A step of Adam (.9, .999, 1e-8); returns ||W' - W||_F.
  double step(const std::vector<arma::mat>& gradient, double rate);

  std::vector<arma::mat> zeros() const;
  std::vector<arma::mat>& weights() { return weights_; }

  static constexpr std::uint64_t kOneIn = 10;  ///< dropout probability 1 / kOneIn

 private:
  struct LayerPass;
  arma::mat run(const arma::uvec& codes, const std::optional<Key>& dropout, std::vector<LayerPass>& passes) const;

  Sizes sizes_;
  Target target_;
  double divisor_ = 1;
  // Words, positions; of each layer q, k, v, output, inner, back; classes.
  std::vector<arma::mat> weights_, first_moment_, second_moment_;
  int steps_ = 0;
};

}  // namespace croquis::claims
