#include <doctest/doctest.h>
#include <croquis/sampling/leaf_means.hpp>
#include <croquis/sampling/point_tree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr SplitDirection kDirections[] = {SplitDirection::random, SplitDirection::far};

PointTree tree_of(const arma::mat& points, arma::uword leaves, SplitDirection direction, const Key& draw_key = Key(1)) {
  return split_points<double>(points, arma::vec(points.n_cols, arma::fill::ones), leaves, direction, draw_key);
}

// sum |x - mean of its leaf|^2
double spread_of(const arma::mat& points, const std::vector<std::uint32_t>& leaf) {
  double spread = 0;
  for (std::uint32_t c = 0; c <= *std::max_element(leaf.begin(), leaf.end()); ++c) {
    arma::mat members(points.n_rows, 0);
    for (arma::uword i = 0; i < leaf.size(); ++i) {
      if (leaf[i] == c) members.insert_cols(members.n_cols, points.col(i));
    }
    members.each_col() -= arma::mean(members, 1).eval();
    spread += arma::accu(arma::square(members));
  }
  return spread;
}

// Of the points of one leaf: their weighted mean, and the sum of w |x - mean|^2.
struct Leaf {
  std::vector<arma::uword> points;
  arma::vec mean;
  double spread = 0;

  Leaf(const arma::mat& x, const arma::vec& weights, std::vector<arma::uword> members)
      : points(std::move(members)), mean(x.n_rows, arma::fill::zeros) {
    double weight = 0;
    for (const arma::uword i : points) mean += weights(i) * x.col(i), weight += weights(i);
    mean /= weight;
    for (const arma::uword i : points) spread += weights(i) * arma::accu(arma::square(x.col(i) - mean));
    if (points.size() < 2) spread = 0;
  }
};

// The leaves of the tree towards farthest points, as the page of kriged-coreset says it.
std::set<std::set<arma::uword>> leaves_of_page(const arma::mat& x, const arma::vec& weights, std::size_t wanted) {
  std::vector<arma::uword> all(x.n_cols);
  for (arma::uword i = 0; i < x.n_cols; ++i) all[i] = i;
  std::vector<Leaf> leaves = {Leaf(x, weights, all)};
  while (leaves.size() < wanted) {
    std::stable_sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.spread > b.spread; });
    std::vector<Leaf> next;
    for (std::size_t l = 0; l < leaves.size(); ++l) {
      const Leaf& leaf = leaves[l];
      if (leaf.spread < leaves.front().spread / 2 || next.size() + leaves.size() - l >= wanted) {
        next.push_back(leaf);
        continue;
      }
      const auto far = [&](arma::uword i) { return weights(i) * arma::accu(arma::square(x.col(i) - leaf.mean)); };
      const arma::uword farthest = *std::max_element(leaf.points.begin(), leaf.points.end(),
                                                     [&](arma::uword i, arma::uword j) { return far(i) < far(j); });
      std::vector<arma::uword> sides[2];
      for (const arma::uword i : leaf.points) {
        sides[arma::dot(x.col(i) - leaf.mean, x.col(farthest) - leaf.mean) > 0 ? 1 : 0].push_back(i);
      }
      for (const std::vector<arma::uword>& side : sides) next.emplace_back(x, weights, side);
    }
    leaves = std::move(next);
  }
  std::set<std::set<arma::uword>> sets;
  for (const Leaf& leaf : leaves) sets.insert({leaf.points.begin(), leaf.points.end()});
  return sets;
}

}  // namespace

TEST_CASE("point tree: the leaves are those of the page, in rounds and towards the farthest points by weight") {
  // Of lengths so different that a half may vary more than another leaf of the same round: at a few of these numbers of
  // leaves the tree differs from one that splits a leaf at a time.
  const arma::vec weights = arma::exp(random_matrix(120, 1, Key(3)));
  arma::mat points = random_matrix(4, 120, Key(test_seed()));
  points.each_row() %= arma::exp(random_matrix(1, 120, Key(4)));
  for (arma::uword leaves = 2; leaves < 120; ++leaves) {
    CAPTURE(leaves);
    const PointTree tree = split_points<double>(points, weights, leaves, SplitDirection::far, Key(1));
    std::vector<std::set<arma::uword>> members(tree.leaves());
    for (arma::uword i = 0; i < points.n_cols; ++i) members[tree.leaf[i]].insert(i);
    CHECK(std::set<std::set<arma::uword>>(members.begin(), members.end()) == leaves_of_page(points, weights, leaves));
  }
}

TEST_CASE("point tree: leaves are a partition, listed as the order says") {
  const arma::mat points = random_matrix(5, 200, Key(test_seed()));
  for (const SplitDirection direction : kDirections) {
    for (const arma::uword leaves : {1U, 2U, 7U, 64U, 199U, 200U, 300U}) {
      CAPTURE(leaves);
      const PointTree tree = tree_of(points, leaves, direction);
      REQUIRE(tree.leaves() == std::min<arma::uword>(leaves, 200));
      REQUIRE(tree.first.back() == 200);
      std::set<std::uint32_t> seen;
      for (arma::uword c = 0; c < tree.leaves(); ++c) {
        CHECK(tree.count(c) > 0);
        for (arma::uword i = tree.first[c]; i < tree.first[c + 1]; ++i) {
          CHECK(tree.leaf[tree.order[i]] == c);
          CHECK(seen.insert(tree.order[i]).second);
        }
      }
      CHECK(seen.size() == 200);
    }
  }
}

