#include "options/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/counted.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/random/indices.hpp>
#include <functional>
#include <utility>

#include "files/environment.hpp"
#include "files/number.hpp"
#include "files/progress.hpp"
#include "options/array_input.hpp"
#include "options/bias.hpp"
#include "options/lists.hpp"
#include "options/model_input.hpp"
#include "options/refuse.hpp"
#include "options/said_of.hpp"
#include "options/text_input.hpp"

namespace {

using croquis::Key;
using croquis::Problem;

// Six digits where they are the number, as 1e+06; otherwise all of them, since 2.5 and 2.5000001 are two inputs.
std::string digits_of(double value) {
  std::string six = fmt::format("{:g}", value);
  return parse_number(six) == value ? six : fmt::format("{}", value);
}

// The name has what the family was made with; that the norm is the root of p, the default, six digits say.
std::pair<std::string, Problem<double>> synthetic(const InputOptions& o, const Key& draw_key) {
  croquis::SyntheticSize size;
  size.n = positive_or(o.n, size.n, "--n");
  size.p = positive_or(o.p, size.p, "--p");
  size.norm = o.norm.value_or(std::sqrt(static_cast<double>(size.p)));
  std::string name = fmt::format("{}:{}", o.kind, o.norm ? digits_of(size.norm) : fmt::format("{:g}", size.norm));
  std::function<Problem<double>()> make;
  if (o.kind == "gaussian") {
    make = [=] { return croquis::gaussian_input(draw_key, size); };
  } else if (o.kind == "sphere") {
    make = [=] { return croquis::sphere_input(draw_key, size); };
  } else if (o.kind == "clustered") {
    croquis::ClusteredInput family;
    family.clusters = positive_or(o.clusters, family.clusters, "--clusters");
    family.spread = o.spread.value_or(family.spread);
    name += fmt::format(";clusters={};spread={}", family.clusters, digits_of(family.spread));
    make = [=] { return croquis::clustered_input(draw_key, size, family); };
  } else if (o.kind == "heavy-norms") {
    croquis::HeavyNormsInput family;
    family.tail = o.tail.value_or(family.tail);
    name += fmt::format(";tail={}", digits_of(family.tail));
    make = [=] { return croquis::heavy_norms_input(draw_key, size, family); };
  } else if (o.kind == "low-rank") {
    croquis::LowRankInput family;
    family.rank = positive_or(o.rank, family.rank, "--token-rank");
    name += fmt::format(";rank={}", family.rank);
    make = [=] { return croquis::low_rank_input(draw_key, size, family); };
  } else if (o.kind == "duplicates") {
    croquis::DuplicatesInput family;
    family.distinct = positive_or(o.distinct, family.distinct, "--distinct");
    name += fmt::format(";distinct={}", family.distinct);
    make = [=] { return croquis::duplicates_input(draw_key, size, family); };
  } else {
    std::string kinds;
    for (const std::string& kind : input_kinds()) kinds += " " + kind;
    refuse(fmt::format("--input: '{}' is none of{}", o.kind, kinds));
  }
  return {std::move(name), said_of("--input " + o.kind, make)};
}

std::string digest_of(const Problem<double>& problem) {
  croquis::Digest digest;
  digest.add(problem.Q()).add(problem.K()).add(problem.V()).add(arma::mat(problem.position().bias));
  digest.add(fmt::format("height {} causal {}", problem.position().height, problem.position().causal));
  const std::string keys = problem.is_square() ? "" : fmt::format(":{}", problem.n_k());
  return fmt::format("{}{}x{}x{} {}", problem.n_q(), keys, problem.p(), problem.p_v(), digest.hex());
}

// With what the kinds of input have in common: padding, bias, causality.
Problem<double> completed(Problem<double> problem, const InputOptions& o, const Key& draw_key) {
  if (!o.length && o.bias.empty() && o.causal == problem.is_causal()) return problem;
  const arma::uword n = problem.n_k(), m = positive_or(o.length, n, "--length");
  if (m > n) refuse(fmt::format("--length: {} is more than the {}", m, croquis::counted(n, "token")));
  const arma::uword queries = problem.is_square() ? m : problem.n_q();
  if (o.causal && queries > m) {
    refuse(
        fmt::format("--causal: {} queries and {}; each query attends to a key at its own place or before, so give "
                    "at most as many queries as keys, or leave it out",
                    queries, croquis::counted(m, "key")));
  }
  const arma::uword all = std::max(n, problem.n_q());
  const auto with = [&](const croquis::RelativePosition<double>& position) {
    return Problem<double>(problem.Q(), problem.K(), problem.V(), m, position);
  };
  const croquis::RelativePosition<double> position = parse_bias(o.bias, o.causal, all, draw_key.child("bias"));
  return o.bias.empty() ? with(position) : said_of("--bias " + o.bias, [&] { return with(position); });
}

// --head-sample of the heads, in the order that they have.
std::vector<PendingHead> sampled(std::vector<PendingHead> heads, const InputOptions& o, const Key& draw_key) {
  if (!o.head_sample) return heads;
  const auto count = static_cast<arma::uword>(*o.head_sample);
  if (count > heads.size()) {
    refuse(fmt::format("--head-sample: {} is more than the {}", count, croquis::counted(heads.size(), "head")));
  }
  const arma::uvec chosen = arma::sort(croquis::sample_without_replacement(heads.size(), count, draw_key));
  std::vector<PendingHead> some;
  for (const arma::uword i : chosen) some.push_back(std::move(heads[i]));
  return some;
}

std::vector<PendingHead> heads_of(const InputOptions& o, const Key& draw_key) {
  if (o.kind == "model") return from_model(o);
  if (o.kind == "arrays") return from_arrays(o);
  auto [name, problem] = o.kind == "text" ? from_text(o, draw_key) : synthetic(o, draw_key);
  return {{std::move(name), {}, {}, [head = problem] { return head; }}};
}

// The head with what is learnt from its numbers, which are not kept.
Input inspected(PendingHead head, const InputOptions& o, const Key& draw_key) {
  const ReturnedMemory returned;
  Input input{.name = head.name + name_of_bias(o.bias, o.causal),
              .sequence = head.sequence,
              .layer = head.layer,
              .head = head.head};
  input.problem = [load = std::move(head.load), o, draw_key] {
    const ReturnedMemory within;
    return completed(load(), o, draw_key);
  };
  const Problem<double> problem = input.problem();
  input.n_q = problem.n_q();
  input.n_k = problem.n_k();
  input.p = problem.p();
  input.p_v = problem.p_v();
  input.longest = croquis::longest_row(problem.Q(), problem.K(), problem.V());
  input.digest = digest_of(problem);
  return input;
}

}  // namespace

