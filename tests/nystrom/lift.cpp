#include <doctest/doctest.h>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/indices.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include "support/attention.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

template <typename T>
struct Example {
  arma::Mat<T> q, k;
  Dense stacked;     // the 2n points (Q; K) / p^(1/4), where they are
  double entry = 0;  // error of a kernel entry
  LiftedPoints<T> lift;

  Example(arma::uword n, arma::uword p, double norm, const Key& draw_key)
      : q(random_problem<T>(n, p, 1, norm, draw_key).Q()),
        k(random_problem<T>(n, p, 1, norm, draw_key).K()),
        stacked(std::pow(static_cast<long double>(p), -0.25L) * Dense(arma::join_cols(q, k))),
        entry(gaussian_error<T>(static_cast<double>(p), largest_row(stacked))),
        lift(q, k) {}
};

// The Nystrom approximation of the whole lift, 2n x 2n, from the blocks of the library, and what rounding may do to it.
template <typename T>
struct LiftApproximation {
  arma::mat matrix;
  arma::uword rank = 0;
  double error = 0;

  LiftApproximation(const Example<T>& example, const arma::uvec& indices) {
    const NystromBlocks<T> blocks = nystrom_blocks(example.lift, indices);
    const PseudoInverse<T> inverse = pseudo_inverse_psd(blocks.core, core_cutoff(example.lift, indices.n_elem));
    const arma::Mat<T> columns = arma::join_cols(blocks.left, blocks.right);
    matrix = arma::conv_to<arma::mat>::from(arma::Mat<T>(columns * inverse.apply(arma::Mat<T>(columns.t()))));
    rank = inverse.rank();
    const double l = largest_row_sum(gaussian_of(example.stacked, example.stacked));
    error = nystrom_error<T>(example.entry, static_cast<double>(frobenius(columns)), l,
                             static_cast<double>(inverse.values.min()), static_cast<double>(indices.n_elem));
  }
};

// The points of a matrix that is gone after the line.
template <typename T>
concept TakesTemporaries = requires(const LiftedPoints<T>& lift) {
  lift.centred(arma::Mat<T>());
};
static_assert(!TakesTemporaries<float> && !TakesTemporaries<double>);

}  // namespace

TEST_CASE_TEMPLATE("LiftedPoints: are (Q; K) / p^(1/4) centred at their common mean", T, float, double) {
  const Example<T> example(11, 5, 3, Key(test_seed()).child("points"));
  const Dense x = example.lift.points(arma::regspace<arma::uvec>(0, 21));
  const double r = largest_row(example.stacked);
  for (arma::uword c = 0; c < 5; ++c) {
    long double mean = 0;
    for (arma::uword i = 0; i < 22; ++i) mean += x(i, c) / 22;
    CHECK(std::abs(static_cast<double>(mean)) <= 2 * 22 * unit<T>() * r);  // 22 terms, twice
    for (arma::uword i = 0; i < 22; ++i) {
      // Scaling and moving round: 6 u r a point.
      CHECK(std::abs(static_cast<double>(x(i, c) - x(0, c) - (example.stacked(i, c) - example.stacked(0, c)))) <=
            12 * unit<T>() * r);
    }
  }
  const double largest = largest_row(x);
  CHECK(std::abs(static_cast<double>(example.lift.largest_squared_norm()) - largest * largest) <=
        7 * unit<T>() * largest * largest);
}

TEST_CASE_TEMPLATE("LiftedPoints: far from the origin the accuracy is that of the centred points", T, float, double) {
  Example<T> near(10, 4, 2, Key(test_seed()).child("far"));
  const arma::Mat<T> q = near.q + T(1000), k = near.k + T(1000);
  const NystromBlocks<T> moved = nystrom_blocks(LiftedPoints<T>(q, k), arma::uvec{0, 5, 13});
  const Dense stacked = std::pow(4.0L, -0.25L) * Dense(arma::join_cols(q, k));
  // Of size r = 1000 sqrt(2): scaling rounds each point by 3 u r, over distances of about 4 (2 points, r^2 unneeded).
  const double bound = 4 * 2 * 4 * unit<T>() * 1500 * 2;
  CHECK(distance(moved.core, gaussian_of(rows_of(stacked, {0, 5, 13}), rows_of(stacked, {0, 5, 13}))) <= bound);
}

