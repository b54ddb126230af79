#include <doctest/doctest.h>
#include <cmath>
#include <croquis/attention/bfloat16.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/measure/cost.hpp>
#include <limits>

#include "support/approximations.hpp"
#include "support/attention.hpp"
#include "support/capture.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

long double rounded(long double x) {
  int exponent = 0;
  const long double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

Dense rounded(Dense x) {
  for (long double& entry : x.entries) entry = rounded(entry);
  return x;
}

// Entries that are multiples of 2^-11 below 2, which sums of 2^12 of them represent exactly; rows in pairs of x and -x
// where they shall have the mean zero.
arma::fmat on_grid(arma::uword rows, arma::uword cols, bool centred, const Key& draw_key) {
  arma::fmat x = arma::round(2048 * arma::clamp(random_matrix<float>(rows, cols, draw_key), -1.9f, 1.9f)) / 2048;
  for (arma::uword i = 1; centred && i < rows; i += 2) x.row(i) = -x.row(i - 1);
  return x;
}

}  // namespace

TEST_CASE_TEMPLATE("bfloat16: B~ and the output against a softmax in long double of the rounded scores", T, float,
                   double) {
  for (const arma::uword n : {2U, 20U, 600U}) {
    CAPTURE(n);
    const Key draw_key = Key(test_seed()).child("bfloat16 reference").child(n);
    const auto on = [&](arma::uword cols, bool centred, const char* name) {
      return arma::conv_to<arma::Mat<T>>::from(on_grid(n, cols, centred, draw_key.child(name)));
    };
    const Problem<T> problem(on(16, false, "q"), on(16, true, "k"), on(5, false, "v"));  // 16^-1/4 = 1/2 exactly
    const Dense scores = rounded(0.5L * Dense(problem.Q())) * transposed(rounded(0.5L * Dense(problem.K())));
    const double entry = softmax_error<T>(static_cast<double>(n), 16, largest_logit(problem));
    check_scores(bfloat16(problem), problem, softmax_of(scores), entry);
  }
}

TEST_CASE_TEMPLATE("bfloat16: errors are within their bounds, for large norms, large means, masks and few keys", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("bfloat16 bounds");
  for (const double norm : {0.5, 3.0, 12.0}) {
    for (const bool causal : {false, true}) {
      for (const auto& [n_q, n_k] : {TokenAlignment{200, 200}, {3, 700}, {1, 1}}) {
        CAPTURE(norm);
        CAPTURE(causal);
        CAPTURE_BINDING(n_k);
        const Problem<T> drawn = random_rectangle<T>(n_q, n_k, 9, 4, norm, draw_key.child(n_k));
        const Problem<T> problem(drawn.Q(), drawn.K() + T(5), drawn.V() + T(30), {}, {{}, causal, 1});
        const arma::Mat<T> exact = exact_attention(problem, Target::softmax).output;
        const arma::Col<T> bounds = bfloat16_bounds(problem);
        const arma::Mat<T> gap = bfloat16(problem).output - exact;
        const arma::Col<T> errors = arma::sqrt(arma::sum(arma::square(gap), 1));
        REQUIRE(bounds.n_elem == n_q);
        CHECK(arma::all(errors <= bounds));
        if (n_k > 1) CHECK(arma::max(errors) > 0);
      }
    }
  }
}

TEST_CASE_TEMPLATE("bfloat16: bounds are bounds also where the squares of values vanish", T, float, double) {
  const Problem<T> drawn = random_problem<T>(64, 9, 4, 3, Key(test_seed()).child("bfloat16 small"));
  const T factor = std::ldexp(T(1), -3 * std::numeric_limits<T>::max_exponent / 4);
  const arma::Col<T> bounds = bfloat16_bounds(drawn);
  const Problem<T> small(drawn.Q(), drawn.K(), factor * drawn.V());
  CHECK(distance(arma::Col<T>(bfloat16_bounds(small) / factor), bounds) <= 1e-5 * arma::max(bounds));
  const arma::Mat<T> gap = bfloat16(small).output - exact_attention(small, Target::softmax).output;
  const arma::Col<T> errors = arma::sqrt(arma::sum(arma::square(gap / factor), 1));
  CHECK(arma::all(factor * errors <= bfloat16_bounds(small)));
}

