#include <doctest/doctest.h>
#include <croquis/attention/method.hpp>
#include <croquis/claims/skeinformer/counted_methods.hpp>
#include <croquis/inputs/synthetic.hpp>

#include <cmath>

#include "support/dense.hpp"
#include "support/seed.hpp"

using namespace croquis::claims;
using croquis::Key;

namespace {

// The largest norm of a row of the difference, in the roundings that the counted method states.
double worst_row(const CountedOutput& counted, const arma::mat& other) {
  return largest_row(counted.output - other) / counted.rounding;
}

}  // namespace

TEST_CASE(
    "counted methods: the outputs of the library's methods to the stated rounding, by the products of the papers") {
  const arma::uword n = 48, p = 6, d = 8;
  const croquis::Problem<double> problem = croquis::gaussian_input(Key(test_seed()), {.n = n, .p = p, .norm = 2});
  const Key draw_key = Key(test_seed()).child("draw");
  const auto library = [&](const char* method, const croquis::OptionValues& options = {}) {
    return croquis::prepare(croquis::find_method<double>(method), problem, options).approximate(d, draw_key).output;
  };
  const double ndp = double(n * d * p);

  const CountedOutput exact = counted_exact(problem);
  CHECK(exact.multiply_adds == 2.0 * n * n * p);
  const CountedOutput linformer = counted_linformer(problem, d, draw_key);
  CHECK(linformer.multiply_adds == 4 * ndp);
  CHECK(worst_row(linformer, library("linformer")) <= 1);
  const CountedOutput informer = counted_informer(problem, d, draw_key);
  CHECK(informer.multiply_adds == 3 * ndp);
  CHECK(worst_row(informer, library("informer")) <= 1);
  const CountedOutput skeinformer = counted_skeinformer(problem, d, false, draw_key);
  CHECK(skeinformer.multiply_adds == 4 * ndp);
  CHECK(worst_row(skeinformer, library("skeinformer")) <= 1);
  // F, G, their products with V and Z G V: the core and six steps of four products of d x d matrices are apart.
  const CountedOutput nystromformer = counted_nystromformer(problem, d);
  CHECK(nystromformer.multiply_adds == 4 * ndp + double(d * d * (p + p) + 6 * 4 * d * d * d));
  CHECK(worst_row(nystromformer, library("nystromformer")) <= 1);
}

TEST_CASE(
    "counted_skeinformer: a number that is added to all scores of a row changes nothing, where exp overflows too") {
  const arma::uword n = 48, d = 8;
  const croquis::Problem<double> given = croquis::gaussian_input(Key(test_seed()), {.n = n, .p = 6, .norm = 2});
  arma::mat far = given.K();
  far.col(0) += 8192;
  arma::mat near = far;
  near.col(0) -= 8192;  // without rounding: the two are within a factor of 2
  const croquis::Problem<double> shifted(given.Q(), far, given.V()), plain(given.Q(), near, given.V());
  CHECK(arma::exp(arma::mat(given.Q() * far.t() / std::sqrt(6.0))).has_inf());
  const Key draw_key = Key(test_seed()).child("draw");
  const CountedOutput counted = counted_skeinformer(shifted, d, false, draw_key),
                      expected = counted_skeinformer(plain, d, false, draw_key);
  CHECK(largest_row(counted.output - expected.output) <= counted.rounding + expected.rounding);
  CHECK(counted.rounding < 1e-6);
  const croquis::Method<double>& method = croquis::find_method<double>("skeinformer");
  CHECK(worst_row(counted, croquis::prepare(method, shifted).approximate(d, draw_key).output) <= 1);
  CHECK(counted.multiply_adds == expected.multiply_adds);
}
