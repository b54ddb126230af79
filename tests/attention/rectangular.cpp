// Other numbers of queries than of keys: every method against square problems where rows of the output are functions of
// their queries, and against plain references where they are not.
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>

#include "support/approximations.hpp"
#include "support/methods.hpp"
#include "support/relative.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr TokenAlignment kRectangles[] = {{5, 19}, {19, 5}, {1, 19}};

// Rows of queries of a problem, with all of its keys.
template <typename T>
Problem<T> with_queries(const Problem<T>& problem, const arma::Mat<T>& queries) {
  return {queries, problem.K(), problem.V()};
}

// Sums of n terms, an inverse of condition 1e3 at most.
template <typename T>
double tolerance(const Problem<T>& problem) {
  const auto n = static_cast<double>(problem.tokens().n());
  return 1e3 * n * n * unit<T>() * static_cast<double>(largest_entry_of(problem.V()));
}

Dense softmax_scores(const Dense& q, const Dense& k) {
  return softmax_of(logits_of(q, k));
}

Dense means_of(const arma::mat& x, arma::uword d) {  // of segments, the first ones a row longer
  Dense means(d, x.n_cols);
  for (arma::uword s = 0, row = 0; s < d; ++s) {
    const arma::uword length = x.n_rows / d + (s < x.n_rows % d ? 1 : 0);
    for (arma::uword i = 0; i < length; ++i, ++row) {
      for (arma::uword c = 0; c < x.n_cols; ++c) means(s, c) += x(row, c) / static_cast<long double>(length);
    }
  }
  return means;
}

// The scores of Nystrom on the n_q + n_k points with some of them as landmarks.
Dense lifted_scores(const Problem<double>& problem, const arma::uvec& drawn) {
  const arma::uvec landmarks = arma::unique(drawn);
  const Dense points = stacked_points(problem), chosen = rows_of(points, landmarks);
  const Dense columns = gaussian_of(points, chosen), core = inverted(gaussian_of(chosen, chosen));
  const Dense q = rows_of(columns, arma::regspace<arma::uvec>(0, problem.n_q() - 1)),
              k = rows_of(columns, arma::regspace<arma::uvec>(problem.n_q(), points.rows - 1));
  return q * core * transposed(k);
}

Dense uniformly_lifted_scores(const Problem<double>& problem, arma::uword d, const Key& draw_key) {
  return lifted_scores(problem, sample_with_replacement(problem.n_q() + problem.n_k(), d, draw_key.child("landmarks")));
}

// Rows by their largest measure are exact, the others are means.
Dense informer_scores(const Problem<double>& problem, arma::uword d, const Key& draw_key) {
  std::vector<std::pair<long double, arma::uword>> measure;
  const Dense logits = std::sqrt(static_cast<long double>(problem.p())) * logits_of(problem.Q(), problem.K());
  for (arma::uword i = 0; i < problem.n_q(); ++i) {
    std::vector<std::uint64_t> words(d);
    fill_words(draw_key.child("keys").child(i), 0, d, words.data());
    long double top = -std::numeric_limits<long double>::infinity(), sum = 0;
    for (const std::uint64_t word : words) {
      const long double score = logits(i, place_of(word, problem.n_k()));
      top = std::max(top, score);
      sum += score;
    }
    measure.emplace_back(sum / static_cast<long double>(d) - top, i);
  }
  std::sort(measure.begin(), measure.end());
  const Dense exact = softmax_scores(problem.Q(), problem.K());
  Dense b = Dense(arma::mat(problem.n_q(), problem.n_k(), arma::fill::value(1.0 / double(problem.n_k()))));
  for (arma::uword u = 0; u < d; ++u) {
    for (arma::uword j = 0; j < b.cols; ++j) b(measure[u].second, j) = exact(measure[u].second, j);
  }
  return b;
}

arma::vec pilot_weights(const Problem<double>& problem, const arma::uvec& rows) {
  const Dense b = softmax_scores(rows_of(problem.Q(), rows), problem.K());
  arma::vec weights(problem.n_k());
  for (arma::uword j = 0; j < b.cols; ++j) {
    long double squares = 0;
    for (arma::uword i = 0; i < b.rows; ++i) squares += b(i, j) * b(i, j);
    weights(j) = static_cast<double>(std::sqrt(squares)) * arma::norm(problem.V().row(j));
  }
  return weights;
}

