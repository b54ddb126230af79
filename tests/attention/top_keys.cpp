#include <croquis/attention/exact.hpp>
#include <croquis/attention/streaming.hpp>
#include <croquis/attention/top_keys.hpp>

#include "support/masks.hpp"
#include "support/text.hpp"

using namespace croquis;
using RestOfKeys = TopKeysOptions::Rest;

namespace {

// B~ from B: the d largest of a row, and the rest of the row over the others; or the d largest over their sum.
Dense expected_scores(const Dense& b, const MaskShape& shape, arma::uword d, RestOfKeys rest) {
  Dense expected(b.rows, b.cols);
  for (arma::uword i = 0; i < b.rows; ++i) {
    std::vector<arma::uword> keys;
    for (arma::uword j = 0; j < b.cols; ++j) {
      if (may_meet(i, j, shape.tokens, shape.causal)) keys.push_back(j);
    }
    std::stable_sort(keys.begin(), keys.end(), [&](arma::uword x, arma::uword y) { return b(i, x) > b(i, y); });
    const std::size_t count = std::min<std::size_t>(d, keys.size());
    long double mass = 0, others = 0;
    for (std::size_t r = 0; r < keys.size(); ++r) (r < count ? mass : others) += b(i, keys[r]);
    for (std::size_t r = 0; r < keys.size(); ++r) {
      const long double share =
          rest == RestOfKeys::mean ? others / static_cast<long double>(keys.size() - count) : 0.0L;
      expected(i, keys[r]) = r < count ? (rest == RestOfKeys::mean ? b(i, keys[r]) : b(i, keys[r]) / mass) : share;
    }
  }
  return expected;
}

}  // namespace

TEST_CASE_TEMPLATE("top-keys: the d largest entries of a row, and what is left of it, in every entry", T, float,
                   double) {
  for (const MaskShape& shape : mask_shapes()) {
    const Problem<T> problem = masked_problem<T>(shape, 3, Key(test_seed()).child(shape.tokens.n_q));
    const Dense b = masked_exact(problem);
    for (const RestOfKeys rest : {RestOfKeys::mean, RestOfKeys::none}) {
      for (const arma::uword d : {arma::uword{1}, arma::uword{5}, shape.tokens.n_k}) {
        // Entries that are exchanged because of rounding differ by as much.
        check_mask(top_keys(problem, d, {.rest = rest}), problem, expected_scores(b, shape, d, rest),
                   4 * static_cast<double>(shape.tokens.n_k) * mask_entry_error(problem));
      }
    }
  }
}

TEST_CASE_TEMPLATE("top-keys: rows of the error are at most 2 tau; no mask of d keys has more weight", T, float,
                   double) {
  for (const bool causal : {false, true}) {
    const MaskShape shape{{60, 60}, causal};
    const Problem<T> problem = masked_problem<T>(shape, 4, Key(test_seed()).child("bound"), true);
    const Dense b = masked_exact(problem);
    const double slack = 60 * mask_entry_error(problem);
    for (const arma::uword d : {6U, 20U}) {
      const Approximation<T> none = top_keys(problem, d, {.rest = RestOfKeys::none}), mean = top_keys(problem, d);
      const auto log_mass = [](const Approximation<T>& x, arma::uword i) {
        return std::log(static_cast<double>(x.denominators->values(i))) +
               static_cast<double>(x.denominators->log_scale(i));
      };
      const arma::Col<T> exact = exact_attention(problem, Target::softmax).log_row_sums;
      for (arma::uword i = 0; i < 60; ++i) {
        const double tau = -std::expm1(log_mass(none, i) - static_cast<double>(exact(i)));
        for (const Approximation<T>* x : {&none, &mean}) {
          const Dense rows = x->scores->dense();
          double error = 0;
          for (arma::uword j = 0; j < 60; ++j) error += static_cast<double>(std::abs(rows(i, j) - b(i, j)));
          CHECK(error <= 2 * tau + slack);
        }
        CHECK(std::abs(log_mass(mean, i) - static_cast<double>(exact(i))) <= slack);  // the denominators are exact
        for (const char* name : {"streaming", "vertical-slash"}) {
          CHECK(log_mass(method_on(problem, name).approximate(d, Key(1)), i) <= log_mass(none, i) + slack);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("top-keys: equal scores, large norms, few keys; the mean of the rest", T, float, double) {
  // Equal scores: the first d keys are chosen, and with the mean of the others it is exact.
  const arma::Mat<T> zero(20, 4, arma::fill::zeros), v = random_matrix<T>(20, 2, Key(5));
  const Problem<T> still(zero, zero, v);
  const Dense chosen = top_keys(still, 7, {.rest = RestOfKeys::none}).scores->dense();
  for (arma::uword j = 0; j < 20; ++j) CHECK((chosen(11, j) != 0) == (j < 7));
  CHECK(distance(top_keys(still, 7).output, exact_attention(still, Target::softmax).output) <= 100 * unit<T>());
  for (const RestOfKeys rest : {RestOfKeys::mean, RestOfKeys::none}) {
    const Problem<T> sharp = random_problem<T>(30, 4, 2, 300, Key(6));
    CHECK(top_keys(sharp, 1, {.rest = rest}).output.is_finite());
    CHECK(distance(top_keys(sharp, 30, {.rest = rest}).output, exact_attention(sharp, Target::softmax).output) <=
          30 * mask_entry_error(sharp));
  }
  const Problem<T> problem = random_problem<T>(9, 2, 2, 1, Key(1));
  CHECK(refusal([&] { top_keys(problem, 10); }) == "top-keys: 1 <= d <= n_k, got d = 10, n_k = 9");
  CHECK(contains(refusal([&] { top_keys(problem, 0); }), "got d = 0"));
}

TEST_CASE("top-keys: flops are all scores and the keys that are met") {
  for (const bool causal : {false, true}) {
    const Problem<double> problem = masked_problem<double>({{60, 60}, causal}, 1, Key(1));
    const double pairs = causal ? 60 * 61 / 2 : 3600,
                 met = visits_of(top_keys(problem, 10, {.rest = RestOfKeys::none}));
    CHECK(method_on(problem, "top-keys", {{"rest", "none"}}).flops(10) == pairs * 2 * 6 + met * (2 * 3 + 1));
    CHECK(method_on(problem, "top-keys").flops(10) == pairs * (2 * 6 + 1) + met * 2 * 3);
  }
}

TEST_CASE("top-keys: equal keys share a row alike, also of scores so large that log(n) is lost in them") {
  const arma::uword n = 40;
  for (const double size : {1.0, 1e4, 1e8, 1e15}) {
    const Key draw_key = Key(test_seed()).child("alike");
    const arma::mat k = arma::repmat(size * random_matrix(1, 6, draw_key.child("k")), n, 1),
                    v = random_matrix(n, 3, draw_key.child("v"));
    const Problem<double> problem(size * random_matrix(n, 6, draw_key), k, v);
    // Equal keys have equal scores here, as their products are blocked alike: 40 is a multiple of the block.
    for (const arma::uword d : {1U, 13U, 39U}) {
      CHECK(distance(top_keys(problem, d).output, arma::mat(arma::repmat(arma::mean(v, 0), n, 1))) <= 1e-13);
      const arma::mat first = arma::repmat(arma::mean(v.head_rows(d), 0), n, 1);
      CHECK(distance(top_keys(problem, d, {.rest = RestOfKeys::none}).output, first) <= 1e-13);
    }
  }
}
