#include <doctest/doctest.h>
#include <croquis/features/projections.hpp>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <numeric>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr ProjectionDistribution kDistributions[] = {ProjectionDistribution::iid, ProjectionDistribution::haar,
                                                     ProjectionDistribution::orthogonal, ProjectionDistribution::sorf,
                                                     ProjectionDistribution::halton};

using Draw = std::function<arma::mat(const Key&)>;

Draw of(ProjectionDistribution distribution, arma::uword m, arma::uword p) {
  return [=](const Key& draw_key) { return Projection<double>(distribution, m, p, draw_key).dense(); };
}

// w.a ~ N(0,1) for unit vectors a, among them +-1/sqrt(p) (1, ..., 1), and for the first row, the last of the first
// block and the last of all; and ||w||^2 is chi-squared, taken through its quantiles to N(0,1): 15 samples of
// independent draws.
bool rows_are_normal(const Draw& draw, arma::uword p) {
  constexpr std::uint64_t trials = 4000;
  const arma::vec ones(p, arma::fill::ones), other = random_matrix(p, 1, Key(11).child("direction"));
  arma::vec first(p, arma::fill::zeros);
  first(0) = 1;
  const arma::vec directions[] = {arma::normalise(ones), -arma::normalise(ones), first, arma::normalise(other)};
  std::vector<std::vector<double>> samples(15);
  const boost::math::chi_squared norms(static_cast<double>(p));
  const Key root = Key(test_seed()).child("rows");
  for (std::uint64_t t = 0; t < trials; ++t) {
    const arma::mat w = draw(root.child(t));
    const arma::uword rows[] = {0, std::min(p, w.n_rows) - 1, w.n_rows - 1};
    for (std::size_t k = 0; k < 12; ++k) samples[k].push_back(arma::dot(w.row(rows[k / 4]), directions[k % 4]));
    for (std::size_t k = 0; k < 3; ++k) {
      const double below = boost::math::cdf(norms, arma::dot(w.row(rows[k]), w.row(rows[k])));
      samples[12 + k].push_back(boost::math::quantile(boost::math::normal(), std::clamp(below, 1e-16, 1 - 1e-16)));
    }
  }
  for (const auto& sample : samples) {
    if (!sample_is_normal(sample, kFailure / 15)) return false;
  }
  return true;
}

// The QR of a Gaussian matrix as LAPACK returns it, columns times chi_p norms: rows look normal but are not isotropic.
arma::mat without_sign_fix(arma::uword p, const Key& draw_key) {
  arma::mat q, r;
  arma::qr(q, r, random_matrix(p, p, draw_key.child("matrix")));
  const arma::mat norms = random_matrix(p, p, draw_key.child("norms"));
  return arma::diagmat(arma::sqrt(arma::sum(arma::square(norms), 1))) * q.t();
}

}  // namespace

TEST_CASE("Projection: rows of iid, haar and halton are N(0, I), and mutants are rejected") {
  ThreadCount one(1);
  for (const ProjectionDistribution distribution :
       {ProjectionDistribution::iid, ProjectionDistribution::haar, ProjectionDistribution::halton}) {
    CAPTURE(name_of(distribution));
    CHECK(rows_are_normal(of(distribution, 11, 8), 8));  // the last block is cut
    CHECK(rows_are_normal(of(distribution, 3, 8), 8));
  }
  CHECK(rows_are_normal(of(ProjectionDistribution::haar, 3, 1), 1));
  // The mean of w.1/sqrt(p) is -0.2 at p = 8 without the fix: 13 deviations of the mean of 4000.
  CHECK_FALSE(rows_are_normal([](const Key& s) { return without_sign_fix(8, s); }, 8));
  CHECK_FALSE(rows_are_normal(of(ProjectionDistribution::orthogonal, 11, 8), 8));  // no norms
  CHECK_FALSE(rows_are_normal(
      [](const Key& s) { return arma::mat(of(ProjectionDistribution::orthogonal, 11, 8)(s) / std::sqrt(8.0)); }, 8));
  CHECK_FALSE(
      rows_are_normal([](const Key&) { return of(ProjectionDistribution::halton, 11, 8)(Key(1)); }, 8));  // no shift
}

TEST_CASE("Projection: haar norms are chi_p, independent of one another") {
  constexpr arma::uword p = 8;
  const Projection<double> projection(ProjectionDistribution::haar, 4000 * p, p, Key(test_seed()).child("norms"));
  const arma::mat w = projection.dense();
  double squares = 0;
  std::vector<double> first, second;
  for (arma::uword r = 0; r < w.n_rows; r += 2) {
    const double a = arma::dot(w.row(r), w.row(r)), b = arma::dot(w.row(r + 1), w.row(r + 1));
    squares += a + b;
    first.push_back(a - p);
    second.push_back(b - p);
  }
  // The sum of all squared norms is chi-squared with 4000 p^2 degrees of freedom.
  CHECK(is_chi_squared(squares, 4000.0 * p * p, kFailure));
  // Neighbours: the correlation of 16000 independent pairs has deviation 1/sqrt(16000), normal at that number.
  const double inner = std::inner_product(first.begin(), first.end(), second.begin(), 0.0);
  CHECK(is_standard_normal(inner / (2.0 * p) / std::sqrt(16000.0), kFailure));
}

