#include <croquis/attention/reformer.hpp>
#include <croquis/random/normal_matrix.hpp>

#include "support/approximations.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;
using Keys = ReformerOptions::Keys;

namespace {

struct Buckets {
  std::vector<arma::uword> of_row;
  bool clear = true;  // none of them is decided by rounding
};

// Bucket of every row: the largest of x.r_1, ..., x.r_b, -x.r_1, ..., -x.r_b, the first of equals; in long double. It
// is clear where the largest leads by more than what sums of p products in T may be off, p u sum |x_c r_c| each; a zero
// row has zeros in T too.
template <typename T>
Buckets buckets_of(const Dense& x, const Dense& rotation) {
  Buckets buckets{std::vector<arma::uword>(x.rows)};
  const auto size_of = [](Dense m) {
    for (long double& e : m.entries) e = std::fabs(e);
    return m;
  };
  const Dense projected = x * rotation, sizes = size_of(x) * size_of(rotation);
  const arma::uword half = rotation.cols;
  const long double rounding = static_cast<long double>(x.cols + 1) * unit<T>();
  for (arma::uword i = 0; i < x.rows; ++i) {
    const auto value = [&](arma::uword c) { return c < half ? projected(i, c) : -projected(i, c - half); };
    arma::uword& best = buckets.of_row[i];
    for (arma::uword c = 1; c < 2 * half; ++c) {
      if (value(c) > value(best)) best = c;
    }
    for (arma::uword c = 0; c < 2 * half; ++c) {
      const long double off = rounding * (sizes(i, best % half) + sizes(i, c % half));
      if (c != best && off > 0 && value(best) - value(c) <= off) buckets.clear = false;
    }
  }
  return buckets;
}

// Place of every token when sorted by bucket and position, by counting.
std::vector<arma::uword> ranks_of(const std::vector<arma::uword>& bucket) {
  std::vector<arma::uword> rank(bucket.size(), 0);
  for (std::size_t i = 0; i < bucket.size(); ++i) {
    for (std::size_t j = 0; j < bucket.size(); ++j) {
      if (bucket[j] < bucket[i] || (j < i && bucket[j] == bucket[i])) ++rank[i];
    }
  }
  return rank;
}

struct Meetings {
  std::vector<std::vector<int>> times;
  bool clear = true;  // no bucket is decided by rounding
};

// In how many rounds query i meets key j: in its chunk or the one before and, unless across, in its bucket; where there
// is none of its bucket in any round, all that are in reach.
template <typename T>
Meetings meetings(const Problem<T>& problem, arma::uword d, const Key& draw_key, const ReformerOptions& options) {
  const arma::uword n = problem.n(), c = d / (2 * options.rounds), m = (n + c - 1) / c;
  arma::uword half = 1;
  while (2 * (half + 1) * c <= n + c) ++half;  // the largest b with 2 b c <= n + c: about n / c buckets
  std::vector<std::vector<int>> times(n, std::vector<int>(n, 0)), reached = times;
  bool clear = true;
  for (arma::uword t = 0; t < options.rounds; ++t) {
    const auto rotation = normal_matrix<T>(draw_key.child("rotation").child(t), problem.p(), half);
    const Buckets of_queries = buckets_of<T>(problem.Q(), rotation),
                  of_keys = options.keys == Keys::own ? buckets_of<T>(problem.K(), rotation) : of_queries;
    clear = clear && of_queries.clear && of_keys.clear;
    const std::vector<arma::uword>&of_query = of_queries.of_row, &of_key = of_keys.of_row;
    const std::vector<arma::uword> query = ranks_of(of_query), key = ranks_of(of_key);
    for (arma::uword i = 0; i < n; ++i) {
      for (arma::uword j = 0; j < n; ++j) {
        const arma::uword ahead = (query[i] / c + m - key[j] / c) % m;
        if (ahead > 1) continue;
        ++reached[i][j];
        if (of_query[i] == of_key[j]) ++times[i][j];
      }
    }
  }
  for (arma::uword i = 0; i < n; ++i) {
    if (options.across || *std::max_element(times[i].begin(), times[i].end()) == 0) times[i] = reached[i];
  }
  return {times, clear};
}

// Logits of the model: shared keys have length 1, own keys are K.
template <typename T>
Dense model_logits(const Problem<T>& problem, Keys keys) {
  Dense k = problem.K();
  if (keys == Keys::shared) {
    k = problem.Q();
    for (arma::uword j = 0; j < k.rows; ++j) {
      long double squares = 0;
      for (arma::uword c = 0; c < k.cols; ++c) squares += k(j, c) * k(j, c);
      for (arma::uword c = 0; c < k.cols; ++c) k(j, c) /= squares > 0 ? std::sqrt(squares) : 1.0L;
    }
  }
  return logits_of(problem.Q(), k);
}

template <typename T>
Dense expected_scores(const Problem<T>& problem, std::vector<std::vector<int>> times, const ReformerOptions& options) {
  const arma::uword n = problem.n();
  Dense logits = model_logits(problem, options.keys);
  for (arma::uword i = 0; i < n; ++i) {
    bool company = false;
    for (arma::uword j = 0; j < n; ++j) company = company || (j != i && times[i][j] > 0);
    if (options.keys == Keys::shared && company) times[i][i] = 0;
    for (arma::uword j = 0; j < n; ++j) {
      if (options.count_rounds && times[i][j] > 1) logits(i, j) += std::log(static_cast<long double>(times[i][j]));
    }
  }
  return masked_softmax(logits, [&](arma::uword i, arma::uword j) { return times[i][j] > 0; });
}

template <typename T>
double bound(const Problem<T>& problem) {
  // Keys of length 1 are rounded by p u; a logarithm of a count by 2 u.
  const double s = largest_row(problem.Q()) / std::sqrt(static_cast<double>(problem.p()));
  return entry_error(problem) + 2 * (2 * static_cast<double>(problem.p()) * s + 4) * unit<T>();
}

}  // namespace

