#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/stopwatch.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/measure/cost.hpp>
#include <croquis/measure/model_loss.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kRowsOfLogits = 64;  // at a time: a vocabulary may be large

// What the rows of logits of two passes say, summed over rows.
struct Comparison {
  double loss = 0, loss_exact = 0, correct = 0, correct_exact = 0, agreeing = 0, kl = 0;
};

// log softmax of a row, in place.
void log_softmax(arma::rowvec& row) {
  const double most = row.max();
  row -= most + std::log(arma::accu(arma::exp(row - most)));
}

void add(Comparison& sums, arma::rowvec exact, arma::rowvec approximate, std::uint32_t label) {
  const arma::uword best_exact = exact.index_max(), best = approximate.index_max();
  log_softmax(exact);
  log_softmax(approximate);
  sums.loss_exact -= exact(label);
  sums.loss -= approximate(label);
  sums.correct_exact += best_exact == label ? 1 : 0;
  sums.correct += best == label ? 1 : 0;
  sums.agreeing += best == best_exact ? 1 : 0;
  // No logarithm is infinite, so a probability that underflows adds 0: weights with an infinite entry are not read.
  sums.kl += arma::dot(arma::exp(exact), exact - approximate);
}

double relative_error(const arma::mat& approximate, const arma::mat& exact) {
  return arma::norm(approximate - exact, "fro") / arma::norm(exact, "fro");
}

// What the approximated heads of a pass take, and would take exactly.
struct Work {
  double flops = 0, flops_exact = 0;
};

template <typename T>
arma::mat approximated(const Problem<double>& head, const HeadMethod& method, const Key& draw_key, Work& work) {
  work.flops_exact = work.flops = exact_flops(head.tokens(), head.p(), head.p_v(), head.is_causal());
  const Problem<T> problem = in_precision<T>(head);
  arma::Mat<T> output;
  const bool is_limited = method.flops_limit.has_value();
  if (!is_exact(method.choice) && (!is_limited || takes(method.choice, method.features, head.tokens()))) {
    const PreparedMethod<T> prepared = prepare(find_method<T>(method.choice.name), problem, method.choice.options);
    const double flops = prepared.flops(static_cast<double>(method.features));
    if (!is_limited || flops < *method.flops_limit * work.flops_exact) {
      work.flops = flops;
      output = prepared.approximate(method.features, draw_key).output;
    }
  }
  if (output.is_empty()) output = exact_attention(problem, Target::softmax).output;
  if (!output.is_finite()) throw std::runtime_error("not finite: the output of the method");
  return arma::conv_to<arma::mat>::from(output);
}

// The context of a layer, some of its heads replaced. Throws std::runtime_error, naming the head.
template <typename T>
arma::mat context_of(const Model& model, const HeadProjections& projections, const Replacement& replacement,
                     arma::uword layer, const Key& draw_key, Work& work) {
  const arma::uword count = model.config().heads, p = model.config().p();
  arma::mat context(projections.q.n_rows, count * p);
  std::vector<Work> works(count);
  std::vector<std::string> failures(count);
  parallel_for(count, [&](std::size_t h) {
    const Problem<double> head = model.head(projections, h);
    const auto method = replacement.heads.find({layer, h});
    try {
      context.cols(h * p, (h + 1) * p - 1) = method == replacement.heads.end()
                                                 ? exact_attention(head, Target::softmax).output
                                                 : approximated<T>(head, method->second, draw_key.child(h), works[h]);
    } catch (const std::exception& reason) {
      failures[h] = reason.what();
    }
  });
  for (std::size_t h = 0; h < count; ++h) {
    if (!failures[h].empty()) throw std::runtime_error(fmt::format("head {}: {}", h, failures[h]));
    work.flops += works[h].flops;
    work.flops_exact += works[h].flops_exact;
  }
  return context;
}

}  // namespace

