#include <doctest/doctest.h>
#include <croquis/features/feature_maps.hpp>

#include <cmath>
#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("log_elu_features: exp of it is elu(x) + 1, and nothing underflows", T, float, double) {
  const arma::Mat<T> x = {{T(0), T(-1), T(2.5)}, {T(1e-6), T(-1e-6), T(-40)}, {T(1e4), T(-1e4), T(1)}};
  const arma::Mat<T> y = log_elu_features(x);
  for (arma::uword i = 0; i < 9; ++i) {
    const auto v = static_cast<long double>(x(i));
    const long double expected = v > 0 ? std::log1p(v) : v;
    CHECK(std::abs(static_cast<double>(static_cast<long double>(y(i)) - expected)) <=
          4 * unit<T>() * std::abs(static_cast<double>(expected)));
  }
}

TEST_CASE("optimal_exponent: is FAVOR++'s formula, 0 for s = 0, and where the averaged variance is least") {
  for (const arma::uword p : {1U, 8U, 64U}) {
    for (const double s : {1e-9, 0.3, 1.0, 40.0, 1e6}) {
      const long double d = p, t = s, root = std::sqrt((2 * t + d) * (2 * t + d) + 8 * d * t);
      const long double rho = (root - 2 * t - d) / (4 * t);
      // For small s rho loses its digits; root is then d + 6 t - 16 t^2 / d up to terms in t^3, and rho 1 - 4 t / d.
      const double expected = s < 1e-6 ? -s / (2.0 * p) : static_cast<double>((1 - 1 / rho) / 8);
      const double a = optimal_exponent(s, p);
      CAPTURE(s);
      CHECK(a < 0);
      CHECK(a == doctest::Approx(expected).epsilon(s < 1e-6 ? 1e-7 : 1e-12).scale(0));
      // log of the second moment with ||x + y||^2 = s: p log(1-4a) - p/2 log(1-8a) + 2 (1-4a)/(1-8a) s.
      const auto log_moment = [&](double e) {
        return static_cast<double>(p) * (std::log1p(-4 * e) - 0.5 * std::log1p(-8 * e)) +
               2 * (1 - 4 * e) / (1 - 8 * e) * s;
      };
      if (s >= 0.3) {
        CHECK(log_moment(a) < log_moment(1.1 * a));
        CHECK(log_moment(a) < log_moment(0.9 * a));
      }
    }
    CHECK(optimal_exponent(0, p) == 0);
    // Its limit for large s is -s / (4p), of which no square is needed.
    CHECK(optimal_exponent(1e200, p) == doctest::Approx(-1e200 / (4.0 * p)).epsilon(1e-12).scale(0));
  }
  for (const double s : {-1.0, std::numeric_limits<double>::infinity()}) {
    CHECK(contains(refusal([&] { optimal_exponent(s, 3); }), "s >= 0 and finite"));
  }
}

TEST_CASE_TEMPLATE(
    "balancing_scale: no other diagonal makes mean ||Psi x + Psi^-1 y||^2 smaller; zero columns are finite", T, float,
    double) {
  const Key draw_key = Key(test_seed()).child("scale");
  arma::Mat<T> x = random_matrix<T>(20, 4, draw_key.child("x")), y = random_matrix<T>(15, 4, draw_key.child("y"));
  x.col(1) *= T(10);
  y.col(2) *= T(100);
  const arma::Row<T> psi = balancing_scale(x, y);
  const auto mean_square = [&](const arma::Row<T>& scale) {
    double sum = 0;
    for (arma::uword i = 0; i < 20; ++i) {
      for (arma::uword j = 0; j < 15; ++j) {
        for (arma::uword c = 0; c < 4; ++c) {
          const double z = static_cast<double>(x(i, c) * scale(c)) + static_cast<double>(y(j, c) / scale(c));
          sum += z * z;
        }
      }
    }
    return sum;
  };
  for (arma::uword c = 0; c < 4; ++c) {
    for (const T factor : {T(0.9), T(1.1)}) {
      arma::Row<T> other = psi;
      other(c) *= factor;
      CHECK(mean_square(psi) < mean_square(other));
    }
  }
  CHECK(mean_square(psi) < 0.5 * mean_square(arma::Row<T>(4, arma::fill::ones)));
  x.col(0).zeros();
  y.col(3).zeros();
  CHECK(balancing_scale(x, y).is_finite());
  CHECK(balancing_scale(x, y).min() > 0);
  x.zeros();
  y.zeros();
  CHECK(identical(arma::Mat<T>(balancing_scale(x, y)), arma::Mat<T>(1, 4, arma::fill::ones)));
}

TEST_CASE_TEMPLATE("balancing_scale: takes on what is taken from x and given to y, whatever their sizes", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("sizes");
  arma::Mat<T> x = random_matrix<T>(20, 4, draw_key.child("x")), y = random_matrix<T>(15, 4, draw_key.child("y"));
  x.col(1).zeros();
  y.col(2) *= T(100);
  const arma::Row<T> psi = balancing_scale(x, y);
  for (const double a : {256.0, 0x1p70}) {  // of the second, squares of x are below, and of y above, those of float
    const arma::Row<T> other = balancing_scale<T>(x / static_cast<T>(a), y * static_cast<T>(a));
    for (arma::uword c = 0; c < 4; ++c) {
      CHECK(static_cast<double>(other(c)) == doctest::Approx(a * psi(c)).epsilon(4 * unit<T>()).scale(0));
    }
  }
  // Where all are zero on either side, nothing can be balanced.
  const arma::Mat<T> zero(15, 4, arma::fill::zeros);
  for (const arma::Row<T>& none : {balancing_scale(x, zero), balancing_scale(zero, x)}) CHECK(arma::all(none == T(1)));
}

TEST_CASE("feature maps: names go both ways, another one is refused") {
  for (const std::string& name : feature_map_names()) CHECK(name_of(feature_map(name)) == name);
  CHECK(feature_map_names().size() == 6);
  CHECK(contains(refusal([] { feature_map("elu"); }), "one of trf prf hyperbolic sphere oprf saderf"));
}
