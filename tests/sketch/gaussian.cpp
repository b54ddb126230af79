#include <doctest/doctest.h>
#include <croquis/sketch/gaussian.hpp>

#include <functional>
#include <vector>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"
#include "support/sketches.hpp"
#include "support/statistics.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kGaussianRows = 6, kGaussianCols = 4;
constexpr std::uint64_t kGaussianTrials = 5000;

template <typename T>
using Draw = std::function<arma::Mat<T>(const Key&)>;

template <typename T>
arma::Mat<T> drawn(const Key& key) {
  return GaussianSketch(kGaussianRows, kGaussianCols, key).dense<T>();
}

// sqrt(d) S over all trials: z[i][j][t].
template <typename T>
std::vector<std::vector<std::vector<double>>> entries_of(const Draw<T>& draw) {
  std::vector<std::vector<std::vector<double>>> z(kGaussianRows, std::vector<std::vector<double>>(kGaussianCols));
  const Key root = Key(test_seed()).child("law");
  const ThreadCount one(1);  // 24 normals are no work for two threads
  for (std::uint64_t t = 0; t < kGaussianTrials; ++t) {
    const arma::Mat<T> s = draw(root.child(t));
    for (arma::uword i = 0; i < kGaussianRows; ++i) {
      for (arma::uword j = 0; j < kGaussianCols; ++j)
        z[i][j].push_back(std::sqrt(double{kGaussianCols}) * static_cast<double>(s(i, j)));
    }
  }
  return z;
}

// E[S S^T] = I, entry by entry. With d S S^T summed over the trials: entry (i, i) is chi-squared with d trials degrees
// of freedom, entry (i, k) divided by the length of row i is N(0,1), both exactly: 36 tests share the failure.
template <typename T>
bool second_moment_is_identity(const Draw<T>& draw) {
  const auto z = entries_of(draw);
  for (arma::uword i = 0; i < kGaussianRows; ++i) {
    for (arma::uword k = 0; k < kGaussianRows; ++k) {
      std::vector<double> x, y;
      for (arma::uword j = 0; j < kGaussianCols; ++j) {
        x.insert(x.end(), z[i][j].begin(), z[i][j].end());
        y.insert(y.end(), z[k][j].begin(), z[k][j].end());
      }
      const double failure = kFailure / (kGaussianRows * kGaussianRows);
      const double squares = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
      if (i == k ? !is_chi_squared(squares, static_cast<double>(x.size()), failure)
                 : !samples_are_uncorrelated(x, y, failure)) {
        return false;
      }
    }
  }
  return true;
}

