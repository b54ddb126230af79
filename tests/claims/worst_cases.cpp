// The search for worst inputs, and the inputs that it has found.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/nprf/few_keys.hpp>
#include <croquis/claims/rational.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/core/threads.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Key;
using croquis::Verdict;

namespace {

const auto never = [] { return false; };

// The largest value, 2, is at rows of which one has length 1 / 2 and another is the opposite of the first.
double hidden_peak(const arma::mat& x) {
  return 2 - std::abs(arma::norm(x.row(0)) - 0.5) - arma::norm(x.row(0) + x.row(1));
}

Check check_of(const SearchedBound& bound) {
  return Ledger({.quick = true}, Key(test_seed())).check_of(find_claim(bound.claim));
}

}  // namespace

TEST_CASE("search_worst: finds a peak within the radius, the same for any number of threads") {
  const SearchSpace space{2, 3, 1};
  const auto found = search_worst(space, {4, 300}, {}, hidden_peak, Key(test_seed()), never);
  CHECK(found.share > 1.99);
  CHECK(found.share == hidden_peak(found.input));
  croquis::set_threads(1);
  const auto alone = search_worst(space, {4, 300}, {}, hidden_peak, Key(test_seed()), never);
  croquis::set_threads(0);
  CHECK(arma::approx_equal(alone.input, found.input, "absdiff", 0));
  // A peak beyond the radius is met at the radius.
  const auto edge = search_worst(
      {1, 2, 1}, {2, 300}, {}, [](const arma::mat& x) { return x(0, 0); }, Key(1), never);
  CHECK(edge.share <= 1 + 1e-12);
  CHECK(edge.share > 0.999);
}

TEST_CASE("search_worst: numbers that are not finite count as nothing; a given start is used, and brought within") {
  const auto only_at = [](const arma::mat& x) { return x(0, 0) == 1 ? 7.0 : std::nan(""); };
  const auto found = search_worst({1, 2, 1}, {1, 5}, {{{3, 0}}}, only_at, Key(1), never);
  CHECK(found.share == 7);
  CHECK(found.input(0, 0) == 1);
  CHECK_THROWS_AS(search_worst({1, 2, 1}, {1, 5}, {}, only_at, Key(1), [] { return true; }), Interrupted);
}

TEST_CASE("search_worst: without a start, and with one that is not of the space, there is nothing to search") {
  const auto refused = [](const SearchSpace& space, arma::uword starts, const std::vector<arma::mat>& given) {
    return refusal([&] { search_worst(space, {starts, 5}, given, hidden_peak, Key(1), never); });
  };
  CHECK(contains(refused({2, 3, 1}, 0, {}), "search_worst: one start at least"));
  CHECK(contains(refused({2, 3, 1}, 1, {arma::mat(2, 4, arma::fill::ones)}), "starts of the size of the space"));
  CHECK(contains(refused({2, 0, 1}, 1, {}), "rows, cols >= 1"));
  CHECK(contains(refused({2, 3, 0}, 1, {}), "radius > 0 and finite"));
}

TEST_CASE("worst inputs on file: every bound has one, within its space, that gives the share it was stored with") {
  for (const SearchedBound& bound : searched_bounds()) {
    CAPTURE(bound.name);
    const WorstCase stored = stored_worst(bound.name);
    REQUIRE(stored.input.n_rows == bound.space.rows);
    REQUIRE(stored.input.n_cols == bound.space.cols);
    CHECK(arma::max(arma::sqrt(arma::sum(arma::square(stored.input), 1))) <= bound.space.radius * (1 + 1e-12));
    const double share = bound.share(stored.input, check_of(bound));
    // Of the transforms rounding itself is measured, which is another on other processors, but of the same size.
    if (bound.name == "rpe.toeplitz") {
      CHECK(share > stored.share / 5);
      CHECK(share < stored.share * 5);
    } else {
      CHECK(share == doctest::Approx(stored.share).epsilon(1e-6));
    }
    CHECK(share <= 1 + 1e-9);
    // No structured start is worse.
    for (const arma::mat& start : bound.starts) CHECK(bound.share(start, check_of(bound)) <= share * (1 + 1e-6));
  }
  CHECK(contains(refusal([] { searched_bound("nothing"); }), "nothing"));
  CHECK(stored_worst("nothing").input.is_empty());
}