TEST_CASE("point tree: a coarser tree is the same tree with fewer leaves") {
  const arma::mat points = random_matrix(4, 150, Key(test_seed()));
  const PointTree fine = tree_of(points, 40, SplitDirection::random);
  for (const arma::uword leaves : {1U, 2U, 5U, 23U, 39U, 40U}) {
    const std::vector<std::uint32_t> into = fine.coarser(leaves);
    const PointTree coarse = tree_of(points, leaves, SplitDirection::random);
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (arma::uword i = 0; i < 150; ++i) pairs.insert({into[fine.leaf[i]], coarse.leaf[i]});
    CHECK(pairs.size() == leaves);
    CHECK(std::set<std::uint32_t>(into.begin(), into.end()).size() == leaves);
    CHECK(*std::max_element(into.begin(), into.end()) == leaves - 1);
  }
}

TEST_CASE("point tree: splits take away what varies, the largest first, and leave equal points together") {
  // Three groups far apart: the first two splits find them, and then no leaf varies by more than its group.
  arma::mat points = 0.1 * random_matrix(3, 90, Key(test_seed()));
  points.cols(30, 59).each_col() += arma::vec{20, 0, 0};
  points.cols(60, 89).each_col() += arma::vec{0, 30, 0};
  for (const SplitDirection direction : kDirections) {
    const PointTree three = tree_of(points, 3, direction);
    CHECK(spread_of(points, three.leaf) < 90 * 3 * 0.1);
    double before = spread_of(points, tree_of(points, 1, direction).leaf);
    for (const arma::uword leaves : {2U, 4U, 16U, 60U}) {
      const double spread = spread_of(points, tree_of(points, leaves, direction).leaf);
      CHECK(spread < before);
      before = spread;
    }
    const arma::mat repeated = arma::repmat(random_matrix(3, 6, Key(2)), 1, 20);
    const PointTree few = tree_of(repeated, 50, direction);
    CHECK(few.leaves() == 6);
    CHECK(spread_of(repeated, few.leaf) < 1e-20);
  }
}

TEST_CASE("point tree: heavy points get leaves of their own") {
  const arma::mat points = random_matrix(3, 100, Key(test_seed()));
  arma::vec weights(100, arma::fill::value(1e-3));
  weights(arma::uvec{3, 50, 77}).fill(1);
  const PointTree tree = split_points<double>(points, weights, 12, SplitDirection::random, Key(1));
  CHECK(std::set<std::uint32_t>{tree.leaf[3], tree.leaf[50], tree.leaf[77]}.size() == 3);
  // Two heavy points beside each other, two light ones that are farther apart: the direction is that of the heavy ones.
  const arma::mat cross = {{-1, 1, 0, 0}, {0, 0, -3, 3}};
  const PointTree halves = split_points<double>(cross, arma::vec{100, 100, 1, 1}, 2, SplitDirection::random, Key(1));
  CHECK(halves.leaf[0] != halves.leaf[1]);
}

TEST_CASE("point tree: the points that a direction is made of are drawn") {
  // 100 unit vectors at right angles and their negatives have mean 0. All are equally long, so that the longest of the
  // 16 drawn ones is the first, and what the others add to the direction is along it: the cut parts the first one from
  // all others. It is each of the 200 points equally likely, anew for every key, and ten keys draw the same one with
  // probability 200^-9.
  const arma::mat axes(100, 100, arma::fill::eye), points = arma::join_rows(axes, -axes);
  std::set<arma::uword> parted;
  for (std::uint64_t t = 0; t < 10; ++t) {
    const PointTree tree = tree_of(points, 2, SplitDirection::random, Key(test_seed()).child(t));
    REQUIRE(tree.leaves() == 2);
    const arma::uword alone = tree.count(0) == 1 ? 0 : 1;
    CHECK(tree.count(alone) == 1);
    parted.insert(tree.order[tree.first[alone]]);
  }
  CHECK(parted.size() > 1);
}

TEST_CASE("point tree: towards the farthest point, the order of the points does not matter") {
  const arma::mat points = random_matrix(4, 80, Key(test_seed()));
  const PointTree tree = tree_of(points, 17, SplitDirection::far),
                  turned = tree_of(arma::fliplr(points), 17, SplitDirection::far, Key(9));
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (arma::uword i = 0; i < 80; ++i) pairs.insert({tree.leaf[i], turned.leaf[79 - i]});
  CHECK(pairs.size() == 17);
}

