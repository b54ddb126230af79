#include <croquis/attention/vertical_slash.hpp>
#include <map>

#include "support/masks.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// The `count` keys of largest weight of a map, and how far the next one is below: choices by rounding are not compared.
struct Largest {
  std::vector<long> keys;
  long double gap = std::numeric_limits<long double>::infinity();
};
Largest largest_of(const std::map<long, long double>& weights, std::size_t count) {
  std::vector<std::pair<long double, long>> sorted;
  for (const auto& [key, weight] : weights) sorted.emplace_back(-weight, key);
  std::sort(sorted.begin(), sorted.end());
  Largest largest;
  for (std::size_t r = 0; r < std::min(count, sorted.size()); ++r) largest.keys.push_back(sorted[r].second);
  if (count > 0 && count < sorted.size()) largest.gap = sorted[count].first - sorted[count - 1].first;
  return largest;
}

struct ExpectedPattern {
  Dense scores;
  long double gap;
};

// By its definition: columns j and diagonals j - i, of the dense rows of B.
template <typename T>
ExpectedPattern expected_scores(const Problem<T>& problem, arma::uword d, const VerticalSlashOptions& options) {
  const auto& [n_q, n_k] = problem.tokens();
  const Dense b = masked_exact(problem);
  const arma::uword count = std::min(options.last, n_q);
  std::map<long, long double> columns, diagonals;
  for (arma::uword j = 0; j < n_k; ++j) columns[static_cast<long>(j)] = 0;
  const auto diagonal = [&, shift = static_cast<long>(n_q) - static_cast<long>(n_k)](arma::uword i, arma::uword j) {
    return static_cast<long>(j) - static_cast<long>(i) + shift;
  };
  for (arma::uword i = 0; i < n_q; ++i) {
    for (arma::uword j = 0; j < n_k; ++j) {
      if (may_meet(i, j, problem.tokens(), problem.is_causal())) diagonals[diagonal(i, j)] += 0;
    }
  }
  for (arma::uword r = 0; r < count; ++r) {
    const arma::uword i =
        problem.is_causal()
            ? n_q - 1 - r
            : static_cast<arma::uword>((static_cast<double>(r) + 0.5) * static_cast<double>(n_q) / double(count));
    for (arma::uword j = 0; j < n_k; ++j) {
      columns[static_cast<long>(j)] += b(i, j);
      if (b(i, j) > 0) diagonals[diagonal(i, j)] += b(i, j);
    }
  }
  for (arma::uword j = 0; j < std::min(options.first, n_k); ++j) columns[static_cast<long>(j)] += 1000.0L - j;
  std::vector<long> near;  // all diagonals there are, the nearest first, and of two as near the one after the own key
  for (const auto& [t, weight] : diagonals) near.push_back(t);
  std::sort(near.begin(), near.end(),
            [](long s, long t) { return std::pair(std::abs(s), -s) < std::pair(std::abs(t), -t); });
  for (std::size_t r = 0; r < std::min<std::size_t>(options.recent, near.size()); ++r) {
    diagonals[near[r]] += 1000.0L - static_cast<long double>(r);
  }
  const auto v =
      std::min<std::size_t>(static_cast<std::size_t>(options.vertical * static_cast<double>(d) + 1e-9), d - 1);
  const Largest vertical = largest_of(columns, v), slash = largest_of(diagonals, d - v);
  const auto has = [](const Largest& of, long key) {
    return std::find(of.keys.begin(), of.keys.end(), key) != of.keys.end();
  };
  std::vector<std::vector<bool>> met(n_q, std::vector<bool>(n_k));
  for (arma::uword i = 0; i < n_q; ++i) {
    bool any = false;
    for (arma::uword j = 0; j < n_k; ++j) {
      met[i][j] = may_meet(i, j, problem.tokens(), problem.is_causal()) &&
                  (has(vertical, static_cast<long>(j)) || has(slash, diagonal(i, j)));
      any = any || met[i][j];
    }
    if (!any) met[i][i + n_k > n_q ? i + n_k - n_q : 0] = true;
  }
  return {masked_softmax(logits_of(problem.Q(), problem.K()), [&](arma::uword i, arma::uword j) { return met[i][j]; }),
          std::min(vertical.gap, slash.gap)};
}

}  // namespace

