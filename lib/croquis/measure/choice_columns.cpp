#include <croquis/core/require.hpp>
#include <croquis/measure/choice_race.hpp>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/head_columns.hpp>
#include <croquis/stats/e_process.hpp>

namespace croquis {

ChoicePer choice_per_from_name(const std::string& name) {
  require(name == "head" || name == "layer" || name == "model", "per", "is head, layer or model",
          {{"per", std::string_view(name)}});
  if (name == "head") return ChoicePer::head;
  return name == "layer" ? ChoicePer::layer : ChoicePer::model;
}

std::uint64_t default_draws(std::size_t sequences) {
  return sequences == 1 ? 1000 : 1;
}

const std::vector<std::string>& choice_metrics(bool with_rows) {
  static const std::vector<std::string> all = {"frobenius_rel", "spectral_rel", "frobenius_abs", "spectral_abs",
                                               "max_abs",       "row_rel_q50",  "row_rel_q90",   "row_rel_q99",
                                               "row_rel_max",   "row_kl_mean",  "row_kl_q90"};
  static const std::vector<std::string> with_intervals = {"frobenius_rel", "spectral_rel"};
  return with_rows ? with_intervals : all;
}

std::uint64_t units_to_certify(const ChoiceSettings& settings, std::size_t ladders) {
  return losses_to_show(settings.delta, (1 - settings.confidence) / static_cast<double>(ladders));
}

const Columns<ChoiceDraw>& choice_draw_columns() {
  static const Columns<ChoiceDraw> columns = {
      {{"input", Role::key, "the head, as in the rows of `choose --per head`"}, &ChoiceDraw::input},
      {{"sequence", Role::key, "the sequence, from 0"}, &ChoiceDraw::sequence},
      {{"layer", Role::subject, "the layer, from 0. `NA` if the input has none"}, &ChoiceDraw::layer},
      {head_column(), &ChoiceDraw::head},
      {{"method", Role::curve, "the method"}, &ChoiceDraw::method},
      {{"preset", Role::curve, "the preset, then other options, as in the rows of `error`"}, &ChoiceDraw::preset},
      {{"features", Role::axis, "number of features d", "d"}, &ChoiceDraw::features},
      {{"trial", Role::draw, "the number of the draw on this sequence, from 1"}, &ChoiceDraw::trial},
      {{"seed", Role::note, "`--seed`"}, &ChoiceDraw::seed},
      {{"precision", Role::note, "the precision in which the method computes"}, &ChoiceDraw::precision},
      {{"error", Role::metric,
        "`--metric` of the draw; with `--rows` the upper end of its 95 % interval. `NA`: the method failed, or the "
        "metric is undefined, which counts as larger than ε. With `--target-loss`, KL(exact ‖ approximated) of a "
        "layer, "
        "and the rise of the loss of a step"},
       &ChoiceDraw::error},
      {{"cost_ratio", Role::number,
        "cost of the candidate on this head in units of exact attention's; `NA` for passes of --target-loss"},
       &ChoiceDraw::cost_ratio},
      {{"status", Role::note,
        "`ok`, `exact` where the candidate is exact attention (`flops_limit`), or the reason why the method "
        "failed"},
       &ChoiceDraw::status}};
  return columns;
}

const Columns<ChoiceRow>& choice_columns() {
  static const Columns<ChoiceRow> columns = {
      {{"input", Role::key, "the head, the layer or the model that the choice is for"}, &ChoiceRow::input},
      {{"layer", Role::subject, "the layer, from 0. `NA` if the choice is for several"}, &ChoiceRow::layer},
      {{"head", Role::subject, "the head, from 0. `NA` if the choice is for several"}, &ChoiceRow::head},
      {{"eps", Role::subject, "ε, the largest error that is good enough", "ε"}, &ChoiceRow::eps},
      {{"delta", Role::subject, "δ, the share of failures (error > ε) that is allowed", "δ"}, &ChoiceRow::delta},
      {{"confidence", Role::subject,
        "the probability, at least, that all candidates returned as `chosen` in this run fail less often than δ"},
       &ChoiceRow::confidence},
      {{"metric", Role::subject, "the error: a column of the rows of `error`"}, &ChoiceRow::metric},
      {{"method", Role::note,
        "the method, or `exact`. Of an `undecided` choice it is the leader, which is no answer: the cheapest candidate "
        "that would be certified if it, and the larger ones that must be certified first, go on failing as rarely as "
        "so far. If there is none (`needed` is `NA`), it is the one that has failed least often, possibly in every "
        "draw"},
       &ChoiceRow::method},
      {{"preset", Role::note, "the preset, then other options, as in the rows of `error`"}, &ChoiceRow::preset},
      {{"features", Role::number, "number of features d; 0 for `exact`"}, &ChoiceRow::features},
      {{"cost", Role::number,
        "the cost on all heads of the choice, a mean over the sequences: that of the method, and that of exact "
        "attention where this is used (`flops_limit`). It is known before any error is"},
       &ChoiceRow::cost},
      {{"exact_cost", Role::number, "the cost of exact attention on the same heads"}, &ChoiceRow::exact_cost},
      {{"cost_ratio", Role::number, "cost / exact_cost"}, &ChoiceRow::cost_ratio},
      {{"error_median", Role::number,
        "the median of the errors that the row rests on (`draws`); a failed draw counts as infinite, and exact "
        "attention (`flops_limit`) has 0. Where the metric is `loss`: the mean divergence KL(exact ‖ "
        "approximated) in the search"},
       &ChoiceRow::error_median},
      {{"error_q95", Role::number, "the 95 % quantile of the same"}, &ChoiceRow::error_q95},
      {{"failure_upper", Role::number,
        "an upper confidence limit for the share of failures ([which](choose.md#the-numbers-of-the-test)). If the "
        "candidate is `chosen` it is at most δ, which holds for all choices of the run together; it is not shown that "
        "all limits hold together. The error probability of the run is divided over all ladders, and where nothing is "
        "chosen over all candidates. With `--rows`, what the intervals of the errors miss is not covered"},
       &ChoiceRow::failure_upper},
      {{"draws", Role::number,
        "the number of errors that the row rests on, over draws, sequences and heads: those up to the one that "
        "decided about the candidate. `X.draws.csv` may have more, as draws are made some at a time"},
       &ChoiceRow::draws},
      {{"sequences", Role::number,
        "the number of sequences that the row rests on. With 1 it says nothing about other sequences"},
       &ChoiceRow::sequences},
      {{"status", Role::note,
        "`chosen`: certified. `exact`: nothing cheaper seems good enough. `undecided`: more data may certify something "
        "cheaper; until then take exact attention"},
       &ChoiceRow::status},
      {{"needed", Role::number,
        "for an `undecided` choice, how many more sequences (with one sequence: draws) would certify the leader "
        "if it goes on as so far. `NA`: every candidate fails too often for that"},
       &ChoiceRow::needed},
      {{"open", Role::number,
        "the number of candidates that cost less than the chosen one and are not decided: more data might make "
        "the choice cheaper"},
       &ChoiceRow::open},
      {{"evaluations", Role::number,
        "the number of errors that were looked at for the choice, of all candidates. Errors of exact attention "
        "(`flops_limit`), for which nothing is computed, count too"},
       &ChoiceRow::evaluations},
      {{"cost_unit", Role::note, "the unit of `cost` and `exact_cost`: `flops`, leading terms, or `seconds`"},
       &ChoiceRow::cost_unit},
      {{"seed", Role::note, "`--seed`"}, &ChoiceRow::seed},
      {{"precision", Role::note, "the precision in which the methods compute"}, &ChoiceRow::precision},
      {{"target", Role::note,
        "the exact output that the candidates approximate, as in the rows of `error`; an `exact` or `undecided` "
        "choice stands for this output. Where the metric is `loss`, an `exact` layer has the model's own: "
        "`softmax`"},
       &ChoiceRow::target},
      {{"flops_limit", Role::number,
        "exact attention is used on heads of fewer tokens than d, and where the flops of the method are at least "
        "this multiple of those of exact attention. It is `--max-cost`; with `--cost seconds` this is multiplied by "
        "the seconds of a flop of exact attention over those of a flop of the method, as measured"},
       &ChoiceRow::flops_limit},
      {{"head_count", Role::number,
        "the number of heads that the choice is for. If there are several, δ is about one of them picked at "
        "random"},
       &ChoiceRow::heads},
      {{"rows", Role::subject, "`--rows`: the number of rows from which the error of a draw is estimated. `NA`: all"},
       &ChoiceRow::rows},
      {{"time_ratio", Role::number,
        "of a chosen method, with `--cost seconds` and several sequences, whose `cost` is a time on random tokens: the "
        "time on the heads of the choice themselves, on the first sequence of the length that is timed, over the time "
        "on random tokens of their size. It is measured after the choice, which does not depend on it. `NA`: not "
        "measured"},
       &ChoiceRow::time_ratio}};
  return columns;
}

}  // namespace croquis
