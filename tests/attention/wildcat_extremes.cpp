// Wildcat on keys that are equal, nearly equal, long or all taken: where rounding could decide its rows.
#include <croquis/attention/exact.hpp>
#include <croquis/attention/wildcat.hpp>
#include <croquis/sampling/rp_cholesky.hpp>

#include "attention/wildcat_parts.hpp"
#include "support/approximations.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("wildcat: exact with all keys, and with a key of each kind where keys are repeated", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("exact");
  const Problem<T> all = awkward_problem<T>(21, 5, 3, 4, draw_key);
  for (const char* pivots : {"exponential", "gaussian"}) {
    check_scores(method_on(all, "wildcat", {{"pivots", pivots}}).approximate(21, Key(1)), all,
                 scores_of(all.Q(), all.K(), Target::softmax), entry_error(all));
    const Problem<T> several = random_problem<T>(24, 5, 3, 2, draw_key.child("repeated"));
    arma::Mat<T> k = several.K();
    for (arma::uword j = 6; j < 24; ++j) k.row(j) = k.row(j % 6);
    const Problem<T> repeated(several.Q(), k, several.V());
    const ExactAttention<T> exact = exact_attention(repeated, Target::softmax);
    for (const arma::uword d : {6U, 13U, 23U}) {
      const Approximation<T> approximation =
          method_on(repeated, "wildcat", {{"pivots", pivots}}).approximate(d, draw_key.child(d));
      // Six points of a kernel whose condition is below a thousand, and exponentials of at most 4.
      CHECK(distance(approximation.output, exact.output) <= 1e5 * unit<T>());
      CHECK(approximation.diagnostics.rank == 6);
      // Denominators of A itself.
      const arma::Col<T> log_sums =
          arma::log(approximation.denominators->values) + approximation.denominators->log_scale;
      CHECK(distance(log_sums, exact.log_row_sums) <= 1e5 * unit<T>());
    }
  }
}

TEST_CASE_TEMPLATE("wildcat: equal keys are exact whatever their norms", T, float, double) {
  // Roots of the kernel differ by up to e^60: between equal keys nothing may be left of rounding, which that
  // multiplies.
  for (std::uint64_t draw = 0; draw < 100; ++draw) {
    const Key draw_key = Key(test_seed()).child("equal").child(draw);
    const Problem<T> kinds = random_problem<T>(40, 4, 2, 28, draw_key);
    arma::Mat<T> k = kinds.K();
    for (arma::uword j = 3; j < 40; ++j) k.row(j) = k.row((j * j + j / 3) % 3);
    const Problem<T> repeated(kinds.Q(), k, kinds.V());
    const Dense exact = scores_of(repeated.Q(), repeated.K(), Target::softmax);
    for (const char* pivots : {"exponential", "gaussian"}) {
      const Approximation<T> approximation =
          method_on(repeated, "wildcat", {{"pivots", pivots}}).approximate(20, Key(1));
      CHECK(approximation.diagnostics.rank == 3);
      CHECK(distance(approximation.output, exact * repeated.V()) <= 100 * entry_error(repeated));
      if (draw == 0) check_scores(approximation, repeated, exact, 100 * entry_error(repeated));
    }
  }
}

