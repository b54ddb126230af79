// Gaussian kernels of points that are far from their mean: one token far from the others, clusters far apart.
#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/nystrom/lift.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "support/attention.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kTokens = 70, kWidth = 4;  // more than a block of 64 rows

template <typename T>
struct FarTokens {
  std::string name;
  arma::Mat<T> q, k;
};

template <typename T>
std::vector<FarTokens<T>> far_tokens(const Key& draw_key) {
  const arma::Mat<T> q = random_matrix<T>(kTokens, kWidth, draw_key.child("q")),
                     k = random_matrix<T>(kTokens, kWidth, draw_key.child("k"));
  std::vector<FarTokens<T>> all;
  for (const double factor : {1e5, 1e6, 1e7, 1e9}) {
    FarTokens<T> one{"a key times " + std::to_string(factor), q, k};
    one.k.row(4) *= static_cast<T>(factor);
    all.push_back(one);
    std::swap(one.q, one.k);
    all.push_back(one);
  }
  FarTokens<T> clusters{"two clusters", q, k}, own{"a cluster for every token", q, k};
  for (arma::uword i = 0; i < kTokens; ++i) {
    for (arma::Mat<T>* m : {&clusters.q, &clusters.k}) m->row(i) += i % 2 == 0 ? T(1e6) : T(-1e6);
    for (arma::Mat<T>* m : {&own.q, &own.k}) m->row(i) += T(1e6) * static_cast<T>(i);
  }
  all.push_back(clusters);
  all.push_back(own);
  all.push_back({"one token, many times, and one far from it", arma::Mat<T>(arma::repmat(q.row(0), kTokens, 1)),
                 arma::join_cols(arma::repmat(q.row(0), kTokens - 1, 1), T(1e7) * q.row(0))});
  all.push_back({"all far from zero", q + T(1e6), k + T(1e6)});
  return all;
}

// exp(-||q_i - k_j||^2 / (2 sqrt(p))): the difference first, which rounds last.
Dense kernel_of(const Dense& q, const Dense& k) {
  Dense c(q.rows, k.rows);
  for (arma::uword i = 0; i < q.rows; ++i) {
    for (arma::uword j = 0; j < k.rows; ++j) {
      long double squared = 0;
      for (arma::uword w = 0; w < q.cols; ++w) squared += (q(i, w) - k(j, w)) * (q(i, w) - k(j, w));
      c(i, j) = std::exp(-squared / (2 * std::sqrt(static_cast<long double>(q.cols))));
    }
  }
  return c;
}

// An exponent s rounds by p + 2 terms and factors and the scale squared by 8 u: e^s |s| <= 0.37. The exponential: 4 u.
template <typename T>
double entry_bound() {
  return (0.37 * (kWidth + 2 + 8) + 4) * unit<T>();
}

}  // namespace

TEST_CASE_TEMPLATE("kernelized scores: entries are good to a few u beside a token far away and in clusters far apart",
                   T, float, double) {
  for (const FarTokens<T>& far : far_tokens<T>(Key(test_seed()).child("far"))) {
    CAPTURE(far.name);
    const Dense expected = kernel_of(far.q, far.k);
    const Problem<T> problem(far.q, far.k, far.q);
    const LinearOperator<T> scores = exact_scores(problem, Target::kernelized);
    const arma::Mat<T> identity(kTokens, kTokens, arma::fill::eye);
    CHECK(distance(scores.dense(), expected) <= entry_bound<T>());
    CHECK(distance(scores.apply_transposed(identity), transposed(expected)) <= entry_bound<T>());
    const arma::uvec rows = {0, 3, 4, 69};
    CHECK(distance(exact_attention_rows(Problem<T>(far.q, far.k, identity), Target::kernelized, rows).output,
                   rows_of(expected, rows)) <= entry_bound<T>());

    const LiftedPoints<T> lift(far.q, far.k);
    CHECK(distance(gaussian_kernel(lift.centred_queries(), lift.centred_keys()), expected) <= entry_bound<T>());
    CHECK(distance(gaussian_product(lift.centred_queries(), lift.centred_keys(), identity), expected) <=
          entry_bound<T>());
    const Dense stacked = arma::join_cols(far.q, far.k);
    const arma::Mat<T> whole = lift.kernel().dense();
    CHECK(distance(whole, kernel_of(stacked, stacked)) <= entry_bound<T>());
    CHECK(identical(whole, arma::Mat<T>(whole.t())));
  }
}

