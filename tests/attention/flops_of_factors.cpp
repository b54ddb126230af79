// Work that is counted, in plain implementations, against what methods with factorisations, iterations and transforms
// declare. Terms of every order are counted, on sizes that all differ, so that none can be off by a factor.
#include <croquis/attention/best_rank.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/linalg/randomised_svd.hpp>
#include <croquis/toeplitz/phase_layout.hpp>

#include "support/counted_work.hpp"

using namespace croquis;
using CoreInverse = SkyformerOptions::Inverse;

namespace {

// Eigenvalues and eigenvectors of a symmetric matrix by the QR algorithm take about 9 n^3 flops (Golub & Van Loan,
// Matrix Computations, Sec. 8.3).
struct CountedEigen {
  Dense vectors;
  arma::vec values;  // ascending

  CountedEigen(Counter& work, const Dense& a) {
    arma::mat q;
    REQUIRE(arma::eig_sym(values, q, in_double(a)));
    vectors = q;
    work.additions += 9 * std::pow(static_cast<double>(a.rows), 3);
  }
};

// kappa(x, y), an inner product and an exponential an entry.
Dense counted_gaussian(Counter& work, const Dense& x, const Dense& y) {
  work.product(x, transposed(y));
  work.exponentials += static_cast<double>(x.rows * y.rows);
  return gaussian_of(x, y);
}

// M^-1 X through eigenvectors.
Dense solved_by_eigenvalues(Counter& work, const Dense& core, const Dense& x) {
  const CountedEigen eigen(work, core);
  Dense coefficients = work.product(transposed(eigen.vectors), x);
  for (arma::uword r = 0; r < coefficients.rows; ++r) {
    for (arma::uword c = 0; c < coefficients.cols; ++c) {
      coefficients(r, c) /= static_cast<long double>(eigen.values(r));
    }
  }
  return work.product(eigen.vectors, coefficients);
}

// M^-1 X by six steps of the iteration from N^T over its largest column sum, N the core scaled by its row sums.
Dense solved_by_iteration(Counter& work, const Dense& core, const Dense& x) {
  const arma::uword d = core.rows;
  Dense scale(d, d);
  for (arma::uword i = 0; i < d; ++i) {
    for (arma::uword j = 0; j < d; ++j) scale(i, i) += core(i, j);
    scale(i, i) = 1 / std::sqrt(scale(i, i));
  }
  const Dense n = scale * core * scale, one = identity(d);
  Dense z = 1 / static_cast<long double>(largest_row_sum(n)) * n;  // symmetric
  for (int step = 0; step < 6; ++step) {
    const Dense nz = work.product(n, z);
    z = 0.25L * work.product(z, 13.0L * one - work.product(nz, 15.0L * one - work.product(nz, 7.0L * one - nz)));
  }
  return scale * work.product(z, scale * x);
}

struct LiftWithLandmarks {
  Problem<double> problem = random_rectangle<double>(90, 150, 24, 32, 4, Key(4));
  arma::uvec landmarks = arma::regspace<arma::uvec>(1, 5, 239);  // different points: 18 queries and 30 keys
  Dense queries, keys, chosen;

  LiftWithLandmarks() {
    const Dense points = stacked_points(problem);
    queries = rows_of(points, arma::regspace<arma::uvec>(0, 89));
    keys = rows_of(points, arma::regspace<arma::uvec>(90, 239));
    chosen = rows_of(points, landmarks);
  }
  SkyformerOptions options(CoreInverse inverse) const {
    SkyformerOptions options = inverse == CoreInverse::iterative ? SkyformerOptions::code() : SkyformerOptions();
    options.landmarks = LandmarkPolicy::given;
    options.given = landmarks;
    return options;
  }
};

}  // namespace

TEST_CASE("flops: skyformer takes the kernel of all points and of the landmarks, the core, and its products") {
  const LiftWithLandmarks lift;
  const Problem<double>& problem = lift.problem;
  const arma::uword d = lift.landmarks.n_elem, p_v = problem.p_v();
  std::vector<long double> half_norms;
  for (arma::uword j = 0; j < 150; ++j) {
    long double squares = 0;
    for (arma::uword c = 0; c < lift.keys.cols; ++c) squares += lift.keys(j, c) * lift.keys(j, c);
    half_norms.push_back(squares / 2);
  }
  for (const CoreInverse inverse : {CoreInverse::pinv, CoreInverse::iterative}) {
    for (const bool softmax : {false, true}) {
      CAPTURE(softmax);
      const SkyformerOptions options = lift.options(inverse);
      Counter work;
      const Dense left = counted_gaussian(work, lift.queries, lift.chosen),
                  right = counted_gaussian(work, lift.chosen, lift.keys),
                  core = counted_gaussian(work, lift.chosen, lift.chosen) + options.ridge * identity(d);
      Dense values(150, p_v + 1);  // the last column is for the row sums
      for (arma::uword j = 0; j < 150; ++j) {
        const long double weight = softmax ? std::exp(half_norms[j]) : 1;
        for (arma::uword c = 0; c < p_v; ++c) values(j, c) = weight * static_cast<long double>(problem.V()(j, c));
        values(j, p_v) = weight;
      }
      const Dense gathered = work.product(right, values);
      const Dense solved = inverse == CoreInverse::pinv ? solved_by_eigenvalues(work, core, gathered)
                                                        : solved_by_iteration(work, core, gathered);
      const Dense all = work.product(left, solved);
      // That column is not declared, but for the product with the iterative inverse; skyformer does not have it.
      work.multiply_adds -= double(d) * 240 + (inverse == CoreInverse::pinv ? 2 * double(d * d) : 0);
      Dense output(90, p_v);
      for (arma::uword i = 0; i < 90; ++i) {
        for (arma::uword c = 0; c < p_v; ++c) output(i, c) = softmax ? all(i, c) / all(i, p_v) : all(i, c);
      }
      const auto approximation =
          softmax ? skyformer_softmax(problem, d, Key(1), options) : skyformer(problem, d, Key(1), options);
      CHECK(distance(approximation.output, output) <= 1e-9);
      CHECK(skyformer_flops(240, 24, 32, double(d), options) == doctest::Approx(work.flops()).epsilon(1e-12));
    }
  }
  // The methods declare that, also with landmarks that are drawn, which costs nothing.
  for (const char* name : {"skyformer", "skyformer-softmax"}) {
    CHECK(method_on(problem, name).flops(48) == skyformer_flops(240, 24, 32, 48, {}));
    CHECK(method_on(problem, name, {{"preset", "code"}}).flops(48) ==
          skyformer_flops(240, 24, 32, 48, SkyformerOptions::code()));
  }
}

