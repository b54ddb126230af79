// What has no order: ranks of equal numbers, and claims on heads and layers that are all alike.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/rank_correlation.hpp>

#include <cmath>
#include <vector>

#include "claims/decided.hpp"
#include "claims/normal_heads.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Problem;
using croquis::Verdict;

namespace {

// Ranks by counting, ties with the mean of theirs.
arma::vec counted_ranks(const arma::vec& x) {
  arma::vec ranks(x.n_elem);
  for (arma::uword i = 0; i < x.n_elem; ++i) {
    const double below = arma::accu(x < x(i) - 1e-9), tied = arma::accu(arma::abs(x - x(i)) <= 1e-9);
    ranks(i) = below + (tied - 1) / 2;
  }
  return ranks;
}

}  // namespace

TEST_CASE("rank_correlation: ties have the mean of their ranks, also up to rounding; without an order there is none") {
  // Ranks 1/2, 1/2, 2 and 0, 1, 2: covariance 3/2 over sqrt(3/2 2).
  CHECK(rank_correlation({1, 1, 2}, {1, 2, 3}, 0) == doctest::Approx(std::sqrt(0.75)).epsilon(1e-12));
  CHECK(rank_correlation({1, 1 + 1e-15, 2}, {3, 2, 5}, 1e-14) == doctest::Approx(std::sqrt(0.75)).epsilon(1e-12));
  CHECK(rank_correlation({3, 1, 2}, {5, -1, 0}, 0) == doctest::Approx(1));
  CHECK(std::isnan(rank_correlation({1, 1, 1}, {1, 2, 3}, 0)));
  CHECK(std::isnan(rank_correlation({1, 2, 3}, {1, 1, 1 + 1e-15}, 1e-14)));
}

TEST_CASE("ske.informer-order/heads: equal queries are tied") {
  Problem<double> given = tokens(512, 1);
  arma::mat q = given.Q();
  for (arma::uword i = 32; i < 512; ++i) q.row(i) = q.row(0);
  const Problem<double> repeated(q, given.K(), given.V());
  const arma::mat logits = q * given.K().t() / std::sqrt(8);
  const arma::mat a = arma::exp(logits);
  const arma::vec p = arma::sqrt(arma::sum(arma::square(a), 1)) / arma::sum(a, 1),
                  m = arma::log(arma::sum(a, 1)) - arma::mean(logits, 1);
  const double expected = arma::as_scalar(arma::cor(counted_ranks(p), counted_ranks(m)));
  CHECK(decided("ske.informer-order/heads", {{"own", repeated}}).whole.estimate ==
        doctest::Approx(expected).epsilon(1e-9));

  q.each_row() = arma::rowvec(q.row(0));
  const LedgerEntry same = decided("ske.informer-order/heads", {{"own", Problem<double>(q, given.K(), given.V())}});
  CHECK(same.whole.verdict == Verdict::not_applicable);
  CHECK(contains(same.findings.front().hypotheses, "no order"));
}

TEST_CASE("lin.spectrum/layers: layers of the same share have no order") {
  std::vector<Subject> heads;
  for (std::uint64_t layer = 0; layer < 4; ++layer) {
    heads.push_back({fmt::format("layer {}", layer), tokens(64, 1), layer});
  }
  CHECK(decided("lin.spectrum/layers", heads).whole.verdict == Verdict::not_applicable);
}
