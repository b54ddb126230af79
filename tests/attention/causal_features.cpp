// Causal performer, nprf and linear: prefix sums against the dense masked scores.
#include <croquis/attention/linear.hpp>
#include <croquis/attention/nprf.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/attention/prf_rpe.hpp>

#include "support/masks.hpp"
#include "support/relative.hpp"

using namespace croquis;

namespace {

// Longer than a chunk of prefix sums, decoding, one query.
const TokenAlignment kShapes[] = {{41, 41}, {300, 300}, {7, 300}, {150, 400}, {1, 23}};

// The scores of the full form with nothing above the diagonal, over their sums.
template <typename T>
Dense masked_scores(const Approximation<T>& full, const TokenAlignment& tokens) {
  Dense b = full.scores->dense();
  for (arma::uword i = 0; i < b.rows; ++i) {
    long double sum = 0;
    for (arma::uword j = 0; j < b.cols; ++j) {
      if (!may_meet(i, j, tokens, true)) b(i, j) = 0;
      sum += b(i, j);
    }
    for (arma::uword j = 0; j < b.cols; ++j) b(i, j) /= sum;
  }
  return b;
}

template <typename T>
Problem<T> without_mask(const Problem<T>& problem) {
  return {problem.Q(), problem.K(), problem.V()};
}

}  // namespace

TEST_CASE_TEMPLATE("causal performer and nprf: the scores of the full form below the diagonal, over their sums", T,
                   float, double) {
  for (const TokenAlignment& tokens : kShapes) {
    const Problem<T> problem = masked_problem<T>({tokens, true}, 1.5, Key(test_seed()).child(tokens.n_q), true);
    const auto n = static_cast<double>(tokens.n_k);
    for (const FeatureMap map : {FeatureMap::prf, FeatureMap::hyperbolic, FeatureMap::sphere, FeatureMap::saderf}) {
      for (const bool unit_length : {false, true}) {
        const FeatureOptions options{map, ProjectionDistribution::haar, 0};
        const auto run = [&](const Problem<T>& on) {
          return unit_length ? nprf(on, 8, Key(2), options) : performer(on, 8, Key(2), options);
        };
        const Approximation<T> causal = run(problem);
        // Sums of positive terms; the first rows are a thousandth of the whole sum or more, at these norms.
        const double entry = 1e3 * 20 * n * unit<T>();
        check_mask(causal, problem, masked_scores(run(without_mask(problem)), tokens), entry);
        CHECK(causal.denominators->values.n_elem == tokens.n_q);
        CHECK(static_cast<bool>(causal.adjoint));
      }
    }
  }
}

TEST_CASE_TEMPLATE("causal performer is prf-rpe without a bias, to the bit; a bias is nothing to it", T, float,
                   double) {
  const Problem<T> problem = masked_problem<T>({{200, 200}, true}, 2, Key(test_seed()).child("same"));
  CHECK(identical(performer(problem, 16, Key(3), kNprfFeatures).output, prf_rpe(problem, 16, Key(3)).output));
  CHECK(identical(nprf(problem, 16, Key(3)).output, nprf_rpe(problem, 16, Key(3)).output));
  const RelativePosition<T> bias = random_position<T>(200, 1, true, 1, Key(4), false);
  const Problem<T> biased(problem.Q(), problem.K(), problem.V(), {}, bias);
  CHECK(identical(performer(biased, 16, Key(3)).output, performer(problem, 16, Key(3)).output));
  CHECK(method_on(problem, "performer").flops(16) == method_on(problem, "prf-rpe").flops(16));
}

TEST_CASE_TEMPLATE("causal features: later tokens are nothing to a row, within the range of the shifts", T, float,
                   double) {
  const Problem<T> problem = masked_problem<T>({{150, 150}, true}, 1.5, Key(test_seed()).child("later"));
  arma::Mat<T> k = problem.K(), v = problem.V();
  k.tail_rows(30) *= T(1.5);
  v.tail_rows(30) += T(50);
  const Problem<T> other(problem.Q(), k, v, {}, problem.position());
  for (const char* name : {"performer", "nprf", "linear"}) {
    const auto head = [&](const Problem<T>& on) -> arma::Mat<T> {
      return method_on(on, name).approximate(16, Key(5)).output.head_rows(120);
    };
    CHECK(distance(head(problem), head(other)) <= 1e4 * 150 * unit<T>());
  }
}

TEST_CASE_TEMPLATE("causal linear: elu + 1 features over their sums up to the query", T, float, double) {
  const auto feature = [](long double x) { return x > 0 ? x + 1 : std::exp(x); };
  for (const TokenAlignment& tokens : kShapes) {
    const Problem<T> problem = masked_problem<T>({tokens, true}, 3, Key(test_seed()).child(tokens.n_k), true);
    Dense expected(tokens.n_q, tokens.n_k);
    for (arma::uword i = 0; i < tokens.n_q; ++i) {
      long double sum = 0;
      for (arma::uword j = 0; j < tokens.n_k; ++j) {
        if (!may_meet(i, j, tokens, true)) continue;
        for (arma::uword c = 0; c < problem.p(); ++c) {
          expected(i, j) += feature(problem.Q()(i, c)) * feature(problem.K()(j, c));
        }
        sum += expected(i, j);
      }
      for (arma::uword j = 0; j < tokens.n_k; ++j) expected(i, j) /= sum;
    }
    const auto n = static_cast<double>(tokens.n_k);
    check_mask(linear_attention(problem), problem, expected, 4 * (8 * 6 + n + 10) * unit<T>());
  }
}
