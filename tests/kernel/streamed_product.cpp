#include <doctest/doctest.h>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/norms.hpp>

#include <cmath>

#include "support/attention.hpp"
#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// Rows and columns of the matrix, width of its points, columns of what it multiplies: one block and several, more rows
// than columns and fewer, groups of one length and of two, points wider than what a product takes at a time.
const std::tuple<arma::uword, arma::uword, arma::uword, arma::uword> kSizes[] = {
    {1, 1, 1, 1}, {300, 70, 8, 5}, {600, 600, 3, 2}, {20, 1300, 4, 3}, {300, 5000, 2, 1}, {70, 90, 150, 2}};

}  // namespace

TEST_CASE_TEMPLATE("softmax_product: is softmax(Q K^T / sqrt(p)) X, for scores that exponentials overflow at as well",
                   T, float, double) {
  for (const auto& [a, b, p, c] : kSizes) {
    for (const T size : {T(1), T(30)}) {
      CAPTURE_BINDING(b);
      CAPTURE(size);
      const Key draw_key = Key(test_seed()).child("softmax product").child(b);
      const arma::Mat<T> q = size * random_matrix<T>(a, p, draw_key.child("q")),
                         k = random_matrix<T>(b, p, draw_key.child("k")),
                         x = random_matrix<T>(b, c, draw_key.child("x"));
      const double s = largest_row(q) * largest_row(k) / std::sqrt(static_cast<double>(p));
      // Weights sum to 1: their error, with that of 8 groups which are rescaled as 8 blocks more; b products and sums.
      const auto terms = static_cast<double>(b);
      const double bound = (softmax_error<T>(terms + 8 * 512, static_cast<double>(p), s) + terms * unit<T>()) *
                           static_cast<double>(largest_entry(x));
      CHECK(distance(softmax_product(q, k, x), softmax_of(logits_of(q, k)) * x) <= bound);
    }
  }
}

TEST_CASE_TEMPLATE("gaussian_product: is the kernel times Z", T, float, double) {
  for (const auto& [a, b, p, c] : kSizes) {
    CAPTURE_BINDING(b);
    const Key draw_key = Key(test_seed()).child("gaussian product").child(b);
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(p)));
    const arma::Mat<T> x = scale * random_matrix<T>(a, p, draw_key.child("x")),
                       y = scale * random_matrix<T>(b, p, draw_key.child("y")),
                       z = random_matrix<T>(b, c, draw_key.child("z"));
    const double r = std::max(largest_row(x), largest_row(y));
    // Entries are at most 1 and wrong by gaussian_error; b products and sums, and those of 8 groups.
    const auto terms = static_cast<double>(b);
    const double bound = terms * (gaussian_error<T>(static_cast<double>(p), r) + (terms + 8) * unit<T>()) *
                         static_cast<double>(largest_entry(z));
    CHECK(distance(gaussian_product(x, y, z), gaussian_of(x, y) * z) <= bound);
  }
}

TEST_CASE_TEMPLATE("streamed products: the same bits for any number of threads", T, float, double) {
  for (const auto& [a, b, p, c] : kSizes) {
    const Key draw_key = Key(test_seed()).child("streamed threads").child(b);
    const arma::Mat<T> q = random_matrix<T>(a, p, draw_key.child("q")), k = random_matrix<T>(b, p, draw_key.child("k")),
                       x = random_matrix<T>(b, c, draw_key.child("x"));
    const auto both = [&] {
      return arma::Mat<T>(arma::join_rows(softmax_product(q, k, x), gaussian_product(q, k, x)));
    };
    const ThreadCount one(1);
    const arma::Mat<T> expected = both();
    for (const int team : {2, 3}) {
      const ThreadCount count(team);
      CHECK(identical(both(), expected));
    }
  }
}

TEST_CASE("streamed products: the last column apart is the last column") {
  for (const auto& [a, b, p, c] : kSizes) {
    const Key draw_key = Key(test_seed()).child("last").child(b);
    const arma::mat q = random_matrix(a, p, draw_key.child("q")), k = random_matrix(b, p, draw_key.child("k")),
                    x = random_matrix(b, c, draw_key.child("x"));
    arma::vec last;
    const arma::mat softmax = softmax_product(q, k, x, {.last = &last});
    CHECK(identical(arma::mat(arma::join_rows(softmax, last)), softmax_product(q, k, x)));
    const arma::mat gaussian = gaussian_product(q, k, x, {.last = &last});
    CHECK(identical(arma::mat(arma::join_rows(gaussian, last)), gaussian_product(q, k, x)));
  }
}

TEST_CASE_TEMPLATE("softmax_product: row maxima and sums are the largest scores and what the rows add up to", T, float,
                   double) {
  for (const auto& [a, b, p, c] : kSizes) {
    const Key draw_key = Key(test_seed()).child("tops").child(b);
    const arma::Mat<T> q = T(20) * random_matrix<T>(a, p, draw_key.child("q")),
                       k = random_matrix<T>(b, p, draw_key.child("k")), x = random_matrix<T>(b, c, draw_key.child("x"));
    arma::Col<T> row_maxima, sums;
    softmax_product(q, k, x, {.row_maxima = &row_maxima, .sums = &sums});
    const Dense logits = logits_of(q, k);
    const double s = largest_row(q) * largest_row(k) / std::sqrt(static_cast<double>(p));
    const double error = softmax_error<T>(static_cast<double>(b) + 8 * 512, static_cast<double>(p), s);
    double worst_top = 0, worst_sum = 0;
    for (arma::uword i = 0; i < a; ++i) {
      long double top = -1e30L, sum = 0;
      for (arma::uword j = 0; j < b; ++j) top = std::max(top, logits(i, j));
      for (arma::uword j = 0; j < b; ++j) sum += std::exp(logits(i, j) - top);
      raise(worst_top, std::fabs(static_cast<long double>(row_maxima(i)) - top));
      raise(worst_sum, std::fabs(static_cast<long double>(sums(i)) / sum - 1));
    }
    CHECK(worst_top <= (static_cast<double>(p) + 10) * s * unit<T>());
    CHECK(worst_sum <= error);
  }
}

