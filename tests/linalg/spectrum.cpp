#include <doctest/doctest.h>
#include <croquis/linalg/bidiagonalisation.hpp>
#include <croquis/linalg/spectrum.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

struct KnownSpectrum {
  std::string name;
  arma::uword rows, cols;
  arma::vec values;  // descending, those that are not zero
};

std::vector<KnownSpectrum> decompositions_known() {
  return {{"slow decay", 60, 60, arma::linspace(1, 0.2, 60)},
          {"geometric, tall", 90, 40, arma::exp2(-arma::linspace(0, 20, 40))},
          {"one large, wide", 40, 90, arma::join_cols(arma::vec{1.0}, arma::linspace(0.1, 0.01, 39))},
          {"rank 5", 50, 70, arma::linspace(1, 0.5, 5)},
          {"rank 1, tall", 30, 20, {3.0}}};
}

double distance_to(const KnownSpectrum& known, double value) {
  const double zero = known.values.n_elem < std::min(known.rows, known.cols) ? std::abs(value) : 1e300;
  return std::min(zero, arma::abs(known.values - value).min());
}

}  // namespace

TEST_CASE("singular_values: those that the matrix was made with, and what is read off them") {
  const Key key = Key(test_seed()).child("values");
  for (const KnownSpectrum& known : decompositions_known()) {
    CAPTURE(known.name);
    const arma::vec values =
        singular_values(with_singular_values(known.rows, known.cols, known.values, key.child(known.name)));
    arma::vec exact(std::min(known.rows, known.cols), arma::fill::zeros);
    exact.head(known.values.n_elem) = known.values;
    // The products that make the matrix and the solver: n u ||A|| each.
    const double error = 10 * 90 * unit<double>() * known.values(0);
    REQUIRE(values.n_elem == exact.n_elem);
    CHECK(distance(values, exact) <= error);
    CHECK(numerical_rank(values, 100 * rank_cutoff(known.rows, known.cols)) == known.values.n_elem);
    CHECK(std::abs(stable_rank(values) - arma::accu(arma::square(known.values / known.values(0)))) <= 1e-10);
  }
  CHECK(condition_number({4.0, 1.0, 0.5}, 1e-10) == 8);
  CHECK(condition_number({4.0, 0.0}, 1e-10) == 1 / 1e-10);  // rounding is not a condition number
  CHECK(rank_cutoff(3, 8) == 8 * unit<double>());
  CHECK(std::isnan(stable_rank({0.0, 0.0})));
  CHECK(std::isnan(condition_number({0.0}, 1e-3)));
  CHECK(numerical_rank({0.0}, 1e-3) == 0);
  CHECK(singular_values(arma::mat(0, 3)).is_empty());
}

TEST_CASE_TEMPLATE("leading_spectrum: each value within its residual of a singular value, and the largest ones", T,
                   float, double) {
  const Key key = Key(test_seed()).child("leading");
  for (const KnownSpectrum& known : decompositions_known()) {
    CAPTURE(known.name);
    const arma::Mat<T> a = arma::conv_to<arma::Mat<T>>::from(
        with_singular_values(known.rows, known.cols, known.values, key.child(known.name)));
    const double top = known.values(0), error = (20 * 90 * unit<double>() + 200 * unit<T>()) * top;
    for (const arma::uword k : {arma::uword(1), arma::uword(8), std::min(known.rows, known.cols)}) {
      CAPTURE(k);
      const auto found = leading_spectrum(as_operator(a), k, key.child("start").child(k), {.tolerance = 1e-5});
      REQUIRE(found.values.n_elem == k);
      CHECK(found.converged);
      for (arma::uword i = 0; i < k; ++i) {
        CHECK(distance_to(known, found.values(i)) <= found.residuals(i) + error);
        const double exact = i < known.values.n_elem ? known.values(i) : 0.0;
        CHECK(found.values(i) <= exact + error);  // from below
        CHECK(found.values(i) >= exact - 1e-5 * top - error);
      }
      const arma::mat v = arma::conv_to<arma::mat>::from(found.right);
      CHECK(distance(v.t() * v, identity(k)) <= 200 * unit<T>());
      // A v_i = s_i u_i with |u_i| = 1.
      const arma::rowvec lengths = arma::sqrt(arma::sum(arma::square(arma::conv_to<arma::mat>::from(a) * v), 0));
      CHECK(distance(lengths.t(), found.values) <= error);
    }
  }
}

TEST_CASE("leading_spectrum: stopped early the residuals still hold, and say that it did not converge") {
  const Key key = Key(test_seed()).child("early");
  const arma::vec values = arma::linspace(1, 0.5, 200);
  const arma::mat a = with_singular_values(200, 200, values, key);
  const auto few = leading_spectrum(as_operator(a), 4, key, {.max_steps = 12});
  CHECK_FALSE(few.converged);
  CHECK(few.steps == 12);
  for (arma::uword i = 0; i < 4; ++i) {
    CHECK(arma::abs(values - few.values(i)).min() <= few.residuals(i) + 1e-12);
    CHECK(few.residuals(i) > 1e-6);  // a mutant that says 0 would be found out
  }
}

TEST_CASE("leading_spectrum: an invariant space is left: identity, and repeated values") {
  const Key key = Key(test_seed()).child("invariant");
  const auto one = leading_spectrum(as_operator(arma::mat(30, 30, arma::fill::eye)), 10, key);
  REQUIRE(one.values.n_elem == 10);
  CHECK(largest_entry_of(one.values - 1) <= 1e-13);
  // 2 eight times and 1 twenty-two times: a space of ten steps is invariant and has each of them five times.
  arma::vec twice(30, arma::fill::ones);
  twice.head(8) *= 2;
  const auto eight = leading_spectrum(as_operator(arma::mat(arma::diagmat(twice))), 8, key);
  REQUIRE(eight.values.n_elem == 8);
  CHECK(largest_entry_of(eight.values - 2) <= 1e-13);
  const auto zero = leading_spectrum(as_operator(arma::mat(6, 4, arma::fill::zeros)), 4, key);
  REQUIRE(zero.values.n_elem == 4);
  CHECK(zero.values.is_zero());
  CHECK(leading_spectrum(as_operator(arma::mat(0, 4)), 2, key).values.is_empty());
}

TEST_CASE("leading_spectrum and Bidiagonalisation: what makes no sense is refused") {
  const LinearOperator<double> a = as_operator(arma::mat(2, 2, arma::fill::eye));
  const Key key(test_seed());
  CHECK(contains(refusal([&] { leading_spectrum(a, 0, key); }), "k >= 1"));
  CHECK(contains(refusal([&] { leading_spectrum(a, 1, key, {.tolerance = 0}); }), "tolerance > 0"));
  CHECK(contains(refusal([&] { leading_spectrum(a, 1, key, {.max_steps = -1}); }), "max_steps"));
  CHECK(contains(refusal([&] { Bidiagonalisation<double>(3, arma::vec(3, arma::fill::zeros), 2); }), "not zero"));
}