// Columns that were not drawn have the geometric mean of those that were; pilot rows are exact.
Dense skeinformer_scores(const Problem<double>& problem, arma::uword d, const Key& draw_key) {
  const arma::uvec rows = sample_with_replacement(problem.n_q(), d, draw_key.child("pilot"));
  const arma::uvec columns =
      sample_weighted_without_replacement(pilot_weights(problem, rows), d, draw_key.child("columns"));
  const Dense logits = logits_of(problem.Q(), problem.K()), exact = softmax_of(logits);
  Dense filled(logits.rows, logits.cols);
  for (arma::uword i = 0; i < logits.rows; ++i) {
    long double mean = 0;
    for (const arma::uword j : columns) mean += logits(i, j) / static_cast<long double>(d);
    for (arma::uword j = 0; j < logits.cols; ++j) filled(i, j) = mean;
    for (const arma::uword j : columns) filled(i, j) = logits(i, j);
  }
  Dense b = softmax_of(filled);
  for (const arma::uword i : rows) {
    for (arma::uword j = 0; j < b.cols; ++j) b(i, j) = exact(i, j);
  }
  return b;
}

Dense sampled_columns_scores(const Problem<double>& problem, arma::uword d, const Key& draw_key) {
  const arma::vec weights = pilot_weights(problem, sample_with_replacement(problem.n_q(), d, draw_key.child("pilot")));
  const Dense exact = softmax_scores(problem.Q(), problem.K());
  Dense b(exact.rows, exact.cols);
  for (const arma::uword j : sample_weighted(weights, d, draw_key.child("columns"))) {
    const double probability = weights(j) / arma::accu(weights);
    for (arma::uword i = 0; i < b.rows; ++i) b(i, j) += exact(i, j) / (static_cast<double>(d) * probability);
  }
  return b;
}

using DenseReference = Dense (*)(const Problem<double>&, arma::uword, const Key&);