TEST_CASE_TEMPLATE("reformer: buckets, chunks, the one before and all rounds in one softmax, in every entry", T, float,
                   double) {
  const ThreadCount one(1);  // many small problems
  const Key draw_key = Key(test_seed()).child("formula");
  std::vector<ReformerOptions> all;
  for (const Keys keys : {Keys::shared, Keys::own}) {
    for (const bool count : {false, true}) {
      for (const bool across : {false, true}) {
        for (const arma::uword rounds : {1U, 2U, 3U}) all.push_back({keys, rounds, count, across});
      }
    }
  }
  int cases = 0, skipped = 0;
  for (const ReformerOptions& options : all) {
    for (const arma::uword n : {2U, 41U, 48U}) {
      for (const arma::uword d : {6U, 13U, 40U}) {
        if (d >= n || d < 2 * options.rounds) continue;
        const Problem<T> problem = awkward_problem<T>(n, 6, 3, 3, draw_key);
        const auto [times, clear] = meetings(problem, d, draw_key.child(d), options);
        ++cases;
        if (!clear) {
          ++skipped;
          continue;
        }
        const Approximation<T> approximation = reformer(problem, d, draw_key.child(d), options);
        check_scores(approximation, problem, expected_scores(problem, times, options), bound(problem));
        CHECK(row_sum_gap(approximation) <= 2 * static_cast<double>(n) * unit<T>());
        for (arma::uword i = 0; i < n; ++i) {
          CHECK(std::count_if(times[i].begin(), times[i].end(), [](int t) { return t > 0; }) <= static_cast<long>(d));
        }
      }
    }
  }
  // The largest of up to 48 projections leads by less than 14 u of their sizes with a probability of about 1e-5 in
  // float, and one of at most 288 tokens that are hashed for an n, d and number of rounds with 3e-3. There are 18 of
  // these, of independent rotations, with 8 cases each: more than half of the cases are left out with C(18, 9) .003^9 <
  // 1e-17.
  CHECK(skipped <= cases / 2);
}

TEST_CASE_TEMPLATE("reformer: for d = n all meet; own keys give B, shared ones softmax(q_i.q_j / |q_j|) without j = i",
                   T, float, double) {
  for (const arma::uword n : {1U, 2U, 19U}) {
    const Problem<T> problem = random_problem<T>(n, 5, 3, 3, Key(test_seed()).child(n));
    const Approximation<T> own = reformer(problem, n, Key(1), {.keys = Keys::own});
    check_scores(own, problem, scores_of(problem.Q(), problem.K(), Target::softmax), bound(problem));
    const Approximation<T> shared = reformer(problem, n, Key(1));
    const std::vector<std::vector<int>> all(n, std::vector<int>(n, 1));
    check_scores(shared, problem, expected_scores(problem, all, {}), bound(problem));
    if (n == 1) CHECK(static_cast<double>(shared.scores->dense()(0, 0)) == 1);  // alone, it meets itself
  }
}

