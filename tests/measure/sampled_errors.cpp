#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <croquis/random/draws.hpp>

#include "stats/reference.hpp"
#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Problem<double> some_problem(arma::uword n) {
  return clustered_input(Key(test_seed()).child("sampled errors"), {n, 6, 3.0}, {4, 0.5});
}

// An output that is off by independent numbers of a size that varies from row to row.
arma::mat perturbed(const arma::mat& exact, const Key& draw_key) {
  arma::mat noise(arma::size(exact));
  fill_normal(draw_key, 0, noise.n_elem, noise.memptr());
  noise.each_col() %= arma::linspace(0.1, 1, exact.n_rows);
  return exact + noise;
}

SampledReference sampled_from(const ExactAttention<double>& exact, const arma::uvec& rows) {
  const arma::vec sums = exact.log_row_sums.elem(rows);
  return {exact.output.n_rows, rows, {exact.output.rows(rows), sums}};
}

}  // namespace

TEST_CASE("exact_attention_rows: those rows of the whole, for every target") {
  const Key draw_key = Key(test_seed()).child("rows");
  const Problem<double> plain = gaussian_input(draw_key, {700, 5, 4.0});
  RelativePosition<double> position;
  position.bias.set_size(2 * 700 - 1);
  fill_normal(draw_key.child("bias"), 0, position.bias.n_elem, position.bias.memptr());
  position.causal = true;
  const Problem<double> problem(plain.Q(), plain.K(), plain.V(), {}, position);
  const arma::uvec rows = {0, 1, 255, 256, 300, 511, 512, 699};
  for (const Target target :
       {Target::softmax, Target::kernelized, Target::normalized, Target::softmax_rpe, Target::normalized_rpe}) {
    CAPTURE(name_of(target));
    const ExactAttention<double> all = exact_attention(problem, target),
                                 some = exact_attention_rows(problem, target, rows);
    // The same blocks of keys in the same order; products of other shapes may round differently: (n + p) u of entries
    // that are averages of values.
    const double bound =
        2 * (700 + 5) * 0x1p-53 * arma::abs(problem.V()).max() * std::max(1.0, arma::abs(all.output).max());
    CHECK(distance(some.output, all.output.rows(rows)) <= bound);
    const arma::vec sums = all.log_row_sums.elem(rows);
    CHECK(distance(some.log_row_sums, sums) <= 1e-12);
  }
  // Points far from each other, whose exponents have to come from differences: each query sees its own key.
  arma::mat far = plain.Q();
  far.each_col() %= arma::linspace(0, 1e4, 700);
  const Problem<double> pairs(far, far + 0.1 * plain.K(), plain.V());
  const ExactAttention<double> all = exact_attention(pairs, Target::kernelized),
                               some = exact_attention_rows(pairs, Target::kernelized, rows);
  CHECK(distance(some.output, all.output.rows(rows)) <= 1e-12);
  CHECK(distance(some.log_row_sums, arma::vec(all.log_row_sums.elem(rows))) <= 1e-12);
  CHECK(contains(refusal([&] { exact_attention_rows(problem, Target::softmax, arma::uvec{3, 3}); }), "rows ascend"));
  CHECK(contains(refusal([&] { exact_attention_rows(problem, Target::softmax, arma::uvec{700}); }), "below n"));
  CHECK(contains(refusal([&] { exact_attention_rows(problem, Target::softmax, arma::uvec{}); }), "rows ascend"));
}

