// The kriged coreset against its definition in loops, and what it promises for all inputs.
#include <croquis/attention/exact.hpp>
#include <croquis/attention/kriged/kriging.hpp>
#include <croquis/attention/kriged/query_rows.hpp>
#include <croquis/attention/kriged/sized.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/random/indices.hpp>

#include <numeric>

#include "support/approximations.hpp"
#include "support/methods.hpp"

using namespace croquis;

namespace {

using Options_ = KrigedCoresetOptions;
using Mode = Options_::Mode;

template <typename T>
Approximation<T> sized(const Problem<T>& problem, const KrigedSizes& sizes, const Options_& options = {},
                       const Key& draw_key = Key(1)) {
  return kriged_of_sizes<T>(std::make_shared<const KrigedInput<T>>(problem), sizes, options, draw_key);
}

constexpr KrigedSizes kSmall{.landmarks = 6, .checks = 4, .exact_rows = 2, .cells = 9, .window = 20};

// The sizes of mode=coreset have no check rows.
constexpr KrigedSizes kUnchecked{.landmarks = 6, .checks = 0, .exact_rows = 2, .cells = 9};

// Smooth enough for small inverses, and far from low rank.
Problem<double> rectangle(arma::uword n_q, arma::uword n_k, const char* name) {
  return random_rectangle<double>(n_q, n_k, 5, 3, 2, Key(test_seed()).child(name));
}

const std::vector<Mode> kModes = {Mode::automatic, Mode::coreset, Mode::near, Mode::window};

// B~ of mode=coreset by its definition; the partitions alone are the library's.
struct KrigedReference {
  Dense scores;
  double ridge = std::numeric_limits<double>::infinity();

  KrigedReference(const Problem<double>& problem, const KrigedSizes& sizes, const Key& draw_key) {
    const arma::uword n_q = problem.n_q(), n_k = problem.n_k(), p_v = problem.p_v();
    const auto partition = [&](const arma::mat& rows, const arma::vec& weights, arma::uword leaves, const char* name) {
      arma::mat centred = rows.t();
      centred.each_col() -= arma::mean(centred, 1);
      return split_points<double>(centred, weights, leaves, SplitDirection::random, draw_key.child(name)).leaf;
    };
    const auto leaf = partition(problem.Q(), arma::vec(n_q, arma::fill::ones), sizes.landmarks, "queries");
    std::vector<long double> counts(sizes.landmarks, 0.0L);
    arma::mat means(sizes.landmarks, problem.p(), arma::fill::zeros);
    for (arma::uword i = 0; i < n_q; ++i) counts[leaf[i]] += 1, means.row(leaf[i]) += problem.Q().row(i);
    for (arma::uword g = 0; g < means.n_rows; ++g) means.row(g) /= static_cast<double>(counts[g]);
    const Dense logits = logits_of(means, problem.K()), exact = softmax_of(logits);
    const std::vector<long double> log_sums = log_sums_of(logits);

    arma::mat centred = problem.V();
    centred.each_row() -= arma::mean(centred, 0);
    const arma::vec lengths = arma::sqrt(arma::sum(arma::square(centred), 1));
    arma::vec importance(n_k);
    for (arma::uword j = 0; j < n_k; ++j) {
      long double sum = 0;
      for (arma::uword g = 0; g < exact.rows; ++g) sum += counts[g] * exact(g, j) * exact(g, j);
      importance(j) = lengths(j) * static_cast<double>(std::sqrt(sum));
    }
    importance = 0.8 * importance / arma::accu(importance) + 0.2 / static_cast<double>(n_k);
    const auto cell = partition(problem.K(), importance, sizes.cells, "keys");
    arma::mat keys(sizes.cells, problem.p(), arma::fill::zeros);
    std::vector<long double> weights(sizes.cells, 0.0L), squares(sizes.cells, 0.0L);
    for (arma::uword j = 0; j < n_k; ++j) {
      weights[cell[j]] += importance(j);
      squares[cell[j]] += lengths(j) * lengths(j);
      keys.row(cell[j]) += importance(j) * problem.K().row(j);
    }
    for (arma::uword c = 0; c < keys.n_rows; ++c) keys.row(c) /= static_cast<double>(weights[c]);

    Dense into(sizes.cells, n_k);  // S
    for (arma::uword j = 0; j < n_k; ++j) into(cell[j], j) = 1;
    const Dense of_cells = logits_of(means, keys);
    Dense y(exact.rows, sizes.cells);
    for (arma::uword g = 0; g < y.rows; ++g) {
      for (arma::uword c = 0; c < y.cols; ++c) y(g, c) = std::exp(of_cells(g, c) - log_sums[g]);
    }
    const Dense left = exact - y * into;  // what the cells lack in the rows of the landmarks
    const Dense values =
        arma::join_rows(centred, arma::vec(n_k, arma::fill::value(arma::norm(lengths) / std::sqrt(double(n_k)))));
    const Dense targets = left * values;
    Dense x = y;
    for (arma::uword g = 0; g < x.rows; ++g) {
      for (arma::uword c = 0; c < x.cols; ++c) x(g, c) *= std::sqrt(squares[c]);
    }
    long double all = 0;
    for (const long double square : squares) all += square;
    choose_ridge(x, targets, counts, all / static_cast<long double>(n_k * n_k));
    Dense mixed = into;
    if (std::isfinite(ridge)) {
      Dense fitted = fit(x, left, ridge);
      for (arma::uword c = 0; c < fitted.rows; ++c) {
        for (arma::uword j = 0; j < n_k; ++j) mixed(c, j) += std::sqrt(squares[c]) * fitted(c, j);
      }
    }
    Dense e = logits_of(problem.Q(), keys);
    for (long double& entry : e.entries) entry = std::exp(entry);
    scores = e * mixed;
    for (arma::uword i = 0; i < n_q; ++i) {
      long double sum = 0;
      for (arma::uword j = 0; j < n_k; ++j) sum += scores(i, j);
      for (arma::uword j = 0; j < n_k; ++j) scores(i, j) /= sum;
    }
    set_exact_rows(problem, leaf, means, sizes);
    (void)p_v;
  }

