#include <doctest/doctest.h>
#include <croquis/toeplitz/toeplitz_operator.hpp>

#include <cmath>
#include <utility>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/relative.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// T by its definition, largest entry 1.
template <typename T>
Dense toeplitz_of(const RelativePosition<T>& position, arma::uword n) {
  const Dense b = pairwise_bias(position, n);
  const arma::Col<T> weights = log_weights(position, RelativeGrid(n, position.height));
  return pairwise_weights(position, n, static_cast<long double>(weights.max()));
}

template <typename T>
double column_norm(const arma::Mat<T>& x) {
  double largest = 0;
  for (arma::uword c = 0; c < x.n_cols; ++c) largest = std::max(largest, static_cast<double>(arma::norm(x.col(c))));
  return largest;
}

// c has an exponential of a rounded difference: (|b - max b| + 3) u of an entry e^{b - max b}, at most 4 u of the
// largest; the direct sum rounds n times.
template <typename T>
double bound_of(const ToeplitzOperator<T>& toeplitz, const Dense& t, const arma::Mat<T>& x) {
  const double entries = largest_row_sum(t) * static_cast<double>(arma::abs(x).max());
  const double transposed_entries = largest_row_sum(transposed(t)) * static_cast<double>(arma::abs(x).max());
  const double sums = 4 * unit<T>() * std::max(entries, transposed_entries) + 4 * unit<T>() * column_norm(x);
  if (toeplitz.direct())
    return sums + (static_cast<double>(toeplitz.n()) + 4) * unit<T>() * std::max(entries, transposed_entries);
  return sums + toeplitz.entry_error() * column_norm(x);
}

