// Wildcat against its definition, and what it draws.
#include <croquis/attention/wildcat.hpp>
#include <croquis/sampling/rp_cholesky.hpp>

#include "attention/wildcat_parts.hpp"
#include "support/approximations.hpp"

using namespace croquis;
using Pivots = WildcatOptions::Pivots;

namespace {

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
      raise(gap, std::fabs(b(0, l) / b(0, s) - h(s, l) / h(s, s)));
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
  // Where |q| |k| is positive, and log(n) over it overflows or nearly does.
  for (const int exponent : {-300, -305, -307, -308, -310, -320, -323}) {
    for (const double query : {1e-165, 1e-150, 1.0, 1e140}) {
      const double key = std::pow(10.0L, exponent) / query;
      if (key == 0) continue;
      for (const double n : {2.0, 1e6}) {
        const double scale = wildcat_scale(query, key, n, 9);
        CHECK(std::isfinite(scale));
        if (exponent > -307) {
          const long double tau = std::sqrt(squared_temperature(query, key, n, 9));
          CHECK(scale / double(1 / (tau * std::sqrt(3.0L))) == doctest::Approx(1).epsilon(1e-10));
        }
      }
    }
  }
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
