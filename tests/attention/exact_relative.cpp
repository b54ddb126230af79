// Exact attention with unit rows, relative bias and causality.
#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>

#include <cmath>

#include "support/attention.hpp"
#include "support/capture.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/relative.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr Target kRelativeTargets[] = {Target::softmax_rpe, Target::normalized_rpe};

template <typename T>
Problem<T> at_position(const Problem<T>& problem, RelativePosition<T> position) {
  return {problem.Q(), problem.K(), problem.V(), {}, std::move(position)};
}

template <typename T>
double largest_bias(const RelativePosition<T>& position) {
  double largest = 0;
  for (const T b : position.bias) {
    if (std::isfinite(b)) largest = std::max(largest, static_cast<double>(std::abs(b)));
  }
  return largest;
}

// softmax_error with log-scores as large as the logits and the biases together; unit rows round by p + 6 u, as the
// scaling.
template <typename T>
double relative_entry_error(const Problem<T>& problem, Target target) {
  const double logit = has_unit_rows(target) ? 1 : largest_logit(problem);
  const auto n = static_cast<double>(problem.n_k()), p = static_cast<double>(problem.p());
  return 2 * softmax_error<T>(n, p, logit + largest_bias(problem.position()));
}

template <typename T>
void check_exact(const Problem<T>& problem) {
  for (const Target target : kRelativeTargets) {
    const Dense logits = relative_logits(problem, has_unit_rows(target)), scores = softmax_of(logits);
    const std::vector<long double> log_sums = log_sums_of(logits);
    const double error = relative_entry_error(problem, target),
                 n = static_cast<double>(std::max(problem.n_q(), problem.n_k()));
    const double value = static_cast<double>(largest_entry_of(problem.V()));
    const ExactAttention<T> exact = exact_attention(problem, target);
    CHECK(distance(exact.output, scores * problem.V()) <= (error + n * unit<T>()) * value);
    for (arma::uword i = 0; i < problem.n_q(); ++i) {
      REQUIRE(std::abs(static_cast<double>(exact.log_row_sums(i) - log_sums[i])) <=
              error + (n + 4 * std::abs(static_cast<double>(log_sums[i]))) * unit<T>());
    }
    const LinearOperator<T> op = exact_scores(problem, target);
    const arma::Mat<T> x = random_matrix<T>(problem.n_k(), 2, Key(7)), y = random_matrix<T>(problem.n_q(), 2, Key(7));
    const double size = error + n * unit<T>();
    CHECK(distance(op.apply(x), scores * x) <= size * static_cast<double>(largest_entry_of(x)));
    const double transposed_size =
        size * static_cast<double>(largest_entry_of(y)) * largest_row_sum(transposed(scores));
    CHECK(distance(op.apply_transposed(y), transposed(scores) * y) <= transposed_size);
    CHECK(distance(exact_transposed_product<T>(problem, target, exact.row_sums, y), transposed(scores) * y) <=
          2 * transposed_size);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("exact attention with a bias: output, row sums and products are those of the definition", T, float,
                   double) {
  for (const arma::uword n : {1U, 5U, 257U, 700U}) {
    const Key draw_key = Key(test_seed()).child(n);
    const Problem<T> problem = random_problem<T>(n, 8, 3, 4, draw_key);
    for (const bool causal : {false, true}) {
      CAPTURE(n);
      CAPTURE(causal);
      check_exact(at_position(problem, random_position<T>(n, 1, causal, 2, draw_key.child("bias"))));
    }
    check_exact(at_position(problem, RelativePosition<T>{{}, true, 1}));
  }
}

TEST_CASE_TEMPLATE("exact attention with a bias: other numbers of queries than of keys, aligned to the last key", T,
                   float, double) {
  for (const auto& [n_q, n_k] :
       {std::pair<arma::uword, arma::uword>{1, 9}, {1, 700}, {40, 600}, {130, 257}, {9, 1}, {600, 40}}) {
    CAPTURE_BINDING(n_q);
    CAPTURE_BINDING(n_k);
    const Key draw_key = Key(test_seed()).child(n_q);
    const arma::uword n = std::max(n_q, n_k);
    const bool masks = n_q <= n_k;
    check_exact(random_rectangle<T>(n_q, n_k, 8, 3, 4, draw_key));
    check_exact(random_rectangle<T>(n_q, n_k, 8, 3, 4, draw_key, random_position<T>(n, 1, masks, 2, draw_key, masks)));
    if (masks) check_exact(random_rectangle<T>(n_q, n_k, 8, 3, 4, draw_key, RelativePosition<T>{{}, true, 1}));
  }
  const Key draw_key = Key(test_seed()).child("image");
  check_exact(random_rectangle<T>(20, 48, 8, 3, 4, draw_key, random_position<T>(48, 6, true, 2, draw_key)));
}

TEST_CASE_TEMPLATE("exact attention with a bias: images", T, float, double) {
  for (const auto& [n, height] : {std::pair<arma::uword, arma::uword>{12, 3}, {600, 24}}) {
    const Problem<T> problem = random_problem<T>(n, 8, 3, 4, Key(test_seed()).child(n));
    for (const bool causal : {false, true}) {
      check_exact(at_position(problem, random_position<T>(n, height, causal, 2, Key(test_seed()).child("image"))));
    }
  }
}

TEST_CASE_TEMPLATE("exact attention with a bias: a band far from whole blocks of keys, and biases of any size", T,
                   float, double) {
  // Keys more than three tokens away count for nothing, so that for most queries the first block of keys does.
  const arma::uword n = 1100;
  const Problem<T> problem = random_problem<T>(n, 4, 2, 2, Key(test_seed()).child("band"));
  RelativePosition<T> band;
  band.bias.set_size(2 * n - 1);
  band.bias.fill(-std::numeric_limits<T>::infinity());
  band.bias.subvec(n - 4, n + 2).zeros();
  check_exact(at_position(problem, band));
  for (const T size : {T(1e5), T(1e15)}) {
    RelativePosition<T> huge = random_position<T>(n, 1, false, 1, Key(3));
    huge.bias *= size;
    for (const Target target : kRelativeTargets) {
      const ExactAttention<T> exact = exact_attention(at_position(problem, huge), target);
      CHECK(exact.output.is_finite());
      CHECK(exact.log_row_sums.is_finite());
    }
  }
}

TEST_CASE_TEMPLATE("exact attention: without bias and causality the targets are softmax and normalized", T, float,
                   double) {
  const Problem<T> problem = random_problem<T>(90, 8, 3, 4, Key(test_seed()).child("zero"));
  const Problem<T> zero = at_position(problem, RelativePosition<T>{arma::Col<T>(179, arma::fill::zeros), false, 1});
  const auto output = [](const Problem<T>& p, Target target) { return exact_attention(p, target).output; };
  CHECK(identical(output(problem, Target::softmax_rpe), output(problem, Target::softmax)));
  CHECK(identical(output(problem, Target::normalized_rpe), output(problem, Target::normalized)));
  CHECK(identical(output(zero, Target::softmax_rpe), output(problem, Target::softmax)));
  // The other targets do not see a bias; a causal mask they do (causal.cpp).
  const Problem<T> biased = at_position(problem, random_position<T>(90, 1, false, 2, Key(1)));
  for (const Target target : {Target::softmax, Target::kernelized, Target::normalized}) {
    CHECK(identical(output(biased, target), output(problem, target)));
  }
  CHECK(distance(output(biased, Target::softmax_rpe), output(problem, Target::softmax)) > 0.1);
}

TEST_CASE_TEMPLATE("exact attention: a zero row has equal scores before the bias, and lengths do not count", T, float,
                   double) {
  Problem<T> problem = random_problem<T>(20, 4, 2, 1, Key(test_seed()).child("rows"));
  arma::Mat<T> q = problem.Q(), k = problem.K();
  q.row(3).zeros();
  k.row(5).zeros();
  check_exact(at_position(Problem<T>(q, k, problem.V()), random_position<T>(20, 1, false, 1, Key(2))));
  const arma::Mat<T> expected = exact_attention(Problem<T>(q, k, problem.V()), Target::normalized).output;
  // Powers of two change no digit.
  const Problem<T> longer(T(1024) * q, k / T(4096), problem.V());
  CHECK(distance(exact_attention(longer, Target::normalized).output, expected) <=
        4 * relative_entry_error(longer, Target::normalized) * static_cast<double>(largest_entry_of(problem.V())));
  // Rows as long as a problem takes them, 4 entries each, and as short as there are.
  const T huge = T(0.49) * static_cast<T>(largest_row_norm<T>(20)), tiny = std::numeric_limits<T>::min() * T(64);
  CHECK(exact_attention(Problem<T>(huge * arma::sign(q), tiny * arma::sign(k), problem.V()), Target::normalized)
            .output.is_finite());
}

TEST_CASE_TEMPLATE("exact attention: padding cuts the bias to the distances that are left, to the bit", T, float,
                   double) {
  const Problem<T> whole = random_problem<T>(60, 4, 2, 3, Key(test_seed()).child("padding"));
  const RelativePosition<T> position = random_position<T>(60, 1, true, 2, Key(test_seed()).child("b"));
  for (const arma::uword m : {1U, 41U}) {
    const Problem<T> padded(whole.Q(), whole.K(), whole.V(), m, position);
    RelativePosition<T> shorter = position;
    shorter.bias = position.bias.subvec(60 - m, 60 + m - 2);
    const Problem<T> cut_one(whole.Q().head_rows(m), whole.K().head_rows(m), whole.V().head_rows(m), {}, shorter);
    for (const Target target : kRelativeTargets) {
      CHECK(identical(exact_attention(padded, target).output, exact_attention(cut_one, target).output));
    }
  }
  CHECK(contains(refusal([&] {
                   Problem<T>(whole.Q(), whole.K(), whole.V(), 41, RelativePosition<T>{{}, true, 6});
                 }),
                 "an image without padding"));
  CHECK(contains(refusal([&] {
                   Problem<T>(whole.Q(), whole.K(), whole.V(), 41, {arma::Col<T>(81), false, 1});
                 }),
                 "2n - 1 = 119 entries for n = 60 tokens, got entries = 81"));
}

TEST_CASE_TEMPLATE("exact attention with a bias: causal rows do not see later tokens, and rows of B sum to 1", T, float,
                   double) {
  const arma::uword n = 700;
  const Problem<T> problem = random_problem<T>(n, 8, 3, 4, Key(test_seed()).child("causal"));
  arma::Mat<T> k = problem.K(), v = problem.V();
  k.tail_rows(200) *= T(3);
  v.tail_rows(200) *= T(100);
  const RelativePosition<T> position = random_position<T>(n, 1, true, 2, Key(5));
  const Problem<T> later(problem.Q(), k, v, {}, position), same = at_position(problem, position);
  for (const Target target : kRelativeTargets) {
    const arma::Mat<T> a = exact_attention(same, target).output, b = exact_attention(later, target).output;
    CHECK(identical(arma::Mat<T>(a.head_rows(n - 200)), arma::Mat<T>(b.head_rows(n - 200))));
    CHECK(distance(arma::Mat<T>(a.tail_rows(1)), arma::Mat<T>(b.tail_rows(1))) > 1);
    const arma::Mat<T> ones(n, 1, arma::fill::ones);
    CHECK(distance(exact_scores(same, target).apply(ones), ones) <= 2 * (static_cast<double>(n) + 10) * unit<T>());
  }
}

TEST_CASE_TEMPLATE("exact attention with a bias: the same bits for any number of threads", T, float, double) {
  const Problem<T> problem =
      at_position(random_problem<T>(700, 16, 8, 4, Key(6)), random_position<T>(700, 1, true, 2, Key(8)));
  for (const Target target : kRelativeTargets) {
    const ThreadCount one(1);
    const arma::Mat<T> expected = exact_attention(problem, target).output;
    for (const int team : {2, 4}) {
      const ThreadCount count(team);
      CHECK(identical(exact_attention(problem, target).output, expected));
    }
  }
}

TEST_CASE("targets: names") {
  CHECK(name_of(Target::normalized) == "normalized");
  CHECK(name_of(Target::softmax_rpe) == "softmax-rpe");
  CHECK(name_of(Target::normalized_rpe) == "normalized-rpe");
}