TEST_CASE_TEMPLATE(
    "Projection: rows of a block are orthogonal, also in the block that is cut; sqrt(p) long without norms", T, float,
    double) {
  for (const arma::uword p : {1U, 5U, 8U}) {
    for (const ProjectionDistribution distribution :
         {ProjectionDistribution::haar, ProjectionDistribution::orthogonal, ProjectionDistribution::sorf}) {
      if (distribution == ProjectionDistribution::sorf && p == 5)
        continue;  // only whole rows of width 8 are orthogonal
      const arma::uword m = 2 * p + 1 + p / 2;
      const arma::Mat<T> w = Projection<T>(distribution, m, p, Key(test_seed()).child(p)).dense();
      const Dense gram = Dense(w) * transposed(Dense(w));
      for (arma::uword r = 0; r < m; ++r) {
        for (arma::uword s = 0; s < m; ++s) {
          const double norms = static_cast<double>(std::sqrt(gram(r, r) * gram(s, s)));
          // Orthogonality of Q to 10 p u in double; then the rounding to T, 2 u, or the transforms, 3 log2 p + 3.
          const double bound = (10 * static_cast<double>(p) + 12) * unit<T>();
          if (r / p == s / p && r != s) CHECK(std::abs(static_cast<double>(gram(r, s))) <= bound * norms);
          if (r == s && distribution != ProjectionDistribution::haar) {
            CHECK(std::abs(static_cast<double>(gram(r, r)) - static_cast<double>(p)) <= bound * static_cast<double>(p));
          }
        }
      }
    }
  }
}

TEST_CASE("Projection: every block of rows is drawn anew") {
  // Two blocks of 16 rows. Rotations have densities; the signs of sorf's D1, D2 and D3, 48 of them, would have to
  // agree, or be turned in one of a few ways that change nothing: 2^-40 at most.
  for (const ProjectionDistribution distribution :
       {ProjectionDistribution::haar, ProjectionDistribution::orthogonal, ProjectionDistribution::sorf}) {
    CAPTURE(name_of(distribution));
    const arma::mat w =
        arma::normalise(Projection<double>(distribution, 32, 16, Key(test_seed()).child("anew")).dense(), 2, 1);
    CHECK(arma::abs(w.head_rows(16) - w.tail_rows(16)).max() > 1e-3);
  }
}

TEST_CASE_TEMPLATE("Projection: sorf is H D1 H D2 H D3 / p' on points with zeros appended", T, float, double) {
  for (const arma::uword p : {1U, 2U, 3U, 8U, 13U}) {
    arma::uword width = 1;
    while (width < p) width *= 2;
    const arma::uword m = 2 * width + 1;
    const Dense w = Projection<T>(ProjectionDistribution::sorf, m, p, Key(test_seed()).child(p)).dense();
    // Whole rows: with W~ the first p columns of an orthogonal matrix times sqrt(p'), W~^T W~ = p' I for a whole block.
    for (arma::uword block = 0; block < 2; ++block) {
      for (arma::uword a = 0; a < p; ++a) {
        for (arma::uword b = 0; b < p; ++b) {
          long double inner = 0;
          for (arma::uword r = 0; r < width; ++r) inner += w(block * width + r, a) * w(block * width + r, b);
          const double expected = a == b ? static_cast<double>(width) : 0.0;
          CHECK(std::abs(static_cast<double>(inner) - expected) <= 40 * unit<T>() * static_cast<double>(width));
        }
      }
    }
    // Entries of H D H D H are whole numbers: so are those of p' W.
    for (const long double x : w.entries) {
      const long double scaled = x * static_cast<long double>(width);
      CHECK(std::abs(static_cast<double>(scaled - std::round(scaled))) <= 1e-9);
    }
  }
}

