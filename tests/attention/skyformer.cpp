#include <doctest/doctest.h>
#include <croquis/attention/skyformer.hpp>

#include <cmath>
#include <set>
#include <utility>

#include "support/approximations.hpp"
#include "support/attention.hpp"
#include "support/capture.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

SkyformerOptions at(const arma::uvec& landmarks, double ridge = 0) {
  SkyformerOptions options;
  options.landmarks = LandmarkPolicy::given;
  options.given = landmarks;
  options.ridge = ridge;
  return options;
}

arma::uvec without_repetitions(const arma::uvec& indices) {
  const std::set<arma::uword> unique(indices.begin(), indices.end());
  return std::vector<arma::uword>(unique.begin(), unique.end());
}

// C~ by elimination on the landmarks without repetitions, which span the same, and what rounding may do to it.
template <typename T>
struct SkyReference {
  Dense scores;
  double error = 0;  // of an entry

  SkyReference(const Problem<T>& problem, const arma::uvec& landmarks, long double ridge) {
    const arma::uword n = problem.n();
    const Dense points = stacked_points(problem);
    // With a ridge, repetitions count: they are landmarks of their own.
    const Dense chosen = rows_of(points, ridge == 0 ? without_repetitions(landmarks) : landmarks);
    const Dense columns = gaussian_of(points, chosen),
                core = gaussian_of(chosen, chosen) + ridge * identity(chosen.rows);
    const Dense left = rows_of(columns, arma::regspace<arma::uvec>(0, n - 1)),
                right = rows_of(columns, arma::regspace<arma::uvec>(n, 2 * n - 1));
    scores = left * inverted(core) * transposed(right);
    // Repetitions only raise the eigenvalues that are not zero, and repeat columns.
    const auto d = static_cast<double>(landmarks.n_elem);
    const double entry = gaussian_error<T>(static_cast<double>(problem.p()), largest_point(problem));
    error = nystrom_error<T>(entry, std::sqrt(d) * static_cast<double>(frobenius(columns)),
                             largest_row_sum(gaussian_of(points, points)), arma::eig_sym(in_double(core)).min(), d);
  }

  double output_error(const Problem<T>& problem) const { return error * static_cast<double>(frobenius(problem.V())); }
};

}  // namespace

TEST_CASE_TEMPLATE("skyformer: is kappa(Q, X) kappa(X, X)^-1 kappa(X, K) V, repeated landmarks or not", T, float,
                   double) {
  const Problem<T> problem = random_problem<T>(23, 8, 3, 4, Key(2));
  const arma::uvec lists[] = {{0}, {45}, {22, 23}, {0, 5, 9, 22, 23, 30, 40, 45}, {7, 7, 7, 30, 30, 1}};
  for (const arma::uvec& landmarks : lists) {
    CAPTURE(landmarks.n_elem);
    const Approximation<T> approximation = skyformer(problem, landmarks.n_elem, Key(1), at(landmarks));
    const SkyReference<T> reference(problem, landmarks, 0);
    CHECK(reference.error < 0.05);  // the bound says something
    CHECK(distance(approximation.output, reference.scores * problem.V()) <= reference.output_error(problem));
    CHECK(distance(approximation.scores->dense(), reference.scores) <= reference.error);
    CHECK(approximation.diagnostics.rank.value() == without_repetitions(landmarks).n_elem);
    // In the products V is not yet reduced: ||L|| ||W^+|| ||R|| is within 1 / error's own factor of u.
    CHECK(interface_gap(approximation, problem) <= reference.error);
  }
}

TEST_CASE_TEMPLATE("skyformer: a ridge is added to the unit diagonal of the core", T, float, double) {
  const Problem<T> problem = random_problem<T>(15, 6, 2, 3, Key(3));
  const arma::uvec landmarks = {1, 8, 8, 14, 15, 20, 29};
  for (const double ridge : {0.01, 0.1, 1.0, 100.0}) {
    const Approximation<T> approximation = skyformer(problem, 7, Key(1), at(landmarks, ridge));
    const SkyReference<T> reference(problem, landmarks, static_cast<long double>(static_cast<T>(ridge)));
    CHECK(distance(approximation.output, reference.scores * problem.V()) <= reference.output_error(problem));
    CHECK(approximation.diagnostics.rank.value() == 7);
  }
}