TEST_CASE_TEMPLATE("LiftedPoints: many points are the same ones, and the largest counts wherever it is", T, float,
                   double) {
  // More than one block of rows, and not a whole number of them.
  const arma::uword n = 1100;
  const Key draw_key = Key(test_seed()).child("many");
  const arma::Mat<T> q = random_matrix<T>(n, 2, draw_key.child("q")), k = random_matrix<T>(n, 2, draw_key.child("k"));
  for (const arma::uword at : {0, 511, 512, 1023, 1024, 1099}) {
    for (const bool key : {false, true}) {
      arma::Mat<T> queries = q, keys = k;
      (key ? keys : queries).row(at) += T(20);  // far beyond the others
      const LiftedPoints<T> lift(queries, keys);
      const Dense stacked = std::pow(2.0L, -0.25L) * Dense(arma::join_cols(queries, keys));
      const Dense x = lift.points(arma::regspace<arma::uvec>(0, 2 * n - 1));
      // Scaling and moving round: 6 u r a point.
      const double r = largest_row(stacked);
      double gap = 0;
      for (arma::uword i = 0; i < 2 * n; ++i) {
        for (arma::uword c = 0; c < 2; ++c) {
          raise(gap, std::fabs(x(i, c) - x(0, c) - (stacked(i, c) - stacked(0, c))));
        }
      }
      CHECK(gap <= 12 * unit<T>() * r);
      const double largest = largest_row(x);
      CHECK(std::abs(static_cast<double>(lift.largest_squared_norm()) - largest * largest) <=
            4 * unit<T>() * largest * largest);
    }
  }
}

TEST_CASE_TEMPLATE("LiftedPoints::kernel: is the kernel matrix of the points, as accurate as it says", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("kernel");
  for (const T norm : {T(0), T(10), T(100)}) {
    // Queries close to each other and far from the keys: norms are large, and so are entries. The mean of all is close
    // to 0, so that the largest norm r is little more than that about the mean.
    const arma::Mat<T> q = random_matrix<T>(9, 2, draw_key.child("q")) + norm,
                       k = random_matrix<T>(9, 2, draw_key.child("k")) - norm;
    const Dense stacked = std::pow(2.0L, -0.25L) * Dense(arma::join_cols(q, k));
    const KernelMatrix<T> kernel = LiftedPoints<T>(q, k).kernel();
    CHECK(kernel.n == 18);
    CHECK(arma::all(kernel.diagonal == 1));
    // 1 and the largest squared norm about the mean, beyond which entries come from differences.
    const double r = largest_row(Dense(LiftedPoints<T>(q, k).points(arma::regspace<arma::uvec>(0, 17))));
    CHECK(kernel.entry_error() == doctest::Approx(1 + std::min(r * r, 128.0)).epsilon(1e-3));
    // As gaussian_error, (8 p + 48) r^2 u and 4 u, and twice that for the r that is taken about the mean.
    CHECK(distance(kernel.dense(), gaussian_of(stacked, stacked)) <=
          2 * (8 * 2 + 48) * static_cast<double>(kernel.entry_error()) * unit<T>());
  }
}

