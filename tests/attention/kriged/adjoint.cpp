// The adjoint of the kriged coreset against differences, where its trees, its plan and its rows are not those of small
// problems, which are exact.
#include <croquis/attention/kriged/regression_adjoint.hpp>
#include <croquis/attention/kriged/sized.hpp>
#include <set>

#include "support/adjoints.hpp"
#include "support/approximations.hpp"
#include "support/methods.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

using Mode = KrigedCoresetOptions::Mode;

// Trees and plans jump where a token crosses the border of a leaf, which with these steps one in a thousand directions
// meets.
constexpr double kStep = 0x1p-17;

constexpr KrigedSizes kSizes{.landmarks = 6, .checks = 4, .exact_rows = 2, .cells = 9, .window = 20};

template <typename T>
Approximation<T> sized(const Problem<T>& problem, const KrigedCoresetOptions& options, const Key& draw_key,
                       KrigedSizes sizes = kSizes) {
  if (options.mode == Mode::coreset) sizes.checks = 0;
  return kriged_of_sizes<T>(std::make_shared<const KrigedInput<T>>(problem), sizes, options, draw_key);
}

Diagnostics check(const Problem<double>& problem, const KrigedCoresetOptions& options, const Key& key,
                  const KrigedSizes& sizes = kSizes) {
  const Approximation<double> approximation = sized(problem, options, key, sizes);
  check_against_differences(
      problem, [&](const Problem<double>& p) { return sized(p, options, key, sizes).output; }, approximation.adjoint,
      key.child("directions"), 1e-7, kStep);
  return approximation.diagnostics;
}

// Queries that attend to the key one before them: what a window is for.
Problem<double> neighbours(arma::uword n, double norm, const Key& key) {
  const Problem<double> problem = random_problem<double>(n, 8, 3, norm, key);
  arma::mat q = problem.Q();
  for (arma::uword i = 1; i < n; ++i) q.row(i) = problem.K().row(i - 1);
  return {q, problem.K(), problem.V()};
}

}  // namespace

TEST_CASE("kriged adjoint: every mode, tree and option, square and rectangular") {
  const Key key = Key(81);
  std::set<std::string> plans;
  for (const Mode mode : {Mode::automatic, Mode::coreset, Mode::near, Mode::window}) {
    for (const SplitDirection tree : {SplitDirection::random, SplitDirection::far}) {
      for (const bool flag : {true, false}) {
        CAPTURE(static_cast<int>(mode));
        CAPTURE(static_cast<int>(tree));
        CAPTURE(flag);
        const KrigedCoresetOptions options{.mode = mode, .tree = tree, .window = flag, .kriging = flag};
        plans.insert(check(random_rectangle<double>(70, 90, 5, 3, 2, key), options, key.child("wide")).mode);
        plans.insert(check(random_rectangle<double>(61, 61, 4, 2, 4, key), options, key.child("square")).mode);
        plans.insert(check(neighbours(80, 5, key), options, key.child("neighbours")).mode);
      }
    }
  }
  KrigedSizes few = kSizes;
  few.window = 8;  // too few to look at parts of all scores
  plans.insert(check(neighbours(80, 5, key), {.mode = Mode::window}, key.child("few"), few).mode);
  const Problem<double> many = random_rectangle<double>(20, kMostScreened + 6, 5, 3, 4, key);
  plans.insert(check(many, {.mode = Mode::window, .window = false}, key.child("many")).mode);
  for (const char* plan : {"coreset", "near", "window", "screened", "listed"}) {
    CAPTURE(std::string(plan));
    CHECK(plans.contains(plan));
  }
}

TEST_CASE("kriged adjoint: several blocks of queries, tokens that are their leaves, sizes that are exact") {
  const Key key = Key(82);
  const Problem<double> problem = random_rectangle<double>(150, 70, 5, 3, 2, key);
  check(problem, {.mode = Mode::near}, key);
  check(problem, {.mode = Mode::window}, key);
  KrigedSizes sizes = kSizes;
  sizes.landmarks = 120;  // most leaves have one query
  check(problem, {.mode = Mode::coreset}, key, sizes);
  sizes.cells = 70;
  check(problem, {.mode = Mode::near}, key, sizes);
  sizes.exact = true;
  CHECK(check(problem, {}, key, sizes).mode == "exact");
}

