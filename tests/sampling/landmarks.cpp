#include <doctest/doctest.h>
#include <croquis/sampling/indices.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <croquis/sampling/pilot.hpp>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"

using namespace croquis;

namespace {

constexpr double kFailure = 1e-9;

}  // namespace

TEST_CASE("LandmarkSampler: every policy gives indices below n, the right number, the same for the same stream") {
  const auto kernel = gaussian_kernel_matrix<double>(random_matrix(40, 3, Stream(30)));
  for (const std::string& name : landmark_policy_names()) {
    CAPTURE(name);
    const LandmarkSampler<double> sampler(kernel, landmark_policy(name), arma::regspace<arma::uvec>(0, 39));
    for (const arma::uword d : {1, 7, 40}) {
      const arma::uvec j = sampler.draw(d, Stream(31));
      CHECK(j.n_elem == d);
      CHECK(j.max() < 40);
      CHECK(arma::all(j == sampler.draw(d, Stream(31))));
    }
    CHECK(contains(refusal([&] { sampler.draw(41, Stream(1)); }), "d = 41"));
    CHECK(contains(refusal([&] { sampler.draw(0, Stream(1)); }), "1 <= d"));
  }
}

TEST_CASE("LandmarkSampler: stratified takes floor(d/2) of the first half and the others of the second") {
  const auto kernel = gaussian_kernel_matrix<double>(random_matrix(20, 2, Stream(32)));
  const LandmarkSampler<double> sampler(kernel, LandmarkPolicy::stratified);
  for (const arma::uword d : {1, 2, 9}) {
    const arma::uvec j = sampler.draw(d, Stream(33));
    CHECK(arma::accu(j < 10) == d / 2);
  }
}

TEST_CASE(
    "LandmarkSampler: leverage draws are proportional to the exact ridge leverage scores, and uniform ones are not") {
  arma::mat x = 0.1 * random_matrix(12, 2, Stream(34));
  x.row(11) += 5;  // one point apart: its score is about eleven times that of the others
  const auto kernel = gaussian_kernel_matrix<double>(x);
  const RidgeLeverage<double> leverage(kernel);
  const arma::vec scores = leverage.scores(leverage.ridge_for(2));
  const std::vector<double> probabilities = arma::conv_to<std::vector<double>>::from(scores / arma::accu(scores));
  const auto follows = [&](LandmarkPolicy policy) {
    const LandmarkSampler<double> sampler(kernel, policy);
    std::vector<double> counts(12);
    for (std::uint64_t t = 0; t < 20000; ++t) {
      ++counts[sampler.draw(2, Stream(test_seed()).child("leverage law").child(t))(1)];
    }
    return counts_follow(counts, probabilities, kFailure);
  };
  CHECK(follows(LandmarkPolicy::leverage));
  CHECK_FALSE(follows(LandmarkPolicy::uniform));
}

TEST_CASE("LandmarkSampler: given takes the first d of the list, and refuses a list that does not do") {
  const auto kernel = gaussian_kernel_matrix<double>(random_matrix(10, 2, Stream(35)));
  const LandmarkSampler<double> sampler(kernel, LandmarkPolicy::given, {4, 4, 9});
  CHECK(arma::all(sampler.draw(2, Stream(1)) == arma::uvec({4, 4})));
  CHECK(contains(refusal([&] { sampler.draw(4, Stream(1)); }), "length = 3"));
  CHECK(contains(refusal([&] { LandmarkSampler<double>(kernel, LandmarkPolicy::given); }), "list"));
  CHECK(contains(refusal([&] { LandmarkSampler<double>(kernel, LandmarkPolicy::given, {10}).draw(1, Stream(1)); }),
                 "largest = 10"));
  CHECK(contains(refusal([&] { landmark_policy("best"); }), "rpcholesky"));
}

TEST_CASE("sample_weighted: draws are proportional to the weights with replacement, zero weights never come") {
  const arma::vec weights = {0.0, 2.0, 1.0, 0.0, 5.0, 0.0};
  const auto follows = [&](const auto& draw) {
    std::vector<double> counts(6);
    for (std::uint64_t t = 0; t < 20000; ++t) ++counts[draw(Stream(test_seed()).child("weighted").child(t))(1)];
    return counts_follow(counts, {0, 0.25, 0.125, 0, 0.625, 0}, kFailure);
  };
  CHECK(follows([&](const Stream& s) { return sample_weighted(weights, 2, s); }));
  CHECK_FALSE(follows([&](const Stream& s) { return sample_weighted(arma::vec(arma::square(weights)), 2, s); }));
  // The second of two different indices is not 4 five times in eight.
  CHECK_FALSE(follows([&](const Stream& s) { return sample_weighted_without_replacement(weights, 2, s); }));
  CHECK(arma::all(sample_weighted(arma::vec({1e-320, 1e300}), 50, Stream(1)) == 1));
  CHECK(contains(refusal([] { sample_weighted(arma::vec({0, 0}), 1, Stream(1)); }), "positive"));
  CHECK(contains(refusal([] { sample_weighted(arma::vec({1, -1}), 1, Stream(1)); }), ">= 0"));
  CHECK(contains(refusal([] { sample_weighted(arma::vec({1, arma::datum::nan}), 1, Stream(1)); }), "finite"));
}

TEST_CASE_TEMPLATE("pilot_sample: the weights are the column norms of the sampled rows of B times the norms of V", T,
                   float, double) {
  const auto q = random_matrix<T>(30, 4, Stream(36).child("q")), k = random_matrix<T>(30, 4, Stream(36).child("k")),
             v = random_matrix<T>(30, 3, Stream(36).child("v"));
  const Pilot<T> pilot = pilot_sample(q, k, v, 8, Stream(37));
  REQUIRE(pilot.rows.n_elem == 8);
  for (arma::uword i = 0; i < 30; ++i) {
    long double squares = 0, value = 0;
    for (arma::uword a = 0; a < 8; ++a) {
      const arma::uword j = pilot.rows(a);
      long double row_sum = 0, entry = 0;
      for (arma::uword c = 0; c < 30; ++c) {
        long double dot = 0;
        for (arma::uword t = 0; t < 4; ++t)
          dot += static_cast<long double>(q(j, t)) * static_cast<long double>(k(c, t));
        row_sum += std::exp(dot / 2);
        if (c == i) entry = std::exp(dot / 2);
      }
      CHECK(std::abs(static_cast<double>(entry / row_sum) - static_cast<double>(pilot.scores(i, a))) <=
            100 * unit<T>());  // 4 products, an exponential of a score below 20, 30 terms
      squares += entry / row_sum * (entry / row_sum);
    }
    for (arma::uword t = 0; t < 3; ++t) value += static_cast<long double>(v(i, t)) * static_cast<long double>(v(i, t));
    const double expected = static_cast<double>(std::sqrt(squares * value));
    CHECK(std::abs(static_cast<double>(pilot.weights(i)) - expected) <= 200 * unit<T>() * expected);
  }
  CHECK(contains(refusal([&] { pilot_sample(q, k, v, 0, Stream(1)); }), "d_0 >= 1"));
}
