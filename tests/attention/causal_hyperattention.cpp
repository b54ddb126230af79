// The causal form of hyperattention: against a dense reference that finds the rectangle of every pair, and its means.
#include <croquis/attention/causal_halves.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/hyperattention.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <map>

#include "support/approximations.hpp"
#include "support/hyperattention.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

const HyperattentionOptions kHalvedShared = {HyperattentionOptions::Values::shared, BucketOrder::gray, 5, true};
const HyperattentionOptions kHalved[] = {HyperattentionOptions{}, HyperattentionOptions::code(), kHalvedShared};

template <typename T>
Problem<T> halved_problem(TokenAlignment shape, double norm, const Key& draw_key) {
  return random_rectangle<T>(shape.n_q, shape.n_k, 6, 3, norm, draw_key, {.bias = {}, .causal = true});
}

// The tokens first ... first + count - 1, of which those from `middle` on attend to those before it.
struct Halving {
  arma::uword first, middle, end;
};

// Where query token i and key token j < i part, if only parts of two or more tokens are halved; all tokens before
// `before` are keys alone.
Halving parting(arma::uword i, arma::uword j, arma::uword before, arma::uword n) {
  if (j < before) return {0, before, n};
  arma::uword first = before, end = n;
  for (;;) {
    const arma::uword middle = first + (end - first + 1) / 2;
    if (i >= middle && j < middle) return {first, middle, end};
    (i < middle ? end : first) = middle;
  }
}

// All pairs, of at most c keys a rectangle, counted query by query.
double pairs_by_query(TokenAlignment shape, arma::uword c) {
  double pairs = 0;
  for (arma::uword i = shape.n_k - shape.n_q; i < shape.n_k; ++i) {
    std::map<arma::uword, arma::uword> keys;  // of the rectangle that ends at a token
    for (arma::uword j = 0; j < i; ++j) ++keys[parting(i, j, shape.n_k - shape.n_q, shape.n_k).middle];
    pairs += 1;
    for (const auto& [middle, count] : keys) pairs += static_cast<double>(std::min(c, count));
  }
  return pairs;
}

// The estimates of A of the causal problem, for c keys a rectangle.
template <typename T>
HyperReference halved_reference(const Problem<T>& problem, arma::uword c, const HyperattentionOptions& options,
                                const Key& draw_key) {
  const arma::uword n_q = problem.n_q(), n = problem.n_k(), before = n - n_q;
  HyperReference whole(n_q, n);
  const Dense logits = logits_of(problem.Q(), problem.K());
  std::map<arma::uword, HyperReference> rectangles;
  for (arma::uword i = before; i < n; ++i) {
    for (arma::uword j = 0; j <= i; ++j) {
      const Halving at = j < i ? parting(i, j, before, n) : Halving{i, i, i};
      if (at.middle - at.first <= c) {
        whole.of_sums(i - before, j) = whole.of_values(i - before, j) = std::exp(logits(i - before, j));
        continue;
      }
      if (rectangles.count(at.middle) == 0) {
        const Problem<T> part(problem.Q().rows(at.middle - before, at.end - 1 - before),
                              problem.K().rows(at.first, at.middle - 1), problem.V().rows(at.first, at.middle - 1));
        rectangles.emplace(at.middle,
                           HyperReference(part, c, options, draw_key, draw_key.child("keys").child(at.middle),
                                          draw_key.child("values").child(at.middle)));
      }
      const HyperReference& part = rectangles.at(at.middle);
      whole.of_sums(i - before, j) = part.of_sums(i - at.middle, j - at.first);
      whole.of_values(i - before, j) = part.of_values(i - at.middle, j - at.first);
    }
  }
  return whole;
}

}  // namespace

TEST_CASE("causal halves: every pair once, and the pairs are those counted query by query") {
  for (const TokenAlignment shape : {TokenAlignment{1, 1}, {2, 2}, {13, 13}, {32, 32}, {57, 57}, {1, 9}, {11, 40}}) {
    CAPTURE(shape.n_q);
    double last = 0;
    for (const arma::uword c : {1U, 2U, 3U, 7U, 16U, 60U}) {
      CAPTURE(c);
      const CausalHalves halves = causal_halves(shape, c);
      arma::umat times(shape.n_q, shape.n_k, arma::fill::zeros);
      for (const CausalHalves::Leaf& leaf : halves.leaves) {
        for (arma::uword i = leaf.first_query; i < leaf.first_query + leaf.count; ++i) {
          for (arma::uword j = leaf.first_query; j <= i; ++j) ++times(i, shape.query(j));
        }
      }
      for (const std::vector<CausalRectangle>& level : halves.levels) {
        arma::uvec queries(shape.n_q, arma::fill::zeros);
        for (const CausalRectangle& part : level) {
          queries.subvec(part.first_query, part.first_query + part.queries - 1) += 1;
          times.submat(part.first_query, part.first_key, arma::size(part.queries, part.keys)) += 1;
        }
        CHECK(queries.max() == 1);
      }
      for (arma::uword i = 0; i < shape.n_q; ++i) {
        for (arma::uword j = 0; j < shape.n_k; ++j) CHECK(times(i, j) == (j < shape.causal_keys(i) ? 1 : 0));
      }
      const double pairs = pairs_of_halves(shape, c);
      CHECK(pairs == pairs_by_query(shape, c));
      CHECK(pairs >= last);
      last = pairs;
      CHECK(pairs_of_halves(shape, keys_of_halves(shape, pairs, 1)) == pairs);
      CHECK(keys_of_halves(shape, pairs, 1) >= std::min<arma::uword>(c, shape.n_k));
    }
    CHECK(keys_of_halves(shape, 0, 3) == 3);
  }
  CHECK(contains(refusal([] { causal_halves({3, 2}, 1); }), "n_q = 3, n_k = 2"));
}