// O~ = B~ V for the method of that name.
void check_reference(const std::string& name, DenseReference scores, const OptionValues& options = {}) {
  CAPTURE(name);
  for (const TokenAlignment shape : kRectangles) {
    CAPTURE(shape.n_q);
    CAPTURE(shape.n_k);
    const Key draw_key = Key(test_seed()).child(name);
    const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 6, 3, 3, draw_key);
    const Case<double> c{&find_method<double>(name), options, name};
    for (const arma::uword d : {1U, 4U}) {
      CAPTURE(d);
      const auto approximation = run_if_taken(c, problem, d, draw_key);
      if (!approximation) continue;
      CHECK(distance(approximation->output, scores(problem, d, draw_key) * problem.V()) <= tolerance(problem));
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("rectangular problems: every method takes them as its record says, or names those that do", T, float,
                   double) {
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    for (const TokenAlignment shape : kRectangles) {
      CAPTURE(shape.n_q);
      CAPTURE(shape.n_k);
      const Problem<T> problem = random_rectangle<T>(shape.n_q, shape.n_k, 8, 3, 3, Key(test_seed()).child(c.text));
      if (!c.method->rectangular(c.options)) {
        const std::string message = refusal([&] { prepare(*c.method, problem, c.options); });
        // With its defaults nystromformer takes them.
        CHECK(message.starts_with(
            c.method->name + (c.method->rectangular({})
                                  ? ": as many queries as keys with these options; with its default ones it takes "
                                  : ": as many queries as keys; methods that take other numbers of them are v-mean "
                                    "best-rank-d top-keys bfloat16 skyformer ")));
        CHECK_FALSE(contains(message, "longformer "));
        continue;
      }
      const auto most = c.method->largest_d(shape, c.options);
      for (const arma::uword d : {arma::uword{1}, arma::uword{4}, most.value_or(6)}) {
        if (most && d > *most) {
          CHECK(contains(refusal([&] { run(c, problem, d); }), "d = " + std::to_string(d)));
          continue;
        }
        const auto approximation = run_if_taken(c, problem, d, Key(test_seed()));
        if (!approximation) continue;
        CHECK(arma::size(approximation->output) == arma::SizeMat(shape.n_q, 3));
        CHECK(approximation->output.is_finite());
        if (approximation->denominators) CHECK(approximation->denominators->values.n_elem == shape.n_q);
        if (approximation->row_sums) CHECK(approximation->row_sums->n_elem == shape.n_q);
        REQUIRE(approximation->scores.has_value());
        CHECK(approximation->scores->rows == shape.n_q);
        CHECK(approximation->scores->cols == shape.n_k);
        if (d <= 4) CHECK(interface_gap(*approximation, problem) <= 1e3 * 24 * 24 * unit<T>());
        if (c.method->rows_sum_to_one(c.options)) CHECK(row_sum_gap(*approximation) <= 1e3 * 24 * 24 * unit<T>());
      }
    }
  }
}

TEST_CASE_TEMPLATE(
    "rectangular problems: rows of the output are those of square problems with the same draw, where a row "
    "is a function of its query",
    T, float, double) {
  const arma::uword n = 19;
  for (const Case<T>& c : all_cases<T>()) {
    if (!c.method->rowwise(c.options)) continue;
    CAPTURE(c.text);
    CHECK(c.method->rectangular(c.options));
    const Key draw_key = Key(test_seed()).child(c.text);
    const Problem<T> square = random_problem<T>(n, 8, 3, 3, draw_key), other = random_problem<T>(n, 8, 3, 3, Key(7));
    const arma::Mat<T> output = run(c, square, 8, draw_key).output;
    for (const arma::uvec& rows : {arma::uvec{3}, arma::uvec{0, 4, 5, 18}, arma::uvec{7, 2, 2, 11}}) {
      const Problem<T> part = with_queries<T>(square, square.Q().rows(rows));
      CHECK(distance(run(c, part, 8, draw_key).output, output.rows(rows)) <= tolerance(square));
    }
    const Problem<T> more = with_queries<T>(square, arma::join_cols(other.Q(), square.Q()));
    const arma::Mat<T> of_more = run(c, more, 8, draw_key).output;
    CHECK(distance(of_more.tail_rows(n), output) <= tolerance(square));
    CHECK(distance(of_more.head_rows(n), run(c, with_queries<T>(square, other.Q()), 8, draw_key).output) <=
          tolerance(square));
  }
}

TEST_CASE_TEMPLATE(
    "rectangular problems: the last queries under a causal mask, with a bias, have the rows of the square "
    "problem",
    T, float, double) {
  const arma::uword n = 40;
  const Key draw_key = Key(test_seed()).child("last");
  const Problem<T> plain = random_problem<T>(n, 6, 3, 2, draw_key);
  for (const RelativePosition<T>& position :
       {RelativePosition<T>{{}, true, 1}, random_position<T>(n, 1, true, 1, draw_key),
        random_position<T>(n, 5, true, 1, draw_key), random_position<T>(n, 1, false, 1, draw_key)}) {
    const Problem<T> square(plain.Q(), plain.K(), plain.V(), {}, position);
    for (const arma::uword last : {1U, 13U}) {
      const Problem<T> part(plain.Q().tail_rows(last), plain.K(), plain.V(), {}, position);
      for (const Target target : {Target::softmax_rpe, Target::normalized_rpe}) {
        CHECK(distance(exact_attention(part, target).output, exact_attention(square, target).output.tail_rows(last)) <=
              tolerance(square));
      }
      for (const Case<T>& c : all_cases<T>()) {
        if (!c.method->causal || !c.method->rowwise(c.options)) continue;
        CAPTURE(c.text);
        CHECK(distance(run(c, part, 8, draw_key).output, run(c, square, 8, draw_key).output.tail_rows(last)) <=
              tolerance(square));
      }
    }
  }
}

TEST_CASE("rectangular problems: methods whose rows depend on all queries, against plain references") {
  check_reference("best-rank-d", [](const Problem<double>& problem, arma::uword d, const Key&) {
    arma::mat u, v;
    arma::vec s;
    arma::svd_econ(u, s, v, in_double(softmax_scores(problem.Q(), problem.K())));
    return Dense(arma::mat(u.head_cols(d) * arma::diagmat(s.head(d)) * v.head_cols(d).t()));
  });
  check_reference("skyformer", uniformly_lifted_scores);
  check_reference(
      "skyformer",
      [](const Problem<double>& problem, arma::uword d, const Key& draw_key) {
        const Key draw = draw_key.child("landmarks");
        return lifted_scores(
            problem,
            arma::join_cols(sample_with_replacement(problem.n_q(), d / 2, draw.child("queries")),
                            sample_with_replacement(problem.n_k(), d - d / 2, draw.child("keys")) + problem.n_q()));
      },
      with("landmarks", "stratified"));
  check_reference("skyformer-softmax", [](const Problem<double>& problem, arma::uword d, const Key& draw_key) {
    Dense b = uniformly_lifted_scores(problem, d, draw_key);
    for (arma::uword i = 0; i < b.rows; ++i) {
      long double sum = 0;
      for (arma::uword j = 0; j < b.cols; ++j) {
        const double square = arma::dot(problem.K().row(j), problem.K().row(j));
        b(i, j) *= std::exp(square / (2 * std::sqrt(static_cast<long double>(problem.p()))));
        sum += b(i, j);
      }
      for (arma::uword j = 0; j < b.cols; ++j) b(i, j) /= sum;
    }
    return b;
  });
  check_reference(
      "nystromformer",
      [](const Problem<double>& problem, arma::uword d, const Key&) {
        const Dense q = means_of(problem.Q(), d), k = means_of(problem.K(), d);
        return softmax_scores(problem.Q(), k) * inverted(softmax_scores(q, k)) * softmax_scores(q, problem.K());
      },
      with("inverse", "pinv"));
  check_reference("informer", informer_scores);
  check_reference("skeinformer", skeinformer_scores);
  check_reference("sampled-columns", sampled_columns_scores);
}

TEST_CASE("rectangular problems: errors of outputs and of scores") {
  for (const TokenAlignment shape : {TokenAlignment{30, 70}, {70, 30}}) {
    const Key draw_key = Key(test_seed()).child("errors");
    const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 6, 3, 3, draw_key);
    const arma::mat b = in_double(softmax_scores(problem.Q(), problem.K())), exact = b * problem.V();
    const Approximation<double> approximation =
        prepare(find_method<double>("linformer"), problem).approximate(8, draw_key);
    const arma::mat difference = b - approximation.scores->dense();
    const OutputErrors errors =
        OutputReference(exact_attention(problem, Target::softmax).output).compare(approximation.output);
    CHECK(errors.frobenius_abs == doctest::Approx(arma::norm(exact - approximation.output, "fro")));
    CHECK(ScoreReference(problem, Target::softmax, draw_key).compare(*approximation.scores, draw_key).spectral_abs ==
          doctest::Approx(arma::norm(difference, 2)).epsilon(1e-3));
    const SampledReference sampled(problem, Target::softmax, shape.n_q, draw_key);  // of all rows: the error itself
    CHECK(sampled.compare(approximation.output).errors.frobenius_abs == doctest::Approx(errors.frobenius_abs));
  }
}

TEST_CASE(
    "rectangular problems: flops have a term n_q n_k for quadratic methods, and are a sum over queries and keys for "
    "others, but for the coarse blocks of mra-2") {
  for (const Case<double>& c : all_cases<double>()) {
    if (!c.method->rectangular(c.options)) continue;
    CAPTURE(c.text);
    // Above 64 queries, so that the choice by a fixed number of them is not a term n_q n_k.
    const auto flops = [&](arma::uword n_q, arma::uword n_k) {
      return prepare(*c.method, random_rectangle<double>(n_q, n_k, 4, 3, 1, Key(1)), c.options).flops(4);
    };
    const double whole = flops(128, 128), cross = whole - flops(64, 128) - flops(128, 64) + flops(64, 64);
    CHECK(flops(64, 128) <= whole);
    CHECK(flops(128, 64) <= whole);
    // n_q n_k; else a sum of terms in n_q and in n_k, which no cross term joins.
    if (c.method->name == "mra-2") {
      CHECK(cross == 2 * 2 * (2 * 4 + (contains(c.text, "rest=none") ? 0 : 2 * 3)));  // blocks of 32 by 32
    } else {
      CHECK((std::abs(cross) > 1e-9 * whole) == c.method->quadratic(c.options));
    }
  }
}
