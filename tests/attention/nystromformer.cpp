#include <doctest/doctest.h>
#include <croquis/attention/nystromformer.hpp>

#include <cmath>

#include "support/approximations.hpp"
#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

NystromformerOptions with_pinv() {
  NystromformerOptions options;
  options.inverse = NystromformerOptions::Inverse::pinv;
  return options;
}

// Tokens in `groups` of neighbours, queries near keys: B is far from uniform and the cores are well conditioned, which
// is where the products can be compared to many digits.
template <typename T>
Problem<T> peaked_problem(arma::uword n, arma::uword groups, const Key& draw_key) {
  const arma::Mat<T> centre = T(1.5) * random_matrix<T>(groups, 8, draw_key.child("centre"));
  arma::Mat<T> k = T(0.2) * random_matrix<T>(n, 8, draw_key.child("key"));
  for (arma::uword i = 0; i < n; ++i) k.row(i) += centre.row(i * groups / n);
  return {k + T(0.2) * random_matrix<T>(n, 8, draw_key.child("query")), k,
          random_matrix<T>(n, 3, draw_key.child("value"))};
}

// Means of the tokens of each segment, by the segment a token is in.
Dense means_of(const Dense& x, arma::uword d) {
  Dense means(d, x.cols);
  std::vector<long double> sizes(d);
  const arma::uword longer = x.rows % d, length = x.rows / d;
  for (arma::uword i = 0; i < x.rows; ++i) {
    const arma::uword in_longer = longer * (length + 1);
    const arma::uword s = i < in_longer ? i / (length + 1) : longer + (i - in_longer) / length;
    for (arma::uword c = 0; c < x.cols; ++c) means(s, c) += x(i, c);
    ++sizes[s];
  }
  for (arma::uword s = 0; s < d; ++s) {
    for (arma::uword c = 0; c < x.cols; ++c) means(s, c) /= sizes[s];
  }
  return means;
}

// F, core and G for landmark rows of Q and K.
struct Parts {
  Dense f, core, g;
  Parts(const Dense& q, const Dense& k, const Dense& q_d, const Dense& k_d)
      : f(softmax_of(logits_of(q, k_d))), core(softmax_of(logits_of(q_d, k_d))), g(softmax_of(logits_of(q_d, k))) {}
};

double spectral(const Dense& a) {
  return arma::norm(in_double(a), 2);
}

// Error of an entry of F Z G. F, core and G have entries off by e relatively and rows that sum to 1: rows of F have
// length at most 1, the core at most sqrt(d), columns of G at most sqrt(d). Z moves by ||Z||^2 e ||core||, and by its
// own rounding: 20 d u ||Z||^2 ||core|| for the exact inverse, 40 d u ||Z|| a step of the iteration, which later steps
// keep in proportion. F and G move the product by e each, and it rounds by (n + 2 d) u.
template <typename T>
double product_error(const Problem<T>& problem, const Dense& z, int steps) {
  const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p()),
             d = static_cast<double>(z.rows);
  const double e = softmax_error<T>(n, p, largest_logit(problem)) + n * unit<T>();  // the segment means round too
  const double s = spectral(z);
  const double own = (steps > 0 ? 40 * steps * s : 20 * s * s * std::sqrt(d)) * d * unit<T>();
  return std::sqrt(d) * (s * s * e * std::sqrt(d) + own + s * (2 * e + (n + 2 * d) * unit<T>()));
}

// As many steps of Z <- Z (I + E + E^2 + E^3 / 4), E = I - N Z, from N^T over the product of its norms.
Dense iterated(const Dense& n, int steps) {
  Dense z =
      (1 / (static_cast<long double>(largest_row_sum(n)) * static_cast<long double>(largest_row_sum(transposed(n))))) *
      transposed(n);
  for (int step = 0; step < steps; ++step) {
    const Dense e = identity(n.rows) - n * z;
    z = z * (identity(n.rows) + e + e * e + 0.25L * (e * e * e));
  }
  return z;
}

}  // namespace