  // (X^T X + ridge I)^-1 X^T Y, the other way round than in the library.
  static Dense fit(const Dense& x, const Dense& y, double ridge) {
    return inverted(transposed(x) * x + static_cast<long double>(ridge) * identity(x.cols)) * (transposed(x) * y);
  }

  // By leaving out rows, one after the other.
  static long double left_out(const Dense& x, const Dense& y, double ridge, const std::vector<long double>& counts) {
    long double error = 0;
    for (arma::uword r = 0; r < x.rows; ++r) {
      arma::uvec others = arma::regspace<arma::uvec>(0, x.rows - 1);
      others.shed_row(r);
      const Dense fitted = fit(rows_of(x, others), rows_of(y, others), ridge);
      const Dense missing = rows_of(y, arma::uvec{r}) - rows_of(x, arma::uvec{r}) * fitted;
      error += counts[r] * std::pow(frobenius(missing), 2.0L);
    }
    return error;
  }

  void choose_ridge(const Dense& x, const Dense& y, const std::vector<long double>& counts, long double smallest) {
    long double mean = 0, least = 0;
    for (const long double entry : x.entries) mean += entry * entry / static_cast<long double>(x.rows);
    for (arma::uword r = 0; r < y.rows; ++r) least += counts[r] * std::pow(frobenius(rows_of(y, arma::uvec{r})), 2.0L);
    mean = std::max(mean, smallest);
    const auto attempt = [&](double exponent) {
      const double tried = std::pow(10.0, exponent) * static_cast<double>(mean);
      const long double error = left_out(x, y, tried, counts);
      if (error < (1 - 1e-4L) * least) least = error, ridge = tried;
      return ridge == tried;
    };
    double best = 0;
    for (const double exponent : {-6., -4., -2., 0., 2.}) best = attempt(exponent) ? exponent : best;
    const double coarse = best;
    for (const double exponent : {coarse - 1, coarse + 1}) best = attempt(exponent) ? exponent : best;
    const double fine = best;
    for (const double exponent : {fine - 0.5, fine + 0.5}) attempt(exponent);
  }

  void set_exact_rows(const Problem<double>& problem, const std::vector<std::uint32_t>& leaf, const arma::mat& means,
                      const KrigedSizes& sizes) {
    const Dense exact = softmax_of(logits_of(problem.Q(), problem.K()));
    arma::vec distances(problem.n_q());
    for (arma::uword i = 0; i < distances.n_elem; ++i)
      distances(i) = arma::norm(problem.Q().row(i) - means.row(leaf[i]));
    const arma::uvec order = arma::stable_sort_index(distances, "descend");
    for (arma::uword i = 0; i < order.n_elem; ++i) {
      if (i >= sizes.exact_rows && distances(order(i)) > 1e-12) continue;
      for (arma::uword j = 0; j < exact.cols; ++j) scores(order(i), j) = exact(order(i), j);
    }
  }
};

}  // namespace