TEST_CASE_TEMPLATE("skyformer: landmarks are those that the policy draws from the random key's child 'landmarks'", T,
                   float, double) {
  const Problem<T> problem = random_problem<T>(30, 4, 2, 3, Key(test_seed()).child("draw"));
  const LiftedPoints<T> lift(problem.Q(), problem.K());
  for (const LandmarkPolicy policy : {LandmarkPolicy::uniform, LandmarkPolicy::stratified}) {
    SkyformerOptions options;
    options.landmarks = policy;
    for (std::uint64_t t = 0; t < 5; ++t) {
      const Key draw_key = Key(test_seed()).child(t);
      const arma::uvec drawn = LandmarkSampler<T>(lift.kernel(), policy).draw(11, draw_key.child("landmarks"));
      const arma::Mat<T> output = skyformer(problem, 11, draw_key, options).output;
      CHECK(identical(output, skyformer(problem, 11, draw_key, at(drawn)).output));
      CHECK_FALSE(identical(output, skyformer(problem, 11, draw_key.child("other"), options).output));
    }
  }
}

TEST_CASE_TEMPLATE("skyformer: exact when the landmarks hold all 2n points", T, float, double) {
  const Problem<T> problem = random_problem<T>(12, 8, 3, 4, Key(4));
  const arma::uvec all = arma::regspace<arma::uvec>(0, 23);
  const Dense c = scores_of(problem.Q(), problem.K(), Target::kernelized);
  const SkyReference<T> reference(problem, all, 0);
  CHECK(reference.error < 0.05);
  const Approximation<T> approximation = skyformer(problem, 24, Key(1), at(all));
  CHECK(distance(approximation.scores->dense(), c) <= reference.error);
  CHECK(distance(approximation.output, c * problem.V()) <= reference.output_error(problem));
}

