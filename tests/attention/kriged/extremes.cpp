// The kriged coreset where its budget is too small, and on tokens and values that are equal, clustered or huge.
#include <croquis/attention/kriged/sizes.hpp>
#include <croquis/attention/kriged_coreset.hpp>
#include <croquis/attention/skyformer.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "attention/kriged/cases.hpp"
#include "support/approximations.hpp"
#include "support/methods.hpp"

using namespace croquis;

TEST_CASE("kriged coreset: never more flops than exact attention, which it is where its smallest sizes take as many") {
  arma::uword exact = 0, cheaper = 0;
  for (const double n : {6.0, 10.0, 24.0, 48.0, 300.0}) {
    for (const double p : {1.0, 4.0, 64.0}) {
      for (const double d : {1.0, 2.0, 4.0}) {
        for (const bool checks : {false, true}) {
          const KrigedBudget budget{.flops = skyformer_flops(2 * n, p, p, d),
                                    .n_q = n,
                                    .n_k = n,
                                    .p = p,
                                    .p_v = p,
                                    .checks = checks,
                                    .near = checks,
                                    .pilot = checks};
          const KrigedSizes sizes = solve_sizes(budget);
          (sizes.exact ? exact : cheaper) += 1;
          CHECK(kriged_flops(budget, sizes) <= n * n * (4 * p + 1));
          if (!sizes.exact) CHECK(kriged_flops(budget, sizes) < n * n * (4 * p + 1));
          if (!sizes.exact && checks) CHECK(window_flops(budget, sizes) < n * n * (4 * p + 1));
        }
      }
    }
  }
  CHECK(exact > 10);
  CHECK(cheaper > 10);
  const Problem<double> small = random_problem<double>(10, 4, 4, 2, Key(test_seed()).child("small"));
  const Approximation<double> approximation = kriged_coreset(small, 1, Key(1));
  CHECK(approximation.diagnostics.mode == "exact");
  CHECK(gap_to_exact(small, approximation) <= 1e-13);
}

TEST_CASE_TEMPLATE("kriged input: centred values as columns with a 1 below, of any number, width and size", T, float,
                   double) {
  for (const arma::uword n_k : {1, 2, 63, 64, 65, 200}) {
    for (const arma::uword p_v : {1, 3, 40}) {
      for (const int exponent : {-90, -30, 0, 30, 48}) {
        CAPTURE(n_k);
        CAPTURE(p_v);
        CAPTURE(exponent);
        const Problem<T> drawn = random_rectangle<T>(5, n_k, 2, p_v, 1, Key(test_seed()).child("input").child(n_k));
        const Problem<T> problem(drawn.Q(), drawn.K(), std::ldexp(T(1), exponent) * (drawn.V() + T(2)));
        const KrigedInput<T> input(problem);
        const arma::mat v = arma::conv_to<arma::mat>::from(problem.V()) / static_cast<double>(input.value_size);
        const double largest = arma::abs(v).max(), n = static_cast<double>(n_k), width = static_cast<double>(p_v);
        int power = 0;
        CHECK(std::frexp(input.value_size, &power) == T(0.5));
        CHECK((input.value_size == 1 || (largest >= 0.5 && largest < 1)));
        // A sum of n values is off by (n - 1) u times n of the largest, its quotient and the difference by u of
        // themselves, which for the difference are two of the largest.
        const double entry = 1.01 * (n + 3) * unit<T>() * largest;
        std::vector<long double> means(p_v);
        for (arma::uword c = 0; c < p_v; ++c) {
          means[c] = std::accumulate(v.begin_col(c), v.end_col(c), 0.0L) / static_cast<long double>(n_k);
        }
        for (arma::uword j = 0; j < n_k; ++j) {
          long double squares = 0;
          for (arma::uword c = 0; c < p_v; ++c) {
            const long double centred = v(j, c) - means[c];
            squares += centred * centred;
            CHECK(std::abs(input.value_columns(c, j) - centred) <= entry);
          }
          CHECK(input.value_columns(p_v, j) == 1);
          // p_v products, their sum and its root.
          const auto norm = static_cast<double>(std::sqrt(squares)), off = std::sqrt(width) * entry;
          CHECK(std::abs(static_cast<double>(input.value_norms(j)) - norm) <=
                off + 1.01 * (width + 2) * unit<T>() * (norm + off));
        }
        // Rounding keeps the order of differences.
        const arma::Mat<T> values = input.value_columns.head_rows(p_v);
        CHECK(arma::all(arma::vectorise(arma::min(values, 1).t() == input.lowest)));
        CHECK(arma::all(arma::vectorise(arma::max(values, 1).t() == input.highest)));
        CHECK(arma::all(arma::vectorise(input.key_rows() == input.keys.columns.t())));
      }
    }
  }
}

