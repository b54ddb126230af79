// What the kriged coreset promises for all inputs.
#include <croquis/attention/exact.hpp>
#include <croquis/random/indices.hpp>

#include "attention/kriged/cases.hpp"

using namespace croquis;

namespace {

using Mode = KrigedCoresetOptions::Mode;

const std::vector<Mode> kModes = {Mode::automatic, Mode::coreset, Mode::near, Mode::window};

}  // namespace

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
  const KrigedCoresetOptions options{.mode = Mode::coreset, .tree = SplitDirection::far};
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
  for (const KrigedCoresetOptions& options :
       {KrigedCoresetOptions{.mode = Mode::coreset, .kriging = false},
        KrigedCoresetOptions{.mode = Mode::near, .kriging = false}, KrigedCoresetOptions{.mode = Mode::window}}) {
    const Dense b = sized(problem, kSmall, options).scores->dense();
    for (const long double weight : b.entries) CHECK(weight >= -1e-15L);
  }
}

TEST_CASE("kriged coreset: the denominators of exact rows are the sums of exponentials") {
  const Problem<double> problem = rectangle(60, 70, "denominators");
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  const std::vector<long double> log_sums = log_sums_of(logits_of(problem.Q(), problem.K()));
  for (const Mode mode : kModes) {
    const Approximation<double> approximation = sized(problem, kSmall, {.mode = mode});
    arma::uword exact_rows = 0;
    for (arma::uword i = 0; i < 60; ++i) {
      if (distance(approximation.output.row(i), exact.row(i)) > 1e-12) continue;
      ++exact_rows;
      const double found = std::log(approximation.denominators->values(i)) + approximation.denominators->log_scale(i);
      CHECK(found == doctest::Approx(static_cast<double>(log_sums[i])).epsilon(1e-12));
    }
    CHECK(exact_rows >= kSmall.checks + 1);  // one of the worst queries may be a check row
  }
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