const Columns<ModelRow>& model_columns() {
  static const Columns<ModelRow> columns = {
      {{"model", Role::key, "the name of the model: of its file or folder"}, &ModelRow::model},
      {{"layers", Role::key,
        "the layers that are approximated, as `--layers` has them; of `each`, the one layer of the row. With "
        "`--heads`, "
        "`;heads=` and the heads follow"},
       &ModelRow::layers},
      {{"method", Role::curve, "the method, or `exact`"}, &ModelRow::method},
      {{"preset", Role::curve, "the preset, then other options, as in the rows of `error`"}, &ModelRow::preset},
      {{"features", Role::axis, "number of features d; 0 for `exact` and `choice`", "d"}, &ModelRow::features},
      {{"trial", Role::draw, "the number of the draw, from 1"}, &ModelRow::trial},
      {{"seed", Role::note, "`--seed`"}, &ModelRow::seed},
      {{"sequence", Role::key, "the sequence, from 0"}, &ModelRow::sequence},
      {{"tokens", Role::subject,
        "tokens that the model reads; of a decoder without `--labels` the last one is only predicted"},
       &ModelRow::tokens},
      {{"counted", Role::subject, "positions with a label, over which the following are means"}, &ModelRow::counted},
      {{"loss", Role::metric, "mean of -log of the probability of the label, in nats"}, &ModelRow::loss},
      {{"loss_exact", Role::number, "the same with exact attention, in double"}, &ModelRow::loss_exact},
      {{"accuracy", Role::metric, "share of positions at which the label is the most likely token"},
       &ModelRow::accuracy},
      {{"accuracy_exact", Role::number, "the same with exact attention"}, &ModelRow::accuracy_exact},
      {{"agreement", Role::metric,
        "share of positions at which the most likely token is that of the model with exact attention"},
       &ModelRow::agreement},
      {{"kl", Role::metric, "mean over positions of the Kullback-Leibler divergence KL(exact ‖ approximated)",
        "KL(exact || approximated)"},
       &ModelRow::kl},
      {{"hidden_rel", Role::metric,
        "‖X - X~‖_F / ‖X‖_F of the last hidden state (of a decoder after its final norm), over all tokens",
        "||X - X~||_F / ||X||_F"},
       &ModelRow::hidden_rel},
      {{"seconds", Role::number, "the time of the pass from the first approximated layer on, beside others", "", "s"},
       &ModelRow::seconds},
      {{"status", Role::note, "`ok`, or which head failed and why; the measured numbers are then missing"},
       &ModelRow::status},
      {{"flops", Role::number,
        "flops of the approximated heads, summed; for `choice` also of the heads that it keeps exact. They are "
        "leading terms, as in the rows of `error`"},
       &ModelRow::flops},
      {{"flops_exact", Role::number, "flops of exact attention in these heads"}, &ModelRow::flops_exact},
      {{"precision", Role::note, "the precision of the approximated heads; all else is computed in double"},
       &ModelRow::precision},
      {{"by_layer", Role::note,
        "the relative error of the output of each layer, from the first one, with blanks between", "", "",
        "--by-layer"},
       &ModelRow::by_layer}};
  return columns;
}

bool is_exact(const MethodChoice& choice) {
  return choice.name == "exact";
}

bool Replacement::is_random() const {
  return std::any_of(heads.begin(), heads.end(), [](const auto& head) {
    const MethodChoice& choice = head.second.choice;
    return !is_exact(choice) && find_method<double>(choice.name).random(choice.options);
  });
}

Replacement same_replacement(const std::string& name, const std::vector<arma::uword>& layers,
                             const std::vector<arma::uword>& heads, const HeadMethod& method) {
  Replacement replacement{
      .layers = name, .method = method.choice.name, .preset = method.choice.preset, .features = method.features};
  for (const arma::uword l : layers) {
    for (const arma::uword h : heads) replacement.heads.emplace(std::pair(l, h), method);
  }
  return replacement;
}

namespace {

void require_no_overflow(bool finite, const std::string& what, arma::uword tokens) {
  if (finite) return;
  throw std::invalid_argument(fmt::format(
      "with exact attention {} is not finite, on a sequence of {} tokens: the model's weights, or products of "
      "them, overflow",
      what, tokens));
}

}  // namespace

ModelOnSequence::ModelOnSequence(Model model, LabelledSequence sequence) : model_(std::move(model)) {
  require(sequence.labels.size() == sequence.ids.size(), "ModelOnSequence", "a label, or none, for each token",
          {{"labels", sequence.labels.size()}, {"tokens", sequence.ids.size()}});
  tokens_.ends = {sequence.ids.size()};
  tokens_.ids = std::move(sequence.ids);
  for (arma::uword i = 0; i < sequence.labels.size(); ++i) {
    if (!sequence.labels[i]) continue;
    require(*sequence.labels[i] < model_.vocabulary(), "ModelOnSequence", "labels below the number of word embeddings",
            {{"label", *sequence.labels[i]}, {"token", i}, {"word embeddings", model_.vocabulary()}});
    counted_.push_back(i);
    labels_.push_back(*sequence.labels[i]);
  }
  require(!counted_.empty(), "ModelOnSequence", "a position with a label, other than -100");
  hidden_.push_back(model_.embed(tokens_));
  for (arma::uword l = 0; l < model_.config().layers; ++l) {
    const HeadProjections projections = model_.project(hidden_[l], l, tokens_);
    try {
      hidden_.push_back(model_.output(hidden_[l], model_.attend(projections, tokens_), l));
    } catch (const std::invalid_argument& reason) {
      throw std::invalid_argument(fmt::format(
          "with exact attention layer {} is not finite, or nearly so ({}): the model's weights, or products of "
          "them, overflow",
          l, reason.what()));
    }
    require_no_overflow(hidden_.back().is_finite(), fmt::format("the output of layer {}", l), tokens_.ids.size());
  }
  last_ = model_.last_hidden(hidden_.back());
  require_no_overflow(last_.is_finite(), "the last hidden state", tokens_.ids.size());
}