TEST_CASE("kriged adjoint: rows that are moved into the box, or lose their correction") {
  const Key key = Key(83);
  arma::uword fallen = 0;
  for (const double norm : {6.0, 9.0, 14.0}) {
    CAPTURE(norm);
    for (std::uint64_t i = 0; i < 3; ++i) {
      const Problem<double> problem = random_rectangle<double>(90, 80, 5, 2, norm, key.child(i));
      fallen += *check(problem, {.mode = Mode::coreset}, key).fallen_rows;
      fallen += *check(problem, {.mode = Mode::near}, key).fallen_rows;
    }
  }
  // Clusters that attend to themselves, with values that are about 1 in a cluster: outputs are at the edge of the box.
  for (std::uint64_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const arma::uvec cluster = arma::regspace<arma::uvec>(0, 59) - 6 * (arma::regspace<arma::uvec>(0, 59) / 6);
    const arma::mat centres = random_matrix(6, 6, key.child("centres").child(i)), values(6, 6, arma::fill::eye);
    const auto about = [&](const arma::mat& means, const char* name, double width) -> arma::mat {
      return means.rows(cluster) + width * random_matrix(60, 6, key.child(name).child(i));
    };
    const Problem<double> problem(about(2 * centres, "q", 0.5), about(2 * centres, "k", 0.5), about(values, "v", 0.01));
    fallen += *check(problem, {.mode = Mode::coreset}, key).fallen_rows;
  }
  CHECK(fallen >= 20);
}

TEST_CASE("kriged adjoint: the regression alone, by differences of its definition") {
  const Key key = Key(84);
  const arma::mat y = arma::exp(random_matrix(5, 7, key.child("y"))) / 10, e = random_matrix(7, 3, key.child("e")),
                  z = random_matrix(5, 3, key.child("z"));
  const arma::vec squares = arma::exp(random_matrix(7, 1, key.child("squares")));
  for (const arma::uword n_k : {arma::uword{1}, arma::uword{1000}}) {  // the ridge follows the squares alone, or all
    CAPTURE(n_k);
    const auto plan_at = [&](const arma::mat& weights, const arma::vec& of_cells) {
      KrigedPlan<double> plan;
      plan.cell_weights = weights;
      plan.residual = z;
      plan.cells.squares = of_cells;
      const arma::mat gram = weights * arma::diagmat(of_cells) * weights.t();
      const double uniform = arma::accu(of_cells) / static_cast<double>(n_k * n_k);
      CHECK((arma::trace(gram) / 5 < uniform) == (n_k == 1));
      plan.kriging.ridge = 0.1 * std::max(arma::trace(gram) / 5, uniform);
      plan.kriging.inverse = arma::inv(gram + plan.kriging.ridge * arma::mat(5, 5, arma::fill::eye));
      return plan;
    };
    const RegressionAdjoint of = regression_adjoint(plan_at(y, squares), n_k, e);
    const arma::mat dy = random_matrix(5, 7, key.child("dy"));
    const arma::vec ds = random_matrix(7, 1, key.child("ds"));
    const Derivative of_y =
        derivative([&](double t) { return arma::dot(e, plan_at(y + t * dy, squares).regression() * z); }, 0x1p-12);
    const Derivative of_squares =
        derivative([&](double t) { return arma::dot(e, plan_at(y, squares + t * ds).regression() * z); }, 0x1p-12);
    CHECK(arma::dot(of.cell_weights, dy) == doctest::Approx(of_y.value).epsilon(1e-7));
    CHECK(arma::dot(of.squares, ds) == doctest::Approx(of_squares.value).epsilon(1e-7));
    const arma::mat of_z = plan_at(y, squares).regression().t() * e;
    CHECK(arma::abs(of.residual - of_z).max() < 1e-12 * arma::abs(of_z).max());
  }
}