TEST_CASE_TEMPLATE("nystromformer: is F Z G V with segment means, six steps and any n", T, float, double) {
  for (const arma::uword n : {16U, 19U, 23U}) {  // 0, 3 and 7 segments are longer
    const Problem<T> problem = peaked_problem<T>(n, 8, Key(9));
    const arma::uword d = 8;
    const Parts parts(problem.Q(), problem.K(), means_of(problem.Q(), d), means_of(problem.K(), d));
    for (const int steps : {0, 1, 6}) {
      NystromformerOptions options;
      options.iterations = steps;
      const Approximation<T> approximation = nystromformer(problem, d, Key(1), options);
      const Dense z = iterated(parts.core, steps);
      const double bound = product_error(problem, z, steps);
      CAPTURE(steps);
      CHECK(bound < 0.2);
      CHECK(distance(approximation.scores->dense(), parts.f * z * parts.g) <= bound);
      CHECK(distance(approximation.output, parts.f * z * parts.g * problem.V()) <=
            bound * static_cast<double>(n) * static_cast<double>(largest_entry_of(problem.V())));
      CHECK(approximation.diagnostics.iterations == steps);
      CHECK(std::abs(approximation.diagnostics.residual -
                     static_cast<double>(frobenius(identity(d) - parts.core * z))) <= bound);
      CHECK(interface_gap(approximation, problem) <= bound);
    }
  }
}

TEST_CASE_TEMPLATE("nystromformer: six steps is the number of the paper and the default", T, float, double) {
  const Problem<T> problem = peaked_problem<T>(20, 7, Key(10));
  NystromformerOptions six;
  six.iterations = 6;
  CHECK(identical(nystromformer(problem, 7, Key(1)).output, nystromformer(problem, 7, Key(1), six).output));
  CHECK(nystromformer(problem, 7, Key(1)).diagnostics.iterations == 6);
}

TEST_CASE_TEMPLATE("nystromformer: with the exact inverse is F core^-1 G V, and its rows sum to 1", T, float, double) {
  const Problem<T> problem = peaked_problem<T>(21, 6, Key(11));
  const arma::uword d = 6;
  const Parts parts(problem.Q(), problem.K(), means_of(problem.Q(), d), means_of(problem.K(), d));
  const Dense z = inverted(parts.core);
  const Approximation<T> approximation = nystromformer(problem, d, Key(1), with_pinv());
  const double bound = product_error(problem, z, 0);
  CHECK(bound < 0.2);
  CHECK(distance(approximation.scores->dense(), parts.f * z * parts.g) <= bound);
  CHECK(approximation.diagnostics.rank.value() == d);
  CHECK(std::isnan(approximation.diagnostics.residual));
  CHECK(interface_gap(approximation, problem) <= bound);
  const arma::Mat<T> ones(21, 1, arma::fill::ones);
  CHECK(distance(approximation.scores->apply(ones), ones) <= 21 * bound);
}

TEST_CASE_TEMPLATE("nystromformer: exact for d = n with the exact inverse", T, float, double) {
  const Problem<T> problem = peaked_problem<T>(12, 12, Key(12));
  const Dense b = softmax_of(logits_of(problem.Q(), problem.K()));
  const Approximation<T> approximation = nystromformer(problem, 12, Key(1), with_pinv());
  const double bound = product_error(problem, inverted(b), 0);
  CHECK(bound < 0.2);
  CHECK(distance(approximation.scores->dense(), b) <= bound);
  CHECK(distance(approximation.output, b * problem.V()) <=
        12 * bound * static_cast<double>(largest_entry_of(problem.V())));
}

TEST_CASE_TEMPLATE("nystromformer: drawn landmarks are rows of Q and of K at the same tokens", T, float, double) {
  const Problem<T> problem = peaked_problem<T>(18, 18, Key(13));
  NystromformerOptions options = with_pinv();
  options.landmarks = LandmarkPolicy::given;
  options.given = {17, 0, 4, 9, 12};
  const Parts parts(problem.Q(), problem.K(), rows_of(problem.Q(), options.given), rows_of(problem.K(), options.given));
  const Dense z = inverted(parts.core);
  const double bound = product_error(problem, z, 0);
  CHECK(bound < 0.2);
  CHECK(distance(nystromformer(problem, 5, Key(1), options).scores->dense(), parts.f * z * parts.g) <= bound);
}

