#include <doctest/doctest.h>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "support/attention.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("scores_transposed: is (Q K^T / sqrt(p))^T", T, float, double) {
  const Key draw_key = Key(test_seed()).child("scores");
  const arma::Mat<T> q = random_matrix<T>(9, 6, draw_key.child("q")), k = random_matrix<T>(13, 6, draw_key.child("k"));
  // Six products and sums, the root, the scaling of k.
  const double bound = (6 + 4) * unit<T>() * largest_row(q) * largest_row(k) / std::sqrt(6.0);
  CHECK(distance(scores_transposed(q, k), transposed(logits_of(q, k))) <= bound);
  CHECK(refusal([&] { scores_transposed(q, arma::Mat<T>(4, 5, arma::fill::ones)); }) ==
        "scores: queries and keys of one width, got q.cols = 6, k.cols = 5");
  CHECK(contains(refusal([] { scores_transposed(arma::Mat<T>(4, 0), arma::Mat<T>(4, 0)); }), "q.cols = 0"));
}

TEST_CASE_TEMPLATE("softmax_columns: columns are exp over its sum, and the log-sum-exp comes back", T, float, double) {
  for (const arma::uword rows : {1U, 2U, 17U, 130U}) {
    const arma::Mat<T> scores = T(3) * random_matrix<T>(rows, 11, Key(test_seed()).child(rows));
    arma::Mat<T> weights = scores;
    const arma::Col<T> log_sums = softmax_columns(weights).logarithms();
    const Dense logits = transposed(Dense(scores));
    const std::vector<long double> exact_sums = log_sums_of(logits);
    const double s = static_cast<double>(arma::abs(scores).max());
    // Scores are given, so without the p of softmax_error; entries are at most 1.
    const double error = softmax_error<T>(static_cast<double>(rows), 0, s);
    CHECK(distance(weights, transposed(softmax_of(logits))) <= error);
    for (arma::uword j = 0; j < 11; ++j) {
      // The sum is off by `error` relatively, its logarithm absolutely; the logarithm and the sum round.
      CHECK(std::abs(static_cast<double>(log_sums(j) - exact_sums[j])) <= error + 4 * unit<T>() * (s + 6));
    }
  }
}

TEST_CASE_TEMPLATE("softmax_columns: columns are non-negative and sum to 1, for scores of any size", T, float, double) {
  for (const T size : {T(0), T(1e-30), T(1), T(1e4), T(1e15), T(1e37)}) {
    arma::Mat<T> weights = size * random_matrix<T>(33, 8, Key(test_seed()).child("sizes"));
    const arma::Col<T> log_sums = softmax_columns(weights).logarithms();
    CAPTURE(size);
    CHECK(weights.is_finite());
    CHECK(log_sums.is_finite());
    CHECK(weights.min() >= 0);
    // Entries are rounded quotients by the sum they add up to: 33 u for it, u each.
    CHECK(distance(arma::sum(weights, 0).eval(), arma::Mat<T>(1, 8, arma::fill::ones)) <= (2 * 33 + 2) * unit<T>());
  }
}

TEST_CASE_TEMPLATE("softmax_columns: a constant added to a column changes nothing but the maximum", T, float, double) {
  // Scores on a grid of 1/16 below 16 in size, and a whole constant: the shift is exact, and so is its undoing.
  const arma::Mat<T> scores =
      arma::clamp(arma::round(T(16) * random_matrix<T>(50, 6, Key(test_seed()).child("shift"))) / T(16), T(-16), T(16));
  arma::Mat<T> plain = scores, shifted = scores + T(1024);
  const RowSums<T> of_plain = softmax_columns(plain), of_shifted = softmax_columns(shifted);
  CHECK(identical(plain, shifted));
  CHECK(identical(of_plain.sums, of_shifted.sums));
  CHECK(identical(of_shifted.maxima, arma::Col<T>(of_plain.maxima + T(1024))));
}

TEST_CASE_TEMPLATE("softmax_columns: equal scores give equal weights, one score gives 1", T, float, double) {
  arma::Mat<T> equal(8, 3);
  equal.fill(T(-1e5));
  softmax_columns(equal);
  CHECK(distance(equal, arma::Mat<T>(8, 3, arma::fill::value(T(0.125)))) <= 8 * unit<T>());
  arma::Mat<T> single = {T(7), T(-3e30)};
  softmax_columns(single);
  CHECK(identical(single, arma::Mat<T>{T(1), T(1)}));
  CHECK(contains(refusal([] {
                   arma::Mat<T> none(0, 3);
                   softmax_columns(none);
                 }),
                 "softmax_columns: at least one score a column"));
}

TEST_CASE_TEMPLATE("softmax_transposed: is the transposed row softmax, with the same bits for any number of threads", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("softmax");
  const arma::Mat<T> q = T(2) * random_matrix<T>(60, 5, draw_key.child("q")),
                     k = random_matrix<T>(41, 5, draw_key.child("k"));
  const double s = largest_row(q) * largest_row(k) / std::sqrt(5.0);
  const ThreadCount one(1);
  const arma::Mat<T> weights = softmax_transposed(q, k);
  CHECK(distance(weights, transposed(softmax_of(logits_of(q, k)))) <= softmax_error<T>(41, 5, s));
  for (const int team : {2, 4}) {
    const ThreadCount count(team);
    CHECK(identical(softmax_transposed(q, k), weights));
  }
}

TEST_CASE_TEMPLATE("softmax_product: a weight of zero leaves its key out, and no other weights than numbers are taken",
                   T, float, double) {
  const Key draw_key = Key(test_seed()).child("weights");
  const arma::Mat<T> q = random_matrix<T>(6, 3, draw_key.child("q")), k = random_matrix<T>(4, 3, draw_key.child("k")),
                     x = random_matrix<T>(4, 2, draw_key.child("x"));
  constexpr T inf = std::numeric_limits<T>::infinity();
  const auto of = [&](const arma::Col<T>& log_weights) { return softmax_product<T>(q, k, x, {}, log_weights); };
  CHECK(distance(of({-inf, 0, -inf, -inf}), arma::Mat<T>(arma::repmat(x.row(1), 6, 1))) <= 8 * unit<T>());
  const std::string said = "softmax_product: logarithms of weights that are numbers or -inf";
  CHECK(contains(refusal([&] { of({-inf, -inf, -inf, -inf}); }), said));
  CHECK(contains(refusal([&] { of({0, inf, 0, 0}); }), said));
  CHECK(contains(refusal([&] { of({0, 0, 0, T(std::nan(""))}); }), said));
}

TEST_CASE("softmax_rows_adjoint: a cotangent of another size is refused") {
  CHECK(refusal([] { softmax_rows_adjoint(arma::mat(2, 3), arma::mat(2, 3)); }) == "nothing was thrown");
  for (const arma::mat& other : {arma::mat(3, 2), arma::mat(1, 3), arma::mat(2, 4)}) {
    CHECK(contains(refusal([&] { softmax_rows_adjoint(arma::mat(2, 3), other); }),
                   "softmax_rows_adjoint: a cotangent of the size of P"));
  }
}