// Every entry is N(0, 1/d) and every two columns are uncorrelated: 24 + 36 tests share the failure.
template <typename T>
bool entries_are_independent_normals(const Draw<T>& draw) {
  const auto z = entries_of(draw);
  for (arma::uword i = 0; i < kGaussianRows; ++i) {
    for (arma::uword j = 0; j < kGaussianCols; ++j) {
      if (!sample_is_normal(z[i][j], kFailure / 60)) return false;
      for (arma::uword other = 0; other < j; ++other) {
        if (!samples_are_uncorrelated(z[i][j], z[i][other], kFailure / 60)) return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("GaussianSketch: left, right and expand are products with dense()", T, float, double) {
  const Key key = Key(test_seed()).child("products");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1}, {3, 8}, {255, 5}, {256, 5}, {257, 5}, {600, 3}};
  for (const auto& [n, d] : sizes) {
    CAPTURE_BINDING(n);
    check_products<T>(GaussianSketch(n, d, key.child(n)), key.child("operands"));
  }
}

TEST_CASE_TEMPLATE("GaussianSketch: products by tiles of columns, and by groups of more than one block of rows", T,
                   float, double) {
  // Above 2^21 entries a product goes by 64 columns at a time; of more than 16 blocks of 256 rows some share a sum.
  const Key key = Key(test_seed()).child("large");
  const GaussianSketch wide(2, 1000, key), tall(17 * 256 + 3, 2, key);
  const arma::Mat<T> m = random_matrix<T>(2100, 2, key.child("m")),
                     row = random_matrix<T>(1, tall.rows(), key.child("row"));
  const Dense expected = Dense(m) * Dense(wide.dense<T>()), sum = Dense(row) * Dense(tall.dense<T>());
  CHECK(distance(wide.right(m), expected) <=
        4 * unit<T>() * largest_row(m) * largest_row(transposed(Dense(wide.dense<T>()))));
  const double bound =
      static_cast<double>(tall.rows()) * unit<T>() * largest_row(row) * largest_row(transposed(Dense(tall.dense<T>())));
  CHECK(distance(tall.right(row), sum) <= bound);
  CHECK(distance(tall.left(arma::Mat<T>(row.t())), transposed(sum)) <= bound);
}

TEST_CASE_TEMPLATE("GaussianSketch: E[S S^T] = I in every entry, and mutants are rejected", T, float, double) {
  // A diagonal entry is known to sqrt(2 / 20000) = 1 %, an entry off the diagonal to 0.7 %.
  CHECK(second_moment_is_identity<T>(drawn<T>));
  const T root = std::sqrt(T(kGaussianCols));
  CHECK_FALSE(second_moment_is_identity<T>([&](const Key& s) { return arma::Mat<T>(drawn<T>(s) / root); }));  // 1/d
  CHECK_FALSE(second_moment_is_identity<T>([&](const Key& s) { return arma::Mat<T>(drawn<T>(s) * root); }));  // none
  CHECK_FALSE(second_moment_is_identity<T>([](const Key& s) {  // row 0 is zero
    arma::Mat<T> m = drawn<T>(s);
    m.row(0).zeros();
    return m;
  }));
  CHECK_FALSE(second_moment_is_identity<T>([](const Key& s) {  // the last row is the first again
    arma::Mat<T> m = drawn<T>(s);
    m.row(kGaussianRows - 1) = m.row(0);
    return m;
  }));
}

TEST_CASE_TEMPLATE("GaussianSketch: entries are independent N(0, 1/d), and mutants are rejected", T, float, double) {
  CHECK(entries_are_independent_normals<T>(drawn<T>));
  CHECK_FALSE(entries_are_independent_normals<T>([](const Key& s) {  // one key for all columns
    const arma::Mat<T> m = drawn<T>(s);
    return arma::Mat<T>(arma::repmat(m.col(0), 1, kGaussianCols));
  }));
  CHECK_FALSE(entries_are_independent_normals<T>([](const Key& s) {  // index 0 without a sign
    arma::Mat<T> m = drawn<T>(s);
    m(0, 0) = std::abs(m(0, 0));
    return m;
  }));
  CHECK_FALSE(entries_are_independent_normals<T>([](const Key& s) {  // signs where normals should be
    return arma::Mat<T>(arma::sign(drawn<T>(s)) / std::sqrt(T(kGaussianCols)));
  }));
}

TEST_CASE_TEMPLATE("GaussianSketch: entry (i, j) depends on the key and (i, j) alone", T, float, double) {
  const Key key = Key(test_seed()).child("entry");
  const arma::Mat<T> tall = GaussianSketch(700, 4, key).dense<T>(), low = GaussianSketch(10, 4, key).dense<T>();
  CHECK(identical(arma::Mat<T>(tall.head_rows(10)), low));
  // With four times the columns the first are the same draws, halved: exact.
  const arma::Mat<T> wide = GaussianSketch(10, 16, key).dense<T>();
  CHECK(distance(2 * wide.head_cols(4), low) <= 4 * unit<T>() * 10);
  CHECK_FALSE(identical(GaussianSketch(10, 4, key.child(0)).dense<T>(), low));
}

TEST_CASE_TEMPLATE("GaussianSketch: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(GaussianSketch(1000, 24, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("GaussianSketch: wrong sizes are refused") {
  CHECK(refusal([] { GaussianSketch(5, 0, Key(1)); }) == "GaussianSketch: n >= 1, d >= 1, got n = 5, d = 0");
  CHECK(contains(refusal([] { GaussianSketch(0, 3, Key(1)); }), "got n = 0, d = 3"));
  CHECK(contains(refusal([] { GaussianSketch(5, arma::uword{1} << 61, Key(1)); }), "bytes"));
  for (const arma::uword first : {arma::uword{3}, ~arma::uword{0}, ~arma::uword{0} - 2}) {
    CHECK(contains(refusal([&] { GaussianSketch(5, 2, Key(1)).rows_of<double>(first, 3); }), "rows of S"));
  }
  check_refusals(GaussianSketch(5, 3, Key(1)));
}
