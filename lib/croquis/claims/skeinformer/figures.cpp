// Figure 1 and the mean of the values: ske.fig1, ske.vmean.
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/v_mean.hpp>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/power.hpp>
#include <croquis/claims/skeinformer/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/vanishing.hpp>
#include <croquis/inputs/text.hpp>
#include <croquis/linalg/norms.hpp>

namespace croquis::claims {
namespace {

// The sample text in an initialised BERT with a token-type embedding, which BERT's code adds to all tokens.
Subject text_with_token_type(const Key& draw_key) {
  constexpr arma::uword n = 512;
  std::vector<std::string> tokens = split_words(sample_text());
  tokens.resize(n);
  InitialisedBert bert;
  bert.token_type = true;
  return {"text:sample;token-type", initialised_bert(tokens, draw_key.child("text"), bert)};
}

double relative_error(const arma::mat& output, const arma::mat& exact) {
  return spectral_norm<double>(output - exact) / spectral_norm<double>(exact);
}

// Of one input: the mean error of Skeinformer over the draws against that of Informer, Linformer and the mean of the
// values.
Finding figure_finding(const Check& check, const Subject& subject, arma::uword d) {
  const arma::uword tokens = check.count("tokens"), draws = check.count("draws");
  const Problem<double> problem = first_tokens(subject.problem, tokens);
  const std::string input = fmt::format("{} d={}", subject.name, d);
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  if (vanishes(exact, problem)) return not_applicable(input, kOutputVanishes);
  if (d >= problem.n()) return too_few_tokens(input, d + 1);  // methods are exact at d = n
  const auto mean_error = [&](const std::string& name) {
    const auto method = prepare(find_method<double>(name), problem, OptionValues(std::map<std::string, std::string>{}));
    Accumulator sample;
    for (arma::uword t = 0; t < draws; ++t) {
      if (check.interrupted()) throw Interrupted();
      const Key draw_key = check.draw_key.child(subject.name).child(name).child(d).child(t);
      sample.add(relative_error(method.approximate(d, draw_key).output, exact));
    }
    return sample;
  };
  const Accumulator of_skeinformer = mean_error(check.makes("no-columns") ? "linformer" : "skeinformer"),
                    of_informer = mean_error("informer"), of_linformer = mean_error("linformer");
  const double own = check.makes("exact") ? 0 : of_skeinformer.mean(), informer = of_informer.mean(),
               linformer = of_linformer.mean(), mean = relative_error(v_mean(problem).output, exact);
  double others = mean;
  lower(others, informer);
  lower(others, linformer);
  const double size = spectral_norm<double>(exact);
  if (is_rounding(own * size, problem) && is_rounding(others * size, problem)) {
    return not_applicable(input, kErrorsVanish);
  }
  Finding finding = decide_identity(input, own, others);
  finding.n = problem.n();
  finding.p = problem.p();
  finding.d = d;
  finding.trials = draws;
  const double other = mean < std::min(informer, linformer)
                           ? 0
                           : relative_error_of_mean(informer < linformer ? of_informer : of_linformer);
  finding.power = power_of_means(std::hypot(relative_error_of_mean(of_skeinformer), other));
  withhold_within_error(finding);
  if (own == linformer) finding.verdict = Verdict::refuted;  // the smallest is below the others, and no tie
  finding.threshold = fmt::format("tokens = {}; draws = {}; d = {}", tokens, draws, d);
  add_measured(finding, fmt::format("mean relative error: skeinformer = {:.4g}; informer = {:.4g}; linformer = {:.4g}; "
                                    "v-mean = {:.4g}",
                                    own, informer, linformer, mean));
  return finding;
}

// The paper's inputs, of Fig. 1 and of the toy experiments, are text in BERT; the others of the ledger are no evidence
// for it, nor against.
bool is_of_the_paper(const Check& check, const Subject& subject) {
  return check.own_input || subject.name.starts_with("text");
}

}  // namespace

Report check_figure_strict(const Check& check) {
  Report report;
  const arma::uword small = check.count("small d"), large = check.count("large d");
  int smallest = 0, compared = 0;
  for (const Subject& subject : check.subjects) {
    for (const arma::uword d : {small, large}) {
      report.findings.push_back(figure_finding(check, subject, d));
      const Verdict verdict = report.findings.back().verdict;
      if (verdict == Verdict::verified) ++smallest;
      if (verdict != Verdict::not_applicable) ++compared;
    }
  }
  if (compared > 0) report.number = smallest;
  report.sentence = fmt::format(
      "of {} inputs and d have Skeinformer below Informer, Linformer and V-mean by more than their error", compared);
  return report;
}

Report check_figure_charitable(const Check& check) {
  Report report;
  const arma::uword large = check.count("large d");
  for (const Subject& subject : check.subjects) {
    if (check.quick && !is_of_the_paper(check, subject)) continue;
    Finding finding = figure_finding(check, subject, large);
    if (is_of_the_paper(check, subject)) {
      report.number = std::fmax(report.number, finding.observed / finding.bound);
    } else {
      finding.verdict = Verdict::not_applicable;
    }
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      fmt::format("largest (error of Skeinformer) / (smallest of Informer, Linformer, mean of the values), large d{}",
                  check.own_input ? "" : ", text");
  return report;
}

// The paper's text is embedded by a trained BERT, which no input of the default run is: the error is measured there,
// without a token-type embedding and with it, and only inputs of one's own decide.
Report check_v_mean_acceptable(const Check& check) {
  const double allowed = check.value("relative error");
  const auto tokens = check.count("tokens");
  Report report;
  std::vector<Subject> subjects = check.subjects;
  if (!check.own_input) subjects.push_back(text_with_token_type(check.draw_key));
  for (const Subject& subject : subjects) {
    const Problem<double> given = first_tokens(subject.problem, tokens);
    arma::mat values = given.V();
    if (check.makes("equal-values")) values.each_row() = arma::rowvec(values.row(0));
    const Problem<double> problem(given.Q(), given.K(), values);
    const arma::mat exact = exact_attention(problem, Target::softmax).output;
    if (vanishes(exact, problem)) {
      report.findings.push_back(not_applicable(subject.name, kOutputVanishes));
      continue;
    }
    const double error = relative_error(v_mean(problem).output, exact);
    Finding finding = decide_identity(subject.name, error, allowed);
    finding.n = problem.n();
    finding.p = problem.p();
    finding.threshold = check.stated("relative error");
    if (is_of_the_paper(check, subject)) {
      report.number = std::fmax(report.number, error);
      if (!check.own_input && !check.makes("equal-values")) {
        finding.verdict = Verdict::inconclusive;
        finding.hypotheses = "initialised embeddings; would decide = text in a BERT with trained ones";
      }
    } else {
      finding.verdict = Verdict::not_applicable;
    }
    report.findings.push_back(std::move(finding));
  }
  report.sentence = fmt::format("largest relative spectral error of the mean of the values{}; acceptable is {:g}",
                                check.own_input ? "" : ", text whose embeddings are not trained", allowed);
  return report;
}

}  // namespace croquis::claims
