#include <croquis/attention/exact.hpp>
#include <croquis/attention/wildcat.hpp>
#include <croquis/sampling/rp_cholesky.hpp>

#include "support/approximations.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;
using Pivots = WildcatOptions::Pivots;

namespace {

// The w with w e^w = x >= 0, by bisection.
long double lambert(long double x) {
  long double low = 0, high = std::max(1.0L, std::log1p(x));
  for (int i = 0; i < 200; ++i) {
    const long double middle = (low + high) / 2;
    (middle * std::exp(middle) < x ? low : high) = middle;
  }
  return low;
}

// tau^2 of Eq. 4 as it stands there.
long double squared_temperature(long double query, long double key, long double n, long double p) {
  const long double b = std::log(n) * std::sqrt(p) / (query * key) + 2,
                    rho = std::sqrt(1 + std::exp(lambert(2 / std::exp(2.0L)) + 2));
  return key / query * b / (2 * lambert(b / (2 * rho)));
}

Dense about_mean(const Dense& k) {
  Dense centred = k;
  for (arma::uword c = 0; c < k.cols; ++c) {
    long double mean = 0;
    for (arma::uword j = 0; j < k.rows; ++j) mean += k(j, c) / static_cast<long double>(k.rows);
    for (arma::uword j = 0; j < k.rows; ++j) centred(j, c) -= mean;
  }
  return centred;
}

// exp(factor x_i.y_j / sqrt(p)), for moderate norms.
Dense scaled_exponentials(const Dense& x, const Dense& y, long double factor = 1) {
  Dense a = logits_of(x, y);
  for (long double& e : a.entries) e = std::exp(factor * e);
  return a;
}

// The method by its definition: the kernel h of the keys and its inverse, no Gaussian kernel and no scaling in sight.
struct WildcatReference {
  Dense a;                            // A~ of the centred keys
  Dense scores;                       // B~
  std::vector<long double> residual;  // of h
  long double squared_tau = 0;
  double error = 0;  // of an entry of B~