TEST_CASE_TEMPLATE("nystrom_blocks: are the kernel of queries, landmarks and keys with the landmarks", T, float,
                   double) {
  const Example<T> example(17, 6, 3, Key(test_seed()).child("blocks"));
  const arma::uvec landmarks = {0, 16, 17, 33, 5, 5, 20};  // first and last query and key, a duplicate
  const NystromBlocks<T> blocks = nystrom_blocks(example.lift, landmarks);
  const Dense chosen = rows_of(example.stacked, landmarks);
  CHECK(distance(blocks.left, gaussian_of(rows_of(example.stacked, arma::regspace<arma::uvec>(0, 16)), chosen)) <=
        example.entry);
  CHECK(distance(blocks.right, gaussian_of(rows_of(example.stacked, arma::regspace<arma::uvec>(17, 33)), chosen)) <=
        example.entry);
  CHECK(distance(blocks.core, gaussian_of(chosen, chosen)) <= example.entry);
  CHECK(arma::all(blocks.core.diag() == 1));
  CHECK(identical(blocks.core, arma::Mat<T>(blocks.core.t())));
}

TEST_CASE_TEMPLATE("Nystrom of the lift: exact when the landmarks hold all points, in any order and with repetitions",
                   T, float, double) {
  const Example<T> example(12, 8, 4, Key(1));  // fixed: how much the bound says depends on the points
  const Dense c = scores_of(example.q, example.k, Target::kernelized);
  const arma::uvec all = arma::regspace<arma::uvec>(0, 23);
  for (const arma::uvec& indices : {all, arma::uvec(arma::reverse(all)), arma::uvec(arma::join_cols(all, all))}) {
    const LiftApproximation<T> approximation(example, indices);
    CHECK(approximation.rank == 24);
    CHECK(approximation.error < 0.05);  // the bound says something
    CHECK(distance(approximation.matrix, gaussian_of(example.stacked, example.stacked)) <= approximation.error);
    CHECK(distance(approximation.matrix.submat(0, 12, 11, 23), c) <= approximation.error);
  }
}

TEST_CASE_TEMPLATE("Nystrom of the lift: lies between 0 and the lift in the Loewner order, for every draw", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("order");
  const Example<T> example(20, 6, 4, Key(1));
  const arma::mat lift = in_double(gaussian_of(example.stacked, example.stacked));
  for (std::uint64_t t = 0; t < 30; ++t) {
    const arma::uvec indices = sample_with_replacement(40, 1 + t, draw_key.child(t));
    const LiftApproximation<T> approximation(example, indices);
    const arma::mat symmetric = (approximation.matrix + approximation.matrix.t()) / 2;
    CHECK(approximation.error < 0.05);
    CHECK(arma::eig_sym(symmetric).min() >= -approximation.error);
    CHECK(arma::eig_sym(arma::mat(lift - symmetric)).min() >= -approximation.error);
    // ||C - C~|| is at most the error of the lift, of which it is a block.
    CHECK(arma::norm(arma::mat(lift - symmetric).submat(0, 20, 19, 39), 2) <=
          arma::norm(arma::mat(lift - symmetric), 2) * (1 + 1e-12));
    // A mutant, the core shrunk by a fifth, breaks the order: on the landmarks the approximation is the lift itself.
    CHECK(arma::eig_sym(arma::mat(lift - symmetric / 0.8)).min() < -0.1);
  }
}

TEST_CASE_TEMPLATE("Nystrom of the lift: duplicate landmarks and duplicate tokens change the rank alone", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("duplicates");
  const Example<T> example(15, 6, 4, draw_key);
  const LiftApproximation<T> plain(example, {2, 9, 17, 25}), repeated(example, {9, 2, 2, 17, 25, 9, 9, 17});
  CHECK(plain.rank == 4);
  CHECK(repeated.rank == 4);
  CHECK(distance(plain.matrix, repeated.matrix) <= plain.error + repeated.error);

  // All queries one point, all keys another: two points in all, and any landmarks that hold both are exact.
  const arma::Mat<T> q = arma::repmat(arma::Row<T>{T(1), T(0)}, 6, 1), k = arma::repmat(arma::Row<T>{T(0), T(2)}, 6, 1);
  const LiftedPoints<T> lift(q, k);
  const NystromBlocks<T> blocks = nystrom_blocks(lift, arma::uvec{0, 3, 7, 11, 5});
  const PseudoInverse<T> inverse = pseudo_inverse_psd(blocks.core, core_cutoff(lift, 5));
  CHECK(inverse.rank() == 2);
  const Dense c = blocks.left * inverse.apply(arma::Mat<T>(blocks.right.t()));
  // Eigenvalues of the core are 3 and 2 give or take twice c_ij = 0.17: well conditioned; entries are off by u r^2 ...
  const double entry = gaussian_error<T>(2, 2 / std::pow(2.0, 0.25));
  CHECK(distance(c, scores_of(q, k, Target::kernelized)) <= 4 * 5 * (entry + 10 * 5 * unit<T>()));
}

