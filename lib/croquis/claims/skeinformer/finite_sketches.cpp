#include <bit>
#include <cmath>
#include <croquis/claims/skeinformer/finite_sketches.hpp>
#include <functional>
#include <utility>

namespace croquis::claims {
namespace {

constexpr int kRows = 4, kColumns = 2;

using Outcome = FiniteSketch::Outcome;
using Column = std::vector<int>;

Column unit(int i, int sign = 1) {
  Column e(kRows, 0);
  e[static_cast<std::size_t>(i)] = sign;
  return e;
}

// count^places outcomes as lists of `places` digits below `count`.
void for_each(int places, int count, const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<int> digits(static_cast<std::size_t>(places), 0);
  while (true) {
    visit(digits);
    std::size_t k = 0;
    while (k < digits.size() && ++digits[k] == count) digits[k++] = 0;
    if (k == digits.size()) return;
  }
}

FiniteSketch named(std::string name, const std::string& distribution, std::map<std::string, double> parameters = {},
                   std::vector<double> weights = {}) {
  const Key any(0);  // a description has a random key; draws take another
  return {std::move(name),
          describe_sketch(distribution, kRows, kColumns, any, std::move(parameters), std::move(weights)),
          {}};
}

void make_equally_likely(FiniteSketch& sketch) {
  for (Outcome& outcome : sketch.outcomes) outcome.probability = Rational(1, static_cast<int>(sketch.outcomes.size()));
}

// Independent signs / sqrt(2) everywhere: rademacher, and sjlt with s = d, whose rows have an entry in every column.
FiniteSketch signs(std::string name, const std::string& distribution, const std::map<std::string, double>& parameters) {
  FiniteSketch sketch = named(std::move(name), distribution, parameters);
  for_each(kRows * kColumns, 2, [&](const std::vector<int>& bits) {
    Outcome outcome{0, {Rational(1, 2), Rational(1, 2)}, {Column(kRows), Column(kRows)}};
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kColumns; ++j) outcome.columns[j][i] = bits[i * kColumns + j] == 0 ? 1 : -1;
    }
    sketch.outcomes.push_back(std::move(outcome));
  });
  make_equally_likely(sketch);
  return sketch;
}

FiniteSketch uniform(bool replacement) {
  FiniteSketch sketch = named(replacement ? "uniform" : "uniform without replacement", "uniform",
                              {{"replacement", replacement ? 1.0 : 0.0}});
  for_each(kColumns, kRows, [&](const std::vector<int>& i) {
    if (!replacement && i[0] == i[1]) return;
    sketch.outcomes.push_back({0, {2, 2}, {unit(i[0]), unit(i[1])}});  // n / d
  });
  make_equally_likely(sketch);
  return sketch;
}

FiniteSketch importance() {
  FiniteSketch sketch = named("importance", "importance", {}, {1, 2, 3, 1});
  const std::vector<Rational> p = {Rational(1, 7), Rational(2, 7), Rational(3, 7), Rational(1, 7)};
  for_each(kColumns, kRows, [&](const std::vector<int>& i) {
    const Rational &first = p[static_cast<std::size_t>(i[0])], &second = p[static_cast<std::size_t>(i[1])];
    sketch.outcomes.push_back(
        {first * second, {1 / (kColumns * first), 1 / (kColumns * second)}, {unit(i[0]), unit(i[1])}});
  });
  return sketch;
}

FiniteSketch srht() {
  FiniteSketch sketch = named("srht", "srht");
  for_each(kRows, 2, [&](const std::vector<int>& bits) {
    for_each(kColumns, kRows, [&](const std::vector<int>& rows) {
      if (rows[0] == rows[1]) return;
      Outcome outcome{0, {Rational(1, 2), Rational(1, 2)}, {Column(kRows), Column(kRows)}};
      for (unsigned i = 0; i < kRows; ++i) {
        for (std::size_t j = 0; j < kColumns; ++j) {
          const int parity = std::popcount(i & static_cast<unsigned>(rows[j])) % 2;
          outcome.columns[j][i] = (parity == 0 ? 1 : -1) * (bits[i] == 0 ? 1 : -1);
        }
      }
      sketch.outcomes.push_back(std::move(outcome));
    });
  });
  make_equally_likely(sketch);
  return sketch;
}