TEST_CASE_TEMPLATE("point tree: the same for points of any size", T, float, double) {
  const arma::Mat<T> points = random_matrix<T>(5, 300, Key(test_seed()));
  const arma::Col<T> weights = arma::square(random_matrix<T>(300, 1, Key(3))) + T(0.1);
  for (const SplitDirection direction : kDirections) {
    const PointTree tree = split_points<T>(points, weights, 60, direction, Key(1));
    // Of 2^48 and 2^-48 squares are numbers in float, but no cubes; of 2^96 and 2^-96 neither; in double of the eighth
    // powers.
    for (const int exponent : {48, -48, 96, -96}) {
      const T size = std::ldexp(T(1), exponent * std::numeric_limits<T>::max_exponent / 128);
      const PointTree other = split_points<T>(points * size, weights, 60, direction, Key(1));
      CHECK(other.order == tree.order);
      CHECK(other.leaf == tree.leaf);
      CHECK(other.parent == tree.parent);
    }
  }
}

TEST_CASE_TEMPLATE("point tree: the same for any number of threads, of many and of long points too", T, float, double) {
  // The longer ones are enough for BLAS to take threads where it may.
  for (const auto& size : {std::pair<arma::uword, arma::uword>{6, 5000}, {1000, 200}}) {
    const arma::uword p = size.first, n = size.second;
    const arma::Mat<T> points = random_matrix<T>(p, n, Key(test_seed()));
    const arma::Col<T> weights(n, arma::fill::ones);
    for (const SplitDirection direction : kDirections) {
      const auto order = [&](int team) {
        const ThreadCount count(team);
        return split_points<T>(points, weights, n / 50, direction, Key(1)).order;
      };
      CHECK(order(1) == order(4));
    }
  }
}

TEST_CASE_TEMPLATE("point tree: means and sums of leaves", T, float, double) {
  // Sums go by blocks of 1024 points, or of as many as there are leaves.
  for (const auto& [n, leaves] : {std::pair<arma::uword, arma::uword>{70, 9}, {1025, 3}, {2500, 7}, {3100, 1500}}) {
    CAPTURE_BINDING(n);
    const arma::Mat<T> rows = random_matrix<T>(n, 5, Key(test_seed()));
    const arma::Col<T> weights = arma::square(random_matrix<T>(n, 1, Key(3))) + T(0.1);
    const CentredColumns<T> points(rows);
    const PointTree tree = split_points<T>(points.columns, weights, leaves, SplitDirection::random, Key(1));
    Dense means(leaves, 5), sums(leaves, 5);
    arma::mat mean_terms(leaves, 5, arma::fill::zeros), sum_terms(leaves, 5, arma::fill::zeros);  // their magnitudes
    std::vector<long double> totals(leaves, 0.0L);
    double most = 0;  // points of a leaf
    for (arma::uword i = 0; i < n; ++i) totals[tree.leaf[i]] += weights(i);
    for (arma::uword c = 0; c < leaves; ++c) most = std::max<double>(most, tree.count(c));
    for (arma::uword i = 0; i < n; ++i) {
      for (arma::uword c = 0; c < 5; ++c) {
        means(tree.leaf[i], c) += weights(i) * (rows(i, c) - points.mean(c)) / totals[tree.leaf[i]];
        sums(tree.leaf[i], c) += rows(i, c);
        mean_terms(tree.leaf[i], c) +=
            static_cast<double>(weights(i) / totals[tree.leaf[i]]) * (std::abs(rows(i, c)) + std::abs(points.mean(c)));
        sum_terms(tree.leaf[i], c) += std::abs(rows(i, c));
      }
    }
    // A sum of m terms is off by at most m u times their magnitudes; weights, their total and the mean add a few u.
    CHECK(distance(leaf_means(points, weights, tree), means) <=
          1.1 * (2 * most + 8) * unit<T>() * arma::norm(mean_terms, "fro"));
    CHECK(distance(leaf_sums<T>(rows.t(), tree), sums) <= 1.1 * (most + 3) * unit<T>() * arma::norm(sum_terms, "fro"));
  }
}

TEST_CASE("leaf_means and leaf_sums: another number of points than the tree has is refused") {
  const arma::mat rows = random_matrix<double>(40, 3, Key(test_seed()).child("points"));
  const arma::vec weights(40, arma::fill::ones);
  const CentredColumns<double> points(rows), fewer(rows.head_rows(39));
  const PointTree tree = split_points(points.columns, weights, 5, SplitDirection::far, Key(1));
  CHECK(refusal([&] { leaf_means(points, weights, tree); }) == "nothing was thrown");
  CHECK(contains(refusal([&] { leaf_means(fewer, weights, tree); }), "leaf_means: the points of the tree"));
  const arma::vec too_few = weights.head(39);
  CHECK(contains(refusal([&] { leaf_means(points, too_few, tree); }), "leaf_means: the points of the tree"));
  for (const arma::uword count : {0U, 39U}) {
    const arma::mat other = rows.head_rows(count).t();
    CHECK(contains(refusal([&] { leaf_sums(other, tree); }), "leaf_sums: a column for each point of the tree"));
  }
}