TEST_CASE("worst inputs on file: the tightness that a bound publishes is that of its worst input") {
  const Ledger ledger({.quick = true}, Key(test_seed()).child("verify"));
  for (const SearchedBound& bound : searched_bounds()) {
    // Of these another input is worse.
    if (bound.name == "sky.thm2" || bound.name == "nys.penrose-1-stochastic" || bound.name.starts_with("rpe.thm3")) {
      continue;
    }
    CAPTURE(bound.name);
    const LedgerEntry entry = ledger.decide(find_claim(bound.claim));
    double share = (bound.again ? bound.again : bound.share)(stored_worst(bound.name).input, check_of(bound));
    // Other lengths and biases than that of the search are in the rows.
    if (bound.name == "rpe.toeplitz") {
      for (const Finding& finding : entry.findings) share = std::max(share, finding.observed);
    }
    // What the reading allows over what the bound does: 2 for the lift, 1/2 of which is proved; 1 for the others.
    const double generous = bound.name == "sky.lift" ? 2 : 1;
    CHECK(entry.whole.tightness.hi == doctest::Approx(generous / share).epsilon(1e-3));
    CHECK(entry.whole.tightness.lo <= entry.whole.tightness.hi * (1 + 1e-6));
  }
}

TEST_CASE("add_worst: the tightness is that of the worst input, which may be one of the report's other rows") {
  Check check = check_of(searched_bound("lin.thm1"));
  const auto reported = [&](double generous, double seen) {
    Report report;
    add_worst(report, check, "lin.thm1", 1, generous, seen);
    return report;
  };
  // 21 of the 80 rows of R are needed by the input on file.
  for (const auto& [generous, seen, hi] : {std::tuple{1.0, 0.0, 80 / 21.0},
                                           {1.0, 0.25, 80 / 21.0},
                                           {1.0, 0.5, 2.0},
                                           {2.0, 0.25, 4.0},
                                           {2.0, 0.125, 160 / 21.0}}) {
    CAPTURE_BINDING(seen);
    check.own_input = false;
    const Report report = reported(generous, seen);
    CHECK(report.tightness.hi == doctest::Approx(hi).epsilon(1e-9));
    REQUIRE(report.findings.size() == 1);
    const Finding& row = report.findings.front();
    CHECK(row.observed == doctest::Approx(21 / 80.0 / generous).epsilon(1e-9));
    CHECK(row.tightness.hi == report.tightness.hi);
    check.own_input = true;
    const Report own = reported(generous, seen);
    CHECK(own.findings.empty());
    CHECK(own.tightness.hi == report.tightness.hi);
  }
}

TEST_CASE(
    "worst inputs on file: of a number of features that the search has fitted to its draws, fresh ones need fewer") {
  // A tenth of the draws of the library are off with the number that is published. Keys and number are fixed; the share
  // that they fail in was found to be within 0.006 of a tenth by another program, so that 40000 draws are within 0.03
  // of it but for 2 exp(-2 40000 0.024^2) = 2e-20 (Hoeffding).
  for (const char* name : {"rpe.thm3", "rpe.thm3-trf"}) {
    CAPTURE(name);
    const SearchedBound& bound = searched_bound(name);
    const Check check = check_of(bound);
    const arma::mat keys = stored_worst(name).input;
    const double share = bound.again(keys, check);
    CHECK(share < bound.share(keys, check));
    const bool trf = bound.claim == "rpe.thm3/trf";
    const double t = 0.4, delta = 0.1, e = std::exp(4.0);
    const double asked = (1 + t) * (1 + t) / (t * t * delta) * (trf ? e * (1 - 1 / e) * (1 - 1 / e) / 2 : e - 1);
    const auto m = static_cast<arma::uword>(std::lround(share * asked));
    CHECK(std::abs(share * asked - double(m)) < 1e-6);
    // Draws that are off with all the features that the search draws are counted as one feature more, whatever they
    // need: a worse input could not be found.
    CHECK(std::lround(stored_worst(name).share * asked) <= std::lround(check.value("search features")));
    CHECK(m <= check.count("search features"));
    const FewKeys points{"found", {{1, 0}}, keys};
    const auto errors = run_trials(check, "again", 40000, [&](const Key& key) {
      return points.error(m, trf ? croquis::FeatureMap::trf : croquis::FeatureMap::prf, key);
    });
    const auto off = std::count_if(errors.begin(), errors.end(), [&](double x) { return !(x <= t); });
    CHECK(std::abs(double(off) / double(errors.size()) - delta) <= 0.03);
  }
}