TEST_CASE_TEMPLATE("vertical-slash: columns and diagonals of the largest sums, in every entry, of all shapes", T, float,
                   double) {
  int compared = 0, all = 0;
  for (const MaskShape& shape : mask_shapes()) {
    const Problem<T> problem = masked_problem<T>(shape, 3, Key(test_seed()).child(shape.tokens.n_q));
    for (const VerticalSlashOptions& options :
         {VerticalSlashOptions{}, VerticalSlashOptions{.last = 5, .vertical = 0.5},
          VerticalSlashOptions{.last = 3, .vertical = 0}, VerticalSlashOptions{.last = 4, .vertical = 1},
          VerticalSlashOptions{.last = 8, .vertical = 0.4, .first = 2, .recent = 3}}) {
      for (const arma::uword d : {1U, 2U, 8U, 11U}) {
        const ExpectedPattern expected = expected_scores(problem, d, options);
        ++all;
        // Sums of at most 41 entries of B: what rounding may make of two that are nearer is another choice.
        if (expected.gap < 200 * mask_entry_error(problem)) continue;
        ++compared;
        check_mask(vertical_slash(problem, d, options), problem, expected.scores, mask_entry_error(problem));
      }
    }
    check_mask(vertical_slash(problem, shape.tokens.n_k), problem, masked_exact(problem), mask_entry_error(problem));
  }
  CHECK(compared > all / 2);
}

TEST_CASE("vertical-slash: the nearest diagonals are as many as asked for, where one side has few or none") {
  for (const TokenAlignment tokens : {TokenAlignment{1, 30}, {2, 30}, {30, 2}, {30, 1}}) {
    CAPTURE(tokens.n_q);
    const Problem<double> problem = masked_problem<double>({tokens, false}, 3, Key(4));
    for (const arma::uword recent : {1U, 3U, 100U}) {
      for (const arma::uword d : {1U, 4U, 29U}) {
        if (d >= tokens.n_k) continue;
        const VerticalSlashOptions options{.last = 4, .vertical = 0, .recent = recent};
        check_mask(vertical_slash(problem, d, options), problem, expected_scores(problem, d, options).scores,
                   mask_entry_error(problem));
      }
    }
  }
  // One query: its own key is the last one, and the three nearest keys are the last three.
  const Problem<double> one = masked_problem<double>({{1, 30}, false}, 3, Key(5));
  const Dense b = vertical_slash(one, 3, {.vertical = 0, .recent = 3}).scores->dense();
  for (arma::uword j = 0; j < 30; ++j) CHECK((b(0, j) > 0) == (j >= 27));
}

