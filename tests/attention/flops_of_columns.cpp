// Work that is counted, in plain implementations of methods with sampled columns or blocks, against what they declare.
// Terms of every order are counted, on sizes that all differ, so that none can be off by a factor.
#include <croquis/random/indices.hpp>

#include <numeric>

#include "support/counted_work.hpp"

using namespace croquis;

namespace {

// n_q, n_k, d, p and p_v differ.
constexpr arma::uword kQueries = 96, kKeys = 160, kColumns = 16;

Problem<double> rectangle_for_counting() {
  return random_rectangle<double>(kQueries, kKeys, 24, 32, 2, Key(4));
}

struct PilotRows {
  arma::uvec rows;
  Dense scores;       // of the rows, exact
  arma::vec weights;  // of the columns
};

// Squares and their sums over the rows are two flops an entry.
PilotRows pilot_rows(Counter& work, const Problem<double>& problem, arma::uword d, const Key& draw_key) {
  PilotRows pilot{sample_with_replacement(problem.n_q(), d, draw_key.child("pilot")), {}, arma::vec(problem.n_k())};
  pilot.scores = work.attention_weights(rows_of(problem.Q(), pilot.rows), problem.K());
  for (arma::uword j = 0; j < problem.n_k(); ++j) {
    long double squares = 0;
    for (arma::uword i = 0; i < d; ++i) {
      squares += pilot.scores(i, j) * pilot.scores(i, j);
      work.additions += 2;
    }
    pilot.weights(j) = static_cast<double>(std::sqrt(squares)) * arma::norm(problem.V().row(j));
  }
  return pilot;
}

arma::uvec pilot_columns(const PilotRows& pilot, arma::uword d, const Key& draw_key) {
  return sample_weighted_without_replacement(pilot.weights, d, draw_key.child("columns"));
}

void put_rows(Dense& output, const arma::uvec& rows, const Dense& known) {
  for (arma::uword i = 0; i < rows.n_elem; ++i) {
    for (arma::uword c = 0; c < output.cols; ++c) output(rows(i), c) = known(i, c);
  }
}

Dense logits_with(Counter& work, const Problem<double>& problem, const arma::uvec& columns) {
  return 1 / std::sqrt(static_cast<long double>(problem.p())) *
         work.product(problem.Q(), transposed(rows_of(problem.K(), columns)));
}

// Skeinformer's rows: the columns that were not sampled have the geometric mean of those that were.
Dense filled_output(Counter& work, const Problem<double>& problem, const arma::uvec& columns) {
  const arma::uword n_k = problem.n_k(), d = columns.n_elem, p_v = problem.p_v();
  const Dense logits = logits_with(work, problem, columns), scores = work.exponential(logits);
  Dense output = work.product(scores, rows_of(problem.V(), columns)), others(1, p_v);
  for (arma::uword c = 0; c < p_v; ++c) {
    for (arma::uword j = 0; j < n_k; ++j) others(0, c) += static_cast<long double>(problem.V()(j, c));
    for (const arma::uword j : columns) others(0, c) -= static_cast<long double>(problem.V()(j, c));
  }
  for (arma::uword i = 0; i < output.rows; ++i) {
    long double log_mean = 0, sum = 0;
    for (arma::uword k = 0; k < d; ++k) {
      log_mean += logits(i, k) / static_cast<long double>(d);
      sum += scores(i, k);
    }
    const long double mean = std::exp(log_mean), total = sum + static_cast<long double>(n_k - d) * mean;
    for (arma::uword c = 0; c < p_v; ++c) output(i, c) = (output(i, c) + mean * others(0, c)) / total;
  }
  return output;
}

// D^-1 A S S^T V for the exact row sums in B.
Dense weighted_output(Counter& work, const Problem<double>& problem, const Dense& b, const arma::vec& weights,
                      const arma::uvec& columns) {
  Dense scores = work.exponential(logits_with(work, problem, columns));
  for (arma::uword k = 0; k < columns.n_elem; ++k) {
    const arma::uword j = columns(k);
    const double p = weights(j) / arma::accu(weights);
    for (arma::uword i = 0; i < scores.rows; ++i) {
      scores(i, k) = b(i, j) / static_cast<long double>(static_cast<double>(columns.n_elem) * p);
    }
  }
  return work.product(scores, rows_of(problem.V(), columns));
}

}  // namespace