TEST_CASE("rpe.thm3: the tightness is what holds for every eps, R and n, up to what two keys need as t -> 0") {
  const Ledger ledger({.quick = true}, Key(test_seed()).child("verify"));
  const SearchedBound& bound = searched_bound("rpe.thm3");
  const double e = std::exp(4.0), asked = 1.4 * 1.4 / (0.4 * 0.4 * 0.1) * (e - 1);
  const double needed = std::round(asked * bound.again(stored_worst("rpe.thm3").input, check_of(bound)));
  // (1 + t)^2 is below 9, for t < 2; the printed numbers have 16, and n, which is 2 or more.
  // At R = 4 two keys need z^2 V / t^2 features, V = e^64 / sqrt(12) (1 - e^(log(3)^2 / 128) / 3), where |g| is above z
  // in a tenth of the draws: this over (1 + t)^2 / (t^2 delta) e^64. The cosines of sin and cos are half of
  // exponentials.
  const double z = 1.6448536269514727, three = std::log(3.0);
  const double needed_of_two = z * z / std::sqrt(12.0) * (1 - std::exp(three * three / 128) / 3) * 0.1;
  struct Case {
    const char* id;
    double proved, asks, as_t_falls;
  };
  for (const auto& [id, proved, asks, as_t_falls] :
       {Case{"rpe.thm3/strict", 32.0 / 9, 16 * 3 * e / (0.4 * 0.4 * 0.1), 32},
        Case{"rpe.thm3/charitable", 32.0 / 9, 3 * e / (0.1 * 0.1 * 0.1), 32},
        Case{"rpe.thm3/corrected", 16.0 / 9, (e - 1) / (0.1 * 0.1 * 0.1), 16}, Case{"rpe.thm3/sharper", 1, asked, 1},
        Case{"rpe.thm3/trf", 1, 0, 1}}) {
    CAPTURE_BINDING(id);
    const LedgerEntry entry = ledger.decide(find_claim(id));
    CHECK(entry.whole.tightness.lo == doctest::Approx(proved).epsilon(1e-6));
    CHECK(entry.whole.tightness.hi == doctest::Approx(as_t_falls / needed_of_two).epsilon(1e-4));
    const Finding& row = entry.findings.back();
    if (asks > 0) CHECK(row.observed == doctest::Approx(needed / asks).epsilon(1e-4));
    // All numbers of the row are shares of the same bound.
    CHECK(contains(row.hypotheses, fmt::format("on fresh draws = {:.6g}", row.observed)));
  }
  const Finding product = ledger.decide(find_claim("ske.prop1/strict")).findings.back();
  CHECK(contains(product.hypotheses, fmt::format("on file = {:.6g}", product.observed)));
}

