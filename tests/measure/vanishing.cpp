// The rounding of exact derivatives, against dense ones in long double.
#include <doctest/doctest.h>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/measure/vanishing.hpp>

#include <cmath>
#include <limits>

#include "support/attention.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/relative.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

struct Derivatives {
  Dense q, k, bias;
};

Dense unit_rows_of(Dense x) {
  for (arma::uword i = 0; i < x.rows; ++i) {
    long double square = 0;
    for (arma::uword c = 0; c < x.cols; ++c) square += x(i, c) * x(i, c);
    for (arma::uword c = 0; c < x.cols; ++c) x(i, c) /= std::sqrt(square);
  }
  return x;
}

// (I - x^ x^T) d / |x| for the rows x and those d of the derivatives by x^ = x / |x|.
void through_unit_rows(Dense& d, const Dense& x) {
  for (arma::uword i = 0; i < x.rows; ++i) {
    long double square = 0, along = 0;
    for (arma::uword c = 0; c < x.cols; ++c) {
      square += x(i, c) * x(i, c);
      along += d(i, c) * x(i, c);
    }
    for (arma::uword c = 0; c < x.cols; ++c) d(i, c) = (d(i, c) - along * x(i, c) / square) / std::sqrt(square);
  }
}

// By the formulas, entry by entry, for as many queries as keys in one dimension.
Derivatives dense(const Problem<double>& problem, Target target, const Dense& g) {
  const arma::uword n = problem.n();
  const Dense q = problem.Q(), k = problem.K(), x = has_unit_rows(target) ? unit_rows_of(q) : q,
              y = has_unit_rows(target) ? unit_rows_of(k) : k;
  const long double scale = has_unit_rows(target) ? 1 : 1 / std::sqrt(static_cast<long double>(problem.p()));
  Dense scores = scale * (x * transposed(y));
  if (has_position(target)) scores = scores + pairwise_bias(problem);
  const Dense weights = softmax_of(scores), by_weights = g * transposed(problem.V());
  Dense of_scores(n, n), bias(problem.position().bias.n_elem, 1);
  for (arma::uword i = 0; i < n; ++i) {
    long double mean = 0;
    for (arma::uword j = 0; j < n; ++j) mean += weights(i, j) * by_weights(i, j);
    for (arma::uword j = 0; j < n; ++j) {
      of_scores(i, j) = weights(i, j) * (by_weights(i, j) - mean);
      if (has_position(target)) bias(j + n - 1 - i, 0) += of_scores(i, j);
    }
  }
  Derivatives d{scale * (of_scores * y), scale * (transposed(of_scores) * x), bias};
  if (has_unit_rows(target)) {
    through_unit_rows(d.q, q);
    through_unit_rows(d.k, k);
  }
  return d;
}

// By the formulas of the kernelized target, entry by entry.
Derivatives dense_kernelized(const Problem<double>& problem, const Dense& g) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k(), p = problem.p();
  const Dense q = problem.Q(), k = problem.K(), by_weights = g * transposed(problem.V());
  const long double scale = 1 / std::sqrt(static_cast<long double>(p));
  Derivatives d{Dense(n_q, p), Dense(n_k, p), Dense(0, 1)};
  for (arma::uword i = 0; i < n_q; ++i) {
    for (arma::uword j = 0; j < n_k; ++j) {
      if (problem.is_causal() && j + n_q > i + n_k) continue;
      long double square = 0;
      for (arma::uword c = 0; c < p; ++c) square += (q(i, c) - k(j, c)) * (q(i, c) - k(j, c));
      const long double of_score = std::exp(-scale * square / 2) * by_weights(i, j);
      for (arma::uword c = 0; c < p; ++c) {
        d.q(i, c) += scale * of_score * (k(j, c) - q(i, c));
        d.k(j, c) += scale * of_score * (q(i, c) - k(j, c));
      }
    }
  }
  return d;
}

double off(const arma::mat& x, const Dense& expected) {
  return static_cast<double>(frobenius(Dense(x) - expected));
}

// Whether the kernelized derivatives are within their rounding of those in long double.
void check_kernelized(const Problem<double>& problem, const arma::mat& g) {
  const Gradient<double> found = exact_adjoint(problem, Target::kernelized)(g);
  const Derivatives exact = dense_kernelized(problem, g);
  const GradientRounding rounding = gradient_rounding(problem, Target::kernelized, g);
  CHECK(off(found.q, exact.q) <= rounding.q);
  CHECK(off(found.k, exact.k) <= rounding.k);
}

// Tokens that are queries and keys, each three times, and far from all others.
Problem<double> repeated_tokens(const Key& key) {
  const Problem<double> drawn = random_problem<double>(24, 4, 3, 1, key);
  arma::mat x = drawn.Q();
  for (arma::uword i = 0; i < 8; ++i) x(i, i % 4) += 100.0 * static_cast<double>(1 + i);
  for (arma::uword i = 8; i < x.n_rows; ++i) x.row(i) = x.row(i % 8);
  return {x, x, drawn.V()};
}