TEST_CASE("reformer: x and -x are never in one bucket, equal tokens always") {
  // 20 tokens x and 20 tokens -x, in an order of their own: sorted, they are two runs of 20, two chunks of 10 each. The
  // later chunk of a run meets its own run alone, the earlier one the end of the other run too, where nothing masks it.
  const Key draw_key = Key(test_seed()).child("same");
  const arma::rowvec x = random_matrix(1, 8, draw_key.child("x"));
  arma::mat q(40, 8);
  for (arma::uword i = 0; i < 40; ++i) q.row(i) = (i * 7 % 40 < 20 ? 1.0 : -1.0) * x;
  const Problem<double> problem(q, q, q);
  const auto is_x = [](arma::uword i) { return i * 7 % 40 < 20; };
  for (std::uint64_t t = 0; t < 50; ++t) {
    for (const bool across : {false, true}) {
      const ReformerOptions options = {.keys = Keys::own, .rounds = 1, .across = across};
      const Dense b = reformer(problem, 20, draw_key.child(t), options).scores->dense();
      arma::uword alone = 0;
      for (arma::uword i = 0; i < 40; ++i) {
        arma::uword same = 0, other = 0;
        for (arma::uword j = 0; j < 40; ++j) (is_x(i) == is_x(j) ? same : other) += b(i, j) != 0 ? 1 : 0;
        CHECK((same == 20 || same == 10));
        CHECK(other == (across ? 20 - same : 0));
        alone += same == 20 ? 1 : 0;
      }
      CHECK(alone == 20);
    }
  }
}

TEST_CASE("reformer: own keys of other buckets than all queries are met, all that are in reach") {
  // Queries x and keys -x: no key is in the bucket of a query, in any round.
  const arma::mat x = arma::repmat(random_matrix(1, 6, Key(test_seed()).child("apart")), 24, 1);
  const Problem<double> problem(x, arma::mat(-x), random_matrix(24, 2, Key(1)));
  for (const arma::uword rounds : {1U, 2U}) {
    const Dense b = reformer(problem, 8, Key(2), {.keys = Keys::own, .rounds = rounds}).scores->dense();
    for (arma::uword i = 0; i < 24; ++i) {
      int met = 0;
      for (arma::uword j = 0; j < 24; ++j) met += b(i, j) != 0 ? 1 : 0;
      CHECK(met == int(8 / rounds));  // equal tokens have the same chunks in both rounds
    }
  }
}

TEST_CASE("reformer: shared keys have no denominators, own keys have; presets and refusals") {
  const Problem<double> problem = random_problem<double>(30, 4, 3, 100, Key(1));
  CHECK_FALSE(reformer(problem, 8, Key(1)).denominators.has_value());
  CHECK(reformer(problem, 8, Key(1), {.keys = Keys::own}).denominators.has_value());
  CHECK(reformer(problem, 8, Key(1)).output.is_finite());
  CHECK(identical(method_on(problem, "reformer", {{"preset", "code"}, {"rounds", "4"}}).approximate(16, Key(2)).output,
                  reformer(problem, 16, Key(2), {.rounds = 4, .count_rounds = true, .across = true}).output));
  CHECK(identical(method_on(problem, "reformer", {{"across", "yes"}}).approximate(16, Key(2)).output,
                  reformer(problem, 16, Key(2), {.across = true}).output));
  CHECK(refusal([&] { reformer(problem, 31, Key(1)); }) == "reformer: 1 <= d <= n, got d = 31, n = 30");
  CHECK(contains(refusal([&] { reformer(problem, 0, Key(1)); }), "got d = 0"));
  CHECK(contains(refusal([&] { reformer(problem, 3, Key(1)); }), "d >= 2 rounds"));
  CHECK(contains(refusal([&] { reformer(problem, 30, Key(1), {.rounds = 0}); }), "rounds >= 1"));
}