TEST_CASE("kriged coreset: few different keys are cells of their own, however little their queries have in common") {
  for (const TokenAlignment shape : {TokenAlignment{150, 400}, {400, 150}, {300, 300}}) {
    for (const arma::uword different : {2U, 3U, 5U}) {
      for (const std::uint64_t draw : {1U, 2U, 3U}) {
        const Key draw_key = Key(test_seed()).child("few").child(draw).child(different);
        const arma::mat q = 3 * random_matrix(different, 8, draw_key.child("q")),
                        k = 3 * random_matrix(different, 8, draw_key.child("k"));
        const auto repeated = [&](arma::uword n) -> arma::uvec {
          return arma::regspace<arma::uvec>(0, n - 1) - different * (arma::regspace<arma::uvec>(0, n - 1) / different);
        };
        const Problem<double> problem(q.rows(repeated(shape.n_q)), k.rows(repeated(shape.n_k)),
                                      random_matrix(shape.n_k, 2, draw_key));
        const Approximation<double> approximation = kriged_coreset(problem, 24, Key(draw));
        CHECK(approximation.diagnostics.mode == "coreset");
        CHECK(gap_to_exact(problem, approximation) <= 1e-12);
      }
    }
  }
}

TEST_CASE("kriged coreset: rounding does not choose between plans that have no error") {
  // Tokens in tight clusters, and rows so sharp that some plans leave nothing of the check rows. Keys that are moved
  // are rounded. The draws are fixed: where keys are equally good, rounding may choose between those.
  struct Clusters {
    arma::uword count;
    double distance;
    std::uint64_t draws;
  };
  const arma::uword n = 64;
  for (const Clusters& clusters : {Clusters{6, 10, 60}, Clusters{12, 6, 12}}) {
    for (std::uint64_t draw = 0; draw < clusters.draws; ++draw) {
      const Key draw_key = Key(20261121).child("noise").child(draw);
      const arma::mat centres = clusters.distance * random_matrix(clusters.count, 8, draw_key.child("centres"));
      const auto tokens = [&](const char* name) -> arma::mat {
        arma::uvec cluster(n);
        for (arma::uword i = 0; i < n; ++i) cluster(i) = (7 * i * i + i / 6 + draw * i) % clusters.count;
        return centres.rows(cluster) + 0.2 * random_matrix(n, 8, draw_key.child(name));
      };
      const arma::mat q = tokens("q"), k = tokens("k"), v = random_matrix(n, 3, draw_key.child("v"));
      const arma::mat plain = kriged_coreset<double>({q, k, v}, 16, Key(1)).output;
      for (const double shift : {1.0, 3.0, -2.0}) {
        CHECK(distance(kriged_coreset<double>({q, k + shift, v}, 16, Key(1)).output, plain) <= 1e-6);
      }
    }
  }
}

