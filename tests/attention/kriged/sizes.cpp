// What the kriged coreset costs, against what d buys.
#include <croquis/attention/kriged/sizes.hpp>
#include <croquis/attention/skyformer.hpp>

#include <cmath>

#include "attention/kriged/cases.hpp"

using namespace croquis;

TEST_CASE("kriged coreset: flops are at most those of skyformer-softmax with d landmarks, and nearly as many") {
  struct Shape {
    double n_q, n_k, p, p_v, d;
  };
  for (const Shape& shape : {Shape{512, 512, 64, 64, 32},
                             {512, 512, 64, 64, 128},
                             {4096, 4096, 64, 64, 64},
                             {16384, 16384, 64, 64, 256},
                             {2048, 2048, 8, 8, 256},
                             {100, 5000, 32, 16, 40},
                             {5000, 100, 32, 64, 20}}) {
    CAPTURE(shape.n_q);
    CAPTURE(shape.d);
    for (const bool checks : {false, true}) {
      const KrigedBudget budget{.flops = skyformer_flops(shape.n_q + shape.n_k, shape.p, shape.p_v, shape.d),
                                .n_q = shape.n_q,
                                .n_k = shape.n_k,
                                .p = shape.p,
                                .p_v = shape.p_v,
                                .checks = checks,
                                .near = checks,
                                .pilot = checks};
      const KrigedSizes sizes = solve_sizes(budget);
      if (sizes.exact) {
        CHECK(exact_flops(budget) <= budget.flops);
        continue;
      }
      CHECK(kriged_flops(budget, sizes) <= budget.flops);
      KrigedSizes more = sizes;
      ++more.cells;
      if (more.cells <= static_cast<arma::uword>(shape.n_k)) CHECK(kriged_flops(budget, more) > budget.flops);
      if (checks) CHECK(window_flops(budget, sizes) <= budget.flops);
    }
  }
}

TEST_CASE("kriged coreset: near keys pay for the lists of all leaves and for a regression of their own") {
  const KrigedBudget without{.n_q = 900, .n_k = 700, .p = 6, .p_v = 5, .checks = true, .near = false, .pilot = false};
  KrigedBudget with = without;
  with.near = true;
  const KrigedSizes sizes{.landmarks = 36, .checks = 4, .exact_rows = 2, .cells = 50};
  // Three operations a key and leaf. Of 40 rows the weights at 50 cells, their products with each other, and the
  // eigenvalues of these: 9 * 40^3 operations, as LAPACK takes them.
  const double lists = 3 * 36 * 700, weights = 2 * 6 * 40 * 50, gram = 2 * 40 * 40 * 50, eigenvalues = 9 * 40 * 40 * 40;
  CHECK(kriged_flops(with, sizes) - kriged_flops(without, sizes) >= lists + weights + gram + eigenvalues);
}

TEST_CASE("kriged coreset: trees visit no more points than are counted") {
  for (const arma::uword leaves : {8U, 50U}) {
    const Problem<double> problem = random_problem<double>(1000, 16, 4, 4, Key(test_seed()).child("visits"));
    const KrigedInput<double> input(problem);
    const PointTree tree = split_points<double>(input.keys.columns, arma::vec(1000, arma::fill::ones), leaves,
                                                SplitDirection::random, Key(1));
    CHECK(tree.visits <= 1000 * 1.6 * std::log2(static_cast<double>(leaves)));
  }
}