template <typename T>
ModelRow ModelOnSequence::row(const Replacement& replacement, const Key& draw_key) const {
  require(!replacement.heads.empty(), "ModelOnSequence", "at least one head that is replaced");
  const ModelConfig& config = model_.config();
  for (const auto& [place, method] : replacement.heads) {
    require(place.first < config.layers && place.second < config.heads, "ModelOnSequence", "heads that the model has",
            {{"layer", place.first}, {"layers", config.layers}, {"head", place.second}, {"heads", config.heads}});
  }
  ModelRow row{.layers = replacement.layers,
               .method = replacement.method,
               .preset = replacement.preset,
               .features = replacement.features,
               .tokens = tokens_.ids.size(),
               .counted = counted_.size(),
               .precision = std::is_same_v<T, float> ? "float" : "double"};
  const Stopwatch stopwatch;
  const arma::uword first = replacement.heads.begin()->first.first;  // the map is in the order of the layers
  std::vector<std::string> errors(first, "0");
  Work work;
  arma::mat x = hidden_[first];
  for (arma::uword l = first; l < config.layers; ++l) {
    const HeadProjections projections = model_.project(x, l, tokens_);
    try {
      const auto next = replacement.heads.lower_bound({l, 0});
      const bool has_replaced = next != replacement.heads.end() && next->first.first == l;
      x = model_.output(x,
                        has_replaced ? context_of<T>(model_, projections, replacement, l, draw_key.child(l), work)
                                     : model_.attend(projections, tokens_),
                        l);
    } catch (const std::exception& reason) {
      row.status = fmt::format("layer {}, {}", l, reason.what());
      return row;
    }
    errors.push_back(csv_number(relative_error(x, hidden_[l + 1])));
  }
  const arma::mat last = model_.last_hidden(std::move(x));
  if (!last.is_finite()) {
    row.status = "not finite: the last hidden state";
    return row;
  }
  const double seconds = stopwatch.seconds();
  compare(row, last);
  if (row.status != "ok") return row;
  row.seconds = seconds;
  row.flops = work.flops;
  row.flops_exact = work.flops_exact;
  row.by_layer = fmt::format("{}", fmt::join(errors, " "));
  row.hidden_rel = relative_error(last, last_);
  return row;
}

void ModelOnSequence::compare(ModelRow& row, const arma::mat& last) const {
  Comparison sums;
  for (arma::uword begin = 0; begin < counted_.size(); begin += kRowsOfLogits) {
    const arma::uword end = std::min<arma::uword>(begin + kRowsOfLogits, counted_.size());
    const arma::uvec places(std::vector<arma::uword>(counted_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                     counted_.begin() + static_cast<std::ptrdiff_t>(end)));
    const arma::mat exact = model_.logits(last_.rows(places)), approximate = model_.logits(last.rows(places));
    require_no_overflow(exact.is_finite(), "a logit", tokens_.ids.size());
    if (!approximate.is_finite()) {
      row.status = "not finite: the logits";
      return;
    }
    for (arma::uword i = begin; i < end; ++i) add(sums, exact.row(i - begin), approximate.row(i - begin), labels_[i]);
  }
  const auto count = static_cast<double>(counted_.size());
  row.loss = sums.loss / count;
  row.loss_exact = sums.loss_exact / count;
  row.accuracy = sums.correct / count;
  row.accuracy_exact = sums.correct_exact / count;
  row.agreement = sums.agreeing / count;
  row.kl = sums.kl / count;
}

template ModelRow ModelOnSequence::row<float>(const Replacement&, const Key&) const;
template ModelRow ModelOnSequence::row<double>(const Replacement&, const Key&) const;

}  // namespace croquis