constexpr Target kSoftmaxTargets[] = {Target::softmax, Target::normalized, Target::softmax_rpe, Target::normalized_rpe};

}  // namespace

TEST_CASE("gradient_rounding: no derivative is farther from that in long double, of whatever weights and values") {
  const Key key = Key(test_seed()).child("gradient_rounding");
  const arma::mat g = random_matrix(20, 3, key.child("g"));
  for (const Target target : kSoftmaxTargets) {
    for (const arma::uword p : {1, 4}) {
      for (const double norm : {1e-6, 1.0, 5.0, 30.0}) {
        for (const bool equal : {false, true}) {
          CAPTURE(std::string(name_of(target)));
          CAPTURE(p);
          CAPTURE(norm);
          CAPTURE(equal);
          const Problem<double> drawn = random_problem<double>(20, p, 3, norm, key.child("problem"), 3);
          const arma::mat v = equal ? arma::repmat(drawn.V().row(0), 20, 1) : drawn.V();
          const Problem<double> problem{
              drawn.Q(), drawn.K(), v, {}, random_position<double>(20, 1, false, norm, key.child("bias"), false)};
          const Gradient<double> found = exact_adjoint(problem, target)(g);
          const Derivatives exact = dense(problem, target, g);
          const GradientRounding rounding = gradient_rounding(problem, target, g);
          CHECK(off(found.q, exact.q) <= rounding.q);
          CHECK(off(found.k, exact.k) <= rounding.k);
          CHECK(off(found.bias, exact.bias) <= rounding.bias);
          if (equal) CHECK(vanishes(found, problem, target, g));
        }
      }
    }
  }
}

TEST_CASE("gradient_rounding: of scores that are large and alike") {
  const Key key = Key(test_seed()).child("alike");
  const arma::mat g = random_matrix(20, 3, key.child("g"));
  RelativePosition<double> position = random_position<double>(20, 1, false, 1, key.child("bias"), false);
  position.bias += 1e9;
  const Problem<double> drawn = random_problem<double>(20, 4, 3, 1, key.child("problem"));
  const Problem<double> problem{drawn.Q(), drawn.K(), drawn.V(), {}, position};
  const Gradient<double> found = exact_adjoint(problem, Target::softmax_rpe)(g);
  const Derivatives exact = dense(problem, Target::softmax_rpe, g);
  const GradientRounding rounding = gradient_rounding(problem, Target::softmax_rpe, g);
  CHECK(off(found.q, exact.q) <= rounding.q);
  CHECK(off(found.k, exact.k) <= rounding.k);
  CHECK(off(found.bias, exact.bias) <= rounding.bias);
}

TEST_CASE("gradient_rounding: a small part of ordinary derivatives, whatever is masked by the bias") {
  const Key key = Key(test_seed()).child("ordinary");
  const arma::mat g = random_matrix(20, 3, key.child("g"));
  RelativePosition<double> position = random_position<double>(20, 1, false, 1, key.child("bias"), false);
  position.bias.head(5).fill(-std::numeric_limits<double>::infinity());
  position.bias.tail(5).fill(-1e300);
  const Problem<double> drawn = random_problem<double>(20, 4, 3, 1, key.child("problem"));
  const Problem<double> problem{drawn.Q(), drawn.K(), drawn.V(), {}, position};
  for (const Target target : kSoftmaxTargets) {
    CAPTURE(std::string(name_of(target)));
    const Gradient<double> found = exact_adjoint(problem, target)(g);
    const GradientRounding rounding = gradient_rounding(problem, target, g);
    CHECK(rounding.q <= 1e-6 * arma::norm(found.q, "fro"));
    CHECK(rounding.k <= 1e-6 * arma::norm(found.k, "fro"));
    if (has_position(target)) CHECK(rounding.bias <= 1e-6 * arma::norm(found.bias));
    CHECK_FALSE(vanishes(found, problem, target, g));
  }
}

// Query 0 points away from the long key, which has no weight there: its derivatives are those of ordinary rows. What
// has all of its weight at the long key is off by 1e-6 at most, and the derivatives of the first row are about .1.
TEST_CASE("gradient_rounding: a key far longer than the others has no part where it has no weight or all of it") {
  const Key key = Key(test_seed()).child("long key");
  const Problem<double> drawn = random_problem<double>(20, 4, 3, 1, key.child("problem"));
  const arma::mat g = random_matrix(20, 3, key.child("g"));
  for (const double times : {1e3, 1e6}) {
    CAPTURE(times);
    arma::mat k = drawn.K();
    k.row(7) *= times;
    arma::mat q = drawn.Q();
    q.row(0) = -k.row(7) / arma::norm(k.row(7));
    const Problem<double> problem{q, k, drawn.V()};
    const Gradient<double> found = exact_adjoint(problem, Target::softmax)(g);
    const Derivatives exact = dense(problem, Target::softmax, g);
    const GradientRounding rounding = gradient_rounding(problem, Target::softmax, g);
    CHECK(off(found.q, exact.q) <= rounding.q);
    CHECK(off(found.k, exact.k) <= rounding.k);
    CHECK(rounding.q <= 1e-4 * arma::norm(found.q, "fro"));
    CHECK(rounding.k <= 1e-4 * arma::norm(found.k, "fro"));
  }
}

