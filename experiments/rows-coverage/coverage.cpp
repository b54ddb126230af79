// How often the intervals of `croquis error --rows` have the error: rows_coverage PART SAMPLES [NAME=Q.npy,K.npy,V.npy
// ...]
//
// PART is `choosing` (the combinations on which the intervals were chosen) or `reporting` (others). Q~, and so the
// error of every row, is computed once a combination of input, n and method; then SAMPLES samples of R rows are drawn
// from it. Writes a line of CSV a combination and R.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/method_choice.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/inputs/text.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <exception>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace croquis;

namespace {

constexpr double kRounding = 1e-12;  // by which an interval may miss an error that it would have without rounding
constexpr double kFewRows = 4;       // of SampledErrors: below it an interval says itself that it rests on few rows

struct Input {
  std::string name;
  Problem<double> problem;
};

struct Compared {
  std::string method;
  arma::uword d = 0;
  arma::mat output;
  OutputErrors errors;
};

Input made(const std::string& name, arma::uword n, arma::uword p, const Key& key) {
  const SyntheticSize size{n, p, std::sqrt(static_cast<double>(p))};
  if (name == "gaussian") return {name, gaussian_input(key, size)};
  if (name == "sphere") return {name, sphere_input(key, size)};
  if (name == "clustered") return {name, clustered_input(key, size)};
  if (name == "heavy-norms") return {name, heavy_norms_input(key, size)};
  if (name == "low-rank") return {name, low_rank_input(key, size)};
  if (name == "duplicates") return {name, duplicates_input(key, size)};
  std::vector<std::string> words = split_words(sample_text());
  words.resize(n);
  return {name, initialised_bert(words, key)};
}

std::vector<Input> inputs_of(const std::string& part) {
  using Sizes = std::map<std::string, std::vector<arma::uword>>;
  const bool choosing = part == "choosing";
  const Sizes sizes =
      choosing ? Sizes{{"gaussian", {512, 2048}},
                       {"clustered", {1024}},
                       {"heavy-norms", {512, 2048}},
                       {"low-rank", {1024}},
                       {"text:sample", {1024}}}
               : Sizes{{"gaussian", {1024, 4096}},        {"sphere", {512, 2048}},   {"clustered", {512, 4096}},
                       {"heavy-norms", {1024, 4096}},     {"low-rank", {512, 2048}}, {"duplicates", {1024, 4096}},
                       {"text:sample", {512, 2048, 4096}}};
  const std::set<std::string> wide = {"gaussian", "sphere", "text:sample"};
  std::vector<Input> inputs;
  for (const auto& [name, of_name] : sizes) {
    const arma::uword p = choosing || wide.contains(name) ? 64 : 32;
    for (const arma::uword n : of_name) inputs.push_back(made(name, n, p, Key(7).child(part).child(n)));
  }
  return inputs;
}

// NAME=Q,K,V; with arrays of several heads, the first and the last query head and the keys that they share.
std::vector<Input> given(const std::string& text) {
  const auto equals = text.find('='), comma = text.find(','), second = text.find(',', comma + 1);
  if (equals == text.npos || second == text.npos) {
    throw std::invalid_argument("NAME=Q.npy,K.npy,V.npy expected, got " + text);
  }
  const std::string name = text.substr(0, equals);
  const auto q = read_npy_heads(text.substr(equals + 1, comma - equals - 1)),
             k = read_npy_heads(text.substr(comma + 1, second - comma - 1)),
             v = read_npy_heads(text.substr(second + 1));
  std::vector<Input> inputs;
  for (const std::size_t head : std::set<std::size_t>{0, q.size() - 1}) {
    const std::size_t shared = head * k.size() / q.size();
    inputs.push_back(
        {q.size() > 1 ? fmt::format("{} head {}", name, head) : name, Problem<double>(q[head], k[shared], v[shared])});
  }
  return inputs;
}

// The share of the variance of a row's contribution that the n/R rows with the largest contributions have. A sample
// has one of these rows on average, and with probability (1 - R/n)^(n/R), 0.25 to 0.37, none.
double carried_by_few(arma::vec contributions, double few) {
  contributions = arma::sort(arma::square(contributions), "descend");
  const auto whole = static_cast<arma::uword>(few);
  const double part = few - static_cast<double>(whole);
  return (arma::accu(contributions.head(whole)) + part * contributions(whole)) / arma::accu(contributions);
}

arma::vec spectral_shares(const arma::mat& rows) {
  arma::vec values;
  arma::mat vectors;
  arma::eig_sym(values, vectors, arma::mat(rows.t() * rows));
  const arma::vec scores = arma::square(arma::vec(rows * vectors.tail_cols(1)));
  return scores / arma::mean(scores);
}

arma::vec frobenius_shares(const arma::mat& rows) {
  const arma::vec squares = arma::sum(arma::square(rows), 1);
  return squares / arma::mean(squares);
}

struct Samples {
  std::vector<double> estimate, factor;  // value / error, hi / lo
  std::vector<int> side;                 // 0 in the interval, -1 the error is below it, 1 above
  std::vector<double> effective;
  explicit Samples(std::size_t count) : estimate(count), factor(count), side(count), effective(count) {}

  void set(std::size_t s, double value, const Interval& interval, double rows, double truth) {
    estimate[s] = value / truth;
    factor[s] = interval.hi / interval.lo;
    side[s] = truth < interval.lo * (1 - kRounding) ? -1 : (truth > interval.hi * (1 + kRounding) ? 1 : 0);
    effective[s] = rows;
  }

