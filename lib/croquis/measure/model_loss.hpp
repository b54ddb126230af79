// What approximated attention costs the model that uses it: what `croquis model` measures.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/models/model.hpp>
#include <croquis/models/token_sequences.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace croquis {

/// One forward pass of a model on one sequence, some heads approximated; the columns say what each member is.
struct ModelRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string model = {}, layers = {}, method = {}, preset = {};
  std::uint64_t features = 0, trial = 0, seed = 0, sequence = 0, tokens = 0, counted = 0;
  double loss = kUndefined, loss_exact = kUndefined;
  double accuracy = kUndefined, accuracy_exact = kUndefined;
  double agreement = kUndefined, kl = kUndefined, hidden_rel = kUndefined;
  double seconds = kUndefined;
  std::string status = "ok";
  double flops = kUndefined, flops_exact = kUndefined;
  std::string precision = "double";
  std::string by_layer = {};
};

/// That of --by-layer is added by this option.
const Columns<ModelRow>& model_columns();

/// `exact` in place of a method: exact attention, in the precision of the methods.
bool is_exact(const MethodChoice& choice);

/// The heads whose attention is approximated: each of `heads` in each of `layers`.
struct ReplacedHeads {
  std::string name;  ///< in the results
  std::vector<arma::uword> layers, heads;
};

/// A model on one sequence: a pass with exact attention, to which passes with approximated heads are compared. Loss is
/// the mean of -log softmax(logits)_label over the positions that have labels, and of a row that of the same positions
/// in both. Everything but the approximated heads is in double.
/// Memory: the hidden states of the exact pass, (layers + 1) n hidden numbers. Thread-safe once made.
class ModelOnSequence {
 public:
  /// Throws std::invalid_argument as Model::embed, and for a sequence of which no position counts.
  ModelOnSequence(Model model, LabelledSequence sequence);

  /// A pass in which the chosen heads are approximated in precision T, whose errors go on through the layers after
  /// them. What the caller knows (model, trial, seed, sequence) is left to it; by_layer has the relative Frobenius
  /// error of each layer's output, with blanks between. A method that fails, or an output that is not finite, becomes
  /// the status, with the layer and head. Randomness: head h of layer l has draw_key.child(l).child(h). Cost: the
  /// layers from the first that is approximated on, and the language-model head twice.
  template <typename T>
  ModelRow row(const ReplacedHeads& replaced, const MethodChoice& choice, arma::uword d, const Key& draw_key) const;

  /// What the language-model head reads in the exact pass (n x hidden).
  const arma::mat& last_hidden() const { return last_; }

 private:
  void compare(ModelRow& row, const arma::mat& last) const;

  Model model_;
  TokenWindows tokens_;
  std::vector<arma::uword> counted_;  // positions
  std::vector<std::uint32_t> labels_;
  std::vector<arma::mat> hidden_;  // the input of each layer, and the output of the last
  arma::mat last_;                 // what the language-model head reads
};

}  // namespace croquis