TEST_CASE_TEMPLATE("kriged coreset: values of any size, whose squares overflow, have the same digits", T, float,
                   double) {
  const int most = std::numeric_limits<T>::max_exponent;
  const Problem<T> problem = random_problem<T>(64, 8, 2, 3, Key(test_seed()).child("sizes of values"));
  const arma::Mat<T> cotangent = random_matrix<T>(64, 2, Key(2));
  const Approximation<T> plain = kriged_coreset(problem, 4, Key(1));
  REQUIRE(plain.diagnostics.mode != "exact");
  const Gradient<T> gradient = plain.adjoint(cotangent);
  for (const int exponent : {most / 3, -most / 3}) {
    const T size = std::ldexp(T(1), exponent);
    const Approximation<T> large = kriged_coreset<T>({problem.Q(), problem.K(), size * problem.V()}, 4, Key(1));
    CHECK(arma::approx_equal(large.output, arma::Mat<T>(size * plain.output), "absdiff", T(0)));
    const Gradient<T> of_large = large.adjoint(cotangent);
    CHECK(arma::approx_equal(of_large.q, arma::Mat<T>(size * gradient.q), "absdiff", T(0)));
    CHECK(arma::approx_equal(of_large.k, arma::Mat<T>(size * gradient.k), "absdiff", T(0)));
    CHECK(arma::approx_equal(of_large.v, gradient.v, "absdiff", T(0)));
  }
}

TEST_CASE_TEMPLATE("kriged coreset: equal values are reproduced to the last bit, also beside others of any size", T,
                   float, double) {
  using Mode = KrigedCoresetOptions::Mode;
  const int most = std::numeric_limits<T>::max_exponent;
  const Problem<T> random = random_rectangle<T>(40, 90, 8, 2, 3, Key(test_seed()).child("far sizes"));
  arma::Mat<T> values = random.V();
  values.col(0).fill(T(3.7));
  const KrigedSizes exact{.exact = true};
  for (const KrigedSizes& sizes : {kSmall, exact}) {
    CHECK(arma::all(sized<T>({random.Q(), random.K(), values}, sizes).output.col(0) == T(3.7)));
  }
  // The squares of the second column overflow, and the first one vanishes where that is divided by its size.
  const T tiny = std::ldexp(T(1.5), 40 - most);
  values.col(0).fill(tiny);
  values.col(1) *= std::ldexp(T(1), most / 2 - 10);
  for (const Mode mode : {Mode::automatic, Mode::coreset, Mode::near, Mode::window}) {
    CHECK(arma::all(sized<T>({random.Q(), random.K(), values}, kSmall, {.mode = mode}).output.col(0) == tiny));
  }
  CHECK(arma::all(sized<T>({random.Q(), random.K(), values}, exact).output.col(0) == tiny));
}

TEST_CASE_TEMPLATE("kriged coreset: by query, one that is longer than the others by far changes no other row much", T,
                   float, double) {
  // Only through the plan and the exact rows. The others' scores keep their digits.
  const Problem<T> problem = random_problem<T>(300, 32, 4, 4, Key(test_seed()).child("one long query"));
  arma::Mat<T> q = problem.Q();
  q.row(17) *= std::ldexp(T(1), std::is_same_v<T, float> ? 40 : 70);
  const arma::Mat<T> exact = exact_attention(problem, Target::softmax).output;
  const auto error = [&](const arma::Mat<T>& queries) {
    const Problem<T> of(queries, problem.K(), problem.V());
    arma::Mat<T> gap = kriged_coreset(of, 32, Key(1), {.mode = KrigedCoresetOptions::Mode::window}).output - exact;
    gap.row(17).zeros();
    return arma::norm(gap, "fro");
  };
  CHECK(error(q) <= T(1.5) * error(problem.Q()));
}

TEST_CASE("kriged coreset: equal keys of any length have the mean of the values") {
  for (const double size : {1e5, 1e20, 1e60, 1e120}) {
    for (std::uint64_t draw = 0; draw < 20; ++draw) {
      const Key draw_key = Key(test_seed()).child("equal").child(draw);
      const arma::mat k = arma::repmat(size * random_matrix(1, 6, draw_key.child("k")), 40, 1),
                      v = random_matrix(40, 4, draw_key.child("v"));
      for (const arma::uword d : {1U, 4U}) {
        const arma::mat output =
            kriged_coreset<double>({size * random_matrix(40, 6, draw_key), k, v}, d, Key(1)).output;
        CHECK(distance(output, arma::mat(arma::repmat(arma::mean(v, 0), 40, 1))) <= 1e-13);
      }
    }
  }
}