TEST_CASE("kernelized scores: singular values are those of the definition to 4e-15 of the largest, whatever is far") {
  for (const FarTokens<double>& far : far_tokens<double>(Key(test_seed()).child("spectrum"))) {
    CAPTURE(far.name);
    // The reference rounds to double, half a unit an entry: ||.||_F <= n u. LAPACK: a few n u of the largest at worst.
    const arma::vec expected = singular_values(in_double(kernel_of(far.q, far.k))),
                    values = singular_values(score_matrix({far.q, far.k, far.q}, ScoreMatrix::kernelized));
    CHECK(distance(values, expected) <= 4e-15 * expected(0));
  }
}

TEST_CASE_TEMPLATE("gaussian_kernel_matrix: beside a point far away entries are good to a few u", T, float, double) {
  arma::Mat<T> x = random_matrix<T>(40, kWidth, Key(test_seed()).child("points"));
  x.row(7) *= T(1e7);
  const arma::Mat<T> kernel = gaussian_kernel_matrix<T>(x).dense();
  const Dense twice = std::sqrt(2.0L) * Dense(x);  // exp(-||.||^2 / 2) is kernel_of points times p^(1/4)
  CHECK(distance(kernel, kernel_of(twice, twice)) <= entry_bound<T>());
  CHECK(static_cast<double>(gaussian_kernel_matrix<T>(x).entry_error()) <= 129);
}

TEST_CASE_TEMPLATE("kernelized attention: tokens far away give the same bits for any number of threads and any rows", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("threads");
  arma::Mat<T> k = random_matrix<T>(700, 8, draw_key.child("k"));
  k.row(13) *= T(1e6);
  const Problem<T> problem(random_matrix<T>(700, 8, draw_key.child("q")), k,
                           random_matrix<T>(700, 3, draw_key.child("v")));
  const ThreadCount one(1);
  const arma::Mat<T> expected = exact_attention(problem, Target::kernelized).output;
  for (const int team : {2, 5}) {
    const ThreadCount count(team);
    CHECK(identical(exact_attention(problem, Target::kernelized).output, expected));
  }
}

TEST_CASE_TEMPLATE("gaussian_product: entries of clusters far apart are as good after the first 512 columns", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("columns");
  constexpr arma::uword width = 16, cols = 600;
  arma::Mat<T> x = T(0.5) * random_matrix<T>(kTokens, width, draw_key.child("x")),
               y = T(0.5) * random_matrix<T>(cols, width, draw_key.child("y"));
  x.head_rows(30) += T(1e6);
  y.tail_rows(80) += T(1e6);
  const arma::Mat<T> identity(cols, cols, arma::fill::eye);
  // exp(-||.||^2 / 2) is kernel_of points times p^(1/4) = 2. Near zero w is at most 10: p + 2 products of 10 u.
  const Dense expected = kernel_of(arma::Mat<T>(2 * x), arma::Mat<T>(2 * y));
  CHECK(distance(gaussian_product<T>(x, y, identity), expected) <= (width + 4) * 10 * unit<T>());
}

TEST_CASE_TEMPLATE("gaussian_kernel: a point far away changes no bit of the other rows", T, float, double) {
  const arma::Mat<T> x = T(3) * random_matrix<T>(20, kWidth, Key(test_seed()).child("x")),
                     y = T(3) * random_matrix<T>(30, kWidth, Key(test_seed()).child("y"));
  arma::Mat<T> with_far = x;
  with_far.row(0) *= T(1e6);
  CHECK(identical(arma::Mat<T>(gaussian_kernel<T>(with_far, y).tail_rows(19)),
                  arma::Mat<T>(gaussian_kernel<T>(x, y).tail_rows(19))));
}