TEST_CASE("sampled errors: of all rows they are the errors themselves, and their intervals are points") {
  const Problem<double> problem = some_problem(200);
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  const arma::mat approximate = perturbed(exact, Key(test_seed()).child("noise"));
  const OutputErrors whole = OutputReference(exact).compare(approximate);
  const SampledErrors sampled = SampledReference(problem, Target::softmax, 200, Key(test_seed())).compare(approximate);
  CHECK(sampled.errors.spectral_abs == doctest::Approx(whole.spectral_abs).epsilon(1e-10));
  CHECK(sampled.errors.spectral_rel == doctest::Approx(whole.spectral_rel).epsilon(1e-10));
  CHECK(sampled.errors.frobenius_abs == doctest::Approx(whole.frobenius_abs).epsilon(1e-10));
  CHECK(sampled.errors.frobenius_rel == doctest::Approx(whole.frobenius_rel).epsilon(1e-10));
  CHECK(sampled.errors.max_abs == doctest::Approx(whole.max_abs).epsilon(1e-10));
  CHECK(sampled.spectral_rel.lo == sampled.errors.spectral_rel);
  CHECK(sampled.spectral_rel.hi == sampled.errors.spectral_rel);
  CHECK(sampled.frobenius_rel.lo == sampled.errors.frobenius_rel);
  CHECK(sampled.frobenius_rel.hi == sampled.errors.frobenius_rel);
  CHECK((sampled.rows == 200 && sampled.n == 200));
  // The same 196 rows of 200 and of 19600: s is to sqrt(1 - 196/200) as to sqrt(1 - 196/19600), and the spread shrinks
  // faster, since log(1 / (1 - a x)) is convex in a.
  const arma::uvec rows = SampledReference::draw_rows(200, 196, Key(test_seed()));
  const ExactAttention<double> some = exact_attention_rows(problem, Target::softmax, rows);
  const auto margins = [&](arma::uword n) {
    const SampledErrors e = SampledReference(n, rows, some).compare_rows(approximate.rows(rows));
    CHECK((e.rows == 196 && e.n == n));
    return std::pair(std::log(e.spectral_rel.hi / e.spectral_rel.lo),
                     std::log(e.frobenius_rel.hi / e.frobenius_rel.lo));
  };
  const auto most = margins(200), few = margins(19600);
  const double shrunk = std::sqrt((1 - 0.98) / (1 - 0.01));
  CHECK(most.second == doctest::Approx(shrunk * few.second).epsilon(1e-9));
  CHECK(most.first <= shrunk * few.first * (1 + 1e-9));
}

TEST_CASE("sampled errors: the spectral estimate is in its interval where 128 rows of 64 numbers tell few directions") {
  // Gaussian tokens: the rows of O - O~ have nearly the same norm in all directions, and the norm of a sample is a
  // quarter above that of all rows.
  const Key key = Key(test_seed()).child("gaussian");
  const Problem<double> problem = gaussian_input(key, {4096, 64, 8.0});
  const ExactAttention<double> exact = exact_attention(problem, Target::softmax);
  const arma::mat approximate = arma::repmat(arma::mean(problem.V(), 0), 4096, 1);  // v-mean
  const OutputErrors whole = OutputReference(exact.output).compare(approximate);
  constexpr std::uint64_t samples = 40;
  std::uint64_t hits = 0;
  double plain = 0, estimate = 0;
  for (std::uint64_t s = 0; s < samples; ++s) {
    const arma::uvec rows = SampledReference::draw_rows(4096, 128, key.child("rows").child(s));
    const SampledReference reference = sampled_from(exact, rows);
    const SampledErrors sampled = reference.compare(approximate);
    CHECK(sampled.spectral_rel.contains(sampled.errors.spectral_rel));
    CHECK(sampled.frobenius_rel.contains(sampled.errors.frobenius_rel));
    hits += sampled.spectral_rel.contains(whole.spectral_rel) ? 1 : 0;
    estimate += sampled.errors.spectral_rel / whole.spectral_rel / samples;
    const arma::mat o = exact.output.rows(rows), e = o - approximate.rows(rows);
    plain += arma::norm(e, 2) / arma::norm(o, 2) / whole.spectral_rel / samples;
  }
  // At a coverage of 0.93, fewer hits than this have probability 1e-9.
  CHECK(binomial_at_most(hits, samples, 0.93L) > 1e-9);
  CHECK(plain > 1.15);
  CHECK(std::abs(estimate - 1) < (plain - 1) / 2);
}

