// Identities that every sketch satisfies.
#pragma once

#include <doctest/doctest.h>

#include <croquis/sketch/sketch.hpp>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

/// |a_ij| in every entry.
inline Dense absolute(Dense a) {
  for (long double& x : a.entries) x = std::fabs(x);
  return a;
}

/// left, right and expand against the matrix dense(): sums of at most max(n, d) products, u a term, plus the scaling
/// and what else is rounded.
template <typename T, typename S>
void check_products(const S& sketch, const croquis::Key& draw_key, double roundings = 4) {
  const Dense s = sketch.template dense<T>();
  REQUIRE(s.rows == sketch.rows());
  REQUIRE(s.cols == sketch.cols());
  for (const arma::uword k : {1U, 5U}) {
    const arma::Mat<T> tall = random_matrix<T>(s.rows, k, draw_key.child("tall")),
                       wide = random_matrix<T>(k, s.rows, draw_key.child("wide")),
                       small = random_matrix<T>(s.cols, k, draw_key.child("small"));
    const auto bound = [&](const Dense& a, const Dense& b) {
      return (static_cast<double>(a.cols) + roundings) * unit<T>() *
             static_cast<double>(largest_entry_of(absolute(a) * absolute(b)));
    };
    CHECK(distance(sketch.left(tall), transposed(s) * tall) <= bound(transposed(s), tall));
    CHECK(distance(sketch.right(wide), Dense(wide) * s) <= bound(wide, s));
    CHECK(distance(sketch.expand(small), s * small) <= bound(s, small));
  }
  const arma::Mat<T> none(s.rows, 0);
  CHECK(arma::size(sketch.left(none)) == arma::SizeMat(s.cols, 0));
}

/// The same bits for 1, 2 and 4 threads, and inside a loop that is parallel itself.
template <typename T, typename S>
void check_thread_counts(const S& sketch, const croquis::Key& draw_key) {
  const arma::Mat<T> tall = random_matrix<T>(sketch.rows(), 3, draw_key.child("tall")),
                     wide = random_matrix<T>(3, sketch.rows(), draw_key.child("wide")),
                     small = random_matrix<T>(sketch.cols(), 3, draw_key.child("small"));
  const ThreadCount one(1);
  const arma::Mat<T> dense = sketch.template dense<T>(), left = sketch.left(tall), right = sketch.right(wide),
                     expanded = sketch.expand(small);
  for (const int team : {2, 4}) {
    const ThreadCount count(team);
    CHECK(identical(sketch.template dense<T>(), dense));
    CHECK(identical(sketch.left(tall), left));
    CHECK(identical(sketch.right(wide), right));
    CHECK(identical(sketch.expand(small), expanded));
    std::vector<int> same(4);
    croquis::parallel_for(same.size(), [&](std::size_t i) {
      same[i] = identical(sketch.template dense<T>(), dense) && identical(sketch.left(tall), left) &&
                identical(sketch.right(wide), right) && identical(sketch.expand(small), expanded);
    });
    CHECK(std::count(same.begin(), same.end(), 1) == 4);
  }
}

/// Operands of a wrong size are refused, and the message has both sizes.
template <typename S>
void check_refusals(const S& sketch) {
  const arma::mat wrong(sketch.rows() + 1, sketch.rows() + 1, arma::fill::ones);
  const std::string got = std::to_string(sketch.rows() + 1);
  CHECK(contains(refusal([&] { sketch.left(wrong); }), "a matrix with n rows, got rows = " + got));
  CHECK(contains(refusal([&] { sketch.right(wrong); }), "a matrix with n columns, got cols = " + got));
  CHECK(contains(refusal([&] { sketch.expand(wrong); }), "a matrix with d rows, got rows = " + got));
}
