#include <croquis/attention/exact.hpp>
#include <croquis/attention/kdeformer.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/random/indices.hpp>

#include <limits>

#include "support/approximations.hpp"
#include "support/thread_count.hpp"
#include "support/weighted_draws.hpp"

using namespace croquis;
using Probabilities = KdeformerOptions::Probabilities;

namespace {

KdeformerOptions with_probabilities(Probabilities probabilities) {
  return {probabilities, BucketOrder::gray, 5};
}

double spectral(const arma::mat& a) {
  return arma::norm(a, 2);
}

// p_l, straight from their definitions.
std::vector<double> probabilities_of(const arma::mat& v, const Dense& b, Probabilities kind) {
  const arma::uword n = v.n_rows;
  std::vector<double> p(n);
  const arma::mat with_ones = arma::join_rows(v, arma::mat(n, 1, arma::fill::ones)), scores = in_double(b);
  double total = 0;
  for (arma::uword j = 0; j < n; ++j) {
    const double norm = arma::norm(v.row(j));
    if (kind == Probabilities::values) p[j] = norm / spectral(v) + 1 / double(n);
    if (kind == Probabilities::code) {
      p[j] = arma::norm(with_ones.row(j)) / spectral(with_ones.t() * with_ones) + 1 / double(n);
    }
    if (kind == Probabilities::exact) {
      p[j] = std::pow(arma::norm(scores.col(j)), 2) + std::pow(spectral(scores) / spectral(v) * norm, 2);
    }
    total += p[j];
  }
  for (double& x : p) x /= total;
  return p;
}

Dense exponentials(const Problem<double>& problem) {
  Dense a = logits_of(problem.Q(), problem.K());
  for (long double& e : a.entries) e = std::exp(e);
  return a;
}

// The estimate of A, term by term.
Dense estimate(const Problem<double>& problem, arma::uword d, const KdeformerOptions& options, const Key& draw_key) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k(), b = (d + 1) / 2, m = d - b;
  const Dense a = exponentials(problem);
  const std::vector<double> p = probabilities_of(problem.V(), a, options.probabilities);
  arma::mat directions(problem.p(), options.directions);
  fill_normal(draw_key.child("directions"), 0, directions.n_elem, directions.memptr());
  const auto queries = angular_order(problem.Q(), directions, options.order),
             keys = angular_order(problem.K(), directions, options.order);
  std::vector<arma::uword> block(n_k);
  for (arma::uword rank = 0; rank < n_k; ++rank) block[keys[rank]] = rank / b;
  Dense found(n_q, n_k);
  for (arma::uword rank = 0; rank < n_q; ++rank) {
    const arma::uword i = queries[rank], own = rank * n_k / n_q / b;
    for (arma::uword j = 0; j < n_k; ++j) found(i, j) = block[j] == own ? a(i, j) : 0;
    if (m == 0) continue;
    for (const arma::uword j : sample_weighted(arma::vec(p), m, draw_key.child("keys"))) {
      if (block[j] != own) found(i, j) += a(i, j) / (static_cast<double>(m) * p[j]);
    }
  }
  return found;
}

// entry_error() of a problem that may be rectangular.
double softmax_entry_error(const Problem<double>& problem) {
  return softmax_error<double>(double(problem.n_k()), double(problem.p()), largest_logit(problem));
}

}  // namespace

TEST_CASE("kdeformer: every entry is that of the block and of the keys sampled by their values") {
  const Key draw_key = Key(test_seed()).child("entries");
  for (const TokenAlignment shape : {TokenAlignment{33, 33}, {7, 40}, {40, 9}}) {
    const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 6, 3, 3, draw_key);
    for (const KdeformerOptions& options : {KdeformerOptions{}, KdeformerOptions::code()}) {
      for (const arma::uword d : {1U, 4U, 7U}) {
        CAPTURE(d);
        const Approximation<double> approximation = kdeformer(problem, d, draw_key.child(d), options);
        Dense expected = estimate(problem, d, options, draw_key.child(d));
        for (arma::uword i = 0; i < expected.rows; ++i) {
          long double sum = 0;
          for (arma::uword j = 0; j < expected.cols; ++j) sum += expected(i, j);
          for (arma::uword j = 0; j < expected.cols; ++j) expected(i, j) /= sum;
        }
        // Weights from norms, of about n u.
        const double entry = 4 * softmax_entry_error(problem) + 1e3 * 40 * unit<double>();
        CHECK(distance(approximation.scores->dense(), expected) <= entry);
        CHECK(distance(approximation.output, expected * problem.V()) <=
              40 * entry * static_cast<double>(largest_entry_of(problem.V())));
        CHECK(interface_gap(approximation, problem) <= 4 * 40 * unit<double>());
        CHECK(row_sum_gap(approximation) <= 2 * 40 * unit<double>());
      }
    }
  }
}

