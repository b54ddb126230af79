#include <croquis/attention/informer.hpp>

#include <croquis/random/draws.hpp>

#include <algorithm>
#include <utility>

#include "support/approximations.hpp"
#include "support/text.hpp"

using namespace croquis;
using Count = InformerOptions::Count;
using Mean = InformerOptions::Mean;

namespace {

// M_i with the keys that the header says, in long double.
template <typename T>
std::vector<long double> sparsity_of(const Problem<T>& problem, arma::uword samples, Mean mean, const Key& draw_key) {
  const arma::uword n_k = problem.n_k();
  std::vector<long double> measure(problem.n_q());
  for (arma::uword i = 0; i < problem.n_q(); ++i) {
    std::vector<std::uint64_t> words(samples);
    fill_words(draw_key.child("keys").child(i), 0, samples, words.data());
    long double top = -std::numeric_limits<long double>::infinity(), sum = 0;
    for (const std::uint64_t word : words) {
      long double product = 0;
      for (arma::uword c = 0; c < problem.p(); ++c) {
        product +=
            static_cast<long double>(problem.Q()(i, c)) * static_cast<long double>(problem.K()(place_of(word, n_k), c));
      }
      top = std::max(top, product);
      sum += product;
    }
    measure[i] = top - sum / static_cast<long double>(mean == Mean::sampled ? samples : n_k);
  }
  return measure;
}

// Which rows of B~ are not all 1/n.
std::vector<bool> chosen_rows(const Dense& b) {
  std::vector<bool> chosen(b.rows, false);
  for (arma::uword i = 0; i < b.rows; ++i) {
    for (arma::uword j = 0; j < b.cols; ++j) {
      chosen[i] = chosen[i] || std::fabs(static_cast<double>(b(i, j)) * static_cast<double>(b.cols) - 1) > 1e-5;
    }
  }
  return chosen;
}

}  // namespace

TEST_CASE_TEMPLATE("informer: the rows of largest M_i are exact, all others are 1/n", T, float, double) {
  const Key draw_key = Key(test_seed()).child("rows");
  for (const Mean mean : {Mean::sampled, Mean::all}) {
    for (const auto& [n_k, keys] : {std::pair<arma::uword, arma::uword>{60, 0}, {60, 5}, {25, 0}, {25, 5}}) {
      const Problem<T> problem = random_rectangle<T>(60, n_k, 8, 3, 3, draw_key);
      const Approximation<T> approximation = informer(problem, 13, draw_key, {.mean = mean, .keys = keys});
      const std::vector<long double> measure = sparsity_of(problem, keys == 0 ? 13 : keys, mean, draw_key);
      const std::vector<bool> chosen = chosen_rows(approximation.scores->dense());
      REQUIRE(std::count(chosen.begin(), chosen.end(), true) == 13);
      long double least_chosen = 1e9L, most_left = -1e9L;
      for (arma::uword i = 0; i < 60; ++i) {
        if (chosen[i]) least_chosen = std::min(least_chosen, measure[i]);
        if (!chosen[i]) most_left = std::max(most_left, measure[i]);
      }
      // M_i is off by (p + 13 + 2) u s at most, s the largest product: two may change places within twice that.
      const double s = largest_row(problem.Q()) * largest_row(problem.K());
      CHECK(static_cast<double>(most_left - least_chosen) <= 2 * (8 + 15) * 2 * unit<T>() * s);

      Dense expected = scores_of(problem.Q(), problem.K(), Target::softmax);
      for (arma::uword i = 0; i < 60; ++i) {
        for (arma::uword j = 0; j < n_k; ++j) {
          expected(i, j) = chosen[i] ? expected(i, j) : 1 / static_cast<long double>(n_k);
        }
      }
      if (problem.is_square()) check_scores(approximation, problem, expected, entry_error(problem));
      CHECK(row_sum_gap(approximation) <= 2 * 60 * unit<T>());
    }
  }
}

TEST_CASE("informer: 2 n_q d p flops for samples, 2 n_k d (p + p_v) and an exponential a score for the exact rows") {
  const auto problem = random_rectangle<double>(60, 25, 8, 3, 3, Key(1));
  CHECK(method_on(problem, "informer").flops(13) == 2 * 60 * 13 * 8 + 25 * 13 * (2 * (8 + 3) + 1));
}