TEST_CASE("flops: best-rank-d takes the eigenvectors of B B^T and a product on either side, and d of them for values") {
  constexpr arma::uword n = 96, d = 24;
  const Problem<double> problem = random_problem<double>(n, 4, 64, 8, Key(4));
  Counter scores, work;
  const Dense b = scores.attention_weights(problem.Q(), problem.K());
  const CountedEigen eigen(work, work.product(b, transposed(b)));
  const Dense right = work.product(transposed(b), eigen.vectors);  // v_i sigma_i
  const auto leading = [](const Dense& x) {
    Dense last(x.rows, d);
    for (arma::uword i = 0; i < x.rows; ++i) {
      for (arma::uword r = 0; r < d; ++r) last(i, r) = x(i, x.cols - d + r);
    }
    return last;
  };
  const Dense coefficients = work.product(transposed(leading(right)), problem.V());
  CHECK(std::sqrt(eigen.values(n - 1 - d)) >= 1e-3 * std::sqrt(eigen.values(n - 1)));  // where no more is computed
  check_count(work, work.product(leading(eigen.vectors), coefficients), method_on(problem, "best-rank-d"), d, Key(1));
  CHECK(scores.flops() <= 0.01 * work.flops());  // the scores themselves are not declared
}

TEST_CASE("flops: best-rank-d of long inputs takes the scores for every product of the subspace iteration") {
  constexpr arma::uword n = BestRank<double>::kLargestN + 1, p = 3, p_v = 2, d = 5;
  double products = 0, columns = 0;
  const auto count = [&](const arma::mat& x, const arma::mat& result) {
    products += 1;
    columns += static_cast<double>(x.n_cols);
    return result;
  };
  const arma::mat a = random_matrix<double>(60, 50, Key(1));
  const LinearOperator<double> counted{60, 50, [&](const arma::mat& x) { return count(x, a * x); },
                                       [&](const arma::mat& x) { return count(x, a.t() * x); }};
  randomised_svd(counted, d, Key(2));
  const double size = n, multiply_adds = size * size * (p * products + columns) + 2 * size * d * p_v;
  // The last product, for the residual, has d columns in place of d + 10, which is declared as the others.
  CHECK(method_on(random_problem<double>(n, p, p_v, 2, Key(3)), "best-rank-d").flops(d) ==
        doctest::Approx(2 * (multiply_adds + 10 * size * size)).epsilon(1e-12));
}

TEST_CASE("flops: prf-rpe by FFT takes features twice, and for every feature and column two transforms and spectra") {
  constexpr arma::uword n = 1024, p = 24, p_v = 32, d = 16;
  const RelativePosition<double> position{arma::vec(2 * n - 1, arma::fill::zeros), false, 1};
  const Problem<double> problem(random_matrix<double>(n, p, Key(1)), random_matrix<double>(n, p, Key(2)),
                                random_matrix<double>(n, p_v, Key(3)), {}, position);
  const PhaseLayout layout{RelativeGrid(n, 1)};
  CHECK(layout.phases == 8);
  CHECK(layout.length == 256);
  const double features = 2 * double(2 * n) * (2 * p * d) + double(2 * n) * d;  // an exponential once
  double transforms = 0, spectra = 0;
  for (arma::uword column = 0; column < p_v + 2; ++column) {                     // V, 1 and what bounds the errors
    for (arma::uword pair = 0; pair < 4; ++pair) transforms += 2 * 5 * 256 * 8;  // there and back, 5 L log2 L each
    for (arma::uword frequency = 0; frequency < 128; ++frequency) spectra += 8 * 8 * 8;  // complex multiply-adds
  }
  CHECK(method_on(problem, "prf-rpe", {{"product", "fft"}}).flops(d) ==
        doctest::Approx(features + d * (transforms + spectra)).epsilon(1e-12));
}

TEST_CASE("flops: v-mean adds every value once") {
  const Problem<double> problem = random_rectangle<double>(30, 50, 4, 3, 2, Key(4));
  Counter work;
  Dense output(30, 3);
  for (arma::uword c = 0; c < 3; ++c) {
    long double sum = 0;
    for (arma::uword j = 0; j < 50; ++j, ++work.additions) sum += static_cast<long double>(problem.V()(j, c));
    for (arma::uword i = 0; i < 30; ++i) output(i, c) = sum / 50;
  }
  check_count(work, output, method_on(problem, "v-mean"), 1, Key(1));
}
