#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/attention/problem_precision.hpp>

#include <cmath>
#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("Problem: keeps what it is given, and a copy is the same problem", T, float, double) {
  const Key draw_key(test_seed());
  const arma::Mat<T> q = random_matrix<T>(5, 3, draw_key.child("q")), k = random_matrix<T>(5, 3, draw_key.child("k")),
                     v = random_matrix<T>(5, 2, draw_key.child("v"));
  const Problem<T> problem(q, k, v), copy = problem;  // NOLINT: the copy is what is tested
  for (const Problem<T>& p : {problem, copy}) {
    CHECK(identical(p.Q(), q));
    CHECK(identical(p.K(), k));
    CHECK(identical(p.V(), v));
    CHECK(p.n() == 5);
    CHECK(p.padded_n() == 5);
    CHECK(p.p() == 3);
    CHECK(p.p_v() == 2);
  }
  CHECK(identical(problem.padded(v), v));
}

TEST_CASE_TEMPLATE("Problem: with a length is the problem of the first tokens, and padded() puts zero rows below", T,
                   float, double) {
  const Key draw_key(test_seed());
  const arma::Mat<T> q = random_matrix<T>(6, 3, draw_key.child("q")), k = random_matrix<T>(6, 3, draw_key.child("k")),
                     v = random_matrix<T>(6, 2, draw_key.child("v"));
  for (const arma::uword length : {1U, 4U, 6U}) {
    const Problem<T> problem(q, k, v, length);
    CHECK(problem.n() == length);
    CHECK(problem.padded_n() == 6);
    CHECK(identical(problem.Q(), arma::Mat<T>(q.head_rows(length))));
    CHECK(identical(problem.K(), arma::Mat<T>(k.head_rows(length))));
    CHECK(identical(problem.V(), arma::Mat<T>(v.head_rows(length))));
    const arma::Mat<T> padded = problem.padded(problem.V());
    CHECK(identical(arma::Mat<T>(padded.head_rows(length)), problem.V()));
    CHECK(arma::size(padded) == arma::SizeMat(6, 2));
    CHECK(arma::accu(padded.tail_rows(6 - length) != 0) == 0);
  }
  CHECK(refusal([&] { Problem<T>(q, k, v, 4).padded(v); }) ==
        "Problem::padded: one row a query, got rows = 6, n_q = 4");
}