  WildcatReference(const Problem<double>& problem, arma::uword d, const Key& draw_key, const WildcatOptions& options) {
    const Dense q = problem.Q(), k = about_mean(problem.K());
    const arma::uword n = k.rows;
    squared_tau = options.temperature > 0
                      ? static_cast<long double>(options.temperature) * options.temperature
                      : squared_temperature(largest_row(q), largest_row(k), static_cast<long double>(n),
                                            static_cast<long double>(k.cols));
    const Dense h = scaled_exponentials(k, k, 1 / squared_tau);
    Dense pivoted = h;
    for (arma::uword i = 0; i < n && options.pivots == Pivots::gaussian; ++i) {
      for (arma::uword j = 0; j < n; ++j) pivoted(i, j) /= std::sqrt(h(i, i) * h(j, j));
    }
    // The pivots do not depend on the scale of the matrix, but its numbers have to be moderate.
    pivoted = 1 / largest_entry_of(pivoted) * pivoted;
    const arma::uvec s = rp_cholesky(stored_kernel_matrix(in_double(pivoted)), d, draw_key.child("pivots")).pivots;
    const Dense chosen = rows_of(k, s), h_s = rows_of(h, s),
                weights = inverted(scaled_exponentials(chosen, chosen, 1 / squared_tau)) * h_s;
    a = scaled_exponentials(q, chosen) * weights;
    const Dense nystrom = transposed(h_s) * weights;
    for (arma::uword j = 0; j < n; ++j) residual.push_back(h(j, j) - nystrom(j, j));
    scores = a;
    long double smallest = std::numeric_limits<long double>::infinity(), squares = 0, top = 0;
    for (arma::uword j = 0; j < n; ++j) top = std::max(top, h(j, j));
    for (arma::uword j = 0; j < n; ++j) squares += h(j, j) / top;
    long double half = 0;
    for (arma::uword i = 0; i < q.rows; ++i) {
      long double sum = 0, norm = 0;
      for (arma::uword j = 0; j < n; ++j) sum += a(i, j);
      for (arma::uword j = 0; j < n; ++j) scores(i, j) /= sum;
      for (arma::uword c = 0; c < q.cols; ++c) norm += q(i, c) * q(i, c);
      norm *= squared_tau / std::sqrt(static_cast<long double>(q.cols));
      half = std::max(half, norm / 2);
      smallest = std::min(smallest, std::abs(sum) / std::sqrt(std::exp(norm) * top));
    }
    half = std::max(half, std::log(top) / 2);
    // As for skyformer-softmax: a~_ij is exp of the two half squares of the points tau q and k / tau times an entry of
    // the Nystrom approximation of their Gaussian kernel, which is computed to nystrom_error.
    const auto p = static_cast<double>(k.cols), landmarks = static_cast<double>(s.n_elem), count = double(n + q.rows);
    Dense unit_core = scaled_exponentials(chosen, chosen, 1 / squared_tau);
    for (arma::uword i = 0; i < s.n_elem; ++i) {
      for (arma::uword j = 0; j < s.n_elem; ++j) unit_core(i, j) /= std::sqrt(h(s(i), s(i)) * h(s(j), s(j)));
    }
    const double e =
        nystrom_error<double>(gaussian_error<double>(p, std::sqrt(2 * double(half))), landmarks * std::sqrt(count),
                              count, arma::eig_sym(in_double(unit_core)).min(), landmarks);
    const double growth = largest_row_sum(scores);
    error = 2 * (1 + growth) * e * static_cast<double>(std::sqrt(squares) / smallest) +
            4 * growth * ((p + 4) * double(half) + static_cast<double>(n) + 8) * unit<double>();
  }
};

// Which key a coreset of one key holds: its row of weights is h(k_s, k_l) / h(k_s, k_s), one at l = s.
arma::uword only_key(const Approximation<double>& approximation, const Dense& h) {
  const arma::mat b = approximation.scores->dense();
  for (arma::uword s = 0; s < b.n_cols; ++s) {
    double gap = 0;
    for (arma::uword l = 0; l < b.n_cols; ++l) {
      gap = std::max(gap, std::fabs(b(0, l) / b(0, s) - static_cast<double>(h(s, l) / h(s, s))));
    }
    if (gap < 1e-9) return s;
  }
  return b.n_cols;
}

}  // namespace

TEST_CASE("wildcat: Nystrom weights of the exponential kernel of the centred keys, in every entry") {
  for (const TokenAlignment shape : {TokenAlignment{14, 14}, {3, 15}, {15, 6}}) {
    const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 8, 3, 1.5, Key(3));
    for (const WildcatOptions& options :
         {WildcatOptions{}, WildcatOptions{Pivots::gaussian}, WildcatOptions{Pivots::exponential, 1.3}}) {
      for (const arma::uword d : {1U, 3U, 5U}) {
        const Approximation<double> approximation = wildcat(problem, d, Key(9), options);
        const WildcatReference reference(problem, d, Key(9), options);
        CAPTURE(d);
        CHECK(reference.error < 1e-5);  // the bound says something: entries are about 1 / n
        CHECK(distance(approximation.scores->dense(), reference.scores) <= reference.error);
        CHECK(interface_gap(approximation, problem) <= reference.error);
        CHECK(distance(approximation.output, reference.scores * problem.V()) <=
              static_cast<double>(shape.n_k) * reference.error *
                  std::max(1.0, static_cast<double>(largest_entry_of(problem.V()))));
        // The denominators are the row sums of A~, of the keys that are not centred.
        const Dense q = problem.Q(), k = problem.K(), centred = about_mean(k);
        for (arma::uword i = 0; i < shape.n_q; ++i) {
          long double sum = 0, shift = 0;
          for (arma::uword j = 0; j < shape.n_k; ++j) sum += reference.a(i, j);
          for (arma::uword c = 0; c < q.cols; ++c) shift += q(i, c) * (k(0, c) - centred(0, c));
          const long double found = approximation.denominators->values(i) *
                                    std::exp(static_cast<long double>(approximation.denominators->log_scale(i)));
          CHECK(std::fabs(static_cast<double>(found / (sum * std::exp(shift / std::sqrt(8.0L))) - 1)) <=
                reference.error * static_cast<double>(shape.n_k));
        }
      }
    }
  }
}