TEST_CASE("kriged coreset: landmarks, cells and regression are those of the definition") {
  for (const TokenAlignment shape : {TokenAlignment{40, 40}, {25, 60}, {60, 25}}) {
    CAPTURE(shape.n_q);
    const Problem<double> problem = rectangle(shape.n_q, shape.n_k, "definition");
    for (std::uint64_t draw = 0; draw < 4; ++draw) {
      const Key draw_key = Key(test_seed()).child(draw);
      const Approximation<double> approximation = sized(problem, kUnchecked, {.mode = Mode::coreset}, draw_key);
      const KrigedReference reference(problem, kUnchecked, draw_key);
      REQUIRE(approximation.diagnostics.fallen_rows == 0U);
      CHECK(approximation.diagnostics.leaves == 6U);
      CHECK(approximation.diagnostics.cells == 9U);
      const double ridge = approximation.diagnostics.ridge;
      CHECK((ridge == reference.ridge || ridge == doctest::Approx(reference.ridge).epsilon(1e-9)));
      // The inverse has a condition of 1e6 N at most, by the smallest ridge that is tried.
      CHECK(distance(approximation.scores->dense(), reference.scores) <= 1e7 * 60 * unit<double>());
      CHECK(distance(approximation.output, reference.scores * problem.V()) <=
            1e7 * 60 * unit<double>() * static_cast<double>(largest_entry_of(problem.V())));
    }
  }
}

TEST_CASE("kriged coreset: leave-one-out residuals in closed form are those of fits without the row") {
  const arma::mat x = random_matrix(7, 4, Key(test_seed()).child("x")), y = random_matrix(7, 3, Key(test_seed()));
  const arma::vec weights = {1, 2, 3, 1, 0.5, 4, 1};
  const arma::mat fitted = x * random_matrix(4, 3, Key(5)) + 0.1 * y;
  const Kriging kriging = krige(x, fitted, weights);
  REQUIRE(std::isfinite(kriging.ridge));
  double error = 0;
  for (arma::uword r = 0; r < 7; ++r) {
    arma::uvec others = arma::regspace<arma::uvec>(0, 6);
    others.shed_row(r);
    const Dense b = KrigedReference::fit(x.rows(others).eval(), fitted.rows(others).eval(), kriging.ridge);
    const Dense missing = Dense(fitted.row(r).eval()) - Dense(x.row(r).eval()) * b;
    CHECK(distance(kriging.residuals.row(r), missing) <= 1e-8 * arma::norm(fitted, "fro"));
    error += weights(r) * std::pow(arma::norm(kriging.residuals.row(r)), 2);
  }
  CHECK(error < arma::dot(weights, arma::sum(arma::square(fitted), 1)));
  // Noise alone: nothing that a regression could find, and then none is made.
  const Kriging none = krige(arma::mat(7, 4, arma::fill::ones), arma::mat(7, 1, arma::fill::zeros), weights);
  CHECK(std::isinf(none.ridge));
  CHECK(none.inverse.is_empty());
  // Without a row that has anything in common with it, all ridges leave the whole of a row, up to rounding.
  for (arma::uword r = 0; r < 7; ++r) CHECK(std::isinf(krige(x.row(r), fitted.row(r), arma::vec{3}).ridge));
  for (const double scale : {0.1, 1.0 / 3, 7.0}) {
    CHECK(std::isinf(krige(scale * arma::mat(7, 7, arma::fill::eye), fitted, weights).ridge));
  }
}

TEST_CASE("kriged coreset: exact where every query is a leaf, every key a cell, or few tokens are distinct") {
  const Problem<double> problem = rectangle(30, 40, "exact");
  for (const Mode mode : kModes) {
    CAPTURE(static_cast<int>(mode));
    KrigedSizes sizes = kSmall;
    sizes.cells = 40;
    sizes.window = 1000;  // an eighth of which are cells
    CHECK(gap_to_exact(problem, sized(problem, sizes, {.mode = mode})) <= 1e-11);
    if (mode == Mode::window) continue;  // has no landmarks
    sizes = kSmall;
    sizes.landmarks = 30;
    sizes.window = 2;
    const Approximation<double> leaves = sized(problem, sizes, {.mode = mode, .window = false});
    const std::string& plan = leaves.diagnostics.mode;
    if (plan != "screened" && plan != "listed") CHECK(gap_to_exact(problem, leaves) <= 1e-11);
  }
  const arma::uvec of = arma::regspace<arma::uvec>(0, 39) - 5 * (arma::regspace<arma::uvec>(0, 39) / 5);
  const Problem<double> repeated(problem.Q().rows(of.head(30)), problem.K().rows(of), problem.V());
  KrigedSizes enough = kSmall;
  enough.window = 45;
  for (const Mode mode : kModes) {
    const Approximation<double> approximation = sized(repeated, enough, {.mode = mode});
    REQUIRE(*approximation.diagnostics.cells >= 5);
    CHECK(gap_to_exact(repeated, approximation) <= 1e-11);
  }
}