TEST_CASE("kdeformer: the oracle's entries are times_j b_ij / (d p_j)") {
  int skipped = 0;
  for (std::uint64_t t = 0; t < 6; ++t) {
    const Key draw_key = Key(test_seed()).child("oracle").child(t);
    for (const TokenAlignment shape : {TokenAlignment{20, 20}, {6, 25}}) {
      const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 6, 3, 3, draw_key);
      const Dense b = scores_of(problem.Q(), problem.K(), Target::softmax);
      const std::vector<double> p = probabilities_of(problem.V(), b, Probabilities::exact);
      // ||B|| comes from an iteration with a tolerance of 1e-6, of which p has the square; the rest is rounding.
      const WeightedDraws keys = weighted_draws({p.begin(), p.end()}, 7, draw_key.child("keys"), 3e-6);
      if (!keys.clear) {
        ++skipped;
        continue;
      }
      const Approximation<double> approximation =
          kdeformer(problem, 7, draw_key, with_probabilities(Probabilities::exact));
      Dense expected(b.rows, b.cols);
      for (const arma::uword j : keys.indices) {
        for (arma::uword i = 0; i < b.rows; ++i) expected(i, j) += b(i, j) / (7 * p[j]);
      }
      CHECK(distance(approximation.scores->dense(), expected) <=
            1e-5 * static_cast<double>(largest_entry_of(expected)));
    }
  }
  // Seven draws are not clear with probability 7 x 2 x 4 x 3e-6 sum F (1 - F), where the sum is about 25 / 6: 7e-4.
  // More than six of the twelve cases are left out if one is for more than three t, with C(6, 4) (1.4e-3)^4 < 1e-10.
  CHECK(skipped <= 6);
}

TEST_CASE("kdeformer: the oracle's flops count every pass over the scores") {
  // A pass makes n_q n_k scores, of 2 p + 1 flops each; a product with a vector takes 2 more an entry. Two passes for
  // column norms and row sums, and two for every step of the iteration for the norm, which is at least two steps here.
  const Problem<double> problem = random_rectangle<double>(40, 25, 6, 3, 3, Key(4));
  const NormEstimate norm = spectral_norm(exact_scores(problem, Target::softmax), Key(0).child("kdeformer"));
  CHECK(norm.steps >= 2);
  const double pairs = 40 * 25, score = 2 * 6 + 1;
  const double sampled = 40 * 9 * (2 * (6 + 3) + 1);
  const double of_values = 25 * 3 * 3 + 36;  // V^T V and its eigenvalues
  CHECK(method_on(problem, "kdeformer", {{"probabilities", "exact"}}).flops(9) ==
        sampled + pairs * (2 * score + 2 * norm.steps * (score + 2)) + of_values);
  const Problem<double> none(problem.Q(), problem.K(), arma::mat(25, 3, arma::fill::zeros));
  CHECK(method_on(none, "kdeformer", {{"probabilities", "exact"}}).flops(9) == sampled + pairs * score);
}

