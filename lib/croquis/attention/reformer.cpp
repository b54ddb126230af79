#include <algorithm>
#include <croquis/attention/reformer.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/normal_matrix.hpp>
#include <numeric>
#include <utility>
#include <vector>

namespace croquis {
namespace {

using Keys = ReformerOptions::Keys;

// Half the number of buckets for chunks of c: about n / c of them, at least two.
arma::uword half_buckets(arma::uword n, arma::uword c) {
  return std::max<arma::uword>(1, (n + c) / (2 * c));
}

struct SortedTokens {
  std::vector<std::uint32_t> order;  // by bucket and position
  std::vector<arma::uword> bucket;   // of every token
};

// There are O(n) buckets for long inputs: a token's projections are made in blocks and forgotten.
template <typename T>
SortedTokens sorted_by_bucket(const arma::Mat<T>& x, const arma::Mat<T>& rotation) {
  constexpr arma::uword tokens = 64;
  const arma::uword half = rotation.n_cols, n = x.n_rows;
  SortedTokens tokens_of_x{std::vector<std::uint32_t>(n), std::vector<arma::uword>(n)};
  std::vector<arma::uword>& bucket = tokens_of_x.bucket;
  parallel_for(blocks_of(n, tokens), 2 * tokens * half * x.n_cols, [&](std::size_t b) {
    thread_local arma::Mat<T> projected;  // a token a column
    const arma::uword first = b * tokens, count = std::min(tokens, n - first);
    projected.set_size(half, count);
    gemm(CblasTrans, CblasTrans, half, count, x.n_cols, T(1), rotation.memptr(), x.n_cols, x.memptr() + first, n, T(0),
         projected.memptr(), half);
    for (arma::uword i = 0; i < count; ++i) {
      T *begin = projected.colptr(i), *end = begin + half;
      const T most = maximum(begin, half);
      std::transform(begin, end, begin, std::negate<>());
      const T least = -maximum(begin, half);
      const auto place = [&](T value) { return static_cast<arma::uword>(std::find(begin, end, -value) - begin); };
      bucket[first + i] = most >= -least ? place(most) : half + place(least);
    }
  });
  std::vector<std::uint32_t>& order = tokens_of_x.order;
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return bucket[a] < bucket[b]; });
  return tokens_of_x;
}

struct Round {
  SortedTokens keys;
  std::vector<arma::uword> chunk, bucket;  // of every query
};

template <typename T>
std::vector<Round> hash_rounds(const Problem<T>& problem, arma::uword c, const Key& draw_key,
                               const ReformerOptions& options) {
  const arma::uword n = problem.n();
  std::vector<Round> rounds(options.rounds);
  for (arma::uword t = 0; t < options.rounds; ++t) {
    const auto rotation = normal_matrix<T>(draw_key.child(t), problem.p(), half_buckets(n, c));
    SortedTokens queries = sorted_by_bucket(problem.Q(), rotation);
    rounds[t].keys = options.keys == Keys::own ? sorted_by_bucket(problem.K(), rotation) : queries;
    rounds[t].chunk.resize(n);
    for (arma::uword rank = 0; rank < n; ++rank) rounds[t].chunk[queries.order[rank]] = rank / c;
    rounds[t].bucket = std::move(queries.bucket);
  }
  return rounds;
}

// A token meets itself only when there is nobody else. (Under a causal mask there may be only later ones left, which
// the pattern leaves out; then it has the token meet itself.)
void drop_self(std::vector<std::uint32_t>& keys, arma::uword i) {
  std::vector<std::uint32_t> others;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(others), [i](std::uint32_t j) { return j != i; });
  if (!others.empty()) keys = std::move(others);
}

