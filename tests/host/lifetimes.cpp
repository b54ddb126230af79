// What the library returns is kept and used when what it was made from is gone. The address sanitizer sees what is not.
#include <doctest/doctest.h>

#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/nystrom/nested.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <croquis/sketch/description.hpp>
#include <croquis/sketch/distributions.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>
#include <functional>
#include <vector>

using namespace croquis;

namespace {

constexpr arma::uword n = 96, d = 16;

Problem<double> problem() {
  return gaussian_input(Key(1), {.n = n, .p = 8, .norm = 2});
}

// Results of what `make` returns, while and after other memory is taken and written where its parts may have been.
template <typename Make>
void check_outlives(const Make& make) {
  const auto kept = make();
  const arma::mat expected = kept();
  std::vector<arma::mat> others;
  for (arma::uword size = 1; size <= 128; size *= 2) others.emplace_back(size, 16, arma::fill::value(1e300));
  const arma::mat again = kept();
  CHECK(arma::approx_equal(again, expected, "absdiff", 0.0));
  CHECK(again.is_finite());
}

}  // namespace

TEST_CASE("lifetimes: prepared methods and scores outlive the problem, options and method") {
  for (const Method<double>& method : methods<double>()) {
    CAPTURE(method.name);
    check_outlives([&]() -> std::function<arma::mat()> {
      PreparedMethod<double> prepared;
      {
        const Method<double> copy = method;
        const OptionValues none;
        prepared = prepare(copy, problem(), none);
      }
      return [prepared] { return prepared.approximate(d, Key(2)).output; };
    });
    check_outlives([&]() -> std::function<arma::mat()> {
      const auto scores = prepare(method, problem()).approximate(d, Key(2)).scores;
      if (!scores) return [] { return arma::mat(1, 1, arma::fill::zeros); };
      return [op = *scores] {
        const arma::mat x(n, 3, arma::fill::ones);
        return arma::mat(op.apply(x) + op.apply_transposed(x));
      };
    });
  }
}

TEST_CASE("lifetimes: operators outlive what they were made from") {
  const arma::mat x(n, 3, arma::fill::ones);
  const auto check = [&](const std::function<LinearOperator<double>()>& make) {
    check_outlives([&] { return [x, op = make()] { return arma::mat(op.apply(x) + op.apply_transposed(x)); }; });
  };
  for (const Target target : {Target::softmax, Target::kernelized, Target::normalized_rpe}) {
    check([&] { return exact_scores(problem(), target); });
  }
  check(
      [] { return difference(exact_scores(problem(), Target::softmax), exact_scores(problem(), Target::kernelized)); });
  check([] { return as_operator(product_nt(problem().Q(), problem().K())); });
  check([] { return as_operator(ToeplitzOperator<double>({arma::vec(2 * n - 1, arma::fill::ones), false, 1}, n)); });
  check([] {
    return NestedNystrom(LiftedPoints<double>(problem().Q(), problem().K()), sample_with_replacement(2 * n, d, Key(1)),
                         1e-10)
        .scores(d);
  });
}

TEST_CASE("lifetimes: kernels, landmark policies, sketches and references outlive what they were made from") {
  const arma::uvec all = arma::regspace<arma::uvec>(0, n - 1);
  check_outlives([&] {
    return [all, kernel = LiftedPoints<double>(problem().Q(), problem().K()).kernel()] {
      return arma::mat(kernel.block(all, all) + kernel.entry_error());
    };
  });
  check_outlives([] {
    const LandmarkSampler<double> sampler(gaussian_kernel_matrix<double>(problem().K()), LandmarkPolicy::leverage);
    return [sampler] { return arma::conv_to<arma::mat>::from(arma::umat(sampler.draw(d, Key(1)))); };
  });
  for (const auto& distribution : sketch_distributions<double>()) {
    check_outlives([&] {
      const std::vector<double> weights(distribution.weighted ? n : 0, 1.0);
      return [s = make_sketch<double>(describe_sketch(distribution.name, n, d, Key(3), {}, weights))] {
        return s.left(problem().V());
      };
    });
  }
  check_outlives([] {
    return [reference = ScoreReference(problem(), Target::softmax, Key(1))] {
      return arma::mat{reference.compare(exact_scores(problem(), Target::kernelized), Key(2)).spectral_rel};
    };
  });
}
