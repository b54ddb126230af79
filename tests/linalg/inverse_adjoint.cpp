// The adjoints of inverses against differences, eigenvalues and singular values cut off included.
#include <doctest/doctest.h>
#include <croquis/linalg/inverse_adjoint.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>

#include "support/adjoints.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using OfFactors = std::function<arma::mat(const arma::mat& left, const arma::mat& right)>;

// <E, f(A + t U)> against <adjoint, U> for E = left right^T and directions U, which are symmetric where A is.
void check_directions(const arma::mat& a, bool symmetric, const std::function<arma::mat(const arma::mat&)>& f,
                      const OfFactors& adjoint, double allowed) {
  const Key key = Key(61);
  const arma::mat left = random_matrix(a.n_rows, 3, key.child("left")),
                  right = random_matrix(a.n_rows, 3, key.child("right"));
  const arma::mat cotangent = left * right.t(), gradient = adjoint(left, right);
  for (std::uint64_t i = 0; i < 4; ++i) {
    arma::mat u = random_matrix(a.n_rows, a.n_rows, key.child(i));
    if (symmetric) u = u + u.t();
    const Derivative expected = derivative([&](double step) { return arma::dot(cotangent, f(a + step * u)); }, 0x1p-12);
    const double size = arma::norm(gradient, "fro") * arma::norm(u, "fro");
    CHECK(expected.error <= allowed * size);
    CHECK(std::abs(arma::dot(gradient, u) - expected.value) <= allowed * size);
  }
}

}  // namespace

TEST_CASE("pseudo-inverse adjoint: symmetric matrices, with eigenvalues cut off that are not zero") {
  // Eigenvalues above and below 0.3 of the largest, none near it; two of those kept are equal.
  const arma::mat a = with_eigenvalues(9, {2, 1.7, 1.3, 1.3, 0.9, 0.4, 0.25, 0.1, 0.02}, Key(62));
  for (const double cutoff : {1e-6, 0.3}) {
    CAPTURE(cutoff);
    const auto f = [&](const arma::mat& m) {
      return pseudo_inverse_psd(m, cutoff).apply(arma::mat(9, 9, arma::fill::eye));
    };
    const OfFactors adjoint = [&](const arma::mat& left, const arma::mat& right) {
      return pseudo_inverse_psd_adjoint(a, cutoff, left, right);
    };
    check_directions(a, true, f, adjoint, 1e-8);
    const arma::mat gradient = adjoint(random_matrix(9, 2, Key(63)), random_matrix(9, 2, Key(66)));
    CHECK(arma::norm(gradient - gradient.t(), "fro") <= 1e-12 * arma::norm(gradient, "fro"));
  }
}

TEST_CASE("pseudo-inverse adjoint: any square matrix, with singular values cut off that are not zero") {
  const arma::mat a = with_singular_values(8, 8, {3, 2.5, 2, 1.5, 1.2, 0.5, 0.3, 0.05}, Key(64));
  for (const double cutoff : {1e-6, 0.3}) {
    CAPTURE(cutoff);
    const auto f = [&](const arma::mat& m) {
      return pseudo_inverse(m, cutoff).apply(arma::mat(8, 8, arma::fill::eye));
    };
    check_directions(
        a, false, f,
        [&](const arma::mat& left, const arma::mat& right) { return pseudo_inverse_adjoint(a, cutoff, left, right); },
        1e-8);
  }
}

