// Which matrices of others are symmetric positive semi-definite to rounding, and what is said of those that are not.
#include <doctest/doctest.h>
#include <croquis/kernel/semidefinite.hpp>

#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Key key(const char* name) {
  return Key(test_seed()).child("semidefinite").child(name);
}

arma::mat in_single(const arma::mat& m) {
  return arma::conv_to<arma::mat>::from(arma::conv_to<arma::fmat>::from(m));
}

}  // namespace

TEST_CASE("semidefinite_defect: products X X^T pass, of full and of low rank, in both precisions, at any scale") {
  for (const arma::uword rank : {1, 7, 40, 90}) {
    const arma::mat x = random_matrix(60, rank, key("products").child(rank));
    for (const double scale : {1e-300, 1e-20, 1.0, 1e150}) {
      CAPTURE(rank);
      CAPTURE(scale);
      CHECK(semidefinite_defect(scale * (x * x.t())) == "");
    }
    const arma::fmat single = arma::conv_to<arma::fmat>::from(x);
    CHECK(semidefinite_defect(arma::conv_to<arma::mat>::from(arma::fmat(single * single.t()))) == "");
  }
  CHECK(semidefinite_defect(arma::mat(5, 5, arma::fill::eye)) == "");
  CHECK(semidefinite_defect(arma::mat(5, 5, arma::fill::ones)) == "");
  CHECK(semidefinite_defect(arma::mat(1, 1, arma::fill::ones)) == "");
}

TEST_CASE("semidefinite_defect: says which rule is broken, with the entry or the eigenvalue") {
  CHECK(semidefinite_defect(arma::mat(3, 4, arma::fill::ones)) == "is 3 x 4, not square");
  CHECK(semidefinite_defect(arma::mat(0, 0)) == "is empty");
  CHECK(semidefinite_defect(arma::mat(3, 3, arma::fill::zeros)) == "is zero");
  for (const double entry : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK(semidefinite_defect(arma::mat{{1, 0}, {0, entry}}) == "has an entry that is not finite");
  }
  arma::mat skewed(4, 4, arma::fill::eye);
  skewed(3, 1) = 0.5;
  skewed(2, 0) = 0.1;
  CHECK(semidefinite_defect(skewed) == "is not symmetric: entry (3, 1) is 0.5 and entry (1, 3) is 0, counted from 0");
  CHECK(semidefinite_defect(arma::mat{{1, 2}, {2, 1}}) ==
        "is not positive semi-definite: its smallest eigenvalue is -1, its largest 3");
  CHECK(contains(semidefinite_defect(arma::mat{{1, 0}, {0, -1e-3}}), "smallest eigenvalue is -0.001"));
  CHECK(contains(semidefinite_defect(1e200 * arma::mat{{1, 2}, {2, 1}}), "smallest eigenvalue is -1e+200"));
}

TEST_CASE("semidefinite_defect: what is below the rounding of its precision passes, what is above does not") {
  constexpr arma::uword n = 50;
  arma::vec eigenvalues = arma::linspace(1, 2, n);
  const auto with_smallest = [&](double smallest) {
    eigenvalues(0) = smallest;
    return with_eigenvalues(n, eigenvalues, key("smallest"));
  };
  const double rounding = n * unit<double>(), single = n * unit<float>();
  CHECK(semidefinite_defect(with_smallest(-rounding / 2)) == "");
  CHECK(contains(semidefinite_defect(with_smallest(-20 * rounding)), "smallest eigenvalue"));
  CHECK(contains(semidefinite_defect(with_smallest(-single / 2)), "smallest eigenvalue"));
  CHECK(semidefinite_defect(in_single(with_smallest(-single / 2))) == "");
  CHECK(contains(semidefinite_defect(in_single(with_smallest(-20 * single))), "smallest eigenvalue"));
  arma::mat g = with_smallest(1);
  const double largest = arma::abs(g).max();
  g(4, 2) += rounding * largest / 2;
  CHECK(semidefinite_defect(g) == "");
  g(4, 2) += rounding * largest;
  CHECK(contains(semidefinite_defect(g), "entry (4, 2)"));
}

TEST_CASE("unit_of: single precision numbers that are not all whole, or double") {
  CHECK(unit_of(arma::mat{{0.5, 3}, {0.1F, 2}}) == unit<float>());
  CHECK(unit_of(arma::mat{{0.5, 0.1}}) == unit<double>());
  CHECK(unit_of(arma::mat{{1, 0}, {0, 3}}) == unit<double>());
  CHECK(unit_of(arma::mat{{0.5, 1e300}}) == unit<double>());
}

TEST_CASE(
    "semidefinite_kernel_matrix: the matrix over a power of two, symmetric, with a diagonal that is not negative") {
  const arma::mat x = random_matrix(20, 3, key("kernel"));
  arma::mat g = x * x.t();
  g.row(4).zeros();
  g.col(4).zeros();
  g(4, 4) = -1e-17;
  g(7, 2) *= 1 + 1e-15;
  for (const double scale : {1e-250, 1.0, 1e120}) {
    const KernelMatrix<double> kernel = semidefinite_kernel_matrix(scale * g);
    const arma::mat k = kernel.dense();
    CHECK(identical(k, arma::mat(k.t())));
    CHECK(k.max() >= 1);
    CHECK(k.max() < 2);
    CHECK(kernel.diagonal.min() == 0);
    CHECK(distance(k / k.max(), g / g.max()) <= 1e-14);
    CHECK(kernel.entry_error() == 1);
  }
  CHECK(semidefinite_kernel_matrix(in_single(g)).entry_error() == unit<float>() / unit<double>());
  CHECK(contains(refusal([] { semidefinite_kernel_matrix(arma::mat(2, 3, arma::fill::ones)); }), "square"));
}