// One +-1 a row.
FiniteSketch countsketch() {
  FiniteSketch sketch = named("countsketch", "countsketch");
  for_each(kRows, 4, [&](const std::vector<int>& choices) {
    Outcome outcome{0, {1, 1}, {Column(kRows), Column(kRows)}};
    for (std::size_t i = 0; i < kRows; ++i) {
      outcome.columns[static_cast<std::size_t>(choices[i] / 2)][i] = choices[i] % 2 == 0 ? 1 : -1;
    }
    sketch.outcomes.push_back(std::move(outcome));
  });
  make_equally_likely(sketch);
  return sketch;
}

// Entries +1, 0, 0, -1 with q = 2, each with probability 1/4: 0 twice is one outcome of probability 1/2.
FiniteSketch very_sparse() {
  FiniteSketch sketch = named("very-sparse", "very-sparse", {{"q", 2}});
  for_each(kRows * kColumns, 3, [&](const std::vector<int>& digits) {
    Outcome outcome{1, {1, 1}, {Column(kRows), Column(kRows)}};  // q / d
    for (std::size_t e = 0; e < digits.size(); ++e) {
      outcome.columns[e % kColumns][e / kColumns] = digits[e] - 1;
      outcome.probability *= digits[e] == 1 ? Rational(1, 2) : Rational(1, 4);
    }
    sketch.outcomes.push_back(std::move(outcome));
  });
  return sketch;
}

// Two addends, each sqrt(n / d) times a signed unit vector a column, over sqrt(2): scale n / (2 d) = 1.
FiniteSketch accumulative() {
  FiniteSketch sketch = named("accumulative", "accumulative", {{"m", 2}});
  for_each(2 * kColumns, 2 * kRows, [&](const std::vector<int>& choices) {
    Outcome outcome{0, {1, 1}, {Column(kRows), Column(kRows)}};
    for (std::size_t c = 0; c < choices.size(); ++c) {
      outcome.columns[c % kColumns][static_cast<std::size_t>(choices[c] / 2)] += choices[c] % 2 == 0 ? 1 : -1;
    }
    sketch.outcomes.push_back(std::move(outcome));
  });
  make_equally_likely(sketch);
  return sketch;
}

}  // namespace

RationalMatrix FiniteSketch::mean() const {
  RationalMatrix sum(kRows, kRows);
  for (const Outcome& outcome : outcomes) {
    for (std::size_t j = 0; j < outcome.columns.size(); ++j) {
      const Rational weight = outcome.probability * outcome.scales[j];
      const Column& t = outcome.columns[j];
      for (std::size_t i = 0; i < t.size(); ++i) {
        for (std::size_t k = 0; k < t.size(); ++k) {
          if (t[i] * t[k] != 0) sum(i, k) += weight * (t[i] * t[k]);
        }
      }
    }
  }
  return sum;
}

std::vector<int> key_of(const arma::mat& s) {
  std::vector<int> key;
  for (const double x : s) key.push_back(static_cast<int>(std::lround(1e6 * x)));
  return key;
}

std::map<std::vector<int>, Rational> FiniteSketch::values() const {
  std::map<std::vector<int>, Rational> all;
  for (const Outcome& outcome : outcomes) {
    arma::mat s(kRows, kColumns);
    for (arma::uword j = 0; j < kColumns; ++j) {
      const double scale = std::sqrt(static_cast<double>(outcome.scales[j]));
      for (arma::uword i = 0; i < kRows; ++i) s(i, j) = scale * outcome.columns[j][i];
    }
    all[key_of(s)] += outcome.probability;
  }
  return all;
}

std::vector<FiniteSketch> finite_sketches() {
  return {signs("rademacher", "rademacher", {}),
          uniform(true),
          uniform(false),
          importance(),
          srht(),
          countsketch(),
          signs("sjlt s=2", "sjlt", {{"s", 2}}),
          signs("sparse-stack zeta=2", "sparse-stack", {{"zeta", 2}}),
          very_sparse(),
          accumulative()};
}

}  // namespace croquis::claims