  std::string columns(double few) {
    const auto count = static_cast<double>(side.size());
    const auto part = [&](auto holds) {
      double sum = 0;
      for (std::size_t s = 0; s < side.size(); ++s) sum += holds(s) ? 1 : 0;
      return sum / count;
    };
    double bias = 0, square = 0;
    for (const double ratio : estimate) {
      bias += std::log(ratio) / count;
      square += std::log(ratio) * std::log(ratio) / count;
    }
    std::nth_element(factor.begin(), factor.begin() + static_cast<std::ptrdiff_t>(factor.size() / 2), factor.end());
    return fmt::format(",{:.4f},{:.4f},{:.4f},{:.4g},{:.4g},{:.4g},{:.4f},{:.4f}",
                       part([&](std::size_t s) { return side[s] == 0; }),
                       part([&](std::size_t s) { return side[s] < 0; }),
                       part([&](std::size_t s) { return side[s] > 0; }), factor[factor.size() / 2], bias,
                       std::sqrt(square), few, part([&](std::size_t s) { return effective[s] < kFewRows; }));
  }
};

void measure(const std::string& name, Target target, const ExactAttention<double>& exact,
             const std::vector<Compared>& methods, std::size_t count) {
  const arma::uword n = exact.output.n_rows;
  for (const arma::uword rows : std::set<arma::uword>{32, 128, n / 8, n / 2}) {
    const Key key = Key(7).child("samples").child(name).child(n).child(name_of(target)).child(rows);
    std::vector<Samples> spectral(methods.size(), Samples(count)), frobenius = spectral;
    parallel_for(count, [&](std::size_t s) {
      const arma::uvec drawn = SampledReference::draw_rows(n, rows, key.child(s));
      const arma::vec sums = exact.log_row_sums.elem(drawn);
      const SampledReference reference(n, drawn, {exact.output.rows(drawn), sums});
      for (std::size_t m = 0; m < methods.size(); ++m) {
        const SampledErrors e = reference.compare_rows(methods[m].output.rows(drawn));
        spectral[m].set(s, e.errors.spectral_rel, e.spectral_rel, e.spectral_effective_rows,
                        methods[m].errors.spectral_rel);
        frobenius[m].set(s, e.errors.frobenius_rel, e.frobenius_rel, e.frobenius_effective_rows,
                         methods[m].errors.frobenius_rel);
      }
    });
    const double few = static_cast<double>(n) / static_cast<double>(rows);
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const arma::mat error = exact.output - methods[m].output;
      std::cout << fmt::format("{},{},{},{},{},{},{:.5g},{:.5g}", name, n, methods[m].method, methods[m].d, rows, count,
                               methods[m].errors.spectral_rel, methods[m].errors.frobenius_rel)
                << spectral[m].columns(carried_by_few(spectral_shares(error) - spectral_shares(exact.output), few))
                << frobenius[m].columns(carried_by_few(frobenius_shares(error) - frobenius_shares(exact.output), few))
                << std::endl;
    }
  }
}

void measure(const Input& input, const std::string& part, std::size_t count) {
  std::map<Target, ExactAttention<double>> exact;
  std::map<Target, std::vector<Compared>> compared;
  for (const MethodChoice& choice :
       parse_methods("v-mean,linear,linformer,performer,informer,nystromformer,skyformer,skyformer-softmax,"
                     "skeinformer,longformer,bigbird,reformer")) {
    const auto& method = find_method<double>(choice.name);
    if (!exact.contains(method.target)) exact[method.target] = exact_attention(input.problem, method.target);
    for (const arma::uword d : part == "choosing" ? std::vector<arma::uword>{64, 256} : std::vector<arma::uword>{128}) {
      if (2 * d >= input.problem.n()) continue;
      try {
        const Key key = Key(7).child(part).child(choice.name).child(d);
        arma::mat output = prepare(method, input.problem, choice.options).approximate(d, key).output;
        const OutputErrors errors = OutputReference(exact[method.target].output).compare(output);
        compared[method.target].push_back({choice.name, d, std::move(output), errors});
      } catch (const std::runtime_error& reason) {
        std::cerr << input.name << " " << input.problem.n() << ": " << reason.what() << "\n";
      }
    }
  }
  for (const auto& [target, methods] : compared) measure(input.name, target, exact.at(target), methods, count);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() < 2 || (words[0] != "choosing" && words[0] != "reporting")) {
      throw std::invalid_argument("usage: rows_coverage choosing|reporting SAMPLES [NAME=Q.npy,K.npy,V.npy ...]");
    }
    std::vector<Input> inputs = inputs_of(words[0]);
    for (std::size_t i = 2; i < words.size(); ++i) {
      for (Input& input : given(words[i])) inputs.push_back(std::move(input));
    }
    std::cout << "input,n,method,features,rows,samples,spectral_rel,frobenius_rel";
    for (const char* norm : {"spectral", "frobenius"}) {
      for (const char* column : {"cover", "below", "above", "factor", "bias", "rms", "few", "flagged"}) {
        std::cout << ',' << norm << '_' << column;
      }
    }
    std::cout << "\n";
    for (const Input& input : inputs) measure(input, words[0], std::stoul(words[1]));
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << "\n";
    return 2;
  }
}