TEST_CASE("kdeformer: row sums and the sums of the output are unbiased; uniform weights for drawn keys are not") {
  const ThreadCount one(1);  // many small problems
  constexpr arma::uword n = 8;
  constexpr std::uint64_t draws = 12000;
  arma::mat q = 0.3 * random_matrix(n, 3, Key(6)), k = 0.3 * random_matrix(n, 3, Key(7)), v(n, 2, arma::fill::ones);
  v.row(2) *= 6;  // probabilities that differ
  const Problem<double> problem(q, k, v);
  const Dense a = exponentials(problem), exact = a * problem.V(), b = scores_of(q, k, Target::softmax);
  for (const Probabilities kind : {Probabilities::values, Probabilities::code, Probabilities::exact}) {
    const bool oracle = kind == Probabilities::exact;
    const arma::uword d = 4, terms = oracle ? 4 : 2;
    const std::vector<double> p = probabilities_of(v, b, kind);
    arma::vec sums(n, arma::fill::zeros);
    arma::mat outputs(n, 2, arma::fill::zeros);
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const auto approximation =
          kdeformer(problem, d, Key(test_seed()).child("unbiased").child(draw), with_probabilities(kind));
      arma::vec found(n, arma::fill::ones);
      if (!oracle) found = approximation.denominators->values % arma::exp(approximation.denominators->log_scale);
      sums += found / double(draws);
      outputs += arma::diagmat(found) * approximation.output / double(draws);
    }
    // Means of independent terms in [0, range], given the hash; Hoeffding with 1e-9 over all entries and kinds.
    double range = 0, of_sums = 0;
    for (arma::uword i = 0; i < n; ++i) {
      for (arma::uword j = 0; j < n; ++j) {
        const double entry = static_cast<double>(oracle ? b(i, j) : a(i, j)) / p[j];
        range = std::max(range, entry * v(j, 0));
        of_sums = std::max(of_sums, entry);
      }
    }
    const double factor = std::sqrt(std::log(2 * 3 * 3 * double(n) / 1e-9) / (2 * double(terms) * double(draws)));
    const Dense expected = oracle ? b * problem.V() : exact;
    CHECK(distance(outputs, expected) <= range * factor);
    CHECK(range * factor < 0.1 * static_cast<double>(largest_entry_of(expected)));
    // With n / m for 1 / (m p_l), key 2 would count by the factor n p_2, which is far from 1.
    CHECK(double(n) * p[2] > 1.4);
    for (arma::uword i = 0; i < n && !oracle; ++i) {
      double sum = 0;
      for (arma::uword j = 0; j < n; ++j) sum += static_cast<double>(a(i, j));
      CHECK(std::fabs(sums(i) - sum) <= of_sums * factor);
    }
  }
}

TEST_CASE_TEMPLATE("kdeformer: exact for d = n, invariant to the scale of V but for the code's probabilities", T, float,
                   double) {
  const Problem<T> problem = random_problem<T>(40, 4, 3, 3, Key(test_seed()).child("scale"));
  const Problem<T> scaled(problem.Q(), problem.K(), T(1024) * problem.V());
  check_scores(kdeformer(problem, 40, Key(1)), problem, scores_of(problem.Q(), problem.K(), Target::softmax),
               entry_error(problem));
  CHECK(identical(arma::Mat<T>(T(1024) * kdeformer(problem, 16, Key(1)).output), kdeformer(scaled, 16, Key(1)).output));
  // Also where the norm of B over that of V overflows: whole numbers of subnormal units have all of their digits.
  arma::Mat<T> whole = arma::round(T(100) * problem.V());
  whole.col(0).fill(T(64));  // some column of equal values, and the others of any length
  const T tiny = 1024 * std::numeric_limits<T>::denorm_min();
  const auto output = [&](const arma::Mat<T>& values) {
    const Problem<T> with(problem.Q(), problem.K(), values);
    return kdeformer(with, 16, Key(1), with_probabilities(Probabilities::exact)).output;
  };
  // Each of 16 terms is off by half a unit, 1/2048: 120 outputs by .09 together.
  CHECK(distance(output(whole), arma::Mat<T>(output(tiny * whole) / tiny)) <= 0.2);
  const KdeformerOptions code = KdeformerOptions::code();
  CHECK(distance(T(1024) * kdeformer(problem, 16, Key(1), code).output, kdeformer(scaled, 16, Key(1), code).output) >
        0.01);
}

TEST_CASE_TEMPLATE("kdeformer: V = 0 gives 0, padding is no key, large norms are safe, too few keys are refused", T,
                   float, double) {
  for (const Probabilities kind : {Probabilities::values, Probabilities::code, Probabilities::exact}) {
    const KdeformerOptions options = with_probabilities(kind);
    check_edges<T>("kdeformer",
                   [&](const Problem<T>& p, arma::uword d, const Key& key) { return kdeformer(p, d, key, options); });
  }
}
