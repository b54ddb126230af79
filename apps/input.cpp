#include "input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <croquis/core/random.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/inputs/text.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/npz.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bias.hpp"
#include "lists.hpp"

namespace {

using croquis::Problem;
using croquis::Stream;

// A head and its name.
using Head = std::pair<std::string, Problem<double>>;

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument(why);
}

arma::uword positive(const std::optional<long long>& value, arma::uword fallback, const char* option) {
  if (!value) return fallback;
  if (*value < 1) refuse(fmt::format("{}: {} is not a positive number", option, *value));
  return static_cast<arma::uword>(*value);
}

// Options that another kind of input takes are refused, not ignored.
void refuse_others(const InputOptions& o) {
  const auto only_for = [&](bool given, const char* option, const char* kind) {
    if (given && o.kind != kind)
      refuse(fmt::format("{}: goes with --input {}, this is --input {}", option, kind, o.kind));
  };
  only_for(!o.text.empty(), "--text", "text");
  only_for(o.token_type, "--token-type", "text");
  only_for(!o.q.empty(), "--q", "arrays");
  only_for(!o.k.empty(), "--k", "arrays");
  only_for(!o.v.empty(), "--v", "arrays");
  only_for(!o.qkv.empty(), "--qkv", "arrays");
  only_for(o.head != "all", "--head", "arrays");
  only_for(o.clusters.has_value(), "--clusters", "clustered");
  only_for(o.spread.has_value(), "--spread", "clustered");
  only_for(o.tail.has_value(), "--tail", "heavy-norms");
  only_for(o.rank.has_value(), "--token-rank", "low-rank");
  only_for(o.distinct.has_value(), "--distinct", "duplicates");
  if (o.norm && (o.kind == "text" || o.kind == "arrays")) {
    refuse(fmt::format("--norm: goes with --input gaussian, sphere, ..., this is --input {}", o.kind));
  }
  if (o.kind == "arrays" && (o.n || o.p)) refuse("--n and --p: the arrays have their sizes; leave them out");
}

std::string read_file(const std::string& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) refuse(fmt::format("--text: {}: is a folder", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(fmt::format("--text: {}: cannot be opened", path));
  std::stringstream buffer;
  buffer << file.rdbuf();
  return buffer.str();
}

Problem<double> from_text(const InputOptions& o, const Stream& stream) {
  const arma::uword n = positive(o.n, 1024, "--n");
  croquis::InitialisedBert bert;
  bert.head = positive(o.p, bert.head, "--p");
  bert.token_type = o.token_type;
  std::vector<std::string> tokens =
      croquis::split_words(o.text.empty() ? croquis::sample_text() : std::string_view(read_file(o.text)));
  if (tokens.size() < n) {
    refuse(fmt::format("--n: the text has {} tokens, {} are wanted; give a smaller --n or a longer --text",
                       tokens.size(), n));
  }
  tokens.resize(n);
  return croquis::initialised_bert(tokens, stream, bert);
}

// The name has what the family was made with.
Head synthetic(const InputOptions& o, const Stream& stream) {
  croquis::SyntheticSize size;
  size.n = positive(o.n, size.n, "--n");
  size.p = positive(o.p, size.p, "--p");
  size.norm = o.norm.value_or(std::sqrt(static_cast<double>(size.p)));
  const std::string name = fmt::format("{}:{:g}", o.kind, size.norm);
  if (o.kind == "gaussian") return {name, croquis::gaussian_input(stream, size)};
  if (o.kind == "sphere") return {name, croquis::sphere_input(stream, size)};
  if (o.kind == "clustered") {
    croquis::ClusteredInput family;
    family.clusters = positive(o.clusters, family.clusters, "--clusters");
    family.spread = o.spread.value_or(family.spread);
    return {fmt::format("{};clusters={};spread={:g}", name, family.clusters, family.spread),
            croquis::clustered_input(stream, size, family)};
  }
  if (o.kind == "heavy-norms") {
    croquis::HeavyNormsInput family;
    family.tail = o.tail.value_or(family.tail);
    return {fmt::format("{};tail={:g}", name, family.tail), croquis::heavy_norms_input(stream, size, family)};
  }
  if (o.kind == "low-rank") {
    croquis::LowRankInput family;
    family.rank = positive(o.rank, family.rank, "--token-rank");
    return {fmt::format("{};rank={}", name, family.rank), croquis::low_rank_input(stream, size, family)};
  }
  if (o.kind == "duplicates") {
    croquis::DuplicatesInput family;
    family.distinct = positive(o.distinct, family.distinct, "--distinct");
    return {fmt::format("{};distinct={}", name, family.distinct), croquis::duplicates_input(stream, size, family)};
  }
  std::string kinds;
  for (const std::string& kind : input_kinds()) kinds += " " + kind;
  refuse(fmt::format("--input: '{}' is none of{}", o.kind, kinds));
}

std::string digest_of(const Problem<double>& problem) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a over the bytes
  const auto add = [&](double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 1099511628211ULL;
  };
  for (const arma::mat* m : {&problem.Q(), &problem.K(), &problem.V()}) {
    for (const double x : *m) add(x);
  }
  for (const double x : problem.position().bias) add(x);
  if (problem.position().causal) add(1);
  return fmt::format("{}x{}x{} {:016x}", problem.n(), problem.p(), problem.p_v(), hash);
}