TEST_CASE_TEMPLATE("causal hyperattention: every entry is that of its rectangle's block and samples, or exact", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("halves");
  for (const TokenAlignment shape : {TokenAlignment{45, 45}, {9, 40}, {1, 30}, {140, 140}}) {
    const Problem<T> problem = halved_problem<T>(shape, 3, draw_key);
    CAPTURE(shape.n_q);
    for (const HyperattentionOptions& options : kHalved) {
      const arma::uword fewest = options.values == HyperattentionOptions::Values::norm ? 3 : 2;
      // At 140 tokens leaves of 70: more queries than are computed at once.
      for (const arma::uword d :
           shape.n_q == 140 ? std::vector<arma::uword>{139} : std::vector<arma::uword>{3, 8, 13, 25}) {
        CAPTURE(d);
        double budget = 0;
        for (arma::uword i = 0; i < shape.n_q; ++i) budget += static_cast<double>(std::min(d, shape.causal_keys(i)));
        arma::uword c = fewest;
        while (c < shape.n_k && pairs_by_query(shape, c + 1) <= budget) ++c;
        const Approximation<T> approximation = hyperattention(problem, d, draw_key.child(d), options);
        const Dense expected = halved_reference(problem, c, options, draw_key.child(d)).scores();
        const double size = std::max(1.0, static_cast<double>(largest_entry_of(expected)));
        const double entry = size * (2 * hyper_entry_error(problem) + double(shape.n_k) * 8 * unit<T>());
        CHECK(distance(approximation.scores->dense(), expected) <= entry);
        CHECK(distance(approximation.output, expected * problem.V()) <=
              double(shape.n_k) * entry * static_cast<double>(largest_entry_of(problem.V())));
        CHECK(interface_gap(approximation, problem) <= 4 * double(shape.n_k) * unit<T>() * size);
        if (fewest == 2) CHECK(row_sum_gap(approximation) <= 2 * double(shape.n_k) * unit<T>());
        double pairs = pairs_by_query(shape, c), hash = 2.0 * double(options.directions) * 6;
        for (const CausalHalves::Leaf& leaf : causal_halves(shape, c).leaves) {
          for (arma::uword i = 0; i < leaf.count; ++i)  // 64 queries have the keys of the last of them
            pairs += static_cast<double>(std::min((i / 64 + 1) * 64, leaf.count) - (i + 1));
        }
        CHECK(
            method_on(problem, "hyperattention",
                      {{"values", fewest == 2 ? "shared" : "norm"}, {"directions", std::to_string(options.directions)}})
                .flops(double(d)) == pairs * (2 * 9 + 1) + hash * double(shape.n_q + shape.n_k));
      }
    }
    const Dense exact = exact_scores(problem, Target::softmax).dense();
    CHECK(distance(hyperattention(problem, shape.n_k, draw_key).scores->dense(), exact) <= 1e3 * unit<T>());
    double attended = 0;
    for (arma::uword i = 0; i < shape.n_q; ++i) attended += static_cast<double>(shape.causal_keys(i));
    CHECK(method_on(problem, "hyperattention").flops(double(shape.n_k)) == attended * (2 * 9 + 1));
  }
}