croquis::PositionParts position_parts(const InputOptions& options) {
  return {.causal = options.causal, .bias = !options.bias.empty()};
}

const std::vector<std::string>& input_kinds() {
  static const std::vector<std::string> kinds = {"text",      "model",       "arrays",   "gaussian",  "sphere",
                                                 "clustered", "heavy-norms", "low-rank", "duplicates"};
  return kinds;
}

std::map<std::string, std::string> identity_of(const Input& input) {
  return {{"input", input.name}, {"numbers of Q, K, V", input.digest}};
}

std::map<std::string, std::string> identity_of(const std::vector<Input>& inputs) {
  std::map<std::string, std::string> identity = identity_of(inputs.front());
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    for (const auto& [name, value] : identity_of(inputs[i])) identity[name] += ", " + value;
  }
  return identity;
}

void refuse_others(const InputOptions& o, const std::set<std::string>& given) {
  const auto only_for = [&](const char* option, const char* kind, const char* or_kind = "") {
    if (!given.contains(option) || o.kind == kind || o.kind == or_kind) return;
    refuse(fmt::format("{}: goes with --input {}{}{}, this is --input {}", option, kind, *or_kind == 0 ? "" : " and ",
                       or_kind, o.kind));
  };
  for (const char* option : {"--q", "--k", "--v", "--qkv"}) only_for(option, "arrays");
  for (const char* option : {"--model", "--model-config", "--layer", "--ids"}) only_for(option, "model");
  for (const char* option : {"--head", "--head-sample"}) only_for(option, "arrays", "model");
  for (const char* option : {"--text", "--vocab", "--uncased", "--join-windows"}) only_for(option, "text", "model");
  only_for("--token-type", "text");
  for (const char* option : {"--clusters", "--spread"}) only_for(option, "clustered");
  only_for("--tail", "heavy-norms");
  only_for("--token-rank", "low-rank");
  only_for("--distinct", "duplicates");
  for (const char* option : {"--lengths", "--sequence"}) {
    if (o.ids.empty() && given.contains(option)) refuse(fmt::format("{}: goes with --ids", option));
  }
  for (const char* option : {"--n", "--text", "--vocab"}) {
    if (o.ids.empty() || !given.contains(option)) continue;
    refuse(fmt::format("{}: of a text, --ids has the tokens; leave it out", option));
  }
  if (o.norm && (o.kind == "text" || o.kind == "arrays" || o.kind == "model")) {
    refuse(fmt::format("{}: goes with --input gaussian, sphere, ..., this is --input {}",
                       given.contains("--norms") ? "--norms" : "--norm", o.kind));
  }
  if (o.kind == "arrays" && (o.n || o.p)) refuse("--n and --p: the arrays have their sizes; leave them out");
  if (o.kind == "model" && o.p) refuse("--p: the model has its width; leave it out");
  if (o.kind == "model" && o.length) refuse("--length: the text of a model has no padding; give a smaller --n");
  if (o.uncased && o.vocab.empty()) refuse("--uncased: goes with --vocab");
}