TEST_CASE_TEMPLATE("core_cutoff: is above the error of an entry times d and below 1/2, for points near and far", T,
                   float, double) {
  for (const double norm : {0.0, 1.0, 10.0, 1e3, 1e6}) {
    // Two clusters that are far apart, in each of which the points are near: entries by differences of long points. The
    // same points for every seed, as the error of an entry is estimated and not bounded.
    arma::Mat<T> q = random_matrix<T>(6, 3, Key(1).child("q"));
    if (norm > 1) q *= T(0.25);
    q.col(0) += static_cast<T>(norm);
    const arma::Mat<T> k = -q;
    const LiftedPoints<T> lift(q, k);
    const Dense stacked = std::pow(3.0L, -0.25L) * Dense(arma::join_cols(q, k));
    const double entry = distance(lift.kernel().dense(), gaussian_of(stacked, stacked));
    double last = 0;
    for (const arma::uword d : {1U, 10U, 1000U, 1U << 20}) {
      const auto cutoff = static_cast<double>(core_cutoff(lift, d));
      CHECK(cutoff <= 0.5);
      CHECK(cutoff >= last);
      CHECK(cutoff >= std::min(static_cast<double>(d) * entry, 0.5));
      CHECK(cutoff <= 2 * static_cast<double>(d) * unit<T>() * 129);  // however far the points
      last = cutoff;
    }
  }
}

TEST_CASE("LiftedPoints: some points with the centre and the norm of all have the kernel of all") {
  const Example<double> example(11, 5, 3, Key(test_seed()).child("parts"));
  const auto part = [](const arma::mat& m) { return std::make_shared<const arma::mat>(m); };
  const LiftedPoints<double> some(part(example.q.head_rows(4)), part(example.k.tail_rows(9)), example.lift.centre(),
                                  example.lift.largest_squared_norm());
  CHECK(some.n_q() == 4);
  CHECK(some.n_k() == 9);
  CHECK(some.size() == 13);
  const arma::uvec own = {0, 3, 4, 12}, of_all = {0, 3, 13, 21};
  CHECK(identical(some.points(own), example.lift.points(of_all)));
  CHECK(identical(some.kernel().block(own, own), example.lift.kernel().block(of_all, of_all)));
  CHECK(core_cutoff(some, 7) == core_cutoff(example.lift, 7));
  CHECK(contains(refusal([&] { some.n(); }), "as many queries as keys, got n_q = 4, n_k = 9"));
}

TEST_CASE("LiftedPoints: widths that differ and indices beyond n_q + n_k are refused") {
  const arma::mat q(4, 3, arma::fill::ones);
  CHECK(contains(
      refusal([&] { LiftedPoints<double>(q, arma::mat(5, 2, arma::fill::ones)); }),
      "LiftedPoints: queries and keys of one width, one at least of each, got q.rows = 4, q.cols = 3, k.rows = 5, "
      "k.cols = 2"));
  CHECK(contains(refusal([] { LiftedPoints<double>(arma::mat(), arma::mat()); }), "got q.rows = 0"));
  const LiftedPoints<double> lift(q, q);
  CHECK_NOTHROW(lift.points({7}));
  CHECK(refusal([&] { lift.points({0, 8}); }) == "LiftedPoints: index < n_q + n_k, got index = 8, n_q = 4, n_k = 4");
}
