#include <doctest/doctest.h>
#include <croquis/attention/linformer_unreduced.hpp>
#include <croquis/sketch/gaussian.hpp>

#include <cmath>
#include <functional>

#include "support/approximations.hpp"
#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

Dense absolute(Dense a) {
  for (long double& x : a.entries) x = std::fabs(x);
  return a;
}

}  // namespace

TEST_CASE_TEMPLATE("linformer-unreduced: is B S S^T V with the Gaussian sketch of the random key's child 'sketch'", T,
                   float, double) {
  for (const arma::uword n : {3U, 40U, 270U}) {
    const Key draw_key = Key(test_seed()).child(n);
    const Problem<T> problem = random_problem<T>(n, 8, 3, 4, draw_key);
    const Dense b = softmax_of(logits_of(problem.Q(), problem.K()));
    for (const arma::uword d : {1U, 7U, 64U}) {  // d > n is no error: S is wide
      const Dense s = GaussianSketch(n, d, draw_key.child("sketch")).dense<T>();
      const Approximation<T> approximation = linformer_unreduced(problem, d, draw_key);
      // B is off relatively by softmax_error, its product by n u, the two with S by n u and d u: of the sum of sizes.
      const double relative = softmax_error<T>(static_cast<double>(n), 8, largest_logit(problem)) +
                              static_cast<double>(2 * n + d + 8) * unit<T>();
      const double size =
          static_cast<double>(largest_entry_of(b * (absolute(s) * (absolute(transposed(s)) * absolute(problem.V())))));
      CHECK(distance(approximation.output, b * (s * (transposed(s) * problem.V()))) <= relative * size);
      CHECK(interface_gap(approximation, problem) <= relative * size);
    }
  }
}

TEST_CASE("linformer-unreduced: is the same where neither B nor S is stored") {
  constexpr arma::uword n = 2100, d = 3;
  const Key draw_key = Key(test_seed()).child("large");
  const Problem<double> problem = random_problem<double>(n, 4, 2, 3, draw_key);
  const Dense b = softmax_of(logits_of(problem.Q(), problem.K()));
  const Dense s = GaussianSketch(n, d, draw_key.child("sketch")).dense<double>();
  const double relative = softmax_error<double>(n, 4, largest_logit(problem)) + (2 * n + d + 8) * unit<double>();
  const auto size =
      static_cast<double>(largest_entry_of(b * (absolute(s) * (absolute(transposed(s)) * absolute(problem.V())))));
  const Dense expected = b * (s * (transposed(s) * problem.V()));
  CHECK(distance(linformer_unreduced(problem, d, draw_key).output, expected) <= relative * size);
}

TEST_CASE_TEMPLATE(
    "linformer-unreduced: is unbiased, by an exact distribution for one value column, and mutants are rejected", T,
    float, double) {
  // With V = B_i^T the output of row i is |S^T B_i^T|^2, and d times that over |B_i|^2 is chi-squared with d degrees of
  // freedom. Row 0 and the last, 400 draws of d = 5: the mean of 2,000 squares is known to 3 %; a scale of S off by
  // sqrt(d) is off by 5. Each row fails with probability 5e-10. Rounding is 1e-5 at most, the resolution 3 %.
  constexpr arma::uword n = 12, d = 5;
  constexpr std::uint64_t trials = 400;
  const ThreadCount one(1);  // 60 normals are no work for two threads
  const Problem<T> base = random_problem<T>(n, 4, 1, 2, Key(test_seed()).child("base"));
  const Dense b = softmax_of(logits_of(base.Q(), base.K()));
  using Draw = std::function<double(const Problem<T>&, const Key&, arma::uword row)>;
  const auto accepts = [&](const Draw& draw) {
    for (const arma::uword row : {arma::uword{0}, n - 1}) {
      arma::Mat<T> v(n, 1);
      long double squares = 0;
      for (arma::uword j = 0; j < n; ++j) v(j) = static_cast<T>(b(row, j));
      for (const T x : v) squares += static_cast<long double>(x) * x;
      const Problem<T> problem(base.Q(), base.K(), v);
      double sum = 0;
      for (std::uint64_t t = 0; t < trials; ++t) sum += draw(problem, Key(test_seed()).child("law").child(t), row);
      if (!is_chi_squared(sum * d / static_cast<double>(squares), double{d} * trials, 5e-10)) return false;
    }
    return true;
  };
  const Draw method = [](const Problem<T>& problem, const Key& draw_key, arma::uword row) {
    return static_cast<double>(linformer_unreduced(problem, d, draw_key).output(row, 0));
  };
  CHECK(accepts(method));
  const auto scaled = [&](double by) -> Draw {
    return [=](const Problem<T>& problem, const Key& s, arma::uword row) { return by * method(problem, s, row); };
  };
  CHECK_FALSE(accepts(scaled(1 / 5.0)));             // S with 1/d where 1/sqrt(d) belongs
  CHECK_FALSE(accepts(scaled(5.0)));                 // S without a scale
  CHECK_FALSE(accepts(scaled(1 / std::sqrt(5.0))));  // S^T with a scale and S without
}

TEST_CASE("linformer-unreduced: d of 0 is refused") {
  const Problem<double> problem = random_problem<double>(5, 3, 2, 1, Key(1));
  CHECK(refusal([&] { linformer_unreduced(problem, 0, Key(1)); }) == "linformer-unreduced: d >= 1, got d = 0");
}

TEST_CASE(
    "linformer-unreduced: flops are those of B S where it is narrower than V and B is stored, else of B (S S^T V)") {
  const auto flops = [](arma::uword n_k, double d) {
    return method_on(random_rectangle<double>(20, n_k, 4, 8, 1, Key(1)), "linformer-unreduced").flops(d);
  };
  const double b = 20 * 30 * (2 * 4 + 1);
  CHECK(flops(30, 3) == b + 2 * (20 * 30 * 3 + 30 * 3 * 8 + 20 * 3 * 8));
  CHECK(flops(30, 9) == b + 2 * (30 * 9 * 8 + 30 * 9 * 8 + 20 * 30 * 8));
  const double k = 2049;  // not stored
  CHECK(flops(2049, 3) == 20 * k * (2 * 4 + 1) + 2 * (k * 3 * 8 + k * 3 * 8 + 20 * k * 8));
}