TEST_CASE_TEMPLATE("skyformer: the preset 'code' is six steps of the iteration on the normalised core with ridge 0.1",
                   T, float, double) {
  const SkyformerOptions code = SkyformerOptions::code();
  CHECK(code.landmarks == LandmarkPolicy::stratified);
  const Problem<T> problem = random_problem<T>(20, 6, 2, 3, Key(5));
  const Key draw_key = Key(6);  // eight different points, so that the core is well conditioned
  const arma::uvec landmarks = LandmarkSampler<T>(LiftedPoints<T>(problem.Q(), problem.K()).kernel(), code.landmarks)
                                   .draw(8, draw_key.child("landmarks"));

  // The reference: with E = I - N Z a step is Z (I + E + E^2 + E^3 / 4), from N^T over the largest column sum or from
  // I.
  const Dense points = stacked_points(problem), chosen = rows_of(points, landmarks);
  const long double gamma = static_cast<long double>(static_cast<T>(0.1));
  Dense n = gaussian_of(chosen, chosen) + gamma * identity(8), scale(8, 8);
  for (arma::uword i = 0; i < 8; ++i) {
    long double sum = 0;
    for (arma::uword j = 0; j < 8; ++j) sum += n(i, j);
    scale(i, i) = 1 / std::sqrt(sum);
  }
  n = scale * n * scale;
  // Lemma 3: the largest eigenvalue of the normalised core is 1.
  CHECK(arma::eig_sym(in_double(n)).max() == doctest::Approx(1).epsilon(1e-12));
  const Dense columns = gaussian_of(points, chosen);
  const Dense left = rows_of(columns, arma::regspace<arma::uvec>(0, 19)),
              right = rows_of(columns, arma::regspace<arma::uvec>(20, 39));
  // After six steps any normalisation is forgotten; after one it is not.
  for (const auto& [steps, start] : {std::pair(1, InverseStart::transpose_one),
                                     {6, InverseStart::transpose_one},
                                     {1, InverseStart::identity},
                                     {6, InverseStart::identity}}) {
    CAPTURE_BINDING(steps);
    Dense z = identity(8);
    if (start == InverseStart::transpose_one) {
      z = (1 / static_cast<long double>(largest_row_sum(n))) * n;  // symmetric: rows are columns
    }
    for (int step = 0; step < steps; ++step) {
      const Dense e = identity(8) - n * z;
      z = z * (identity(8) + e + e * e + 0.25L * (e * e * e));
    }
    const double residual = static_cast<double>(frobenius(identity(8) - n * z));
    const Dense c = left * (scale * z * scale) * transposed(right);

    SkyformerOptions options = code;
    CHECK(options.iterations == 6);
    CHECK(options.start == InverseStart::transpose_one);
    CHECK(SkyformerOptions().start == InverseStart::identity);
    options.iterations = steps;
    options.start = start;
    const Approximation<T> approximation = skyformer(problem, 8, draw_key, options);
    // ||z|| = s <= 1 / (0.1 / d). The polynomial (1 - (1 - x)^k) / x behind z has a derivative of at most s^2, and of
    // 4 after one step, so the core's error delta gives that times delta; each step rounds by 40 d u s relative to the
    // part it adds, which later steps keep in proportion: 240 d u s. Then the products with L and R on both sides, of
    // Frobenius norm f.
    const double s = static_cast<double>(frobenius(z)), f = static_cast<double>(frobenius(columns));
    const double entry = gaussian_error<T>(6, largest_point(problem)), slope = std::max(4.0, s * s);
    const double z_error = slope * (8 * entry + 20 * unit<T>()) + 240 * 8 * unit<T>() * s;
    const double bound = f * f * (z_error + 2 * s * (entry + 60 * unit<T>()));  // rows of the core sum to more than 1
    CHECK(bound < 0.2);
    CHECK(distance(approximation.scores->dense(), c) <= bound);
    CHECK(distance(approximation.output, c * problem.V()) <= bound * static_cast<double>(frobenius(problem.V())));
    CHECK(approximation.diagnostics.iterations == steps);
    CHECK(std::abs(approximation.diagnostics.residual - residual) <= 3 * z_error + 8 * entry * s);
    CHECK_FALSE(approximation.diagnostics.rank.has_value());
    CHECK(interface_gap(approximation, problem) <= bound);
  }
}

TEST_CASE_TEMPLATE("skyformer: Lemma 3, the largest eigenvalue of D^-1/2 (W + g I) D^-1/2 is 1", T, float, double) {
  // Through the method: with one landmark, N = 1 and the iteration starts at its end, whatever the ridge.
  const Problem<T> problem = random_problem<T>(6, 3, 2, 1, Key(test_seed()).child("lemma"));
  for (const double ridge : {0.0, 0.1, 3.0}) {
    SkyformerOptions options = at({4}, ridge);
    options.inverse = SkyformerOptions::Inverse::iterative;
    const Approximation<T> approximation = skyformer(problem, 1, Key(1), options);
    CHECK(approximation.diagnostics.residual <= 20 * unit<T>());
    // With the residual at rounding, it is the pseudo-inverse.
    CHECK(distance(approximation.output, skyformer(problem, 1, Key(1), at({4}, ridge)).output) <=
          100 * unit<T>() * 6 * static_cast<double>(largest_entry_of(problem.V())));
  }
  // And on random cores, from the kernel of the library.
  for (const double ridge : {0.0, 0.1, 3.0}) {
    const NystromBlocks<T> blocks = nystrom_blocks(LiftedPoints<T>(problem.Q(), problem.K()), {0, 3, 7, 11, 11});
    const arma::mat core = arma::conv_to<arma::mat>::from(blocks.core) + ridge * arma::eye(5, 5);
    const arma::vec root = 1 / arma::sqrt(arma::sum(core, 1));
    // Symmetric and non-negative: the vector of roots of the row sums has eigenvalue 1, and none is larger.
    CHECK(std::abs(arma::eig_sym(arma::mat(arma::diagmat(root) * core * arma::diagmat(root))).max() - 1) <= 1e-13);
  }
}

