// The kriged coreset against its definition in loops.
#include <croquis/attention/kriged_coreset.hpp>
#include <croquis/sampling/point_tree.hpp>

#include <cmath>
#include <limits>

#include "attention/kriged/cases.hpp"

using namespace croquis;

namespace {

using Mode = KrigedCoresetOptions::Mode;

// B~ of mode=coreset by its definition; the partitions alone are the library's.
struct KrigedReference {
  Dense scores;
  double ridge = std::numeric_limits<double>::infinity();

  KrigedReference(const Problem<double>& problem, const KrigedSizes& sizes, const Key& draw_key) {
    const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
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
      Dense fitted = ridge_fit(x, left, ridge);
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
  }

  // By leaving out rows, one after the other.
  static long double left_out(const Dense& x, const Dense& y, double ridge, const std::vector<long double>& counts) {
    long double error = 0;
    for (arma::uword r = 0; r < x.rows; ++r) {
      arma::uvec others = arma::regspace<arma::uvec>(0, x.rows - 1);
      others.shed_row(r);
      const Dense fitted = ridge_fit(rows_of(x, others), rows_of(y, others), ridge);
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
    // Fixed draws, in which no row falls and the last exact row is no choice: the two queries of a leaf are equally far
    // from its mean, and rounding chooses among them.
    const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 5, 3, 2, Key(1));
    for (std::uint64_t draw = 0; draw < 4; ++draw) {
      const Key draw_key = Key(1).child(draw);
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