TEST_CASE_TEMPLATE("nystromformer: equal tokens give the mean of the values, by both inverses", T, float, double) {
  // F, core and G have equal entries 1/d, 1/d and 1/n; the core has rank 1, pseudo-inverse 11^T / d, and the iteration
  // starts at its end.
  const arma::Mat<T> x = arma::repmat(arma::Row<T>{T(1), T(-2), T(0.5)}, 10, 1), v = random_matrix<T>(10, 2, Key(14));
  const Problem<T> problem(x, x, v);
  for (const NystromformerOptions& options : {NystromformerOptions{}, with_pinv()}) {
    for (const arma::uword d : {1U, 4U, 10U}) {
      // Sums of 10 terms, four times over, with entries below 7; 6 steps of the iteration at 40 d u.
      CHECK(distance(nystromformer(problem, d, Key(1), options).output, arma::repmat(arma::mean(v, 0), 10, 1)) <=
            (4 * 10 + 240 * static_cast<double>(d)) * unit<T>() * 7);
    }
  }
  CHECK(nystromformer(problem, 4, Key(1), with_pinv()).diagnostics.rank.value() == 1);
}

TEST_CASE_TEMPLATE("nystromformer: the random key does not matter with segment means", T, float, double) {
  const Problem<T> problem = peaked_problem<T>(15, 5, Key(15));
  CHECK(identical(nystromformer(problem, 5, Key(1)).output, nystromformer(problem, 5, Key(2)).output));
}

TEST_CASE_TEMPLATE("nystromformer: queries and keys of norm 100 and 10,000 give no NaN", T, float, double) {
  for (const double norm : {100.0, 1e4}) {
    const Problem<T> problem = random_problem<T>(40, 8, 2, norm, Key(test_seed()).child("huge"));
    for (const NystromformerOptions& options : {NystromformerOptions{}, with_pinv()}) {
      CHECK(nystromformer(problem, 10, Key(1), options).output.is_finite());
    }
  }
}

TEST_CASE("nystromformer: d of 0 and beyond n are refused") {
  const Problem<double> problem = random_problem<double>(5, 3, 2, 1, Key(1));
  CHECK(refusal([&] { nystromformer(problem, 6, Key(1)); }) ==
        "nystromformer: 1 <= d <= min(n_q, n_k), got d = 6, n_q = 5, n_k = 5");
  CHECK(contains(refusal([&] { nystromformer(problem, 0, Key(1)); }), "got d = 0"));
}

TEST_CASE(
    "nystromformer: its flops have those of choosing landmarks among the keys; exact attention's where it is exact") {
  const Problem<double> problem = random_problem<double>(40, 4, 3, 1, Key(1));
  const auto flops = [&](const std::map<std::string, std::string>& options, double d) {
    return method_on(problem, "nystromformer", options).flops(d);
  };
  const double entry = 2 * 4 + 1;
  CHECK(flops({{"landmarks", "uniform"}}, 10) == flops({}, 10));
  CHECK(flops({{"landmarks", "leverage"}}, 10) - flops({}, 10) == 9.0 * 40 * 40 * 40 + 40 * 40 * entry);
  CHECK(flops({{"landmarks", "rpcholesky"}}, 10) - flops({}, 10) == 40 * 10 * (entry + 10));
  const Method<double>& method = find_method<double>("nystromformer");
  CHECK(method.quadratic(OptionValues(std::map<std::string, std::string>{{"landmarks", "leverage"}})));
  CHECK_FALSE(method.quadratic({}));

  CHECK(flops({{"preset", "code"}}, 40) == 40 * 40 * (2 * (4 + 3) + 1));
  CHECK(flops({{"preset", "code"}}, 39) == flops({}, 39));
}