TEST_CASE_TEMPLATE("Projection: apply is X W^T, whole and in parts, for any number of points", T, float, double) {
  for (const ProjectionDistribution distribution : kDistributions) {
    CAPTURE(name_of(distribution));
    const Key draw_key = Key(test_seed()).child("apply");
    const Projection<T> projection(distribution, 23, 6, draw_key);
    const Dense w = projection.dense();
    for (const arma::uword n : {1U, 7U, 512U, 600U}) {
      const arma::Mat<T> x = random_matrix<T>(n, 6, draw_key.child(n));
      const Dense expected = Dense(x) * transposed(w);
      // Six products and sums; for sorf three transforms of 8 entries.
      const double bound = 16 * unit<T>() * largest_row(x) * largest_row(w);
      CHECK(distance(projection.apply(x), expected) <= bound);
      const Dense part = projection.apply(x, 5, 9);
      for (arma::uword i = 0; i < n; ++i) {
        for (arma::uword r = 0; r < 9; ++r) {
          REQUIRE(std::abs(static_cast<double>(part(i, r) - expected(i, r + 5))) <= bound);
        }
      }
    }
    CHECK(arma::size(projection.apply(arma::Mat<T>(4, 6, arma::fill::ones), 23, 0)) == arma::SizeMat(4, 0));
  }
}

TEST_CASE_TEMPLATE("Projection: more rows begin with fewer, another random key gives others, threads change nothing", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("prefix");
  for (const ProjectionDistribution distribution : kDistributions) {
    CAPTURE(name_of(distribution));
    const arma::Mat<T> all = Projection<T>(distribution, 40, 6, draw_key).dense();
    for (const arma::uword m : {1U, 6U, 13U}) {
      CHECK(identical(Projection<T>(distribution, m, 6, draw_key).dense(), arma::Mat<T>(all.head_rows(m))));
    }
    CHECK_FALSE(identical(Projection<T>(distribution, 40, 6, draw_key.child("other")).dense(), all));
    const arma::Mat<T> x = random_matrix<T>(1300, 6, draw_key.child("x")),
                       product = Projection<T>(distribution, 40, 6, draw_key).apply(x);
    for (const int team : {1, 2, 4}) {
      const ThreadCount count(team);
      CHECK(identical(Projection<T>(distribution, 40, 6, draw_key).apply(x), product));
    }
  }
}

TEST_CASE("Projection: names go both ways, wrong sizes and names are refused") {
  for (const std::string& name : projection_names()) CHECK(name_of(projection_distribution(name)) == name);
  CHECK(projection_names().size() == 5);
  CHECK(contains(refusal([] { projection_distribution("hadamard"); }), "one of iid haar orthogonal sorf halton"));
  CHECK(refusal([] { Projection<double>(ProjectionDistribution::halton, 1, 10001, Key(1)); }) ==
        "Projection: p <= 10000 for halton, a prime a coordinate, got p = 10001");
  CHECK(refusal([] { Projection<double>(ProjectionDistribution::halton, 1, 10000, Key(1)); }) == "nothing was thrown");
  for (const ProjectionDistribution distribution : kDistributions) {
    CHECK(refusal([&] { Projection<double>(distribution, 0, 3, Key(1)); }) ==
          "Projection: m >= 1, p >= 1, got m = 0, p = 3");
    CHECK(contains(refusal([&] { Projection<float>(distribution, 3, 0, Key(1)); }), "p = 0"));
    const Projection<double> projection(distribution, 4, 3, Key(1));
    CHECK(contains(refusal([&] { projection.apply(arma::mat(2, 4, arma::fill::ones)); }), "got cols = 4, p = 3"));
    CHECK(contains(refusal([&] { projection.apply(arma::mat(2, 3, arma::fill::ones), 2, 3); }), "rows of W"));
    // Sizes whose sum or product is beyond 2^64.
    const arma::uword huge = arma::uword{1} << 62;
    CHECK(contains(refusal([&] { projection.apply(arma::mat(2, 3, arma::fill::ones), ~arma::uword{0}, 2); }),
                   "rows of W"));
    CHECK(contains(refusal([&] { Projection<double>(distribution, huge, 4, Key(1)); }), "Projection: needs"));
    CHECK(contains(refusal([&] { Projection<float>(distribution, ~arma::uword{0}, 3, Key(1)); }), "Projection: needs"));
    CHECK(contains(refusal([&] { Projection<double>(distribution, 4, huge, Key(1)); }), "Projection: needs"));
  }
}

TEST_CASE("projection_flops: 2 m p a point; of sorf the additions of three transforms for every block of p' rows") {
  for (const ProjectionDistribution distribution : kDistributions) {
    CAPTURE(name_of(distribution));
    const bool sorf = distribution == ProjectionDistribution::sorf;
    // p = 5: transforms of 8 entries, each 3 passes of 8 additions; 11 rows are two blocks of 8.
    CHECK(projection_flops(distribution, 100, 11, 5) == (sorf ? 100 * 2 * 3 * (3 * 8) : 2 * 100 * 11 * 5));
    CHECK(projection_flops(distribution, 100, 16, 8) == (sorf ? 100 * 2 * 3 * (3 * 8) : 2 * 100 * 16 * 8));
  }
}