template <typename T>
Pattern reformer_pattern(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const ReformerOptions& options) {
  const arma::uword n = problem.n(), c = std::max<arma::uword>(1, d / (2 * options.rounds)), m = (n + c - 1) / c;
  const bool all = d == n;
  const std::vector<Round> rounds = all ? std::vector<Round>() : hash_rounds(problem, c, draw_key, options);
  Pattern pattern(problem);
  std::vector<std::uint32_t> keys, others;  // in reach, of the query's bucket and of other ones
  for (arma::uword i = 0; i < n; ++i) {
    keys.clear();
    others.clear();
    if (all) {
      keys.resize(n);
      std::iota(keys.begin(), keys.end(), 0U);
    }
    for (const Round& round : rounds) {
      const auto add_chunk = [&](arma::uword chunk) {
        for (arma::uword rank = chunk * c; rank < std::min(n, (chunk + 1) * c); ++rank) {
          const std::uint32_t key = round.keys.order[rank];
          (round.keys.bucket[key] == round.bucket[i] ? keys : others).push_back(key);
        }
      };
      const arma::uword own = round.chunk[i];
      add_chunk(own);
      if (m > 1) add_chunk((own + m - 1) % m);
    }
    if (options.across || keys.empty()) keys.insert(keys.end(), others.begin(), others.end());
    if (options.keys == Keys::shared) drop_self(keys, i);
    pattern.add(keys, options.count_rounds);
  }
  return pattern;
}

const Options<ReformerOptions>& options_of_reformer() {
  using O = ReformerOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: across=yes, and a key attended to in several rounds counts as often",
                  {{"paper", {}}, {"code", O::code()}})
          .count("rounds", &O::rounds, 1, 64, "independent hashes")
          .choice("keys", &O::keys, Choices<Keys>{{"shared", Keys::shared}, {"own", Keys::own}},
                  "q_j / ||q_j|| for k_j, as the paper; or K: the hash without that change of model")
          .flag("across", &O::across, "keys of the query's chunks in other buckets too, as in the code");
  return options;
}

}  // namespace

template <typename T>
Approximation<T> reformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                          const ReformerOptions& options) {
  require_square(problem, "reformer");
  const arma::uword n = problem.n();
  require(d >= 1 && d <= n, "reformer", "1 <= d <= n", {{"d", d}, {"n", n}});
  require(options.rounds >= 1, "reformer", "rounds >= 1", {{"rounds", options.rounds}});
  require(d == n || d >= 2 * options.rounds, "reformer", "d >= 2 rounds, two chunks of one key each round",
          {{"d", d}, {"rounds", options.rounds}});
  const Pattern pattern = reformer_pattern(problem, d, draw_key.child("rotation"), options);
  if (options.keys == Keys::own) return sparse_softmax(problem.Q(), problem.K(), problem, pattern);
  Approximation<T> approximation = sparse_softmax(problem.Q(), unit_rows(problem.Q()), problem, pattern);
  approximation.denominators.reset();  // they are no part of the row sums of A
  return approximation;
}

template <typename T>
Method<T> reformer_method() {
  Method<T> method;
  method.name = "reformer";
  method.summary = "softmax over the keys in the query's bucket of a random hash, keys tied to queries; d keys a query";
  method.source = "Skeinformer Table 1";
  method.options = options_of_reformer().infos();
  method.rows_sum_to_one = always(true);
  method.causal = true;
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n(); };
  method.exact_at = [](TokenAlignment shape, const OptionValues& values) -> std::optional<arma::uword> {
    if (options_of_reformer().read(values).keys == Keys::shared) return std::nullopt;
    return shape.n();
  };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const ReformerOptions options = options_of_reformer().read(values);
    const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v()), rounds = static_cast<double>(options.rounds);
    const double sides = options.keys == Keys::own ? 2 : 1;
    return {[=](arma::uword d, const Key& draw_key) { return reformer(problem, d, draw_key, options); },
            [=](double d) {
              const double hashes = d < n ? sides * rounds * n * p * n * 2 * rounds / d : 0;
              return most_visits(problem, d) * pair_flops(p, p_v) + hashes;
            }};
  };
  return method;
}

template Approximation<float> reformer(const Problem<float>&, arma::uword, const Key&, const ReformerOptions&);
template Approximation<double> reformer(const Problem<double>&, arma::uword, const Key&, const ReformerOptions&);
template Method<float> reformer_method();
template Method<double> reformer_method();

}  // namespace croquis
