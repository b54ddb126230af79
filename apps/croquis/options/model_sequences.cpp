#include "options/model_sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/io/digest.hpp>
#include <croquis/measure/model_loss.hpp>
#include <croquis/random/indices.hpp>
#include <memory>
#include <numeric>

#include "options/lists.hpp"
#include "options/padding.hpp"
#include "options/refuse.hpp"

namespace {

using croquis::LabelledSequence;

double mask_of(const LabelOptions& labels) {
  return labels.mask.value_or(0.15);
}

ModelSequences of_files(const InputOptions& o, const LabelOptions& labels, const croquis::Model& model) {
  const bool decoder = model.config().is_causal();
  if (labels.labels.empty() && !decoder) {
    refuse(fmt::format("--labels: a model of type {} predicts masked tokens; give labels.npy, of the shape of the ids",
                       croquis::name_of(model.config().type)));
  }
  const auto file = std::make_shared<const croquis::TokenSequences>(
      croquis::TokenSequences::Files{o.ids, o.lengths, labels.labels}, decoder);
  ModelSequences sequences;
  sequences.numbers = parse_numbers(o.sequence, "--sequence", file->count());
  note_padding(o, *file, sequences.numbers, model.config());
  if (decoder && file->labels_are_ids(sequences.numbers)) {
    refuse(
        fmt::format("--labels: {} repeats the ids, and labels of a decoder are the next tokens; leave --labels out, or "
                    "shift them by one",
                    labels.labels));
  }
  for (const arma::uword s : sequences.numbers) {
    sequences.lengths.push_back(file->length(s));
    require_positions(s, file->length(s), model.config());
    const LabelledSequence sequence = file->labelled(s, model.vocabulary());
    if (std::none_of(sequence.labels.begin(), sequence.labels.end(), [](const auto& l) { return l.has_value(); })) {
      refuse(fmt::format("{}: sequence {} has no token to be predicted; leave it out with --sequence",
                         labels.labels.empty() ? o.ids : labels.labels, s));
    }
  }
  sequences.read = [file, numbers = sequences.numbers, vocabulary = model.vocabulary()](std::size_t chosen) {
    return file->labelled(numbers[chosen], vocabulary);
  };
  sequences.source = fmt::format("sequences {}", o.sequence);
  return sequences;
}

// A window whose masked tokens are to be predicted.
LabelledSequence masked(croquis::TokenIds ids, const TextWindows& windows, double share, const croquis::Key& draw_key) {
  if (!windows.mask) refuse("--vocab: has no [MASK] and no <mask>, which the text of a masked language model needs");
  std::vector<arma::uword> free;
  for (arma::uword i = 0; i < ids.size(); ++i) {
    if (!windows.special.contains(ids[i])) free.push_back(i);
  }
  if (free.empty()) {
    refuse("--text, --n: a window has special tokens alone, as [CLS] and [UNK], which are not masked; give others");
  }
  const auto wanted = static_cast<arma::uword>(std::lround(share * static_cast<double>(free.size())));
  LabelledSequence sequence{std::move(ids), {}};
  sequence.labels.resize(sequence.ids.size());
  for (const arma::uword i :
       croquis::sample_without_replacement(free.size(), std::max<arma::uword>(1, wanted), draw_key)) {
    sequence.labels[free[i]] = sequence.ids[free[i]];
    sequence.ids[free[i]] = *windows.mask;
  }
  return sequence;
}

// A window of a decoder, which predicts the next tokens and does not read the last one.
LabelledSequence with_next_tokens(croquis::TokenIds ids) {
  if (ids.size() < 2)
    refuse("--n: the last window has one token, which has no next one; give another number of tokens");
  LabelledSequence sequence;
  sequence.labels.assign(ids.begin() + 1, ids.end());
  ids.pop_back();
  sequence.ids = std::move(ids);
  return sequence;
}

ModelSequences of_text(const InputOptions& o, const LabelOptions& labels, const croquis::Model& model,
                       const croquis::Key& draw_key) {
  if (!labels.labels.empty()) refuse("--labels: goes with --ids; of a text the model predicts masked or next tokens");
  const TextWindows text = windows_of_text(o, model);
  const bool decoder = model.config().is_causal();
  auto windows = std::make_shared<std::vector<LabelledSequence>>();
  ModelSequences sequences;
  for (std::size_t w = 0; w < text.tokens.ends.size(); ++w) {
    croquis::TokenIds ids(text.tokens.ids.begin() + static_cast<std::ptrdiff_t>(text.tokens.begin(w)),
                          text.tokens.ids.begin() + static_cast<std::ptrdiff_t>(text.tokens.ends[w]));
    windows->push_back(decoder ? with_next_tokens(std::move(ids))
                               : masked(std::move(ids), text, mask_of(labels), draw_key.child(w)));
    sequences.numbers.push_back(w);
    sequences.lengths.push_back(windows->back().ids.size());
  }
  sequences.read = [windows](std::size_t chosen) { return (*windows)[chosen]; };
  sequences.source = decoder ? "text" : fmt::format("text, mask {:g}", mask_of(labels));
  return sequences;
}

}  // namespace

ModelSequences model_sequences(const InputOptions& o, const LabelOptions& labels, const croquis::Model& model,
                               const croquis::Key& draw_key) {
  const double mask = mask_of(labels);
  if (!(mask >= 0 && mask <= 1)) {
    refuse(fmt::format("--mask: {:g} is not between 0 and 1, which a share of the tokens is", mask));
  }
  if (labels.mask && !o.ids.empty()) refuse("--mask: is of a text; with --ids, --labels says what is to be predicted");
  return o.ids.empty() ? of_text(o, labels, model, draw_key) : of_files(o, labels, model);
}

std::map<std::string, std::string> identity_of(const InputOptions& o, const OpenedModel& opened,
                                               const ModelSequences& sequences) {
  const croquis::ModelOnSequence checked(opened.model, sequences.read(0));  // throws where weights overflow
  croquis::Digest digest;
  for (std::size_t s = 0; s < sequences.numbers.size(); ++s) {
    const croquis::LabelledSequence sequence = sequences.read(s);
    for (std::size_t i = 0; i < sequence.ids.size(); ++i) {
      digest.add(
          fmt::format("{}:{} ", sequence.ids[i], sequence.labels[i] ? static_cast<long>(*sequence.labels[i]) : -100));
    }
    digest.add("\n");
  }
  // The counts say in words how sequences differ, where the digest says that they do.
  return {{"model", opened.name},
          {"contents of the model", digest_of_model(o)},
          {"number of sequences", std::to_string(sequences.numbers.size())},
          {"number of tokens",
           std::to_string(std::accumulate(sequences.lengths.begin(), sequences.lengths.end(), arma::uword{0}))},
          {"tokens", sequences.source},
          {"tokens and labels (digest)", digest.hex()}};
}
