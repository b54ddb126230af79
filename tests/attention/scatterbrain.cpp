#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/scatterbrain.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sampling/angular_order.hpp>

#include "support/approximations.hpp"
#include "support/features.hpp"
#include "support/text.hpp"
#include "support/unnormalised_sums.hpp"

using namespace croquis;
using Support = ScatterbrainOptions::Support;

namespace {

struct CorrectedReference {
  Dense a;               // A~
  Dense exact;           // A
  arma::umat supported;  // 1 on the support
};

// A~ entry by entry: features by their definition, supports from ranks or distances.
CorrectedReference corrected_reference(const Problem<double>& problem, arma::uword d,
                                       const ScatterbrainOptions& options, const Key& draw_key) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k(),
                    functions = has_two_functions(options.features.map) ? 2 : 1;
  arma::uword m = d / 2;
  if (m % functions != 0) --m;
  const arma::uword s = d - m;
  const long double scale = std::pow(static_cast<long double>(problem.p()), -0.25L);
  const Dense w =
      Projection<double>(options.features.projection, m / functions, problem.p(), draw_key.child("features")).dense();
  CorrectedReference result{
      plain_scores(options.features.map, w, scale * Dense(problem.Q()), scale * Dense(problem.K())),
      logits_of(problem.Q(), problem.K()), arma::umat(n_q, n_k, arma::fill::zeros)};
  for (long double& e : result.exact.entries) e = std::exp(e);
  if (options.support == Support::hashed) {
    arma::mat directions(problem.p(), options.directions);
    fill_normal(draw_key.child("directions"), 0, directions.n_elem, directions.memptr());
    const auto queries = angular_order(problem.Q(), directions, BucketOrder::gray),
               keys = angular_order(problem.K(), directions, BucketOrder::gray);
    for (arma::uword a = 0; a < n_q; ++a) {
      for (arma::uword b = 0; b < n_k; ++b) {
        if (b / s == a * n_k / n_q / s) result.supported(queries[a], keys[b]) = 1;
      }
    }
  } else {
    for (arma::uword i = 0; i < n_q; ++i) {
      const long long own = std::max(0LL, (long long)i + (long long)n_k - (long long)n_q);
      for (long long j = 0; j < (long long)n_k; ++j) {
        if (j - own >= -(long long)(s / 2) && j - own < (long long)(s - s / 2)) result.supported(i, arma::uword(j)) = 1;
      }
    }
  }
  for (arma::uword i = 0; i < n_q; ++i) {
    for (arma::uword j = 0; j < n_k; ++j) {
      if (result.supported(i, j) == 1) result.a(i, j) = result.exact(i, j);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("scatterbrain: every entry is the exact score on the support, and that of the features elsewhere") {
  const Key draw_key = Key(test_seed()).child("entries");
  for (const TokenAlignment shape : {TokenAlignment{33, 33}, {7, 40}, {40, 13}}) {
    const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 6, 3, 1.5, draw_key);
    const ScatterbrainOptions bounded{Support::window, {FeatureMap::oprf, ProjectionDistribution::iid, 0}, 3};
    for (const ScatterbrainOptions& options : {ScatterbrainOptions{}, ScatterbrainOptions::code(), bounded}) {
      for (const arma::uword d : {4U, 7U, 12U}) {
        CAPTURE(d);
        const Approximation<double> approximation = scatterbrain(problem, d, draw_key.child(d), options);
        const CorrectedReference expected = corrected_reference(problem, d, options, draw_key.child(d));
        Dense b = expected.a;
        for (arma::uword i = 0; i < b.rows; ++i) {
          long double sum = 0;
          for (arma::uword j = 0; j < b.cols; ++j) sum += b(i, j);
          for (arma::uword j = 0; j < b.cols; ++j) b(i, j) /= sum;
          const auto found = static_cast<long double>(approximation.denominators->values(i)) *
                             std::exp(static_cast<long double>(approximation.denominators->log_scale(i)));
          CHECK(std::fabs(static_cast<double>(found / sum - 1)) <= 1e-11);
        }
        // Exponents of at most 10 of features and their sums: far below 1e5 u.
        CHECK(distance(approximation.scores->dense(), b) <= 1e5 * unit<double>());
        CHECK(distance(approximation.output, b * problem.V()) <= 1e6 * unit<double>());
        CHECK(interface_gap(approximation, problem) <= 1e4 * unit<double>());
        CHECK(row_sum_gap(approximation) <= 1e4 * unit<double>());
      }
    }
  }
}

TEST_CASE("scatterbrain: row sums and the sums of the output are unbiased, for either support") {
  constexpr arma::uword n = 10, m = 4;
  const UnnormalisedSums sums(n, 0.3);
  for (const Support support : {Support::hashed, Support::window}) {
    const ScatterbrainOptions options{support, {FeatureMap::trf, ProjectionDistribution::iid, 0}, 3};
    const arma::mat mean = sums.mean_of([&](const Key& key) { return scatterbrain(sums.problem, 8, key, options); });
    // An estimate of the features is the mean of m / 2 numbers of at most e^{(|x|^2 + |y|^2) / 2} in size, given the
    // support. Hoeffding, with kFailure over all entries and supports.
    const double queries = largest_row(sums.problem.Q()), keys = largest_row(sums.problem.K());
    const double size = n * std::exp((queries * queries + keys * keys) / 2 / std::sqrt(3.0));
    const double bound =
        size * std::sqrt(2 * std::log(2 * 2 * 3 * double(n) / kFailure) / (double(UnnormalisedSums::kDraws) * m / 2));
    CHECK(distance(mean, sums.exact) <= bound);
    CHECK(bound < 0.1 * double(largest_entry_of(sums.exact)));
  }
}

TEST_CASE_TEMPLATE("scatterbrain: rows sum to one to 5 %, or the call is refused, where one key is far longer", T,
                   float, double) {
  // Features of the long key are up to e^100 times those of the others. Where it is on the support of a query, what is
  // left of the row sum without it is the difference of two such numbers.
  // With the draws of seed 102 the terms of trf, which have signs, add up to little of what they are.
  int refused = 0, taken = 0;
  for (std::uint64_t draw = 0; draw < 120; ++draw) {
    const Key draw_key = Key(draw < 60 ? test_seed() : 102).child("long key").child(draw % 60);
    const Problem<T> plain = random_problem<T>(60, 4, 2, 2, draw_key);
    arma::Mat<T> k = plain.K();
    k.row(draw % 60) *= T(1 + draw % 10);
    const Problem<T> problem(plain.Q(), k, plain.V());
    for (const FeatureMap map : {FeatureMap::trf, FeatureMap::prf, FeatureMap::hyperbolic}) {
      for (const Support support : {Support::hashed, Support::window}) {
        std::optional<Approximation<T>> approximation;
        const std::string message = refusal<std::runtime_error>([&] {
          approximation = scatterbrain(problem, 14, draw_key, {support, {map, ProjectionDistribution::haar, 0}, 7});
        });
        approximation ? ++taken : ++refused;
        if (approximation) CHECK(row_sum_gap(*approximation) <= 0.05);
        if (!approximation) CHECK(contains(message, "scatterbrain: "));
      }
    }
  }
  CHECK(refused > 0);
  CHECK(taken > 200);
}

TEST_CASE_TEMPLATE("scatterbrain: exact for d = n; V = 0, padding, large norms, refusals", T, float, double) {
  const Key draw_key = Key(test_seed()).child("edges");
  const Problem<T> problem = random_problem<T>(40, 4, 3, 3, draw_key);
  const Problem<T> far = random_problem<T>(30, 4, 2, 100, draw_key);
  const Problem<T> none(far.Q() / T(100), far.K() / T(100), arma::Mat<T>(30, 2, arma::fill::zeros));
  const Problem<T> padded(far.Q() / T(30), far.K() / T(30), far.V(), 21),
      shorter(far.Q().head_rows(21) / T(30), far.K().head_rows(21) / T(30), far.V().head_rows(21));
  for (const ScatterbrainOptions& options : {ScatterbrainOptions{}, ScatterbrainOptions::code()}) {
    check_scores(scatterbrain(problem, 40, Key(1), options), problem,
                 scores_of(problem.Q(), problem.K(), Target::softmax), entry_error(problem));
    CHECK(scatterbrain(none, 8, Key(1), options).output.is_zero());
    CHECK(scatterbrain(far, 8, Key(2), options).output.is_finite());
    CHECK(identical(scatterbrain(padded, 8, Key(1), options).output, scatterbrain(shorter, 8, Key(1), options).output));
    CHECK(refusal([&] { scatterbrain(far, 31, Key(1), options); }) ==
          "scatterbrain: 1 <= d <= n_k, got d = 31, n_k = 30");
    CHECK(contains(refusal([&] { scatterbrain(far, 0, Key(1), options); }), "got d = 0"));
    CHECK(contains(refusal([&] { scatterbrain(far, 1, Key(1), options); }), "d >= 2"));
  }
}

TEST_CASE("scatterbrain: flops are those of the features, and of keys, features and values on the support") {
  const Problem<double> problem = random_problem<double>(50, 6, 3, 1, Key(1));
  // Windows end at the ends; blocks do not.
  CHECK(method_on(problem, "scatterbrain").flops(20) == feature_attention_flops(100, 6, 3, 10, {FeatureMap::prf}) +
                                                            50.0 * 10 * (2 * (6 + 10 + 3) + 1) + 2 * 7 * 6 * 100.0);
  CHECK(method_on(problem, "scatterbrain", {{"preset", "code"}}).flops(14) ==
        feature_attention_flops(100, 6, 3, 6, {FeatureMap::hyperbolic}) + 50.0 * 8 * (2 * (6 + 6 + 3) + 1));
}