// With X = Y diag(g)^1/2 = U diag(sigma) V^T, <E, W Z> is the sum over i of sigma_i / (sigma_i^2 + ridge) times
// product_i of row i of U^T Z and of V^T diag(g)^1/2 E, whose derivative by sigma_i is that by X between u_i and v_i.
TEST_CASE("kriged adjoint: the regression where the ridge is above nearly all eigenvalues, in closed form") {
  const Key key = Key(86);
  const auto reflection = [&](arma::uword n, const char* name) -> arma::mat {
    const arma::vec u = arma::normalise(random_matrix(n, 1, key.child(name)).col(0));
    return arma::mat(n, n, arma::fill::eye) - 2 * u * u.t();
  };
  constexpr double kRidge = 1e-7;
  for (const arma::uword rows : {arma::uword{10}, arma::uword{7}}) {
    CAPTURE(rows);
    const arma::uword cells = 17 - rows;
    const arma::mat u = reflection(rows, "u").head_cols(7), v = reflection(cells, "v").head_cols(7);
    const arma::vec sigma = arma::exp10(arma::regspace(0, -1, -6)), roots = arma::exp(random_matrix(cells, 1, key) / 2);
    // Smooth rows: what is left of them has little where eigenvalues are small, and so has the cotangent.
    const arma::mat z = arma::diagmat(sigma) * random_matrix(7, 3, key.child("z")),
                    e = arma::diagmat(sigma) * random_matrix(7, 3, key.child("e"));
    const double mean = arma::dot(sigma, sigma) / static_cast<double>(rows), ridge = kRidge * mean;
    KrigedPlan<double> plan;
    plan.cell_weights = (u * arma::diagmat(sigma) * v.t()).eval().each_row() / roots.t();
    plan.residual = u * z;
    plan.cells.squares = arma::square(roots);
    plan.kriging.ridge = ridge;
    const RegressionAdjoint of = regression_adjoint<double>(plan, 1000, (v * e).eval().each_col() / roots);

    const arma::vec products = arma::sum(z % e, 1), sums = arma::square(sigma) + ridge;
    const double of_ridge = -arma::accu(sigma % products / arma::square(sums));
    const arma::vec expected = (ridge - arma::square(sigma)) % products / arma::square(sums) +
                               of_ridge * kRidge * 2 / static_cast<double>(rows) * sigma;
    const arma::vec found = arma::diagvec(u.t() * (of.cell_weights.each_row() / roots.t()) * v);
    CHECK(arma::abs(found - expected).max() < 1e-11 * arma::abs(expected).max());
    const arma::mat of_z = u * (e.each_col() % (sigma / sums));
    CHECK(arma::abs(of.residual - of_z).max() < 1e-11 * arma::abs(of_z).max());
  }
}

TEST_CASE_TEMPLATE("kriged adjoint: the same bits for any number of threads, and numbers for tokens that are equal", T,
                   float, double) {
  const Key key = Key(85);
  const auto gradient_of = [&](const Problem<T>& problem, Mode mode, int threads) {
    const ThreadCount count(threads);
    const arma::Mat<T> cotangent = random_matrix<T>(problem.n_q(), problem.p_v(), key.child("cotangent"));
    return sized(problem, {.mode = mode}, key).adjoint(cotangent);
  };
  for (const Mode mode : {Mode::coreset, Mode::near, Mode::window}) {
    CAPTURE(static_cast<int>(mode));
    const Problem<T> problem = random_problem<T>(900, 8, 5, 3, key);
    const Gradient<T> one = gradient_of(problem, mode, 1), three = gradient_of(problem, mode, 3);
    CHECK(identical(one.q, three.q));
    CHECK(identical(one.k, three.k));
    CHECK(identical(one.v, three.v));
    for (const double norm : {3.0, 30.0}) {
      const Gradient<T> awkward = gradient_of(awkward_problem<T>(90, 8, 3, norm, key), mode, 1);
      CHECK(awkward.q.is_finite());
      CHECK(awkward.k.is_finite());
      CHECK(awkward.v.is_finite());
    }
  }
}