TEST_CASE("kriged coreset: values that are shifted, scaled or in another order give the output shifted, scaled, so") {
  const Problem<double> problem = rectangle(35, 45, "values");
  for (const Mode mode : kModes) {
    CAPTURE(static_cast<int>(mode));
    const auto output = [&](const arma::mat& v) {
      return sized(Problem<double>(problem.Q(), problem.K(), v), kSmall, {.mode = mode}).output;
    };
    const arma::mat plain = output(problem.V());
    CHECK(distance(output(problem.V() + 7), arma::mat(plain + 7)) <= 1e-9);
    CHECK(distance(output(-3 * problem.V()), arma::mat(-3 * plain)) <= 1e-9);
    CHECK(distance(output(problem.V().cols(arma::uvec{2, 0, 1})), plain.cols(arma::uvec{2, 0, 1}).eval()) <= 1e-9);
    CHECK(distance(output(arma::mat(45, 2, arma::fill::value(0.3))), arma::mat(35, 2, arma::fill::value(0.3))) <=
          1e-15);
  }
}

TEST_CASE("kriged coreset: a vector added to all keys, and a scale moved from queries to keys, change nothing") {
  const Problem<double> problem = rectangle(35, 45, "keys");
  for (const Mode mode : kModes) {
    CAPTURE(static_cast<int>(mode));
    const arma::mat plain = sized(problem, kSmall, {.mode = mode}).output;
    arma::mat moved = problem.K();
    moved.each_row() += 3 * problem.K().row(7);
    CHECK(distance(sized<double>({problem.Q(), moved, problem.V()}, kSmall, {.mode = mode}).output, plain) <= 1e-9);
    const Problem<double> scaled(8 * problem.Q(), 0.125 * problem.K(), problem.V());
    CHECK(distance(sized(scaled, kSmall, {.mode = mode}).output, plain) <= 1e-12);
  }
}

TEST_CASE("kriged coreset: with far splits and nothing drawn, permuted tokens give permuted rows") {
  const Problem<double> problem = rectangle(40, 40, "permuted");
  const arma::uvec order = sample_without_replacement(40, 40, Key(3)),
                   other = sample_without_replacement(40, 40, Key(4));
  const Options_ options{.mode = Mode::coreset, .tree = SplitDirection::far};
  const arma::mat plain = sized(problem, kUnchecked, options).output;
  const Problem<double> queries(problem.Q().rows(order), problem.K(), problem.V()),
      keys(problem.Q(), problem.K().rows(other), problem.V().rows(other));
  CHECK(distance(sized(queries, kUnchecked, options).output, plain.rows(order).eval()) <= 1e-8);
  CHECK(distance(sized(keys, kUnchecked, options).output, plain) <= 1e-8);
}