TEST_CASE_TEMPLATE("vertical-slash: a column or a diagonal that has all the weight is found", T, float, double) {
  // Key 7 is met by all: its logit is 12 above the others. Then 1 - e^-12 n of the weight is in that column.
  const arma::uword n = 80;
  arma::Mat<T> q(n, 4, arma::fill::zeros), k(n, 4, arma::fill::zeros);
  q.col(0).fill(T(6));
  k(7, 0) = T(4);
  const Problem<T> column(q, k, random_matrix<T>(n, 2, Key(1)), {}, {.bias = {}, .causal = true});
  const Approximation<T> found = vertical_slash(column, 4, {.last = 8, .vertical = 0.5});
  for (arma::uword i = 7; i < n; ++i) CHECK(static_cast<double>(found.scores->dense()(i, 7)) > 0.99);
  // Query i wants key i - 3: unit vectors of a turning wheel, 16 tokens a turn.
  arma::Mat<T> wheel_q(n, 2), wheel_k(n, 2);
  for (arma::uword i = 0; i < n; ++i) {
    const double angle = 2 * 3.14159265358979 * static_cast<double>(i) / 16, back = 3 * 2 * 3.14159265358979 / 16;
    wheel_k.row(i) = {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
    wheel_q.row(i) = {static_cast<T>(60 * std::cos(angle - back)), static_cast<T>(60 * std::sin(angle - back))};
  }
  for (const bool causal : {true, false}) {
    const Problem<T> wheel(wheel_q, wheel_k, random_matrix<T>(n, 2, Key(1)), {}, {.bias = {}, .causal = causal});
    const Dense b = vertical_slash(wheel, 10, {.last = 16, .vertical = 0}).scores->dense();
    for (arma::uword i = 3; i < n; ++i) CHECK(b(i, i - 3) > 0);
  }
}

TEST_CASE_TEMPLATE("vertical-slash: decoding rows choose as the whole does; earlier rows have no weight on later keys",
                   T, float, double) {
  const Problem<T> problem = masked_problem<T>({{90, 90}, true}, 3, Key(test_seed()).child("decode"));
  const Problem<T> last(problem.Q().tail_rows(12), problem.K(), problem.V(), {}, problem.position());
  const VerticalSlashOptions options = {.last = 12, .vertical = 0.3};
  const arma::Mat<T> output = vertical_slash(problem, 20, options).output;
  CHECK(distance(vertical_slash(last, 20, options).output, output.tail_rows(12)) <= 90 * mask_entry_error(problem));
  // Later values are nothing to earlier rows; later keys may change what is chosen, and so the rows before them.
  arma::Mat<T> v = problem.V();
  v.tail_rows(20) += T(100);
  const Problem<T> other(problem.Q(), problem.K(), v, {}, problem.position());
  CHECK(identical(arma::Mat<T>(vertical_slash(other, 20, options).output.head_rows(70)),
                  arma::Mat<T>(output.head_rows(70))));
}

TEST_CASE("vertical-slash: the preset code has the first columns and the nearest diagonals; flops; refusals") {
  const Problem<double> problem = masked_problem<double>({{60, 60}, true}, 3, Key(3));
  CHECK(identical(method_on(problem, "vertical-slash", {{"preset", "code"}}).approximate(40, Key(2)).output,
                  vertical_slash(problem, 40, {.first = 30, .recent = 100}).output));
  // 5 columns and 35 diagonals, which are forced: a mask that does not depend on Q and K.
  const Dense b = vertical_slash(problem, 40, {.first = 30, .recent = 100}).scores->dense();
  for (arma::uword i = 0; i < 60; ++i) {
    for (arma::uword j = 0; j < 60; ++j) CHECK((b(i, j) > 0) == (j <= i && (j < 5 || i < j + 35)));
  }
  // 29 of 100: 0.29 * 100 is below 29 in double.
  const Problem<double> longer = masked_problem<double>({{120, 120}, true}, 3, Key(3));
  const Dense c = vertical_slash(longer, 100, {.vertical = 0.29, .first = 30, .recent = 100}).scores->dense();
  for (arma::uword i = 0; i < 120; ++i) {
    for (arma::uword j = 0; j < 120; ++j) CHECK((c(i, j) > 0) == (j <= i && (j < 29 || i < j + 71)));
  }
  const double visits = visits_of(vertical_slash(problem, 20)), choice = 60 * 60 * (2 * 6 + 1);
  CHECK(method_on(problem, "vertical-slash").flops(20) >= visits * 19 + choice);
  CHECK(method_on(problem, "vertical-slash").flops(20) <= 1.6 * visits * 19 + choice);  // where they cross, and end
  CHECK(refusal([&] { vertical_slash(problem, 61); }) == "vertical-slash: 1 <= d <= n_k, got d = 61, n_k = 60");
  CHECK(contains(refusal([&] { vertical_slash(problem, 0); }), "got d = 0"));
  CHECK(contains(refusal([&] { vertical_slash(problem, 8, {.last = 0}); }), "last >= 1"));
  CHECK(contains(refusal([&] { vertical_slash(problem, 8, {.vertical = 1.5}); }), "vertical in [0, 1]"));
  const Problem<float> large = random_problem<float>(30, 2, 2, 100, Key(1));
  CHECK(vertical_slash(large, 8).output.is_finite());
}