std::vector<Input> load_inputs(const InputOptions& o, const RunOptions& run) {
  refuse_others(o, run.given);
  const Key key = Key(run.seed).child("input"), draw_key = key.child(o.kind);
  std::vector<PendingHead> heads = sampled(heads_of(o, draw_key), o, key.child("heads"));
  Progress progress(heads.size(), run.quiet);
  std::vector<Input> inputs;
  for (PendingHead& head : heads) {
    progress.show(inputs.size(), "heads read");
    inputs.push_back(inspected(std::move(head), o, draw_key));
  }
  return inputs;
}

InputOptions without_mask(InputOptions options, const char* why) {
  if (options.causal && !options.causal_by_model) refuse(why);
  options.causal = false;
  return options;
}

std::vector<croquis::TokenAlignment> token_counts_of(const std::vector<Input>& inputs) {
  std::vector<croquis::TokenAlignment> shapes;
  for (const Input& input : inputs) shapes.push_back({input.n_q, input.n_k});
  return shapes;
}

void require_float_norms(const Input& input) {
  const croquis::LongestRow& longest = input.longest;
  // Rounding to float may add to a norm.
  const double most = 0.99 * croquis::largest_row_norm<float>(std::max(input.n_q, input.n_k));
  if (longest.norm <= most) return;
  refuse(
      fmt::format("--precision float: row {} (from 0) of {} of {} has norm {:.3g}, and squares of more than {:.3g} "
                  "overflow in float; give --precision double",
                  longest.row, longest.matrix, input.name, longest.norm, most));
}

std::set<std::string> input_columns(const InputOptions& options) {
  if (options.ids.empty()) return {};
  return {"--ids"};
}

void require_square(const Input& input, const std::string& who) {
  if (input.n_q == input.n_k) return;
  refuse(fmt::format("{}: Q has {}, K {}; as many queries as keys are needed", who, croquis::counted(input.n_q, "row"),
                     input.n_k));
}