TEST_CASE("wildcat: an entry of A~ is off by at most exp(tau^2 |q|^2 / 2 sqrt(p)) times the root of the residual") {
  const Problem<double> problem = random_problem<double>(20, 6, 2, 3, Key(test_seed()).child("bound"));
  const Dense q = problem.Q(), exact = scaled_exponentials(q, about_mean(problem.K()));
  for (const arma::uword d : {2U, 6U, 12U}) {
    const WildcatReference reference(problem, d, Key(4), {});
    double tightest = 0;
    for (arma::uword i = 0; i < 20; ++i) {
      long double square = 0;
      for (arma::uword c = 0; c < 6; ++c) square += q(i, c) * q(i, c);
      for (arma::uword j = 0; j < 20; ++j) {
        const long double bound = std::exp(reference.squared_tau * square / (2 * std::sqrt(6.0L))) *
                                  std::sqrt(std::max(0.0L, reference.residual[j]));
        const long double gap = std::fabs(exact(i, j) - reference.a(i, j));
        CHECK(gap <= bound + 1e-12L * (1 + exact(i, j)));
        if (reference.residual[j] > 1e-9L) tightest = std::max(tightest, static_cast<double>(gap / bound));
      }
    }
    CHECK(tightest > 0.01);
  }
}

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
          gap =
              std::max(gap, std::fabs(double(av(i, c) / sum) - output(i, c)) / std::max(1.0, std::fabs(output(i, c))));
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

TEST_CASE_TEMPLATE("wildcat: rows sum to one, and adding a vector to all keys changes nothing", T, float, double) {
  const Problem<T> problem = random_problem<T>(50, 6, 3, 3, Key(test_seed()).child("sums"));
  const Approximation<T> approximation = wildcat(problem, 12, Key(1));
  CHECK(row_sum_gap(approximation) <= 1e3 * 50 * unit<T>());
  // A power of two and few digits, so that the centred keys are the same up to rounding.
  const Problem<double> plain = random_problem<double>(50, 6, 3, 3, Key(test_seed()).child("sums"));
  arma::mat k = plain.K();
  k.each_row() += arma::rowvec{1, -2, 0.5, 4, 0, 1};
  const Problem<double> shifted(plain.Q(), k, plain.V());
  CHECK(distance(wildcat(shifted, 12, Key(1)).output, wildcat(plain, 12, Key(1)).output) <= 1e-8);
}

TEST_CASE("wildcat: the temperature of Eq. 4, and its limits") {
  for (const double query : {1e-3, 0.7, 12.0, 1e6}) {
    for (const double key : {1e-3, 2.0, 300.0}) {
      for (const double n : {2.0, 1000.0, 1e6}) {
        const long double tau = std::sqrt(squared_temperature(query, key, n, 9));
        CHECK(wildcat_scale(query, key, n, 9) == doctest::Approx(double(1 / (tau * std::sqrt(3.0L)))).epsilon(1e-10));
      }
    }
  }
  CHECK(wildcat_scale(0, 3, 100, 9) == 0);  // tau is infinite: one key is like another
  CHECK(std::isfinite(wildcat_scale(3, 0, 100, 9)));
  // Zero queries attend to all keys alike: the mean of the values, from any key.
  const Problem<double> problem = random_problem<double>(9, 4, 2, 3, Key(1));
  const Problem<double> zero(arma::mat(9, 4, arma::fill::zeros), problem.K(), problem.V());
  CHECK(distance(wildcat(zero, 2, Key(1)).output, arma::repmat(arma::mean(problem.V(), 0), 9, 1)) <= 1e-13);
}