TEST_CASE("causal hyperattention: row sums and the sums of the output are unbiased, and wrong weights are seen") {
  const ThreadCount one(1);  // many small problems
  constexpr arma::uword n = 10;
  constexpr std::uint64_t draws = 8000;
  const Problem<double> plain = random_problem<double>(n, 3, 2, 0.8, Key(6), 1);
  const Problem<double> problem(plain.Q(), plain.K(), plain.V(), {}, {.bias = {}, .causal = true});
  Dense a = logits_of(problem.Q(), problem.K());
  double largest = 0;
  arma::vec exact_sums(n, arma::fill::zeros);
  for (arma::uword i = 0; i < n; ++i) {
    for (arma::uword j = 0; j < n; ++j) {
      a(i, j) = j <= i ? std::exp(a(i, j)) : 0.0L;
      exact_sums(i) += static_cast<double>(a(i, j));
      largest = std::max(largest, static_cast<double>(a(i, j)));
    }
  }
  const Dense exact = a * problem.V();
  // 10 tokens are halves of 5, with c = 2 halves of those of 3 and 2: rectangles of 5 and 3 keys, with c = 3 of 5
  // alone.
  const std::vector<double> rectangles[] = {{5, 3}, {5}};
  for (const bool shared : {true, false}) {
    const HyperattentionOptions options = shared ? kHalvedShared : HyperattentionOptions{};
    const arma::uword d = shared ? 4 : 6;
    arma::vec sums(n, arma::fill::zeros);
    arma::mat outputs(n, 2, arma::fill::zeros);
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const auto approximation = hyperattention(problem, d, Key(test_seed()).child("halved").child(draw), options);
      const arma::vec found = approximation.denominators->values % arma::exp(approximation.denominators->log_scale);
      sums += found / double(draws);
      outputs += arma::diagmat(found) * approximation.output / double(draws);
    }
    // Given the hash, a rectangle of h keys adds one sampled key, a term within [0, h max a]; terms of the output are
    // within +-max a |V| / p_l, 1 / p_l = sum over the rectangle of ||V||^2 / ||V_l||^2. Hoeffding for the sum of all
    // draws and rectangles: off by more than t with probability 2 exp(-2 N t^2 / sum of range^2), 1e-9 over all.
    const auto allowed = [&](double squares) {
      return std::sqrt(squares * std::log(2 * 2 * 3 * double(n) / kFailure) / (2 * double(draws)));
    };
    double of_sums = 0, of_values = 0;
    for (const double h : rectangles[shared ? 0 : 1]) {
      of_sums += std::pow(h * largest, 2);
      double value = h * arma::abs(problem.V()).max();
      if (!shared) {
        const arma::vec norms = arma::sum(arma::square(problem.V().head_rows(5)), 1);
        value = 0;
        for (arma::uword l = 0; l < 5; ++l) {
          value = std::max(value, arma::abs(problem.V().row(l)).max() * arma::accu(norms) / norms(l));
        }
      }
      of_values += std::pow(2 * largest * value, 2);
    }
    CHECK(distance(sums, exact_sums) <= allowed(of_sums));
    CHECK(allowed(of_sums) < 0.5);  // a sampled key of the block that counts twice would be 1 to 2 times 0.6 too much
    CHECK(distance(outputs, exact) <= allowed(of_values));
    CHECK(allowed(of_values) < 0.3 * static_cast<double>(largest_entry_of(exact)));
  }
}

TEST_CASE("causal hyperattention: alpha and kappa are the largest of the rectangles'") {
  const Problem<double> problem = halved_problem<double>({16, 20}, 2, Key(test_seed()).child("halved condition"));
  const arma::uword d = 5, c = keys_of_halves(problem.tokens(), most_visits(problem, 5), 2);
  CHECK(c == 2);
  SamplingCondition largest{0, 0};
  for (const std::vector<CausalRectangle>& level : causal_halves(problem.tokens(), c).levels) {
    for (const CausalRectangle& at : level) {
      if (at.keys <= c) continue;
      const Problem<double> part(problem.Q().rows(at.first_query, at.first_query + at.queries - 1),
                                 problem.K().rows(at.first_key, at.first_key + at.keys - 1),
                                 problem.V().rows(at.first_key, at.first_key + at.keys - 1));
      const SamplingCondition found = hyperattention_condition(part, c, Key(3), kHalvedShared);
      largest.alpha = std::max(largest.alpha, found.alpha);
      largest.kappa = std::max(largest.kappa, found.kappa);
    }
  }
  const SamplingCondition found = hyperattention_condition(problem, d, Key(3), kHalvedShared);
  CHECK(found.alpha == doctest::Approx(largest.alpha).epsilon(1e-10));
  CHECK(found.kappa == doctest::Approx(largest.kappa).epsilon(1e-10));
  CHECK(largest.kappa > 1);
  CHECK(std::isnan(hyperattention_condition(problem, 20, Key(3), kHalvedShared).alpha));
}

TEST_CASE("pairs_of_halves: no keys, and none at once, are refused") {
  CHECK(pairs_of_halves({5, 5}, 1) > 0);
  CHECK(contains(refusal([] { (void)pairs_of_halves({5, 5}, 0); }), "pairs_of_halves: keys >= 1, at_once >= 1"));
  CHECK(contains(refusal([] { (void)pairs_of_halves({5, 5}, 2, 0); }), "got keys = 2, at_once = 0, n_q = 5, n_k = 5"));
  CHECK(contains(refusal([] { (void)pairs_of_halves({5, 4}, 2); }), "no more queries than keys"));
}