TEST_CASE("flops: Skeinformer takes 4 n d p, and without re-use of the pilot 3 n d p") {
  const Problem<double> problem = problem_for_counting();
  const Key draw_key(1);
  for (const bool reuse : {true, false}) {
    Counter work;
    const PilotRows pilot = pilot_rows(work, problem, kFeatures, draw_key);
    Dense output = filled_output(work, problem, pilot_columns(pilot, kFeatures, draw_key));
    if (reuse) put_rows(output, pilot.rows, work.product(pilot.scores, problem.V()));
    check_work(work, output, reuse ? "skeinformer" : "skeinformer-no-reuse", {}, draw_key, reuse ? 4 : 3, 1e-12);
  }
}

TEST_CASE("flops: skeinformer-uniform takes no pilot: scores and values of d columns") {
  const Problem<double> problem = rectangle_for_counting();
  const Key draw_key(1);
  Counter work;
  const Dense output =
      filled_output(work, problem, sample_without_replacement(kKeys, kColumns, draw_key.child("columns")));
  check_count(work, output, method_on(problem, "skeinformer-uniform"), kColumns, draw_key);
}

TEST_CASE("flops: skeinformer-simple-norm takes the pilot, values of its rows with re-use, and d columns") {
  const Problem<double> problem = rectangle_for_counting();
  const Key draw_key(1);
  for (const bool reuse : {true, false}) {
    Counter work;
    const PilotRows pilot = pilot_rows(work, problem, kColumns, draw_key);
    const arma::uvec columns = pilot_columns(pilot, kColumns, draw_key);
    const Dense weights = work.softmax(logits_with(work, problem, columns));
    Dense output = work.product(weights, rows_of(problem.V(), columns));
    if (reuse) put_rows(output, pilot.rows, work.product(pilot.scores, problem.V()));
    check_count(work, output, method_on(problem, "skeinformer-simple-norm", {{"reuse", reuse ? "yes" : "no"}}),
                kColumns, draw_key);
  }
}

TEST_CASE("flops: skeinformer-no-norm takes all row sums, the pilot, d columns, and with re-use its rows once more") {
  const Problem<double> problem = rectangle_for_counting();
  const Key draw_key(1);
  for (const bool reuse : {true, false}) {
    Counter work;
    const Dense b = work.attention_weights(problem.Q(), problem.K());
    const PilotRows pilot = pilot_rows(work, problem, kColumns, draw_key);
    Dense output = weighted_output(work, problem, b, pilot.weights,
                                   sample_weighted(pilot.weights, kColumns, draw_key.child("columns")));
    if (reuse) {
      const Dense again = work.attention_weights(rows_of(problem.Q(), pilot.rows), problem.K());
      put_rows(output, pilot.rows, work.product(again, problem.V()));
    }
    check_count(work, output, method_on(problem, "skeinformer-no-norm", {{"reuse", reuse ? "yes" : "no"}}), kColumns,
                draw_key);
  }
}

TEST_CASE("flops: sampled-columns takes all row sums, d columns, and for its default probabilities the pilot") {
  const Problem<double> problem = rectangle_for_counting();
  const Key draw_key(1);
  for (const char* kind : {"pilot", "uniform", "exact"}) {
    CAPTURE(kind);
    Counter work;
    const Dense b = work.attention_weights(problem.Q(), problem.K());
    arma::vec weights(kKeys, arma::fill::ones);
    if (kind == std::string("pilot")) weights = pilot_rows(work, problem, kColumns, draw_key).weights;
    if (kind == std::string("exact")) {
      weights = arma::sqrt(arma::sum(arma::square(in_double(b)), 0).t() % arma::sum(arma::square(problem.V()), 1));
    }
    const Dense output =
        weighted_output(work, problem, b, weights, sample_weighted(weights, kColumns, draw_key.child("columns")));
    // The squares of B for the exact probabilities, 2 n_q n_k, are neither counted nor declared.
    check_count(work, output, method_on(problem, "sampled-columns", {{"p", kind}}), kColumns, draw_key);
  }
}

