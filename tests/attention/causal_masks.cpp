// The causal forms of the masks: against dense references, and that nothing later matters where a row says so.
#include <croquis/attention/bigbird.hpp>
#include <croquis/attention/longformer.hpp>
#include <croquis/attention/reformer.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/attention/top_keys.hpp>

#include "support/masks.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

template <typename T>
Problem<T> causal_problem(arma::uword n, double norm, const Key& draw_key) {
  return masked_problem<T>({{n, n}, true}, norm, draw_key, true);
}

// The same with other tokens from `first` on.
template <typename T>
Problem<T> with_other_end(const Problem<T>& problem, arma::uword first) {
  arma::Mat<T> q = problem.Q(), k = problem.K(), v = problem.V();
  const arma::uword count = q.n_rows - first;
  q.tail_rows(count) *= T(-3);
  k.tail_rows(count) *= T(1000);
  v.tail_rows(count) += T(7);
  return {q, k, v, {}, problem.position()};
}

}  // namespace

TEST_CASE("pattern: later keys are left out, whoever gives them; a query without a key has its own") {
  for (const auto& [n_q, n_k] : {std::pair<arma::uword, arma::uword>{5, 5}, {3, 8}}) {
    Pattern causal({n_q, n_k}, true), full({n_q, n_k}, false);
    std::vector<std::uint32_t> last = {static_cast<std::uint32_t>(n_k - 1), static_cast<std::uint32_t>(n_k - 1)}, none;
    for (arma::uword i = 0; i < n_q; ++i) {
      causal.add(last, true);
      full.add(none);
    }
    for (arma::uword i = 0; i < n_q; ++i) {
      const arma::uword own = n_k - n_q + i;
      CHECK(causal.own(i) == own);
      CHECK(causal.visible(i) == own + 1);
      CHECK(full.visible(i) == n_k);
      CHECK(causal.start(i + 1) - causal.start(i) == 1);
      CHECK(causal.key(causal.start(i)) == own);
      CHECK(causal.multiplicity(causal.start(i)) == (i + 1 < n_q ? 1 : 2));
      CHECK(full.key(full.start(i)) == own);
    }
  }
  const Pattern more({7, 4}, false);  // the first three queries come before all keys
  CHECK(more.own(0) == 0);
  CHECK(more.own(3) == 0);
  CHECK(more.own(6) == 3);
}

TEST_CASE("pattern: the visits of at most d keys a query") {
  for (const MaskShape& shape : mask_shapes()) {
    const Problem<double> problem = masked_problem<double>(shape, 1, Key(1));
    const auto& [n_q, n_k] = shape.tokens;
    for (const arma::uword d : {1U, 2U, 9U, 12U, 23U, 41U, 100U}) {
      double sum = 0;
      for (arma::uword i = 0; i < n_q; ++i) {
        arma::uword keys = 0;
        for (arma::uword j = 0; j < n_k; ++j) keys += may_meet(i, j, shape.tokens, shape.causal) ? 1 : 0;
        sum += static_cast<double>(std::min(d, keys));
      }
      CHECK(most_visits(problem, static_cast<double>(d)) == sum);
    }
  }
}

TEST_CASE_TEMPLATE("causal longformer: the global tokens and a band before the query, d keys where there are as many",
                   T, float, double) {
  for (const arma::uword n : {1U, 33U, 40U}) {
    const Problem<T> problem = causal_problem<T>(std::max<arma::uword>(n, 2), 3, Key(test_seed()).child(n));
    const Dense logits = logits_of(problem.Q(), problem.K());
    for (const arma::uword global : {0U, 1U, 4U}) {
      for (const arma::uword d : {5U, 12U}) {
        if (d > problem.n()) continue;
        const Dense expected = masked_softmax(
            logits, [&](arma::uword i, arma::uword j) { return j <= i && (j < global || j + d - global > i); });
        const Approximation<T> approximation = longformer(problem, d, {.global = global});
        check_mask(approximation, problem, expected, mask_entry_error(problem));
        arma::uword last = 0;
        for (arma::uword j = 0; j < problem.n(); ++j) last += expected(problem.n() - 1, j) > 0 ? 1 : 0;
        CHECK(last == d);
      }
    }
    check_mask(longformer(problem, problem.n()), problem, masked_exact(problem), mask_entry_error(problem));
  }
  const Problem<T> problem = causal_problem<T>(9, 3, Key(1));
  CHECK(contains(refusal([&] { longformer(problem, 4, {.global = 4}); }), "d >= 1 + global in causal attention"));
}