TEST_CASE_TEMPLATE("softmax_product: logs of weights are added to the scores of their keys", T, float, double) {
  for (const auto& [a, b, p, c] : kSizes) {
    const Key draw_key = Key(test_seed()).child("weights").child(b);
    const arma::Mat<T> q = random_matrix<T>(a, p, draw_key.child("q")), k = random_matrix<T>(b, p, draw_key.child("k")),
                       x = random_matrix<T>(b, c, draw_key.child("x"));
    const arma::Col<T> log_weights = T(5) * random_matrix<T>(b, 1, draw_key.child("w"));
    Dense logits = logits_of(q, k);
    for (arma::uword i = 0; i < a; ++i) {
      for (arma::uword j = 0; j < b; ++j) logits(i, j) += static_cast<long double>(log_weights(j));
    }
    const double s = largest_row(q) * largest_row(k) / std::sqrt(static_cast<double>(p)) + largest_entry(log_weights);
    const auto terms = static_cast<double>(b);
    CHECK(distance(softmax_product<T>(q, k, x, {}, log_weights), softmax_of(logits) * x) <=
          (softmax_error<T>(terms + 8 * 512, static_cast<double>(p), s) + terms * unit<T>()) * largest_entry(x));
    CHECK(contains(refusal([&, &b = b] { softmax_product<T>(q, k, x, {}, arma::Col<T>(b + 1)); }),
                   "a weight for every key"));
  }
}

TEST_CASE_TEMPLATE("gaussian_product: points are scaled and moved before they are used", T, float, double) {
  for (const auto& [a, b, p, c] : kSizes) {
    CAPTURE_BINDING(b);
    const Key draw_key = Key(test_seed()).child("moved").child(b);
    const T scale = T(0.4);
    const arma::Mat<T> x = random_matrix<T>(a, p, draw_key.child("x")) + T(3),
                       y = random_matrix<T>(b, p, draw_key.child("y")) + T(3),
                       z = random_matrix<T>(b, c, draw_key.child("z"));
    const arma::Row<T> centre = scale * T(3) + T(0.1) * random_matrix<T>(1, p, draw_key.child("centre"));
    const Dense points_x = static_cast<long double>(scale) * Dense(x),
                points_y = static_cast<long double>(scale) * Dense(y);
    const double r = std::max(largest_row(x), largest_row(y)) * static_cast<double>(scale);
    const auto terms = static_cast<double>(b);
    const double bound =
        terms * (gaussian_error<T>(static_cast<double>(p), r) + (terms + 8) * unit<T>()) * largest_entry(z);
    const CentredPoints<T> centred_x{x, scale, &centre}, centred_y{y, scale, &centre};
    const Dense expected = gaussian_of(points_x, points_y) * z;  // the centre is the same for both, and cancels
    CHECK(distance(gaussian_product<T>(centred_x, centred_y, z), expected) <= bound);
    CHECK(distance(gaussian_product<T>(CentredPoints<T>{x, scale}, CentredPoints<T>{y, scale}, z), expected) <= bound);
    // Differences are taken of the points as they are given, which have to have one scale and one centre.
    const auto refused = [&](const CentredPoints<T>& other) {
      return contains(refusal([&] { gaussian_product<T>(other, centred_y, z); }), "points of one scale and one centre");
    };
    const arma::Mat<T> here = scale * x;
    CHECK(refused(CentredPoints<T>{here, T(1), &centre}));
    CHECK(refused(CentredPoints<T>{x, scale}));
  }
}

TEST_CASE("streamed products: nothing to multiply, and sizes that do not fit") {
  const arma::mat q(4, 2, arma::fill::ones), k(3, 2, arma::fill::ones), none(0, 2);
  CHECK(arma::size(softmax_product(q, k, arma::mat(3, 0))) == arma::SizeMat(4, 0));
  CHECK(identical(gaussian_product(q, none, arma::mat(0, 3)), arma::mat(4, 3, arma::fill::zeros)));
  CHECK(arma::size(gaussian_product(none, q, arma::mat(4, 3))) == arma::SizeMat(0, 3));
  CHECK(contains(refusal([&] { softmax_product(q, k, arma::mat(4, 1)); }),
                 "softmax_product: a row of X for every key, one at least, got k.rows = 3, x.rows = 4"));
  CHECK(contains(refusal([&] { softmax_product(q, none, arma::mat(0, 1)); }), "k.rows = 0"));
  CHECK(contains(refusal([&] { softmax_product(q, arma::mat(3, 5), arma::mat(3, 1)); }), "k.cols = 5"));
  CHECK(contains(refusal([&] { gaussian_product(q, k, arma::mat(4, 1)); }), "y.rows = 3, z.rows = 4"));
  arma::vec last;
  CHECK(contains(refusal([&] { softmax_product<double>(q, k, arma::mat(3, 0), {.last = &last}); }),
                 "streamed_product: an X with a row for each column of scores, and with a column where the last is"));
}