TEST_CASE_TEMPLATE("Problem: NaN and infinity are refused by matrix, row and column, also in the padding", T, float,
                   double) {
  const arma::Mat<T> good(4, 3, arma::fill::ones);
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  struct Bad {
    T value;
    const char* shown;
  };
  for (const Bad& bad : {Bad{nan, "nan"}, Bad{infinity, "inf"}, Bad{-infinity, "-inf"}}) {
    for (const char* name : {"Q", "K", "V"}) {
      for (const arma::uword row : {0U, 2U, 3U}) {
        arma::Mat<T> q = good, k = good, v = good;
        (name[0] == 'Q' ? q : name[0] == 'K' ? k : v)(row, 1) = bad.value;
        for (const arma::uword length : {2U, 4U}) {
          CHECK(refusal([&] { Problem<T>(q, k, v, length); }) ==
                "Problem: finite entries, got matrix = " + std::string(name) + ", row = " + std::to_string(row) +
                    ", column = 1, value = " + bad.shown);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("Problem: a row whose squares overflow in a sum over the tokens is refused, with the largest norm",
                   T, float, double) {
  constexpr arma::uword n = 20;
  const arma::Mat<T> ones(n, 3, arma::fill::ones);
  const auto most = static_cast<T>(largest_row_norm<T>(n));
  for (const char* name : {"Q", "K", "V"}) {
    arma::Mat<T> q = ones, k = ones, v = ones;
    arma::Mat<T>& m = name[0] == 'Q' ? q : name[0] == 'K' ? k : v;
    m(5, 1) = most / 2;
    m(5, 2) = -most / 2;  // of norm most / sqrt(2)
    CHECK_NOTHROW(Problem<T>(q, k, v));
    for (const T larger : {T(1.01) * most, std::numeric_limits<T>::max()}) {
      m(5, 2) = -larger;
      const std::string line = refusal([&] { Problem<T>(q, k, v); });
      CHECK(line.starts_with("Problem: rows of norm at most "));
      CHECK(contains(line, std::string("overflow in ") + (sizeof(T) == 4 ? "float" : "double") +
                               ", got matrix = " + name + ", row = 5, norm = "));
      // The norm that the line names is within.
      const double named = std::stod(line.substr(std::string("Problem: rows of norm at most ").size()));
      m.row(5).zeros();
      m(5, 0) = static_cast<T>(named);
      CHECK_NOTHROW(Problem<T>(q, k, v));
      CHECK(named >= 0.98 * static_cast<double>(most));
      m.row(5).zeros();
      m(5, 2) = -larger;
      CHECK_NOTHROW(Problem<T>(q, k, v, 5));  // padding is no part of the problem
    }
  }
}

TEST_CASE_TEMPLATE("Problem: norms as large as they may be leave squares, products and sums over the tokens finite", T,
                   float, double) {
  constexpr arma::uword n = 20;
  const auto most = static_cast<T>(0.999 * largest_row_norm<T>(n));
  const arma::Mat<T> x = most * arma::repmat(arma::Row<T>{T(1), T(0)}, n, 1);
  const Problem<T> problem(x, -x, x);
  for (const Target target : {Target::softmax, Target::kernelized}) {
    CHECK(exact_attention(problem, target).output.is_finite());
  }
  CHECK(std::isfinite(arma::accu(arma::square(x))));
}

TEST_CASE(
    "in_precision: what is too large for float is refused by the number that was given, with the largest allowed") {
  arma::mat k = arma::ones(4, 2);
  k(2, 0) = -1e50;
  const arma::mat one = arma::ones(4, 2);
  const auto rounded = [&](const arma::mat& keys, const arma::vec& bias) {
    return refusal([&] { in_precision<float>(Problem<double>(one, keys, one, {}, {.bias = bias})); });
  };
  const std::string row = rounded(k, {});
  CHECK(contains(row, "overflow in float"));
  CHECK(contains(row, "matrix = K, row = 2, norm = 1e+50, largest norm = 1.1"));  // .99 sqrt(max / 256)
  k(2, 0) = -1e16;
  CHECK(rounded(k, {}) == "nothing was thrown");
  for (const double large : {1e300, -1e300, 1e37}) {
    arma::vec bias(7, arma::fill::zeros);
    bias(6) = -arma::datum::inf;
    bias(5) = large;
    const std::string entry = rounded(one, bias);
    CHECK(contains(entry, "64th of the largest float"));
    CHECK(contains(entry, "entry = 5, value = " + std::string(large < 0 ? "-" : "") + "1e+"));
    CHECK(contains(entry, "largest value = 5.3"));
  }
  const Problem<double> largest(k, one, one);
  CHECK(identical(in_precision<double>(largest).Q(), k));
}

TEST_CASE("longest_row: is the row of largest norm, for numbers whose squares overflow or underflow") {
  const arma::mat ones(4, 2, arma::fill::ones);
  for (const double size : {1e-300, 1e200, 1e300}) {
    arma::mat k = size * ones;
    k.row(2) *= 3;
    const LongestRow longest = longest_row<double>(size / 10 * ones, k, size * ones);
    CHECK(longest.matrix == "K");
    CHECK(longest.row == 2);
    CHECK(longest.norm / size == doctest::Approx(3 * std::sqrt(2.0)));
  }
}

TEST_CASE("Problem: sizes that do not fit are refused with all of them") {
  const arma::mat a(4, 3, arma::fill::ones), other_rows(5, 3, arma::fill::ones), other_cols(4, 2, arma::fill::ones);
  const std::string rule = "Problem: Q and K of one width, K and V with as many rows as each other, got ";
  CHECK(refusal([&] { Problem<double>(a, other_rows, a); }) ==
        rule + "Q.rows = 4, Q.cols = 3, K.rows = 5, K.cols = 3, V.rows = 4");
  CHECK(refusal([&] { Problem<double>(a, other_cols, a); }) ==
        rule + "Q.rows = 4, Q.cols = 3, K.rows = 4, K.cols = 2, V.rows = 4");
  CHECK(contains(refusal([&] { Problem<double>(a, a, other_rows); }), "V.rows = 5"));
  CHECK_NOTHROW(Problem<double>(a, a, other_cols));  // values have a width of their own
  const arma::mat none(0, 3), narrow(4, 0);
  CHECK(refusal([&] { Problem<double>(none, none, none); }) ==
        "Problem: n_q, n_k, p, p_v >= 1, got n_q = 0, n_k = 0, p = 3, p_v = 3");
  CHECK(contains(refusal([&] { Problem<double>(narrow, narrow, a); }), "got n_q = 4, n_k = 4, p = 0, p_v = 3"));
  CHECK(contains(refusal([&] { Problem<double>(a, a, narrow); }), "got n_q = 4, n_k = 4, p = 3, p_v = 0"));
}

TEST_CASE("Problem: a length of 0 or beyond n is refused") {
  const arma::mat a(4, 3, arma::fill::ones);
  CHECK(refusal([&] { Problem<double>(a, a, a, 0); }) == "Problem: 1 <= length <= n_k, got length = 0, n_k = 4");
  CHECK(contains(refusal([&] { Problem<double>(a, a, a, 5); }), "got length = 5, n_k = 4"));
}

TEST_CASE_TEMPLATE("Problem: other numbers of queries than of keys", T, float, double) {
  const Key draw_key(test_seed());
  const arma::Mat<T> q = random_matrix<T>(3, 4, draw_key.child("q")), k = random_matrix<T>(7, 4, draw_key.child("k")),
                     v = random_matrix<T>(7, 2, draw_key.child("v"));
  const Problem<T> problem(q, k, v);
  CHECK(identical(problem.Q(), q));
  CHECK(identical(problem.K(), k));
  CHECK(problem.n_q() == 3);
  CHECK(problem.n_k() == 7);
  CHECK_FALSE(problem.is_square());
  CHECK(problem.padded_n() == 3);
  CHECK(refusal([&] { problem.n(); }) == "Problem: as many queries as keys, got n_q = 3, n_k = 7");
  CHECK(contains(refusal([&] { Problem<T>(k, q, v); }), "V with as many rows"));
  // The length is that of the keys: all queries are kept, also when there are as many of them as keys that are left.
  for (const arma::uword length : {2U, 3U, 5U}) {
    const Problem<T> shorter(q, k, v, length);
    CHECK(identical(shorter.Q(), q));
    CHECK(identical(shorter.K(), arma::Mat<T>(k.head_rows(length))));
    CHECK(identical(shorter.V(), arma::Mat<T>(v.head_rows(length))));
    CHECK(identical(shorter.padded(q), q));
  }
  CHECK(contains(refusal([&] { Problem<T>(q, k, v, 8); }), "1 <= length <= n_k, got length = 8, n_k = 7"));
}

TEST_CASE("Problem: a position is that of max(n_q, n_k) tokens, and a mask needs as many keys as queries") {
  const arma::mat few(3, 2, arma::fill::ones), many(7, 2, arma::fill::ones);
  const RelativePosition<double> bias{arma::regspace(-6.0, 6.0), false, 1};  // b_t = t
  CHECK(Problem<double>(few, many, many, {}, bias).position().bias.n_elem == 13);
  CHECK(Problem<double>(many, few, few, {}, bias).position().bias.n_elem == 13);
  // With five keys left the tokens are five, and b_t goes from -4 to 4.
  const Problem<double> shorter(few, many, many, 5, bias);
  CHECK(identical(arma::mat(shorter.position().bias), arma::mat(arma::regspace(-4.0, 4.0))));
  CHECK(contains(refusal([&] { Problem<double>(few, many, many, {}, {arma::vec(5), false, 1}); }), "2n - 1 = "));
  RelativePosition<double> band = bias, unused = bias;
  band.bias(4) = unused.bias(3) = -arma::datum::inf;
  for (const RelativePosition<double>& mask : {RelativePosition<double>{{}, true, 1}, band}) {
    CHECK_NOTHROW(Problem<double>(few, many, many, {}, mask));
    CHECK(contains(refusal([&] { Problem<double>(many, few, few, {}, mask); }), "at least as many keys as queries"));
    if (mask.causal) CHECK(contains(refusal([&] { Problem<double>(few, many, many, 2, mask); }), "n_q = 3, n_k = 2"));
  }
  // Seven queries, three keys: t from -2 to 6.
  CHECK_NOTHROW(Problem<double>(many, few, few, {}, unused));
}

TEST_CASE("name_of: targets have the names of the documentation") {
  CHECK(name_of(Target::softmax) == "softmax");
  CHECK(name_of(Target::kernelized) == "kernelized");
}