// "head_Q.npy" -> "head"
std::string array_name(const std::string& path) {
  std::string stem = std::filesystem::path(path).stem().string();
  if (stem.ends_with("_Q") || stem.ends_with("_q")) stem.resize(stem.size() - 2);
  return stem;
}

// The numbers of "all" or "0,3", each below `count`.
std::vector<std::size_t> chosen(const std::string& text, const char* option, std::size_t count) {
  std::vector<std::size_t> numbers;
  if (text == "all") {
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(i);
    return numbers;
  }
  for (const std::string& item : split_list(text, option)) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc{} || end != item.data() + item.size() || number >= count) {
      refuse(fmt::format("{}: '{}' is none of 0 to {}", option, item, count - 1));
    }
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
      refuse(fmt::format("{}: {} is there twice", option, number));
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<Head> from_arrays(const InputOptions& o) {
  const bool one_file = !o.qkv.empty(), three_files = !o.q.empty() && !o.k.empty() && !o.v.empty();
  if (one_file == three_files || (one_file && !(o.q + o.k + o.v).empty())) {
    refuse("--input arrays: needs --q Q.npy --k K.npy --v V.npy, or --qkv FILE.npz with members q, k and v");
  }
  const auto read = [&](const std::string& path, const char* member) {
    return one_file ? croquis::read_npz(o.qkv, member) : croquis::read_npy_heads(path);
  };
  const std::vector<arma::mat> q = read(o.q, "q"), k = read(o.k, "k"), v = read(o.v, "v");
  if (q.size() != k.size() || q.size() != v.size()) {
    refuse(fmt::format("--input arrays: Q has {} heads, K {}, V {}", q.size(), k.size(), v.size()));
  }
  const std::string name = "arrays:" + (one_file ? std::filesystem::path(o.qkv).stem().string() : array_name(o.q));
  std::vector<Head> heads;
  for (const std::size_t h : chosen(o.head, "--head", q.size())) {
    heads.emplace_back(q.size() == 1 ? name : fmt::format("{};head={}", name, h), Problem<double>(q[h], k[h], v[h]));
  }
  return heads;
}

// With what the kinds of input have in common: padding, bias, causality.
Problem<double> completed(Problem<double> problem, const InputOptions& o, const Stream& stream) {
  if (!o.length && o.bias.empty() && !o.causal) return problem;
  const arma::uword n = problem.n(), m = positive(o.length, n, "--length");
  if (m > n) refuse(fmt::format("--length: {} is more than the {} tokens", m, n));
  return {problem.Q(), problem.K(), problem.V(), m, parse_bias(o.bias, o.causal, n, stream.child("bias"))};
}

}  // namespace

const std::vector<std::string>& input_kinds() {
  static const std::vector<std::string> kinds = {"text",      "arrays",      "gaussian", "sphere",
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

std::vector<Input> load_inputs(const InputOptions& o, std::uint64_t seed) {
  refuse_others(o);
  const Stream stream = Stream(seed).child("input").child(o.kind);
  const auto make = [&]() -> std::vector<Head> {
    if (o.kind == "text") {
      const std::string name = o.text.empty() ? "sample" : std::filesystem::path(o.text).stem().string();
      return {{"text:" + name, from_text(o, stream)}};
    }
    if (o.kind == "arrays") return from_arrays(o);
    return {synthetic(o, stream)};
  };
  std::vector<Input> inputs;
  for (auto& [name, head] : make()) {
    Problem<double> problem = completed(std::move(head), o, stream);
    std::string digest = digest_of(problem);
    inputs.push_back({name + name_of_bias(o.bias, o.causal), std::move(problem), std::move(digest)});
  }
  return inputs;
}

Input load_input(const InputOptions& options, std::uint64_t seed) {
  std::vector<Input> inputs = load_inputs(options, seed);
  if (inputs.size() > 1) {
    refuse(fmt::format("--head: the input has {} heads, this command takes one; give its number", inputs.size()));
  }
  return std::move(inputs.front());
}