TEST_CASE("wildcat: where rounding decides rows of nearly equal long keys, most calls are refused, and few others") {
  int refused = 0, wrong = 0, right = 0;
  for (std::uint64_t draw = 0; draw < 150; ++draw) {
    const Key draw_key = Key(7).child(draw);
    const Problem<double> kinds = random_problem<double>(40, 4, 2, 28, draw_key);
    arma::mat k = kinds.K();
    for (arma::uword j = 3; j < 40; ++j) k.row(j) = k.row(j % 3) + 1e-6 * k.row(j);
    const Problem<double> problem(kinds.Q(), k, kinds.V());
    const Dense centred = about_mean(k), q = problem.Q();
    const long double tau = std::sqrt(squared_temperature(largest_row(q), largest_row(centred), 40, 4));
    Dense points = 1 / (tau * std::sqrt(2.0L)) * centred;  // of exp(-|x - y|^2 / 2)
    const auto squared = [&](arma::uword a, arma::uword b) {
      long double sum = 0;
      for (arma::uword c = 0; c < 4; ++c) sum += (points(a, c) - points(b, c)) * (points(a, c) - points(b, c));
      return sum;
    };
    std::vector<long double> squares(40);
    arma::vec logs(40);
    for (arma::uword j = 0; j < 40; ++j) {
      for (arma::uword c = 0; c < 4; ++c) squares[j] += points(j, c) * points(j, c);
      logs(j) = double(squares[j]);
    }
    const arma::uvec s = rp_cholesky(gaussian_kernel_matrix(in_double(points), 1.0), 20, Key(1).child("pivots"),
                                     arma::vec(logs - logs.max()))
                             .pivots;
    // W as it is defined, in the Gaussian kernel, and its sum over keys row by row.
    Dense core(s.n_elem, s.n_elem), rest(s.n_elem, 40);
    for (arma::uword a = 0; a < s.n_elem; ++a) {
      for (arma::uword b = 0; b < s.n_elem; ++b) core(a, b) = std::exp(-squared(s(a), s(b)) / 2);
      for (arma::uword j = 0; j < 40; ++j) rest(a, j) = std::exp(-squared(s(a), j) / 2);
    }
    Dense weights = inverted(core) * rest;
    for (arma::uword a = 0; a < s.n_elem; ++a) {
      for (arma::uword j = 0; j < 40; ++j) {
        weights(a, j) *= std::exp((squares[j] - squares[s(a)]) / 2);
      }
    }
    const Dense a = scaled_exponentials(q, rows_of(centred, s)) * weights, av = a * problem.V();
    try {
      const arma::mat output = wildcat(problem, 20, Key(1)).output;
      double gap = 0;
      for (arma::uword i = 0; i < 40; ++i) {
        long double sum = 0;
        for (arma::uword j = 0; j < 40; ++j) sum += a(i, j);
        for (arma::uword c = 0; c < 2; ++c) {
          raise(gap, std::fabs(av(i, c) / sum - output(i, c)) / std::max(1.0, std::fabs(output(i, c))));
        }
      }
      (gap <= 0.05 ? right : wrong) += 1;
    } catch (const std::runtime_error& broken) {
      CHECK(contains(broken.what(), "rounding may decide"));
      ++refused;
    }
  }
  CHECK(refused >= 2);
  CHECK(wrong <= 2);
  CHECK(right >= 120);
}

TEST_CASE_TEMPLATE("wildcat: a query of norm 1e4 is no reason to refuse the others", T, float, double) {
  const Problem<T> ordinary = random_problem<T>(60, 8, 3, 3, Key(test_seed()).child("long query"));
  arma::Mat<T> q = ordinary.Q();
  q.row(3) *= T(1e4) / arma::norm(q.row(3));
  const Problem<T> problem(q, ordinary.K(), ordinary.V());
  CHECK(method_on(problem, "wildcat", {{"pivots", "gaussian"}}).approximate(20, Key(2)).output.is_finite());
  // Its temperature leaves no key anything of the others: a softmax over the pivots.
  const Approximation<T> approximation = wildcat(problem, 20, Key(2));
  const arma::Mat<T> b = approximation.scores->dense();
  CHECK(distance(approximation.output, arma::Mat<T>(b * problem.V())) <= 1e4 * unit<T>());
  arma::uvec pivots = arma::find(arma::max(arma::abs(b), 0) > T(1e-12));
  CHECK(pivots.n_elem == 20);
  const Dense expected = scores_of(q, arma::Mat<T>(problem.K().rows(pivots)), Target::softmax);
  CHECK(distance(arma::Mat<T>(b.cols(pivots)), expected) <= 1e5 * entry_error(problem));
}

TEST_CASE_TEMPLATE("wildcat: short keys have their turn beside long ones, whose kernel is that of e^100 more", T, float,
                   double) {
  // A fixed draw: of others rounding may decide a row in float, about one in twenty, and they are refused.
  const Problem<T> problem = random_problem<T>(40, 6, 2, 2, Key(1).child("spread"));
  arma::Mat<T> k = problem.K();
  k.row(7) *= T(12);
  const Problem<T> spread(problem.Q(), k, problem.V());
  for (const char* pivots : {"exponential", "gaussian"}) {
    const Approximation<T> approximation = method_on(spread, "wildcat", {{"pivots", pivots}}).approximate(20, Key(3));
    CHECK(approximation.diagnostics.rank == 20);
    CHECK(approximation.output.is_finite());
  }
}