TEST_CASE("sampled errors: the square of the Frobenius error is unbiased") {
  // Bernstein: S values with mean m and variance v, at most b from m, have a mean further than t from m with
  // probability 2 exp(-S t^2 / (2 (v + b t / 3))) at most. m, v and b are those of R = 20 of the n known rows.
  const Problem<double> problem = some_problem(300);
  const ExactAttention<double> exact = exact_attention(problem, Target::softmax);
  const arma::mat approximate = perturbed(exact.output, Key(test_seed()).child("noise"));
  const arma::vec squares = arma::sum(arma::square(exact.output - approximate), 1);
  constexpr double n = 300, rows = 20, samples = 4000;
  const double mean = arma::accu(squares), variance = n * n * (1 - rows / n) / rows * arma::var(squares);
  const double most = std::max(n * squares.max() - mean, mean), exponent = std::log(2 / 1e-9);
  const double t =
      (most * exponent / 3 + std::sqrt(most * most * exponent * exponent / 9 + 2 * samples * variance * exponent)) /
      samples;
  double sum = 0;
  for (std::uint64_t s = 0; s < static_cast<std::uint64_t>(samples); ++s) {
    const arma::uvec drawn = SampledReference::draw_rows(300, 20, Key(test_seed()).child("unbiased").child(s));
    sum += std::pow(sampled_from(exact, drawn).compare(approximate).errors.frobenius_abs, 2);
  }
  CHECK(std::abs(sum / samples - mean) <= t);
  CHECK(std::abs(sum / samples * rows / (rows - 1) - mean) > t);  // the mutant: divided by R - 1
}

TEST_CASE("sampled errors: 95 % intervals have the error in 93 of 100 samples at least") {
  // 400 samples. The intervals are asymptotic, so a coverage of 0.93 is asked for in place of 0.95: a test fails with
  // probability 1e-9 when it is that or more.
  const Problem<double> problem = some_problem(2000);
  const ExactAttention<double> exact = exact_attention(problem, Target::softmax);
  const arma::mat approximate = perturbed(exact.output, Key(test_seed()).child("noise"));
  const OutputErrors whole = OutputReference(exact.output).compare(approximate);
  for (const arma::uword count : {32, 200, 1000}) {
    CAPTURE(count);
    std::uint64_t spectral = 0, frobenius = 0, too_short = 0;
    constexpr std::uint64_t samples = 400;
    for (std::uint64_t s = 0; s < samples; ++s) {
      const Key draw_key = Key(test_seed()).child("sample").child(count).child(s);
      const arma::uvec rows = SampledReference::draw_rows(2000, count, draw_key);
      const SampledErrors sampled = sampled_from(exact, rows).compare(approximate);
      spectral += sampled.spectral_rel.contains(whole.spectral_rel) ? 1 : 0;
      frobenius += sampled.frobenius_rel.contains(whole.frobenius_rel) ? 1 : 0;
      const double centre = sampled.errors.frobenius_rel, half = sampled.frobenius_rel.width() / 8;
      too_short += std::abs(centre - whole.frobenius_rel) <= half ? 1 : 0;  // the mutant: a quarter as wide
    }
    CHECK(binomial_at_most(spectral, samples, 0.93L) > 1e-9);
    CHECK(binomial_at_most(frobenius, samples, 0.93L) > 1e-9);
    CHECK(binomial_at_most(too_short, samples, 0.93L) <= 1e-9);
  }
}

TEST_CASE("sampled errors: sizes and outputs that are refused") {
  const Problem<double> problem = some_problem(50);
  const Key draw_key(1);
  CHECK(contains(refusal([&] { SampledReference(problem, Target::softmax, 19, draw_key); }), "20 <= count <= n"));
  CHECK(contains(refusal([&] { SampledReference(problem, Target::softmax, 51, draw_key); }), "20 <= count <= n"));
  const SampledReference reference(problem, Target::softmax, 30, draw_key);
  CHECK(contains(refusal([&] { reference.compare(arma::mat(49, 6)); }), "outputs of one size"));
  arma::mat nan(50, 6, arma::fill::value(arma::datum::nan));
  CHECK(contains(refusal<std::runtime_error>([&] { reference.compare(nan); }), "not finite"));
}