TEST_CASE_TEMPLATE("kriged coreset: outputs are in the box of V, also of sharp rows and of values far from zero", T,
                   float, double) {
  arma::uword fallen = 0;
  for (const double norm : {1.0, 6.0, 30.0}) {
    for (std::uint64_t draw = 0; draw < 10; ++draw) {
      const Problem<T> problem = random_problem<T>(50, 4, 2, norm, Key(test_seed()).child(draw), 100);
      for (const Mode mode : kModes) {
        const Approximation<T> approximation = sized(problem, kSmall, {.mode = mode}, Key(draw));
        fallen += approximation.diagnostics.fallen_rows.value();
        const arma::Row<T> low = arma::min(problem.V(), 0), high = arma::max(problem.V(), 0);
        for (arma::uword i = 0; i < 50; ++i) {
          CHECK(arma::all(approximation.output.row(i) >= low));
          CHECK(arma::all(approximation.output.row(i) <= high));
        }
        CHECK(row_sum_gap(approximation) <= 1e3 * 50 * 50 * unit<T>());
        CHECK(interface_gap(approximation, problem) <= 1e3 * 50 * 50 * unit<T>());
      }
    }
  }
  // Clusters that attend to themselves, and values that are 1 in a cluster: exact outputs are at the edge of the box.
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const arma::uvec cluster = arma::regspace<arma::uvec>(0, 59) - 6 * (arma::regspace<arma::uvec>(0, 59) / 6);
    const arma::Mat<T> centres = random_matrix<T>(6, 6, Key(test_seed()).child(draw).child("centres")),
                       values = arma::eye<arma::Mat<T>>(6, 6);
    const auto about = [&](const char* name) -> arma::Mat<T> {
      return 2 * centres.rows(cluster) + T(0.5) * random_matrix<T>(60, 6, Key(test_seed()).child(draw).child(name));
    };
    const Problem<T> problem(about("q"), about("k"), values.rows(cluster));
    const Approximation<T> approximation = sized(problem, kUnchecked, {.mode = Mode::coreset}, Key(draw));
    fallen += approximation.diagnostics.fallen_rows.value();
    CHECK(approximation.output.min() >= 0);
    CHECK(approximation.output.max() <= 1);
    CHECK(row_sum_gap(approximation) <= 1e3 * 60 * 60 * unit<T>());
    CHECK(interface_gap(approximation, problem) <= 1e3 * 60 * 60 * unit<T>());
  }
  CHECK(fallen > 0);  // or nothing was tested
}

TEST_CASE("kriged coreset: rows without regression are averages, with weights that are not negative") {
  const Problem<double> problem = rectangle(40, 50, "averages");
  for (const Options_& options : {Options_{.mode = Mode::coreset, .kriging = false},
                                  Options_{.mode = Mode::near, .kriging = false}, Options_{.mode = Mode::window}}) {
    const Dense b = sized(problem, kSmall, options).scores->dense();
    for (const long double weight : b.entries) CHECK(weight >= -1e-15L);
  }
}

TEST_CASE("kriged coreset: a query attends one by one to keys at an offset, and to those that stand out in a cell") {
  // Each token's key fits the query 5 places before it; values tell the keys apart.
  const arma::uword n = 120;
  const arma::mat tokens = 9 * arma::normalise(random_matrix(n, 8, Key(test_seed())), 2, 1);
  arma::mat keys = arma::shift(tokens, 5, 0);
  const Problem<double> band(tokens * std::sqrt(8.0) / 6, keys, random_matrix(n, 3, Key(2)));
  const double size = arma::norm(exact_attention(band, Target::softmax).output, "fro");
  const auto error = [&](const Options_& options) {
    return arma::norm(
               sized(band, {.landmarks = 8, .checks = 8, .exact_rows = 2, .cells = 20, .window = 40}, options).output -
                   exact_attention(band, Target::softmax).output,
               "fro") /
           size;
  };
  CHECK(error({.mode = Mode::coreset}) > 0.5);
  CHECK(error({.mode = Mode::window}) < 0.1);
  CHECK(error({.mode = Mode::automatic}) < 0.1);
  CHECK(error({.mode = Mode::window, .window = false}) < 0.5);
}

TEST_CASE("kriged coreset: where check rows have most of their attention in common, nothing but cells is tried") {
  // Queries of a group attend to the keys of that group, nearly alike.
  const arma::uword n = 360, d = 20;
  const auto diagnostics = [&](arma::uword of_queries, arma::uword of_keys, const Options_& options) {
    arma::mat queries(n, 8, arma::fill::zeros), keys(n, 8, arma::fill::zeros);
    for (arma::uword i = 0; i < n; ++i) queries(i, (i / 7) % of_queries) = 9, keys(i, (i / 7) % of_keys) = 9;
    queries += 0.05 * random_matrix(n, 8, Key(test_seed()).child("queries"));
    keys += 0.05 * random_matrix(n, 8, Key(test_seed()).child("keys"));
    return kriged_coreset<double>({queries, keys, random_matrix(n, 8, Key(3))}, d, Key(1), options).diagnostics;
  };
  const auto leaves = [&](bool checks, bool near, bool pilot) {
    const KrigedBudget budget{.flops = skyformer_flops(2 * n, 8, 8, d),
                              .n_q = n,
                              .n_k = n,
                              .p = 8,
                              .p_v = 8,
                              .checks = checks,
                              .near = near,
                              .pilot = pilot};
    return solve_sizes(budget).landmarks;
  };
  REQUIRE(leaves(true, true, true) < leaves(true, false, false));
  REQUIRE(leaves(true, false, false) < leaves(false, false, false));
  const Diagnostics one = diagnostics(1, 8, {});
  CHECK(one.mode == "coreset");
  CHECK(one.leaves == leaves(true, false, false));
  CHECK(diagnostics(1, 8, {.mode = Mode::coreset}).leaves == leaves(false, false, false));
  CHECK(diagnostics(1, 8, {.mode = Mode::window}).mode != "coreset");
  CHECK(diagnostics(1, 8, {.mode = Mode::near}).leaves == leaves(true, true, false));
  // Little in common, but cells are enough: nothing is settled before the pilot, which keys of a query's own then lose.
  const Diagnostics three = diagnostics(3, 3, {});
  CHECK(three.mode == "coreset");
  CHECK(three.leaves == leaves(true, true, true));
}

