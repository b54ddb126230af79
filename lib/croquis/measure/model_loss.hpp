// What approximated attention costs the model that uses it: what `croquis model` measures.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/models/model.hpp>
#include <croquis/models/token_sequences.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
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

/// What computes the attention of a head.
struct HeadMethod {
  MethodChoice choice;
  arma::uword features = 0;
};

/// The heads of a model that are replaced, and by what.
struct Replacement {
  std::string layers, method, preset;                                    ///< in the results
  arma::uword features = 0;                                              ///< in the results; 0 where heads differ
  std::map<std::pair<arma::uword, arma::uword>, HeadMethod> heads = {};  ///< by layer and head

  /// Whether another draw gives another pass.
  bool is_random() const;
};

/// Each of `heads` in each of `layers` by one method at one d. `name` is that of the layers in the results.
Replacement same_replacement(const std::string& name, const std::vector<arma::uword>& layers,
                             const std::vector<arma::uword>& heads, const MethodChoice& choice, arma::uword d);

/// A model on one sequence: a pass with exact attention, to which passes with approximated heads are compared. Loss is
/// the mean of -log softmax(logits)_label over the positions that have labels, and of a row that of the same positions
/// in both. Everything but the approximated heads is in double.
/// Memory: the hidden states of the exact pass, (layers + 1) n hidden numbers. Thread-safe once made.
class ModelOnSequence {
 public:
  /// Throws std::invalid_argument as Model::embed, and for a sequence of which no position counts.
  ModelOnSequence(Model model, LabelledSequence sequence);

  /// A pass in which heads are replaced, in precision T, whose errors go on through the layers after
  /// them. What the caller knows (model, trial, seed, sequence) is left to it; by_layer has the relative Frobenius
  /// error of each layer's output, with blanks between. A method that fails, or an output that is not finite, becomes
  /// the status, with the layer and head. Randomness: head h of layer l has draw_key.child(l).child(h). Cost: the
  /// layers from the first that is approximated on, and the language-model head twice.
  template <typename T>
  ModelRow row(const Replacement& replacement, const Key& draw_key) const;

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