template <typename T>
void check_products(const RelativePosition<T>& position, arma::uword n) {
  const Dense t = toeplitz_of(position, n);
  const arma::Mat<T> x = random_matrix<T>(n, 3, Key(test_seed()).child("x"));
  for (const ToeplitzPath path : {ToeplitzPath::fft, ToeplitzPath::direct}) {
    const ToeplitzOperator<T> toeplitz(position, n, path);
    CHECK(toeplitz.direct() == (path == ToeplitzPath::direct));
    const double bound = bound_of(toeplitz, t, x);
    CHECK(distance(toeplitz.apply(x), t * x) <= bound);
    CHECK(distance(toeplitz.apply_transposed(x), transposed(t) * x) <= bound);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("ToeplitzOperator: products with T and T^T within the norm-wise bound, by FFT and directly", T,
                   float, double) {
  // 4 phases from n = 64 to 1024, 2 below; an odd number of tokens leaves places empty.
  for (const arma::uword n : {1U, 2U, 7U, 64U, 127U, 601U, 1000U}) {
    for (const bool causal : {false, true}) {
      CAPTURE(n);
      CAPTURE(causal);
      check_products(random_position<T>(n, 1, causal, 1, Key(test_seed()).child(n)), n);
    }
  }
  check_products(RelativePosition<T>{{}, true, 1}, 50);  // a triangle of ones
  check_products(RelativePosition<T>{}, 50);
}

TEST_CASE_TEMPLATE("ToeplitzOperator: images, block Toeplitz, causal and not", T, float, double) {
  for (const auto& [n, height] :
       {std::pair<arma::uword, arma::uword>{1, 1}, {15, 3}, {15, 5}, {9, 9}, {64, 8}, {600, 20}, {546, 39}}) {
    for (const bool causal : {false, true}) {
      CAPTURE_BINDING(n);
      CAPTURE_BINDING(height);
      check_products(random_position<T>(n, height, causal, 1, Key(test_seed()).child(n)), n);
    }
  }
}

TEST_CASE_TEMPLATE(
    "ToeplitzOperator: the error of the FFT is far below the bound's worst case, and biases of any size are shifted", T,
    float, double) {
  const arma::uword n = 300;
  for (const double offset : {0.0, 1e4, -1e4}) {
    RelativePosition<T> position = random_position<T>(n, 1, false, 1, Key(test_seed()).child("offset"), false);
    position.bias = arma::round(position.bias * T(64)) / T(64);  // so that the offset is exact in float
    position.bias += static_cast<T>(offset);
    const ToeplitzOperator<T> toeplitz(position, n, ToeplitzPath::fft);
    CHECK(toeplitz.log_scale() == position.bias.max());
    const Dense t = toeplitz_of(position, n);
    const arma::Mat<T> x = random_matrix<T>(n, 2, Key(test_seed()).child("x"));
    CHECK(distance(toeplitz.apply(x), t * x) <= bound_of(toeplitz, t, x));
    // u sqrt(log2 L) ||c|| ||x|| / sqrt(L) is what rounding does on average; the bound has log2 L and no sqrt(L).
    CHECK(distance(toeplitz.apply(x), t * x) <= 0.1 * toeplitz.entry_error() * column_norm(x));
  }
}

TEST_CASE_TEMPLATE("ToeplitzOperator: entry_error is the sum of what its steps are off by, and 0 directly", T, float,
                   double) {
  for (const auto& [n, height] : {std::pair<arma::uword, arma::uword>{1, 1}, {300, 1}, {1000, 1}, {546, 39}}) {
    CAPTURE_BINDING(n);
    const RelativePosition<T> ones{.bias = {}, .causal = false, .height = height};  // every c_t is 1
    const ToeplitzOperator<T> toeplitz(ones, n, ToeplitzPath::fft);
    const PhaseLayout& layout = toeplitz.layout();
    const double transform = 7 * std::log(static_cast<double>(layout.length)) / std::log(2.0);
    double off = 0;
    for (const double of_step : {transform, transform, 2 * transform, 10.0}) off += of_step;
    for (arma::uword phase = 0; phase < layout.phases; ++phase) off += 3;
    const auto entries = static_cast<double>((2 * height - 1) * (2 * (n / height) - 1));
    CHECK(toeplitz.entry_error() / (unit<T>() * std::sqrt(entries)) == doctest::Approx(off).epsilon(1e-5));
    CHECK(ToeplitzOperator<T>(ones, n, ToeplitzPath::direct).entry_error() == 0);
  }
}

TEST_CASE_TEMPLATE("ToeplitzOperator: accumulate adds outer o T (inner o x)", T, float, double) {
  for (const arma::uword height : {1U, 4U}) {
    const arma::uword n = 36;
    const RelativePosition<T> position = random_position<T>(n, height, false, 1, Key(test_seed()).child("a"));
    const ToeplitzOperator<T> toeplitz(position, n, ToeplitzPath::fft);
    const arma::Mat<T> v = random_matrix<T>(n, 4, Key(test_seed()).child("v")), w = toeplitz.layout().in_phases(v, n);
    for (const bool transpose : {false, true}) {
      arma::Mat<T> sum = w.col(3);
      auto work = toeplitz.workspace();
      toeplitz.accumulate(w.colptr(0), w.colptr(1), w.colptr(2), sum.memptr(), transpose, work);
      const arma::Mat<T> y = toeplitz.layout().in_tokens(sum, n, n);
      const Dense t = transpose ? transposed(toeplitz_of(position, n)) : toeplitz_of(position, n);
      const arma::Mat<T> inner = v.col(1) % v.col(2);
      Dense expected = t * inner;
      for (arma::uword i = 0; i < n; ++i) {
        expected(i, 0) = static_cast<long double>(v(i, 3)) + static_cast<long double>(v(i, 0)) * expected(i, 0);
      }
      const double outer = static_cast<double>(arma::abs(v).max()) + 1;
      CHECK(distance(y, expected) <=
            outer * (bound_of(toeplitz, t, inner) + 8 * unit<T>() * (1 + largest_row_sum(t) * outer * outer)));
    }
  }
}

TEST_CASE_TEMPLATE("ToeplitzOperator: the same bits for any number of threads, also inside a parallel loop", T, float,
                   double) {
  for (const ToeplitzPath path : {ToeplitzPath::fft, ToeplitzPath::direct}) {
    const arma::uword n = 700;
    const ToeplitzOperator<T> toeplitz(random_position<T>(n, 1, false, 1, Key(3)), n, path);
    const arma::Mat<T> x = random_matrix<T>(n, 19, Key(4));
    const ThreadCount one(1);
    const arma::Mat<T> y = toeplitz.apply(x), z = toeplitz.apply_transposed(x);
    for (const int team : {2, 4}) {
      const ThreadCount count(team);
      CHECK(identical(toeplitz.apply(x), y));
      CHECK(identical(toeplitz.apply_transposed(x), z));
      std::vector<int> same(4);
      parallel_for(4, [&](std::size_t i) { same[i] = identical(toeplitz.apply(x), y); });
      CHECK(std::count(same.begin(), same.end(), 1) == 4);
    }
  }
}

TEST_CASE("ToeplitzOperator: automatic is direct for few tokens; wrong sizes are refused; it is a linear operator") {
  const auto automatic = [](arma::uword n) {
    return ToeplitzOperator<double>(random_position<double>(n, 1, false, 1, Key(1)), n);
  };
  CHECK(automatic(kDirectToeplitz).direct());
  CHECK_FALSE(automatic(kDirectToeplitz + 1).direct());
  CHECK(contains(refusal([&] { automatic(5).apply(arma::mat(4, 1, arma::fill::ones)); }), "got rows = 4, n = 5"));
  CHECK(contains(refusal([] { ToeplitzOperator<double>({{1.0, 2.0}, false, 1}, 2); }), "2n - 1 = 3 entries"));
  const auto direct = automatic(kDirectToeplitz);  // plans no transforms
  CHECK(contains(refusal([&] { direct.workspace(); }), "a path by fft"));
  CHECK(arma::size(automatic(200).apply(arma::mat(200, 0))) == arma::SizeMat(200, 0));
  const auto op = as_operator(automatic(9));
  CHECK(distance(op.dense(), automatic(9).apply(arma::mat(9, 9, arma::fill::eye))) == 0);
}