TEST_CASE("sky.lift: 1/2 is attained, in rationals") {
  // q_1 = k_1 and q_2 = k_2 with kernel value 1/3, the landmark q_2: M - M~ = (1 - 1/9) on q_1 and k_1.
  const Rational a(1, 3);
  const RationalMatrix m = {{1, a, 1, a}, {a, 1, a, 1}, {1, a, 1, a}, {a, 1, a, 1}}, column = {{a}, {1}, {a}, {1}};
  const RationalMatrix gap = m - column * column.transposed();
  const Rational rest = 1 - a * a;
  CHECK(gap == rest * RationalMatrix{{1, 0, 1, 0}, {0, 0, 0, 0}, {1, 0, 1, 0}, {0, 0, 0, 0}});
  // (1, 0, 1, 0) is mapped to twice `rest` of itself, and the block of q_1 and k_1 is `rest`.
  const RationalMatrix v = {{1}, {0}, {1}, {0}};
  CHECK(gap * v == 2 * rest * v);
}

TEST_CASE("tightness and power: every row of a bound has a tightness, every decided row of draws a power") {
  const Ledger ledger({.quick = true}, Key(test_seed()).child("verify"));
  for (const Claim& claim : all_claims()) {
    CAPTURE(claim.id);
    for (const Finding& finding : ledger.decide(claim).findings) {
      CAPTURE(finding.input);
      const bool decided = finding.verdict == Verdict::verified || finding.verdict == Verdict::holds ||
                           finding.verdict == Verdict::refuted || finding.verdict == Verdict::refuted_proof;
      CHECK_FALSE((claim.bound && claim.kind == "existence"));
      if (claim.bound) {
        CHECK(finding.tightness.lo > 0);
        CHECK(finding.tightness.hi >= finding.tightness.lo);
        CHECK_FALSE(finding.power > 1);  // a rate, or a part of the bound
      } else {
        CHECK(std::isnan(finding.tightness.hi));
      }
      if (decided && finding.trials) CHECK(finding.power > 0);
    }
  }
}

TEST_CASE(
    "two_scores: keys of length R with the scores that are asked for; the variance of their error is an integral") {
  constexpr double radius = 0.9, step = 0.05;
  for (const bool trf : {false, true}) {
    for (const double second : {std::log(2.0), std::log(3.0) / 4}) {
      FewKeys points = FewKeys::two_scores(radius, std::log(3.0) / 4, second);
      CHECK(points.keys.row(0)(1) > 0);
      CHECK(points.keys.row(1)(1) < 0);
      for (const double length : arma::vec(arma::sqrt(arma::sum(arma::square(points.keys), 1)))) {
        CHECK(length == doctest::Approx(radius));
      }
      const double weight = 1 / (1 + std::exp(std::log(3.0) / 4 - second));  // of the first key
      CHECK(points.exact()(0) == doctest::Approx(weight));
      if (trf) points.query = -points.query;
      const arma::vec a = points.exact();
      double mean = 0, variance = 0;
      for (double x = -12; x <= 12; x += step) {
        for (double y = -12; y <= 12; y += step) {
          double r[2];
          for (arma::uword j = 0; j < 2; ++j) {
            const double px = points.query(0), kx = points.keys(j, 0), ky = points.keys(j, 1);
            r[j] = trf ? std::exp((px - kx) * (px - kx) / 2 + ky * ky / 2) * std::cos(x * (px - kx) - y * ky)
                       : std::exp(x * (px + kx) + y * ky - (px + kx) * (px + kx) / 2 - ky * ky / 2);
          }
          const double density = std::exp(-(x * x + y * y) / 2) / (2 * arma::datum::pi) * step * step;
          mean += density * r[0];
          variance += density * std::pow(2 * a(0) * a(1) * (r[0] - r[1]), 2);
        }
      }
      CHECK(mean == doctest::Approx(1).epsilon(1e-9));
      const auto map = trf ? croquis::FeatureMap::trf : croquis::FeatureMap::prf;
      CHECK(points.variance_of_many(map) == doctest::Approx(variance).epsilon(1e-9));
    }
  }
  // (2 * 2/9)^2 (1 - 1/4) e^(4 R^2) of the query itself and a key with half of its weight.
  const FewKeys two = FewKeys::two_scores(1, 0, std::log(2.0));
  CHECK(two.variance_of_many(croquis::FeatureMap::prf) == doctest::Approx(4 * std::exp(4.0) / 27));
}