TEST_CASE("gradient_rounding: no derivative by the kernelized target is farther from that in long double") {
  const Key key = Key(test_seed()).child("kernelized rounding");
  const arma::mat g = random_matrix(20, 3, key.child("g"));
  for (const arma::uword p : {1, 4, 33}) {
    for (const double norm : {1e-6, 1.0, 5.0, 30.0}) {
      CAPTURE(p);
      CAPTURE(norm);
      const Problem<double> drawn = random_problem<double>(20, p, 3, norm, key.child("problem"));
      RelativePosition<double> causal;
      causal.causal = true;
      check_kernelized(drawn, g);
      check_kernelized({drawn.Q(), drawn.Q(), drawn.V()}, g);
      check_kernelized({drawn.Q(), drawn.K(), drawn.V(), {}, causal}, g);
      check_kernelized({drawn.Q().head_rows(7), drawn.K(), drawn.V()}, g.head_rows(7));
    }
  }
  // One query and one key: all rounding is that of their score.
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    check_kernelized(random_problem<double>(1, 16, 1, 30, key.child("pair").child(draw)), g.submat(0, 0, 0, 0));
  }
}

TEST_CASE("gradient_rounding: of derivatives by the kernelized target those that are 0 alone vanish") {
  const Key key = Key(test_seed()).child("kernelized");
  const arma::mat g = random_matrix(24, 3, key.child("g"));
  for (const double norm : {1.0, 40.0}) {  // of 40 kernels go down to the smallest number
    const Problem<double> problem = random_problem<double>(24, 4, 3, norm, key);
    const Gradient<double> found = exact_adjoint(problem, Target::kernelized)(g);
    const GradientRounding rounding = gradient_rounding(problem, Target::kernelized, g);
    CHECK(rounding.q <= 1e-6 * arma::norm(found.q, "fro"));
    CHECK(rounding.k <= 1e-6 * arma::norm(found.k, "fro"));
    CHECK_FALSE(vanishes(found, problem, Target::kernelized, g));
    CHECK(vanishes({0 * found.q, 0 * found.k, found.v, found.bias}, problem, Target::kernelized, g));
  }
  const Problem<double> repeated = repeated_tokens(key.child("repeated"));
  const Gradient<double> found = exact_adjoint(repeated, Target::kernelized)(g);
  CHECK(frobenius(dense_kernelized(repeated, g).q) == 0);
  CHECK(vanishes(found, repeated, Target::kernelized, g));
  check_kernelized(repeated, g);
}

TEST_CASE("as_reference: an output that is rounding alone is 0, and kept where rounding is not known to be small") {
  const Key key = Key(test_seed()).child("as_reference");
  const arma::mat q = random_matrix(20, 4, key.child("q")), v = random_matrix(20, 3, key.child("v"));
  const Problem<double> problem{q, arma::repmat(q.row(0), 20, 1), v}, large{1e9 * q, 1e3 * problem.K(), v};
  const auto reference = [&](double entry, arma::uword rows, const Problem<double>& of, Target target) {
    const arma::mat output(rows, 3, arma::fill::value(entry));
    return as_reference({output, arma::vec(rows, arma::fill::zeros)}, of, target).output.max();
  };
  for (const Target target : {Target::softmax, Target::kernelized}) {
    CHECK(reference(1e-17, 20, problem, target) == 0);
    CHECK(reference(1e-17, 5, problem, target) == 0);
    CHECK(reference(1e-11, 20, problem, target) == 1e-11);
  }
  CHECK(reference(1e-17, 20, problem, Target::normalized) == 1e-17);
  CHECK(vanishes(arma::mat(20, 3, arma::fill::value(1e-17)), large));
  CHECK(reference(1e-17, 20, large, Target::softmax) == 1e-17);
}

TEST_CASE("as_reference: small kernelized outputs are kept, and what cancels in sums of small kernels is 0") {
  const Key key = Key(test_seed()).child("small kernels");
  const arma::mat q = random_matrix(30, 4, key.child("q")), v = random_matrix(30, 3, key.child("v"));
  const arma::mat centred = v.each_row() - arma::mean(v, 0);
  for (const double shift : {5.0, 15.0, 18.0}) {  // kernels down to about e^-350
    const Problem<double> far{q, q + shift, v}, flat{q, arma::repmat(q.row(0), 30, 1) + shift, centred};
    const auto exact = exact_attention(far, Target::kernelized);
    CHECK_FALSE(exact.output.is_zero());
    CHECK(arma::approx_equal(as_reference(exact, far, Target::kernelized).output, exact.output, "absdiff", 0));
    CHECK(as_reference(exact_attention(flat, Target::kernelized), flat, Target::kernelized).output.is_zero());
  }
}