TEST_CASE("bfloat16: the bound is at most 1.1 times an error") {
  // A query and two opposite keys, all rounded away from zero by nearly 2^-8 of their size: the scores move apart.
  const double up = 1 + 0x1p-8 + 0x1p-20;
  for (const double size : {1.0 / 8, 1.0 / 64}) {
    const arma::vec q(2, arma::fill::value(size * up)), k = {up, -up}, v = {1, -1};
    const Problem<double> problem(q, k, v);
    const double error = bfloat16(problem).output(0, 0) - exact_attention(problem, Target::softmax).output(0, 0);
    const double bound = bfloat16_bounds(problem)(0);
    CHECK(error <= bound);
    CHECK(error > bound / 1.1);
  }
}

TEST_CASE_TEMPLATE("bfloat16: a mean key costs nothing", T, float, double) {
  const Problem<T> problem = random_problem<T>(130, 8, 3, 2, Key(test_seed()).child("bfloat16 means"));
  const Problem<T> moved(problem.Q(), problem.K() + T(64), problem.V());
  const arma::Mat<T> exact = exact_attention(problem, Target::softmax).output;
  const double plain = arma::norm(arma::Mat<T>(bfloat16(problem).output - exact), "fro");
  const double far = arma::norm(arma::Mat<T>(bfloat16(moved).output - exact), "fro");
  CHECK(far < 2 * plain);  // keys of 64 times the norm would be rounded 64 times as far
}

TEST_CASE_TEMPLATE("bfloat16: errors are within their bounds for the largest mean at which keys are exact", T, float,
                   double) {
  // Whole numbers up to 2^24 (double: 2^53); a key scaled before its mean is subtracted would be off by about 1.
  const Key draw_key = Key(test_seed()).child("bfloat16 largest mean");
  const arma::Mat<T> whole = arma::round(arma::clamp(T(2) * random_matrix<T>(64, 5, draw_key), T(-7), T(7)));
  const Problem<T> near = random_problem<T>(64, 5, 3, 2, draw_key.child("problem")), plain(near.Q(), whole, near.V()),
                   far(near.Q(), whole + (2 / std::numeric_limits<T>::epsilon() - T(8)), near.V());
  const arma::Mat<T> gap = bfloat16(far).output - exact_attention(plain, Target::softmax).output;
  CHECK(arma::all(arma::Col<T>(arma::sqrt(arma::sum(arma::square(gap), 1))) <= bfloat16_bounds(far)));
}

TEST_CASE_TEMPLATE("bfloat16: rows of causal attention depend on nothing later", T, float, double) {
  const Problem<T> problem = random_problem<T>(150, 8, 3, 2, Key(test_seed()).child("bfloat16 causal"));
  arma::Mat<T> k = problem.K(), v = problem.V();
  k.tail_rows(50) *= T(3);
  v.tail_rows(50) += T(9);
  const RelativePosition<T> causal{{}, true, 1};
  const arma::Mat<T> before = bfloat16(Problem<T>(problem.Q(), problem.K(), problem.V(), {}, causal)).output,
                     after = bfloat16(Problem<T>(problem.Q(), k, v, {}, causal)).output;
  CHECK(identical(arma::Mat<T>(before.head_rows(100)), arma::Mat<T>(after.head_rows(100))));
  CHECK(!identical(arma::Mat<T>(before.row(100)), arma::Mat<T>(after.row(100))));
}

TEST_CASE("bfloat16: flops are those of exact attention, of a causal problem those of the pairs below the diagonal") {
  const Problem<double> problem = random_rectangle<double>(30, 20, 8, 3, 1, Key(1));
  const auto flops = [](const Problem<double>& on) { return prepare(find_method<double>("bfloat16"), on).flops(16); };
  CHECK(flops(problem) == 30 * 20 * (2 * (8 + 3) + 1));
  const RelativePosition<double> causal{{}, true, 1};
  for (const auto& [n_q, n_k] : {TokenAlignment{30, 30}, {7, 30}, {1, 1}}) {
    const Problem<double> plain = random_rectangle<double>(n_q, n_k, 8, 3, 1, Key(1));
    const Problem<double> masked(plain.Q(), plain.K(), plain.V(), {}, causal);
    double pairs = 0;
    for (arma::uword i = 0; i < n_q; ++i) pairs += double(n_k - n_q + i + 1);
    CHECK(flops(masked) == pairs * (2 * (8 + 3) + 1));
    CHECK(flops(masked) == exact_flops(masked.tokens(), 8, 3, true));
  }
}