TEST_CASE("kriged coreset: the denominators of exact rows are the sums of exponentials") {
  const Problem<double> problem = rectangle(60, 70, "denominators");
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  const std::vector<long double> log_sums = log_sums_of(logits_of(problem.Q(), problem.K()));
  for (const Mode mode : kModes) {
    const Approximation<double> approximation = sized(problem, kSmall, {.mode = mode});
    arma::uword exact_rows = 0;
    for (arma::uword i = 0; i < 60; ++i) {
      if (arma::abs(approximation.output.row(i) - exact.row(i)).max() > 1e-12) continue;
      ++exact_rows;
      const double found = std::log(approximation.denominators->values(i)) + approximation.denominators->log_scale(i);
      CHECK(found == doctest::Approx(static_cast<double>(log_sums[i])).epsilon(1e-12));
    }
    CHECK(exact_rows >= kSmall.checks + 1);  // one of the worst queries may be a check row
  }
}

TEST_CASE("kriged coreset: less in common is enough where there are too many keys for a screen") {
  // 40 groups of queries, each with a fortieth of the keys to which they give .55 of their attention, alike; all other
  // keys share the rest. Two queries of different groups have .45 in common, and few of the 8 check rows share a group.
  const arma::uword p = 48, d = 20, groups = 40;
  const auto leaves = [&](arma::uword n, bool pilot) {
    const auto size = static_cast<double>(n);
    return solve_sizes({.flops = skyformer_flops(2 * size, p, 8, d),
                        .n_q = size,
                        .n_k = size,
                        .p = p,
                        .p_v = 8,
                        .checks = true,
                        .near = pilot,
                        .pilot = pilot})
        .landmarks;
  };
  const auto diagnostics = [&](arma::uword n, std::uint64_t draw) {
    const auto own = static_cast<double>(n / groups), others = static_cast<double>(n) - own;
    const double score = std::log(0.55 / 0.45 * others / own);
    arma::mat tokens(n, p, arma::fill::zeros);
    for (arma::uword i = 0; i < n; ++i) tokens(i, i % groups) = std::sqrt(score * std::sqrt(static_cast<double>(p)));
    return kriged_coreset<double>({tokens, tokens, random_matrix(n, 8, Key(3))}, d, Key(draw)).diagnostics;
  };
  const arma::uword few = 960, many = 1200;
  REQUIRE(few < kMostScreened);
  REQUIRE(many > kMostScreened);
  REQUIRE(leaves(few, true) < leaves(few, false));
  REQUIRE(leaves(many, true) < leaves(many, false));
  for (const std::uint64_t draw : {1U, 2U, 3U, 4U}) {
    CAPTURE(draw);
    CHECK(diagnostics(many, draw).leaves == leaves(many, false));
    CHECK(diagnostics(few, draw).leaves != leaves(few, false));
  }
}

TEST_CASE("kriged coreset: a window is judged by the offsets of other check rows") {
  // Every query attends to one key, at an offset of its own: the offsets of a row say nothing about others. At offset 0
  // they say all. There are too many keys for a screen.
  const arma::uword n = 1100, p = 32;
  const arma::mat keys = 3 * random_matrix(n, p, Key(test_seed()).child("keys")),
                  values = random_matrix(n, 4, Key(test_seed()).child("values"));
  REQUIRE(n > kMostScreened);
  const arma::uvec shuffled = sample_without_replacement(n, n, Key(test_seed()).child("shuffled"));
  const Problem<double> apart(keys.rows(shuffled), keys, values), along(keys, keys, values);
  CHECK(kriged_coreset<double>(apart, 60, Key(1)).diagnostics.mode != "window");
  CHECK(kriged_coreset<double>(along, 60, Key(1)).diagnostics.mode == "window");
}

