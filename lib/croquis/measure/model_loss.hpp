// The effect of approximated attention on the predictions and the loss of a model: what `croquis model` measures.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/models/model.hpp>
#include <croquis/models/token_sequences.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace croquis {

/// One forward pass of a model on one sequence with some heads approximated. model_columns() documents the members.
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

/// The columns. The option --by-layer adds one.
const Columns<ModelRow>& model_columns();

/// Whether the choice is `exact`: exact attention, in the precision of the methods.
bool is_exact(const MethodChoice& choice);

/// The method that computes the attention of a head.
struct HeadMethod {
  MethodChoice choice;
  arma::uword features = 0;
  /// As ChoiceRow::flops_limit: the model's own exact attention takes the place of the method on sequences of fewer
  /// tokens than d, and where the method's flops are not below this number times those of exact attention. Not set: the
  /// method is used on all sequences.
  std::optional<double> flops_limit = {};
};

/// The heads of a model that are approximated, and their methods.
struct Replacement {
  std::string layers, method, preset;                                    ///< in the results
  arma::uword features = 0;                                              ///< in the results; 0 where heads differ
  std::map<std::pair<arma::uword, arma::uword>, HeadMethod> heads = {};  ///< by layer and head

  /// Whether a method of some head is random.
  bool is_random() const;
};

/// The replacement of each of `heads` in each of `layers` by the same method. `name` describes the layers in the
/// results.
Replacement same_replacement(const std::string& name, const std::vector<arma::uword>& layers,
                             const std::vector<arma::uword>& heads, const HeadMethod& method);

/// A model on one sequence: a pass with exact attention, with which passes with approximated heads are compared. The
/// loss is the mean of -log softmax(logits)_label over the positions that have labels; both losses of a row are over
/// the same positions. Everything but the approximated heads is computed in double. Thread-safe after construction.
/// Memory: the hidden states of the exact pass, (layers + 1) n hidden numbers.
class ModelOnSequence {
 public:
  /// Throws std::invalid_argument as Model::embed, for a sequence without labels, for more or fewer labels than ids,
  /// for a label that is not below Model::vocabulary(), and where the exact pass overflows.
  ModelOnSequence(Model model, LabelledSequence sequence);

  /// A pass in which heads are approximated, in precision T, with errors propagated through the following layers. The
  /// caller sets model, trial, seed and sequence. by_layer has the relative Frobenius error of each layer's output,
  /// separated by blanks. If a method fails, or an output is not finite, the status says so, with the layer and head.
  /// Randomness: head h of layer l uses draw_key.child(l).child(h).
  /// Cost: the layers from the first approximated one on, and the language-model head twice.
  /// Throws std::invalid_argument where no head is replaced, or one that the model does not have, and where a logit of
  /// the exact pass is not finite.
  template <typename T>
  ModelRow row(const Replacement& replacement, const Key& draw_key) const;

  /// The input of the language-model head in the exact pass (n x hidden).
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