TEST_CASE(
    "flops: thinformer takes the entries of its groups, in blocks of 64 tokens with all before them, and d keys") {
  // 1024 keys are halved four times: in 64 groups of 16, 16 of 32, 4 of 64 and one of 128, which leaves 64.
  constexpr arma::uword n = 1024, d = 64, p = 24, p_v = 32, pair = 2 * (p + p_v) + 1;
  arma::uword entries = 0, groups = 64, tokens = 16;
  for (int round = 0; round < 4; ++round, groups /= 4, tokens *= 2) {
    for (arma::uword token = 0; token < tokens; ++token) entries += groups * std::min(tokens, (token / 64 + 1) * 64);
  }
  const double work = double(entries * pair + kQueries * d * pair);
  const auto declared = [&](arma::uword n_k, const char* which) {
    const PreparedMethod<double> method =
        method_on(random_rectangle<double>(kQueries, n_k, p, p_v, 2, Key(4)), "thinformer", {{"tokens", which}});
    const arma::mat b = method.approximate(d, Key(1)).scores->dense();
    CHECK(arma::accu(arma::sum(b, 0) > 0) == d);
    return method.flops(d);
  };
  CHECK(declared(n, "all") == work);
  CHECK(declared(1500, "thinned") == work);  // every key of the first 1024
}

TEST_CASE("flops: mra-2 takes the refined blocks, and for all blocks their mean logits and a product with values") {
  constexpr arma::uword b = 8;
  const Problem<double> problem = rectangle_for_counting();
  const arma::uword rows = kQueries / b, columns = kKeys / b, p_v = problem.p_v();
  const auto sums = [](const Dense& x) {
    Dense of_blocks(x.rows / b, x.cols);
    for (arma::uword i = 0; i < x.rows; ++i) {
      for (arma::uword c = 0; c < x.cols; ++c) of_blocks(i / b, c) += x(i, c);
    }
    return of_blocks;
  };
  const auto tokens = [](arma::uword block) { return arma::regspace<arma::uvec>(block * b, block * b + b - 1); };
  Counter work;
  const long double scale = 1 / std::sqrt(static_cast<long double>(problem.p()));
  const Dense means = scale / (b * b) * work.product(sums(problem.Q()), transposed(sums(problem.K())));
  std::vector<arma::uword> blocks(means.entries.size());
  std::iota(blocks.begin(), blocks.end(), arma::uword(0));
  std::sort(blocks.begin(), blocks.end(), [&](auto x, auto y) { return means.entries[x] > means.entries[y]; });
  blocks.resize(kQueries * kColumns / (b * b));
  Dense coarse(rows, columns), numerators(kQueries, p_v), row_sums(kQueries, 1);
  for (std::size_t e = 0; e < coarse.entries.size(); ++e) coarse.entries[e] = std::exp(means.entries[e]);
  for (const arma::uword block : blocks) {
    coarse.entries[block] = 0;
    const arma::uvec queries = tokens(block / columns), keys = tokens(block % columns);
    const Dense scores =
        work.exponential(scale * work.product(rows_of(problem.Q(), queries), transposed(rows_of(problem.K(), keys))));
    const Dense products = work.product(scores, rows_of(problem.V(), keys));
    for (arma::uword i = 0; i < b; ++i) {
      for (arma::uword c = 0; c < p_v; ++c) numerators(queries(i), c) += products(i, c);
      for (arma::uword j = 0; j < b; ++j) row_sums(queries(i), 0) += scores(i, j);
    }
  }
  const Dense products = work.product(coarse, sums(problem.V()));
  for (arma::uword i = 0; i < kQueries; ++i) {
    for (arma::uword c = 0; c < columns; ++c) row_sums(i, 0) += b * coarse(i / b, c);
    for (arma::uword c = 0; c < p_v; ++c) numerators(i, c) = (numerators(i, c) + products(i / b, c)) / row_sums(i, 0);
  }
  // Means of tokens and the exponentials of blocks are neither counted nor declared.
  check_count(work, numerators, method_on(problem, "mra-2", {{"block", "8"}}), kColumns, Key(1));
}
