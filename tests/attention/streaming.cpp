#include <croquis/attention/longformer.hpp>
#include <croquis/attention/streaming.hpp>

#include "support/masks.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// Places of queries and keys on one line: key j stands at j, query i at the last keys or before them.
Dense expected_scores(const Dense& logits, const MaskShape& shape, arma::uword d, arma::uword sinks) {
  const auto w = static_cast<long>(d - sinks), n_k = static_cast<long>(shape.tokens.n_k),
             shift = n_k - static_cast<long>(shape.tokens.n_q), before = shape.causal ? w - 1 : w / 2;
  return masked_softmax(logits, [&](arma::uword i, arma::uword j) {
    const long place = std::max(0L, static_cast<long>(i) + shift), key = static_cast<long>(j);
    if (!may_meet(i, j, shape.tokens, shape.causal)) return false;
    return j < sinks || (key >= place - before && key < place - before + w);
  });
}

}  // namespace

TEST_CASE_TEMPLATE("streaming: softmax over the sinks and the window, in every entry, of all shapes", T, float,
                   double) {
  for (const MaskShape& shape : mask_shapes()) {
    const Key draw_key = Key(test_seed()).child(shape.tokens.n_q);
    const Problem<T> problem = masked_problem<T>(shape, 3, draw_key, true);
    const Dense logits = logits_of(problem.Q(), problem.K());
    for (const arma::uword sinks : {0U, 1U, 4U}) {
      for (const arma::uword d : {5U, 6U, 11U}) {
        const Approximation<T> approximation = streaming(problem, d, {.sinks = sinks});
        check_mask(approximation, problem, expected_scores(logits, shape, d, sinks), mask_entry_error(problem));
        const Dense b = approximation.scores->dense();
        for (arma::uword i = 0; i < b.rows; ++i) {
          arma::uword met = 0;
          for (arma::uword j = 0; j < b.cols; ++j) met += b(i, j) != 0 ? 1 : 0;
          CHECK(met <= d);
        }
      }
    }
    check_mask(streaming(problem, shape.tokens.n_k), problem, masked_exact(problem), mask_entry_error(problem));
  }
}

TEST_CASE_TEMPLATE("streaming: a causal row depends on nothing later, and decoding has the rows of the whole", T, float,
                   double) {
  const MaskShape shape{{90, 90}, true};
  const Problem<T> problem = masked_problem<T>(shape, 3, Key(test_seed()).child("later"));
  arma::Mat<T> q = problem.Q(), k = problem.K(), v = problem.V();
  q.tail_rows(20) *= T(-3);
  k.tail_rows(20) *= T(1000);
  v.tail_rows(20) += T(7);
  const Problem<T> other(q, k, v, {}, problem.position());
  const arma::Mat<T> output = streaming(problem, 12).output;
  CHECK(identical(arma::Mat<T>(streaming(other, 12).output.head_rows(70)), arma::Mat<T>(output.head_rows(70))));
  const Problem<T> last(problem.Q().tail_rows(9), problem.K(), problem.V(), {}, problem.position());
  CHECK(identical(streaming(last, 12).output, arma::Mat<T>(output.tail_rows(9))));
  // The band before the query and g global keys are one mask, whatever they are called.
  CHECK(identical(longformer(problem, 12, {.global = 4}).output, output));
}

TEST_CASE(
    "streaming: flops are those of the keys met; too few keys, d = 0 and d > n are refused; norms of 100 are safe") {
  for (const bool causal : {false, true}) {
    const Problem<double> problem = masked_problem<double>({{60, 60}, causal}, 1, Key(1));
    const double visits = visits_of(streaming(problem, 10)), declared = method_on(problem, "streaming").flops(10);
    if (causal) CHECK(declared == visits * (2 * 9 + 1));  // p = 6, p_v = 3
    CHECK(declared >= visits * (2 * 9 + 1));
    CHECK(declared <= 1.1 * visits * (2 * 9 + 1));  // windows end at the ends
  }
  const Problem<float> problem = random_problem<float>(9, 2, 2, 100, Key(1));
  CHECK(streaming(problem, 5).output.is_finite());
  CHECK(refusal([&] { streaming(problem, 10); }) == "streaming: 1 <= d <= n_k, got d = 10, n_k = 9");
  CHECK(contains(refusal([&] { streaming(problem, 0); }), "got d = 0"));
  CHECK(contains(refusal([&] { streaming(problem, 4); }), "d > sinks"));
  CHECK_FALSE(find_method<float>("streaming").random({}));
}
