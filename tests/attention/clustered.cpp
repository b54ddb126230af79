#include <croquis/attention/clustered.hpp>
#include <croquis/random/normal_matrix.hpp>

#include <set>

#include "support/approximations.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

template <typename T>
std::vector<std::uint32_t> clusters_of(const Problem<T>& problem, arma::uword d, const ClusteredOptions& options,
                                       const Key& draw_key) {
  auto planes = normal_matrix<T>(draw_key.child("planes"), problem.p() + 1, options.bits);
  if (!options.offsets) planes.row(problem.p()).zeros();
  return hamming_clusters(plane_hashes(problem.Q(), planes), d, draw_key.child("clusters"),
                          {.updates = options.updates, .bits = options.bits});
}

// Every query with the mean of its cluster in its place.
template <typename T>
Dense means_of(const Problem<T>& problem, const std::vector<std::uint32_t>& clusters) {
  const Dense q = problem.Q();
  Dense means(q.rows, q.cols);
  for (arma::uword i = 0; i < q.rows; ++i) {
    long double members = 0;
    for (arma::uword j = 0; j < q.rows; ++j) {
      if (clusters[j] != clusters[i]) continue;
      members += 1;
      for (arma::uword c = 0; c < q.cols; ++c) means(i, c) += q(j, c);
    }
    for (arma::uword c = 0; c < q.cols; ++c) means(i, c) /= members;
  }
  return means;
}

// `exact` on the k keys of largest weight in a row of `rows`, with their weight there; `rows` elsewhere.
Dense refined(const Dense& rows, const Dense& exact, arma::uword k) {
  Dense b = rows;
  for (arma::uword i = 0; i < b.rows; ++i) {
    std::set<arma::uword> top;
    long double mass = 0, own = 0;
    while (top.size() < std::min(k, b.cols)) {
      arma::uword best = b.cols;
      for (arma::uword j = 0; j < b.cols; ++j) {
        if (!top.contains(j) && (best == b.cols || rows(i, j) > rows(i, best))) best = j;
      }
      top.insert(best);
      mass += rows(i, best);
      own += exact(i, best);
    }
    for (const arma::uword j : top) b(i, j) = mass * exact(i, j) / own;
  }
  return b;
}

long double row_distance(const Dense& a, const Dense& b, arma::uword i) {
  long double sum = 0;
  for (arma::uword j = 0; j < a.cols; ++j) sum += std::fabs(a(i, j) - b(i, j));
  return sum;
}

ClusteredOptions with_top(arma::uword top) {
  ClusteredOptions options;
  options.top = top;
  return options;
}

// entry_error() of a problem that may be rectangular.
template <typename T>
double softmax_entry_error(const Problem<T>& problem) {
  return softmax_error<T>(double(problem.n_k()), double(problem.p()), largest_logit(problem));
}

}  // namespace

TEST_CASE_TEMPLATE("clustered: every row is the attention of its cluster's mean; improved: but for its largest keys", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("entries");
  for (const TokenAlignment shape : {TokenAlignment{40, 40}, {6, 33}, {50, 9}}) {
    const Problem<T> problem = random_rectangle<T>(shape.n_q, shape.n_k, 6, 3, 3, draw_key);
    const Dense exact = scores_of(problem.Q(), problem.K(), Target::softmax);
    for (ClusteredOptions options : {with_top(4), ClusteredOptions::code(), ClusteredOptions{4, 20, 0, false}}) {
      for (const arma::uword d : {1U, 4U, 6U}) {
        const Dense rows =
            scores_of(means_of(problem, clusters_of(problem, d, options, draw_key)), problem.K(), Target::softmax);
        const double entry = 2 * softmax_entry_error(problem) + 100 * unit<T>() * largest_logit(problem);
        const auto check = [&](const Approximation<T>& approximation, const Dense& expected) {
          CHECK(distance(approximation.scores->dense(), expected) <= entry);
          CHECK(distance(approximation.output, expected * problem.V()) <=
                50 * entry * static_cast<double>(largest_entry_of(problem.V())));
          CHECK(interface_gap(approximation, problem) <= 4 * 50 * unit<T>());
          CHECK(row_sum_gap(approximation) <= 4 * 50 * unit<T>());
        };
        check(clustered(problem, d, draw_key, options), rows);
        check(improved_clustered(problem, d, draw_key, options), refined(rows, exact, options.top));
      }
    }
  }
}

TEST_CASE("clustered: Propositions 1 and 2, rows are near by the distance of queries, improved rows are not farther") {
  for (const double norm : {0.5, 2.0, 6.0}) {
    const Problem<double> problem = random_problem<double>(60, 5, 3, norm, Key(test_seed()).child("props"));
    const Dense exact = scores_of(problem.Q(), problem.K(), Target::softmax);
    for (const arma::uword d : {2U, 8U, 30U}) {
      const Dense plain = clustered(problem, d, Key(d)).scores->dense(),
                  improved = improved_clustered(problem, d, Key(d), with_top(5)).scores->dense();
      const Dense q = problem.Q(), means = means_of(problem, clusters_of(problem, d, {}, Key(d)));
      const long double keys = arma::norm(problem.K(), 2) / std::sqrt(5.0);
      for (arma::uword i = 0; i < 60; ++i) {
        long double squares = 0, apart = 0;
        for (arma::uword j = 0; j < 60; ++j) squares += std::pow(plain(i, j) - exact(i, j), 2);
        for (arma::uword c = 0; c < 5; ++c) apart += std::pow(q(i, c) - means(i, c), 2);
        CHECK(std::sqrt(squares) <= std::sqrt(apart) * keys + 1e-12L);
        CHECK(row_distance(improved, exact, i) <= row_distance(plain, exact, i) + 1e-12L);
      }
    }
  }
}

TEST_CASE_TEMPLATE("clustered: exact for equal queries, and improved with all keys on top for all", T, float, double) {
  const Problem<T> problem = random_problem<T>(30, 4, 3, 4, Key(test_seed()).child("exact"));
  const arma::Mat<T> same = arma::repmat(problem.Q().row(0), 30, 1);
  const Problem<T> equal(same, problem.K(), problem.V());
  for (const arma::uword d : {1U, 5U, 30U}) {
    check_scores(clustered(equal, d, Key(1)), equal, scores_of(same, problem.K(), Target::softmax),
                 2 * entry_error(equal) + 100 * unit<T>() * largest_logit(equal));
    check_scores(improved_clustered(problem, d, Key(1), with_top(30)), problem,
                 scores_of(problem.Q(), problem.K(), Target::softmax), 2 * entry_error(problem) + 30 * unit<T>());
  }
}

TEST_CASE_TEMPLATE("clustered: large norms and repeated keys are safe, d = 0 and d > n_q are refused", T, float,
                   double) {
  const Problem<T> far = random_problem<T>(20, 4, 2, 100, Key(2)), awkward = awkward_problem<T>(21, 5, 3, 3, Key(3));
  for (const char* name : {"clustered", "improved-clustered"}) {
    CHECK(method_on(far, name).approximate(4, Key(1)).output.is_finite());
    CHECK(method_on(awkward, name).approximate(8, Key(1)).output.is_finite());
    const std::string start = std::string(name) + ": 1 <= d <= n_q, got d = ";
    CHECK(refusal([&] { method_on(far, name).approximate(21, Key(1)); }) == start + "21, n_q = 20");
    CHECK(contains(refusal([&] { method_on(far, name).approximate(0, Key(1)); }), start + "0"));
  }
  CHECK(contains(refusal([&] { improved_clustered(far, 2, Key(1), with_top(0)); }), "top >= 1"));
}