TEST_CASE(
    "pseudo-inverse adjoint: factors that are small where eigenvalues are lose no digits to those that are large") {
  const arma::vec values = {1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10};
  const arma::mat u = random_orthonormal(6, 6, Key(67)), v = random_orthonormal(6, 6, Key(68));
  // A^+ left and A^+T right have entries near 1, and so has the derivative, -A^+T left right^T A^+T.
  const arma::mat a = random_matrix(6, 2, Key(69)), b = random_matrix(6, 2, Key(70)), s = arma::diagmat(values);
  const arma::mat symmetric = -0.5 * u * (a * b.t() + b * a.t()) * u.t(), any = -u * a * b.t() * v.t();
  // Rounding of A, and of the vectors of its eigenvalues, is u / 1e-10 in the directions of the smallest.
  CHECK(arma::norm(pseudo_inverse_psd_adjoint<double>(u * s * u.t(), 1e-13, u * s * a, u * s * b) - symmetric, "fro") <=
        1e-4);
  CHECK(arma::norm(pseudo_inverse_adjoint<double>(u * s * v.t(), 1e-13, v * s * a, u * s * b) - any, "fro") <= 1e-4);
}

TEST_CASE("pseudo-inverse adjoint: sizes that do not fit are refused") {
  const arma::mat a(4, 4, arma::fill::eye), four(4, 2, arma::fill::ones), three(3, 2, arma::fill::ones);
  for (const auto& adjoint : {pseudo_inverse_psd_adjoint<double>, pseudo_inverse_adjoint<double>}) {
    CHECK(contains(refusal([&] { adjoint(a, 1e-9, four, three); }), "two factors of the cotangent"));
    CHECK(contains(refusal([&] { adjoint(a, 1e-9, three, three); }), "two factors of the cotangent"));
    CHECK(contains(refusal([&] { adjoint(a.head_rows(3), 1e-9, three, three); }), "a square matrix"));
    CHECK(contains(refusal([&] { adjoint(arma::mat(), 1e-9, arma::mat(0, 2), arma::mat(0, 2)); }),
                   "adjoint: a square matrix, of one row at least, got rows = 0"));
  }
}

TEST_CASE("iterative inverse adjoint: every start, any number of steps, a symmetric matrix") {
  // Diagonally dominant, with negative entries: columns and rows of different absolute sums.
  const arma::mat n = arma::eye(7, 7) + 0.1 * random_matrix(7, 7, Key(65));
  const arma::mat symmetric = 0.5 * (n + n.t());
  for (const InverseStart start : {InverseStart::identity, InverseStart::transpose_both, InverseStart::transpose_one}) {
    for (const int iterations : {0, 1, 6}) {
      CAPTURE(iterations);
      const InverseIteration options{.start = start, .iterations = iterations};
      const auto f = [&](const arma::mat& m) { return iterative_inverse(m, options).inverse; };
      const OfFactors adjoint = [&](const arma::mat& left, const arma::mat& right) {
        return iterative_inverse_adjoint<double>(n, options, left * right.t());
      };
      if (start == InverseStart::identity && iterations == 0) {
        CHECK(arma::norm(iterative_inverse_adjoint(n, options, arma::mat(7, 7, arma::fill::ones)), "fro") == 0);
        continue;
      }
      check_directions(n, false, f, adjoint, 1e-8);
    }
  }
  const InverseIteration mirrored{.start = InverseStart::transpose_one, .iterations = 3, .symmetric = true};
  check_directions(
      symmetric, true, [&](const arma::mat& m) { return iterative_inverse(m, mirrored).inverse; },
      [&](const arma::mat& left, const arma::mat& right) {
        return iterative_inverse_adjoint<double>(symmetric, mirrored, left * right.t());
      },
      1e-8);
}

TEST_CASE("iterative inverse adjoint: of a matrix whose squares vanish or overflow") {
  const Key key = Key(67);
  const arma::mat n = arma::eye(7, 7) + 0.1 * random_matrix(7, 7, key), cotangent = random_matrix(7, 7, key.child("e"));
  for (const int iterations : {0, 3}) {
    const InverseIteration options{.iterations = iterations};
    const arma::mat expected = iterative_inverse_adjoint(n, options, cotangent);
    for (const double scale : {0x1p-600, 0x1p600}) {
      // Z of s N is that of N over s, so the derivative is over s^2; a power of two changes no bit.
      const arma::mat found = iterative_inverse_adjoint<double>(scale * n, options, scale * cotangent);
      CHECK(identical(arma::mat(scale * found), expected));
    }
  }
}