TEST_CASE_TEMPLATE("causal bigbird: first blocks, the window before, random blocks among those between, masked", T,
                   float, double) {
  struct Size {
    arma::uword n, d, block, global, window, random;
  };
  const Size sizes[] = {{60, 30, 3, 2, 3, 5}, {61, 8, 1, 2, 3, 3}, {47, 22, 2, 0, 5, 6}, {64, 41, 4, 3, 1, 6}};
  for (const auto& [n, d, block, global, window, random] : sizes) {
    const Problem<T> problem = causal_problem<T>(n, 2, Key(test_seed()).child(n));
    const Approximation<T> approximation =
        bigbird(problem, d, Key(test_seed()).child(d), {.block = block, .global = global, .window = window});
    const Dense b = approximation.scores->dense();
    std::vector<std::vector<bool>> met(n, std::vector<bool>(n, false));
    for (arma::uword t = 0; t * block < n; ++t) {
      const arma::uword end = std::min(n, (t + 1) * block);  // the last query of the block sees all that is chosen
      arma::uword more = 0, others = 0;
      for (arma::uword s = 0; s <= t; ++s) {
        const bool in = b(end - 1, s * block) != 0, always = s < global || t < global || s + window > t;
        if (always) CHECK(in);
        others += always ? 0 : 1;
        more += !always && in ? 1 : 0;
        for (arma::uword i = t * block; i < end; ++i) {
          for (arma::uword j = s * block; j < std::min(n, (s + 1) * block); ++j) met[i][j] = in && j <= i;
        }
      }
      CHECK(more == std::min(others, random));
    }
    const Dense expected =
        masked_softmax(logits_of(problem.Q(), problem.K()), [&](arma::uword i, arma::uword j) { return met[i][j]; });
    check_mask(approximation, problem, expected, mask_entry_error(problem));
    for (arma::uword i = 0; i < n; ++i) CHECK(std::count(met[i].begin(), met[i].end(), true) <= static_cast<long>(d));
    check_mask(bigbird(problem, n, Key(1)), problem, masked_exact(problem), mask_entry_error(problem));
  }
  const Problem<T> problem = causal_problem<T>(30, 2, Key(1));
  CHECK(contains(refusal([&] { bigbird(problem, 4, Key(1)); }), "block (global + window) <= d"));
}

TEST_CASE_TEMPLATE(
    "causal reformer: the keys that the full form meets, less the later ones; alone, a token meets itself", T, float,
    double) {
  const ThreadCount one(1);  // many small problems
  using Keys = ReformerOptions::Keys;
  for (const ReformerOptions& options : {ReformerOptions{.keys = Keys::shared, .across = true},
                                         {.keys = Keys::own, .across = true},
                                         {.keys = Keys::shared},
                                         {.keys = Keys::own}}) {
    for (const arma::uword n : {2U, 41U, 48U}) {
      for (const arma::uword d : {6U, 13U, 40U}) {
        if (d >= n) continue;
        const Problem<T> problem = causal_problem<T>(n, 2, Key(test_seed()).child(n));
        const Problem<T> full(problem.Q(), problem.K(), problem.V());
        const Dense all = reformer(full, d, Key(test_seed()).child(d), options).scores->dense();
        Dense expected(n, n);
        for (arma::uword i = 0; i < n; ++i) {
          long double sum = 0;
          for (arma::uword j = 0; j <= i; ++j) sum += all(i, j);
          for (arma::uword j = 0; j <= i; ++j) expected(i, j) = sum > 0 ? all(i, j) / sum : 0;
          if (!(sum > 0)) expected(i, i) = 1;
        }
        CHECK(expected(0, 0) == 1);
        // Quotients of entries of the full form: their error over the share of the row that is left, e^-8 at least.
        check_mask(reformer(problem, d, Key(test_seed()).child(d), options), problem, expected,
                   3000 * 2 * mask_entry_error(problem));
      }
    }
  }
  const Problem<T> problem = causal_problem<T>(19, 3, Key(1));
  check_mask(reformer(problem, 19, Key(1), {.keys = Keys::own}), problem, masked_exact(problem),
             mask_entry_error(problem));
}

TEST_CASE_TEMPLATE("causal masks: rows of longformer, bigbird and top-keys depend on nothing later", T, float, double) {
  const Problem<T> problem = causal_problem<T>(150, 2, Key(test_seed()).child("later"));
  const Problem<T> other = with_other_end(problem, 110);
  const auto same = [](const arma::Mat<T>& a, const arma::Mat<T>& b) {
    return identical(arma::Mat<T>(a.head_rows(110)), arma::Mat<T>(b.head_rows(110)));
  };
  CHECK(same(longformer(problem, 20).output, longformer(other, 20).output));
  CHECK(same(bigbird(problem, 20, Key(3)).output, bigbird(other, 20, Key(3)).output));
  for (const auto rest : {TopKeysOptions::Rest::mean, TopKeysOptions::Rest::none}) {
    CHECK(same(top_keys(problem, 20, {.rest = rest}).output, top_keys(other, 20, {.rest = rest}).output));
  }
}