TEST_CASE("kriged coreset: the offset of a key that is listed for all queries counts nothing") {
  const arma::uword n = 50;
  const Problem<double> problem = rectangle(n, n, "listed");
  const KrigedInput<double> input(problem);
  const arma::vec equal(n, arma::fill::ones);
  const PointTree tree = split_points(input.keys.columns, equal, 6, SplitDirection::random, Key(1));
  const KeyCells<double> cells = make_cells(input, equal, tree);
  const std::vector<arma::uword> row = {0, 1}, queries = {31, 12};
  const ExactRows<double> rows = exact_rows_of(input, arma::mat(problem.Q().rows(arma::uvec(queries))), {});
  const arma::mat weights = cell_weights(input, rows, cells);
  // Without the window's sums over neighbours an offset would have one key of each query. Keys 20, ..., 49 are listed:
  // only offsets of queries 31 and 12 to the first 20 keys are left, smoothed over 7 neighbours.
  std::vector<std::uint32_t> listed(30), all(n);
  std::iota(listed.begin(), listed.end(), 20U);
  std::iota(all.begin(), all.end(), 0U);
  const auto scores = [&](const std::vector<std::uint32_t>& of) {
    return offset_scores(input, rows, row, queries, cells, weights, of);
  };
  for (const double score : scores(all)) CHECK(score == 0);
  const std::vector<double> some = scores(listed), none = scores({});
  for (std::size_t o = 0; o < some.size(); ++o) {
    CAPTURE(o);
    const auto offset = static_cast<std::int64_t>(o) - 49;
    const bool may = offset <= 19 - 12 + 7;  // the last key that is not listed, from the query that is nearer to it
    CHECK((may || some[o] <= 1e-12));
  }
  CHECK(some[49 - 25] > 0);
}

TEST_CASE_TEMPLATE("kriged coreset: what rows have in common, the mean over pairs", T, float, double) {
  ExactRows<T> rows;
  rows.weights.zeros(50, 3);
  rows.weights.at(7, 0) = 1;
  rows.weights.col(1).fill(T(0.02));
  rows.weights.col(2).head(8).fill(T(0.125));
  CHECK(mean_overlap(rows) == doctest::Approx((0.02 + 0.125 + 8 * 0.02) / 3).epsilon(1e-6));
  rows.weights.shed_cols(1, 2);
  CHECK(mean_overlap(rows) == 1);
}

TEST_CASE("kriged coreset: more keys than a screen looks at, and no offsets: keys listed for all queries") {
  const arma::uword n_q = 30, n_k = kMostScreened + 20;
  // All queries attend to the same 15 keys, far from each other.
  arma::mat keys = random_matrix(n_k, 6, Key(test_seed()).child("keys"));
  const arma::rowvec along = arma::normalise(random_matrix(1, 6, Key(test_seed()).child("along")), 2, 1);
  const arma::uvec chosen = sample_without_replacement(n_k, 15, Key(test_seed()).child("chosen"));
  for (const arma::uword j : chosen) keys.row(j) += 9 * along;
  arma::mat queries = 0.3 * random_matrix(n_q, 6, Key(test_seed()).child("queries"));
  queries.each_row() += 2 * along;
  const Problem<double> problem(queries, keys, random_matrix(n_k, 3, Key(2)));
  const Options_ options{.mode = Mode::window, .window = false};
  const KrigedSizes sizes{.landmarks = 5, .checks = 6, .exact_rows = 2, .cells = 9, .window = 40};
  const Approximation<double> approximation = sized(problem, sizes, options);
  CHECK(approximation.diagnostics.mode == "listed");
  const double size = arma::norm(exact_attention(problem, Target::softmax).output, "fro");
  CHECK(gap_to_exact(problem, approximation) < 0.1 * size);
  CHECK(gap_to_exact(problem, sized(problem, sizes, {.mode = Mode::coreset, .kriging = false})) >
        2 * gap_to_exact(problem, approximation));
}

TEST_CASE("kriged coreset: values that are all zero have no error in the check rows") {
  const Problem<double> plain = rectangle(30, 40, "zero");
  const Problem<double> problem(plain.Q(), plain.K(), arma::mat(40, 3, arma::fill::zeros));
  for (const Mode mode : {Mode::automatic, Mode::near, Mode::window}) {
    const Approximation<double> approximation = sized(problem, kSmall, {.mode = mode});
    CHECK(approximation.diagnostics.leave_one_out == 0);
    CHECK(approximation.output.is_zero());
  }
}