TEST_CASE_TEMPLATE("wildcat: tokens whose norms nearly vanish attend to all keys alike", T, float, double) {
  const arma::uword n = 30;
  const Problem<T> ordinary = random_problem<T>(n, 4, 3, 1, Key(test_seed()).child("short tokens"));
  const arma::Mat<T> mean = arma::repmat(arma::mean(ordinary.V(), 0), n, 1);
  // Squares of norms, and products of these, go below the smallest number of the precision.
  const int last = std::is_same_v<T, float> ? -45 : -323, first = std::is_same_v<T, float> ? -18 : -150;
  for (int exponent = first; exponent >= last; exponent -= exponent > first - 15 ? 1 : 7) {
    const T norm = static_cast<T>(std::pow(10.0L, exponent));
    const Problem<T> problem(norm * ordinary.Q(), norm * ordinary.K(), ordinary.V());
    for (const char* pivots : {"exponential", "gaussian"}) {
      for (const arma::uword d : {1U, 8U}) {
        // Scores are below 1e-30, so all weights are equal: two means of n values, and weights that are exponentials of
        // logarithms up to log(29) < 4.
        CHECK(distance(method_on(problem, "wildcat", {{"pivots", pivots}}).approximate(d, Key(1)).output, mean) <=
              (2 * double(n) + 20) * unit<T>() * double(arma::abs(ordinary.V()).max()));
      }
    }
  }
}

TEST_CASE_TEMPLATE("wildcat: large norms are safe or a runtime_error; d = 0 and d > n_k are refused", T, float,
                   double) {
  const Problem<T> far = random_problem<T>(30, 4, 2, 100, Key(test_seed()).child("far"));
  for (const arma::uword d : {1U, 4U, 29U}) {
    try {
      const arma::Mat<T> output = wildcat(far, d, Key(2)).output;
      CHECK(output.is_finite());
    } catch (const std::runtime_error& broken) {
      CHECK(contains(broken.what(), "denominators are zero"));
    }
  }
  const Problem<T> moved(far.Q(), far.K() / T(100) + T(1000), far.V());
  CHECK(wildcat(moved, 4, Key(2)).output.is_finite());
  const Problem<T> problem = random_problem<T>(5, 2, 2, 1, Key(1));
  CHECK(refusal([&] { wildcat(problem, 6, Key(1)); }) == "wildcat: 1 <= d <= n_k, got d = 6, n_k = 5");
  CHECK(contains(refusal([&] { wildcat(problem, 0, Key(1)); }), "got d = 0"));
  CHECK(contains(refusal([&] {
                   wildcat(problem, 2, Key(1), {WildcatOptions::Pivots::gaussian, -1});
                 }),
                 "temperature >= 0 and finite"));
}

TEST_CASE_TEMPLATE("wildcat: a temperature at which exponents overflow is refused with the longest key", T, float,
                   double) {
  // Keys +-3: the mean is 0, and exponents are 9 / temperature^2.
  const arma::Col<T> k = {T(3), T(-3), T(3), T(1), T(-1), T(-3)};
  const Problem<T> problem(random_matrix<T>(6, 1, Key(1)), k, random_matrix<T>(6, 2, Key(2)));
  const std::string least = std::is_same_v<T, float> ? "1e-18" : "1e-152",
                    less = std::is_same_v<T, float> ? "2e-19" : "1e-154";
  for (const char* pivots : {"exponential", "gaussian"}) {
    const auto with_temperature = [&](const std::string& tau) {
      return method_on(problem, "wildcat", {{"pivots", pivots}, {"temperature", tau}}).approximate(2, Key(1));
    };
    CHECK(with_temperature(least).output.is_finite());
    CHECK(refusal([&] { with_temperature(less); }) ==
          "wildcat: exponents |k|^2 / (temperature^2 sqrt(p)) below infinity, got temperature = " + less +
              ", largest |k - mean| = 3");
    CHECK(refusal([&] { with_temperature("1e-300"); }) ==
          "wildcat: 1 / (temperature^2 sqrt(p)) below infinity, got temperature = 1e-300, p = 1");
  }
}
