#include <doctest/doctest.h>
#include <croquis/linalg/randomised_svd.hpp>
#include <croquis/random/draws.hpp>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// U diag(values) V^T with random orthonormal U and V.
template <typename T>
arma::Mat<T> with_values(arma::uword m, arma::uword n, const arma::vec& values, const Key& key) {
  arma::mat left(m, values.n_elem), right(n, values.n_elem), q, r;
  fill_normal(key.child("left"), 0, left.n_elem, left.memptr());
  fill_normal(key.child("right"), 0, right.n_elem, right.memptr());
  arma::qr_econ(q, r, left);
  left = q;
  arma::qr_econ(q, r, right);
  return arma::conv_to<arma::Mat<T>>::from(left * arma::diagmat(values) * q.t());
}

}  // namespace

TEST_CASE_TEMPLATE("randomised_svd: the leading triples of a known spectrum, for tall and wide matrices", T, float,
                   double) {
  const Key key = Key(test_seed()).child("randomised svd");
  const arma::vec values = arma::exp(-0.3 * arma::regspace<arma::vec>(0, 39));
  // After 4 iterations the subspace's error is of order (sigma_21 / sigma_10)^9 = e^{-30}: rounding is what is left,
  // some 100 u in every one of ten products.
  const double rounding = 2e3 * std::numeric_limits<T>::epsilon();
  for (const auto& [m, n] : {std::pair<arma::uword, arma::uword>{70, 50}, {50, 70}}) {
    const arma::Mat<T> a = with_values<T>(m, n, values, key.child(m));
    const auto svd = randomised_svd(as_operator(a), 10, key.child("start"));
    REQUIRE(svd.values.n_elem == 10);
    for (arma::uword i = 0; i < 10; ++i) CHECK(std::abs(static_cast<double>(svd.values(i)) - values(i)) <= rounding);
    const auto gap = [&](const arma::Mat<T>& columns) { return distance(columns.t() * columns, identity(10)); };
    CHECK(gap(svd.left) <= rounding);
    CHECK(gap(svd.right) <= rounding);
    CHECK(svd.residual <= rounding);
    const arma::mat rest = arma::conv_to<arma::mat>::from(a - svd.left * arma::diagmat(svd.values) * svd.right.t());
    CHECK(arma::norm(rest) <= values(10) + rounding);
  }
}

TEST_CASE("randomised_svd: rank below k, and k as large as the matrix") {
  const Key key = Key(test_seed()).child("small");
  const arma::mat a = with_values<double>(12, 9, arma::vec{3, 2, 1}, key);
  const auto some = randomised_svd(as_operator(a), 6, key);
  CHECK(std::abs(some.values(2) - 1) <= 1e-12);
  CHECK(some.values(3) <= 1e-12);
  const auto all = randomised_svd(as_operator(a), 9, key);
  CHECK(arma::norm(a - all.left * arma::diagmat(all.values) * all.right.t()) <= 1e-12);
  const auto over = randomised_svd(as_operator(a), 2, key, {.oversampling = ~arma::uword{0}});  // all columns
  CHECK(arma::approx_equal(over.values, arma::vec{3, 2}, "absdiff", 1e-12));
  CHECK(contains(refusal([&] { randomised_svd(as_operator(a), 10, key); }), "1 <= k <= min(m, n)"));
  CHECK(contains(refusal([&] { randomised_svd(as_operator(a), 0, key); }), "1 <= k <= min(m, n)"));
}

TEST_CASE("randomised_svd: an operator that is not finite is a breakdown that says so") {
  const auto broken = [](const arma::mat& x) -> arma::mat {
    return arma::mat(5, x.n_cols).fill(std::numeric_limits<double>::quiet_NaN());
  };
  CHECK_THROWS_WITH_AS(randomised_svd<double>({5, 5, broken, broken}, 2, Key(1)),
                       "randomised_svd: a product with the operator is not finite", std::runtime_error);
}

TEST_CASE("randomised_svd: one start in float and in double") {
  const Key key = Key(test_seed()).child("precisions");
  const arma::vec values(20, arma::fill::ones);  // what is found of equal values is up to the start
  const auto found = [&](const auto& a) -> arma::mat {
    const auto svd = randomised_svd(as_operator(a), 5, key.child("start"), {.oversampling = 0, .iterations = 0});
    return arma::conv_to<arma::mat>::from(svd.left * arma::diagmat(svd.values) * svd.right.t());
  };
  const arma::mat difference =
      found(with_values<float>(30, 20, values, key)) - found(with_values<double>(30, 20, values, key));
  CHECK(largest_entry_of(difference) <= 1e-4);  // another start: 0.5
}