TEST_CASE("kriged coreset: flops are at most those of skyformer-softmax with d landmarks, and nearly as many") {
  struct Shape {
    double n_q, n_k, p, p_v, d;
  };
  for (const Shape& shape : {Shape{512, 512, 64, 64, 32},
                             {512, 512, 64, 64, 128},
                             {4096, 4096, 64, 64, 64},
                             {16384, 16384, 64, 64, 256},
                             {2048, 2048, 8, 8, 256},
                             {100, 5000, 32, 16, 40},
                             {5000, 100, 32, 64, 20}}) {
    CAPTURE(shape.n_q);
    CAPTURE(shape.d);
    for (const bool checks : {false, true}) {
      const KrigedBudget budget{.flops = skyformer_flops(shape.n_q + shape.n_k, shape.p, shape.p_v, shape.d),
                                .n_q = shape.n_q,
                                .n_k = shape.n_k,
                                .p = shape.p,
                                .p_v = shape.p_v,
                                .checks = checks,
                                .near = checks,
                                .pilot = checks};
      const KrigedSizes sizes = solve_sizes(budget);
      if (sizes.exact) {
        CHECK(exact_flops(budget) <= budget.flops);
        continue;
      }
      CHECK(kriged_flops(budget, sizes) <= budget.flops);
      KrigedSizes more = sizes;
      ++more.cells;
      if (more.cells <= static_cast<arma::uword>(shape.n_k)) CHECK(kriged_flops(budget, more) > budget.flops);
      if (checks) CHECK(window_flops(budget, sizes) <= budget.flops);
    }
  }
}

TEST_CASE("kriged coreset: trees visit no more points than are counted") {
  for (const arma::uword leaves : {8U, 50U}) {
    const Problem<double> problem = random_problem<double>(1000, 16, 4, 4, Key(test_seed()).child("visits"));
    const KrigedInput<double> input(problem);
    const PointTree tree = split_points<double>(input.keys.columns, arma::vec(1000, arma::fill::ones), leaves,
                                                SplitDirection::random, Key(1));
    CHECK(tree.visits <= 1000 * 1.6 * std::log2(static_cast<double>(leaves)));
  }
}

TEST_CASE_TEMPLATE("kriged coreset: keys that a query attends to one by one count no more in their cells", T, float,
                   double) {
  const arma::uword n_q = 70, n_k = 90;
  const Problem<T> problem = random_rectangle<T>(n_q, n_k, 6, 3, 4, Key(test_seed()).child("one by one"));
  const KrigedInput<T> input(problem);
  const arma::Col<T> equal(n_k, arma::fill::ones), ones(n_q, arma::fill::ones);
  const KeyCells<T> cells =
      make_cells(input, equal, split_points(input.keys.columns, equal, 12, SplitDirection::random, Key(1)));
  const PointTree one = split_points(input.queries.columns, ones, 1, SplitDirection::random, Key(1)),
                  four = split_points(input.queries.columns, ones, 4, SplitDirection::random, Key(1));
  std::vector<std::uint32_t> all(n_k);
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::int64_t> offsets(2 * n_k - 1);
  std::iota(offsets.begin(), offsets.end(), 1 - static_cast<std::int64_t>(n_k));
  const std::vector<std::uint32_t> some(all.begin(), all.begin() + 40);
  const arma::Mat<T> exact = exact_attention(problem, Target::softmax).output;
  const auto gap = [&](const PointTree& tree, const NearField<T>& near) {
    return distance(query_rows(input, tree, cells, near, arma::Mat<T>(), false).output, exact);
  };
  const double bound = 1e3 * 90 * unit<T>();
  CHECK(gap(one, {}) > 0.01);
  CHECK(gap(four, {.lists = {4, all}}) <= bound);
  CHECK(gap(one, {.offsets = offsets}) <= bound);
  const ScreenSizes every{.first = 1, .terms = 2, .candidates = n_k, .kept = n_k};
  const auto screen = std::make_shared<const KeyScreen<T>>(input, every);
  CHECK(gap(one, {.screen = screen}) <= bound);
  CHECK(gap(one, {.lists = {some}, .offsets = offsets}) <= bound);
  CHECK(gap(one, {.lists = {some}, .offsets = {-3, 0, 5}, .screen = screen}) <= bound);
}