TEST_CASE_TEMPLATE("informer: exact for d = n, also with duplicates, zero rows and one token", T, float, double) {
  const Key draw_key = Key(test_seed()).child("exact");
  for (const Problem<T>& problem :
       {awkward_problem<T>(21, 4, 3, 4, draw_key), random_problem<T>(1, 3, 2, 5, draw_key)}) {
    const Approximation<T> all = informer(problem, problem.n(), draw_key);
    check_scores(all, problem, scores_of(problem.Q(), problem.K(), Target::softmax), entry_error(problem));
  }
  // One token 12 times: all M_i are 0, and the choice is among equals.
  const arma::Mat<T> same(12, 3, arma::fill::ones);
  CHECK(distance(informer(Problem<T>(same, same, same), 5, draw_key).output, same) <= 2 * 12 * unit<T>());
}

TEST_CASE("informer: a query far from uniform is found, and a query that is zero is not") {
  const Key draw_key = Key(test_seed()).child("found");
  const Problem<double> problem = random_problem<double>(80, 8, 3, 1, draw_key);
  arma::mat q = problem.Q();
  q.row(17) *= 1000;
  q.row(40).zeros();  // M = 0; another is 0 only if its 20 samples are one of the 80 keys: 79 (80^-19) = 5e-35
  const Problem<double> changed(q, problem.K(), problem.V());
  CHECK(chosen_rows(informer(changed, 1, draw_key, {.keys = 20}).scores->dense())[17]);
  CHECK_FALSE(chosen_rows(informer(changed, 79, draw_key, {.keys = 20}).scores->dense())[40]);
}

TEST_CASE("informer: preset code has ceil(d / ln n) ceil(ln n) rows, at most n: 144 for d = 128 of n = 4096") {
  const Problem<double> problem = random_problem<double>(100, 8, 3, 3, Key(test_seed()).child("preset"));
  const auto rows = [&](const std::map<std::string, std::string>& options, arma::uword d) {
    const std::vector<bool> chosen =
        chosen_rows(method_on(problem, "informer", options).approximate(d, Key(3)).scores->dense());
    return std::count(chosen.begin(), chosen.end(), true);
  };
  CHECK(rows({}, 16) == 16);
  CHECK(rows({{"preset", "masked"}}, 16) == 16);
  CHECK(rows({{"preset", "code"}}, 16) == 20);  // ln 100 = 4.6: 4 times 5
  CHECK(rows({{"preset", "code"}}, 99) == 100);
  // The counts of the authors' program: 144, 136 and 133 rows for d = 128.
  const double expected[][2] = {{4096, 144}, {2048, 136}, {1024, 133}};
  for (const auto& [n, u] : expected) {
    const auto tokens = static_cast<arma::uword>(n);
    const Problem<double> one(arma::mat(tokens, 1, arma::fill::zeros), arma::mat(tokens, 1, arma::fill::zeros),
                              arma::mat(tokens, 1, arma::fill::zeros));
    const PreparedMethod<double> code = method_on(one, "informer", {{"preset", "code"}});
    const PreparedMethod<double> plain = method_on(one, "informer");
    CHECK(code.flops(128) == plain.flops(u));
  }
}

TEST_CASE("informer: preset code has c ceil(ln n_q) rows and samples c ceil(ln n_k) keys, at most all") {
  const struct {
    arma::uword n_k;
    const char* keys;  // for d = 16 and n_q = 100, so that c = 4 and 20 rows are exact
  } cases[] = {{20, "12"}, {5, "5"}, {1, "1"}, {1000, "28"}};
  for (const auto& [n_k, keys] : cases) {
    const Problem<double> square = random_problem<double>(std::max<arma::uword>(100, n_k), 8, 3, 3, Key(test_seed()));
    const Problem<double> problem(square.Q().head_rows(100), square.K().head_rows(n_k), square.V().head_rows(n_k));
    const PreparedMethod<double> code = method_on(problem, "informer", {{"preset", "code"}});
    const PreparedMethod<double> same = method_on(problem, "informer", {{"mean", "all"}, {"keys", keys}});
    CHECK(code.flops(16) == same.flops(20));
    CHECK(arma::approx_equal(code.approximate(16, Key(5)).output, same.approximate(20, Key(5)).output, "absdiff", 0));
  }
}

TEST_CASE("informer: d = 0 and d > n are refused, norms of 100 are safe") {
  const Problem<float> problem = random_problem<float>(9, 2, 2, 100, Key(1));
  CHECK(informer(problem, 4, Key(1)).output.is_finite());
  CHECK(refusal([&] { informer(problem, 10, Key(1)); }) == "informer: 1 <= d <= n_q, got d = 10, n_q = 9");
  CHECK(contains(refusal([&] { informer(problem, 0, Key(1)); }), "got d = 0, n_q = 9"));
}