TEST_CASE("wildcat: the first key is drawn by the diagonal of h, or of the Gaussian kernel, uniformly") {
  const arma::uword n = 4;
  const std::uint64_t draws = 3000;
  const Problem<double> problem = random_problem<double>(n, 3, 2, 1.5, Key(11));
  const Dense h = scaled_exponentials(about_mean(problem.K()), about_mean(problem.K()), 1 / (0.9L * 0.9L));
  long double trace = 0;
  for (arma::uword s = 0; s < n; ++s) trace += h(s, s);
  // Hoeffding: a share is off by more than t with probability 2 exp(-2 N t^2), 1e-9 over the shares of both kinds.
  const double t = std::sqrt(std::log(2 * 2 * double(n) / 1e-9) / (2 * double(draws)));
  double spread = 0;
  for (arma::uword s = 0; s < n; ++s) spread = std::max(spread, std::fabs(double(h(s, s) / trace) - 1 / double(n)));
  CHECK(spread > 2 * t);  // the two kinds are told apart
  for (const Pivots pivots : {Pivots::exponential, Pivots::gaussian}) {
    arma::vec counts(n, arma::fill::zeros);
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const arma::uword s =
          only_key(wildcat(problem, 1, Key(test_seed()).child("first").child(draw), {pivots, 0.9}), h);
      REQUIRE(s < n);
      counts(s) += 1 / double(draws);
    }
    for (arma::uword s = 0; s < n; ++s) {
      const double expected = pivots == Pivots::gaussian ? 1 / double(n) : double(h(s, s) / trace);
      CHECK(std::fabs(counts(s) - expected) <= t);
    }
  }
}

TEST_CASE("wildcat: a key that is there five times is drawn five times as often") {
  const std::uint64_t draws = 3000;
  const arma::uword n = 8;
  arma::mat k = random_matrix(n, 3, Key(12));
  for (arma::uword j = 4; j < n; ++j) k.row(j) = k.row(1);
  const Problem<double> problem(random_matrix(n, 3, Key(13)), k, random_matrix(n, 2, Key(14)));
  const Dense centred = about_mean(k), h = scaled_exponentials(centred, centred, 1 / (0.9L * 0.9L));
  double share = 0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const Key draw_key = Key(test_seed()).child("often").child(draw);
    const arma::uword s = only_key(wildcat(problem, 1, draw_key, {Pivots::gaussian, 0.9}), h);
    REQUIRE(s < n);
    share += double(s == 1) / double(draws);
  }
  // Hoeffding, as above; once, it would be drawn with a probability of a quarter.
  CHECK(std::fabs(share - 5.0 / 8) <= std::sqrt(std::log(2 / 1e-9) / (2 * double(draws))));
}

TEST_CASE_TEMPLATE("wildcat: short keys have their turn beside long ones, whose kernel is that of e^100 more", T, float,
                   double) {
  const Problem<T> problem = random_problem<T>(40, 6, 2, 2, Key(test_seed()).child("spread"));
  arma::Mat<T> k = problem.K();
  k.row(7) *= T(12);
  const Problem<T> spread(problem.Q(), k, problem.V());
  for (const char* pivots : {"exponential", "gaussian"}) {
    const Approximation<T> approximation = method_on(spread, "wildcat", {{"pivots", pivots}}).approximate(20, Key(3));
    CHECK(approximation.diagnostics.rank == 20);
    CHECK(approximation.output.is_finite());
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
  CHECK(contains(refusal([&] { wildcat(problem, 2, Key(1), {Pivots::gaussian, -1}); }), "temperature >= 0"));
}