TEST_CASE_TEMPLATE("skyformer: equal tokens give the exact output from any landmarks of both kinds", T, float, double) {
  const arma::Mat<T> q = arma::repmat(arma::Row<T>{T(1), T(2)}, 7, 1), k = arma::repmat(arma::Row<T>{T(2), T(1)}, 7, 1);
  const Problem<T> problem(q, k, random_matrix<T>(7, 3, Key(test_seed())));
  const Dense exact = scores_of(q, k, Target::kernelized) * problem.V();
  // Any query is exact by itself, for C = C(:, j) C(j, j)^-1 C(j, :) has rank 1; so is any key; and both with
  // repetitions.
  for (const arma::uvec& landmarks : {arma::uvec{3}, arma::uvec{9}, arma::uvec{0, 0, 0}, arma::uvec{6, 7, 2, 13, 13}}) {
    const SkyReference<T> reference(problem, landmarks.n_elem == 5 ? arma::uvec{6, 7} : arma::uvec{landmarks(0)}, 0);
    const double repeats = static_cast<double>(landmarks.n_elem);
    CHECK(distance(skyformer(problem, landmarks.n_elem, Key(1), at(landmarks)).output, exact) <=
          repeats * reference.output_error(problem));
  }
}

TEST_CASE_TEMPLATE("skyformer: queries and keys of norm 100 and 10,000 give no NaN", T, float, double) {
  for (const double norm : {100.0, 1e4}) {
    const Problem<T> problem = random_problem<T>(50, 8, 2, norm, Key(test_seed()).child("huge"));
    for (const SkyformerOptions& options : {SkyformerOptions{}, SkyformerOptions::code()}) {
      const Approximation<T> approximation = skyformer(problem, 20, Key(test_seed()), options);
      CHECK(approximation.output.is_finite());
      // C~ is a projection of C's lift: no entry beyond 1, up to rounding.
      CHECK(largest_entry_of(approximation.scores->dense()) <= T(1.01));
    }
  }
}

TEST_CASE("skyformer: d of 0 and beyond 2n, and a ridge below zero, are refused") {
  const Problem<double> problem = random_problem<double>(5, 3, 2, 1, Key(1));
  CHECK(refusal([&] { skyformer(problem, 11, Key(1)); }) ==
        "skyformer: 1 <= d <= n_q + n_k, got d = 11, n_q = 5, n_k = 5");
  CHECK(contains(refusal([&] { skyformer(problem, 0, Key(1)); }), "got d = 0, n_q = 5"));
  CHECK_NOTHROW(skyformer(problem, 10, Key(1)));
  SkyformerOptions options;
  options.ridge = -0.1;
  CHECK(refusal([&] { skyformer(problem, 2, Key(1), options); }) ==
        "skyformer: ridge >= 0 and finite, got ridge = -0.1");
  options.ridge = std::nan("");
  CHECK(contains(refusal([&] { skyformer(problem, 2, Key(1), options); }), "ridge = nan"));
}

TEST_CASE("skyformer: its flops have those of choosing landmarks among the points of the lift") {
  const Problem<double> problem = random_rectangle<double>(50, 30, 4, 3, 1, Key(1));
  for (const char* name : {"skyformer", "skyformer-softmax"}) {
    const Method<double>& method = find_method<double>(name);
    const auto flops = [&](const char* landmarks) {
      return method_on(problem, name, {{"landmarks", landmarks}}).flops(10);
    };
    const double entry = 2 * 4 + 1;
    CHECK(flops("stratified") == flops("uniform"));
    CHECK(flops("leverage") - flops("uniform") == 9.0 * 80 * 80 * 80 + 80 * 80 * entry);
    CHECK(flops("rpcholesky") - flops("uniform") == 80 * 10 * (entry + 10));
    CHECK(flops("recursive") - flops("uniform") == 80 * 10 * (entry + 5));
    CHECK(method.quadratic(OptionValues(std::map<std::string, std::string>{{"landmarks", "leverage"}})));
    CHECK_FALSE(method.quadratic(OptionValues(std::map<std::string, std::string>{{"landmarks", "recursive"}})));
  }
}
