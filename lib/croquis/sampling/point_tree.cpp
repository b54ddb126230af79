#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sampling/point_tree.hpp>
#include <limits>
#include <numeric>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kPointsAtOnce = 1024, kPointsDrawn = 16;

struct Node {
  arma::uword begin = 0, end = 0;
  double weight = 0, squares = 0, spread = 0;  // sums of w, w |x|^2 and w |x - mean|^2
  arma::vec sum = {};                          // of w x
  std::uint32_t id = 0;
  arma::uword count() const { return end - begin; }
};

template <typename T>
class Splitter {
 public:
  Splitter(const arma::Mat<T>& points, const arma::Col<T>& weights, SplitDirection direction, const Key& draw_key)
      : points_(points), weights_(weights), direction_(direction), draw_key_(draw_key), norms_(points.n_cols) {
    const arma::uword n = points.n_cols;
    tree_.order.resize(n);
    std::iota(tree_.order.begin(), tree_.order.end(), 0U);
    side_.resize(n);
    moved_.resize(n);
    Node root{.begin = 0, .end = n};
    in_blocks(0, n, [&](std::size_t, arma::uword begin, arma::uword end) {
      squared_norms(points_.colptr(begin), points_.n_rows, end - begin, norms_.data() + begin);
    });
    add_up(root);
    nodes_.push_back(std::move(root));
    tree_.parent.push_back(0);
  }

  // Whether squares of the points are numbers with all their digits, and sums of them too.
  bool squares_fit() const {
    constexpr int exponent = std::numeric_limits<T>::max_exponent / 8 * 7;
    const T largest = *std::max_element(norms_.begin(), norms_.end());
    return largest >= std::ldexp(T(1), -exponent) && largest <= std::ldexp(T(1), exponent);
  }

  PointTree run(arma::uword leaves) && {
    while (nodes_.size() < leaves) {
      std::vector<arma::uword> chosen;
      double largest = 0;
      for (const Node& node : nodes_) largest = std::max(largest, node.spread);
      if (largest == 0) break;
      for (arma::uword i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].spread >= largest / 2) chosen.push_back(i);
      }
      std::sort(chosen.begin(), chosen.end(), [&](arma::uword a, arma::uword b) {
        return nodes_[a].spread != nodes_[b].spread ? nodes_[a].spread > nodes_[b].spread : nodes_[a].id < nodes_[b].id;
      });
      chosen.resize(std::min<std::size_t>(chosen.size(), leaves - nodes_.size()));
      split(chosen);
    }
    return std::move(*this).finished();
  }

 private:
  // Of the points at some places of the order, at most kPointsAtOnce of them.
  struct Sums {
    arma::Col<T> points = {};        // of w x
    double weight = 0, squares = 0;  // of w and w |x|^2
  };
  Sums sums_of(arma::uword begin, arma::uword end) const {
    const arma::uword count = end - begin;
    const std::uint32_t* order = tree_.order.data() + begin;
    T weights[kPointsAtOnce], norms[kPointsAtOnce];
    for (arma::uword i = 0; i < count; ++i) weights[i] = weights_[order[i]], norms[i] = norms_[order[i]];
    Sums sums{.points = arma::Col<T>(points_.n_rows, arma::fill::none)};
    weighted_sum(weights, points_.memptr(), points_.n_rows, order, count, sums.points.memptr());
    double weight = 0, squares = 0;
#pragma omp simd reduction(+ : weight, squares)
    for (arma::uword i = 0; i < count; ++i) {
      const auto w = static_cast<double>(weights[i]);
      weight += w;
      squares += w * static_cast<double>(norms[i]);
    }
    sums.weight = weight;
    sums.squares = squares;
    return sums;
  }

  // The sums and the spread of a node.
  void add_up(Node& node) const {
    std::vector<Sums> parts(blocks_of(node.count(), kPointsAtOnce));
    in_blocks(node.begin, node.end,
              [&](std::size_t b, arma::uword begin, arma::uword end) { parts[b] = sums_of(begin, end); });
    node.sum.zeros(points_.n_rows);
    for (const Sums& part : parts) {
      for (arma::uword c = 0; c < points_.n_rows; ++c) node.sum[c] += static_cast<double>(part.points[c]);
      node.weight += part.weight;
      node.squares += part.squares;
    }
    set_spread(node);
  }
  static void set_spread(Node& node) {
    node.spread = node.squares - arma::dot(node.sum, node.sum) / node.weight;
    const double rounding = 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * node.squares;
    if (node.count() < 2 || !(node.spread > rounding)) node.spread = 0;
  }

  arma::Col<T> mean_of(const Node& node) const {
    return arma::conv_to<arma::Col<T>>::from(node.sum / node.weight);
  }

  arma::Col<T> principal(const Node& node, const arma::Col<T>& mean) const {
    std::uint64_t words[kPointsDrawn];
    const arma::uword drawn = std::min(kPointsDrawn, node.count());
    fill_words(draw_key_.child(node.id), 0, drawn, words);
    arma::Mat<T> sample(points_.n_rows, drawn);
    for (arma::uword s = 0; s < drawn; ++s) {
      // All points of a small node.
      const arma::uword place = node.count() <= kPointsDrawn ? s : place_of(words[s], node.count());
      const std::uint32_t point = tree_.order[node.begin + place];
      sample.col(s) = std::sqrt(weights_[point] / static_cast<T>(node.weight)) * (points_.col(point) - mean);
    }
    // The direction is cubic in the sample, and overflows or vanishes before squares do.
    sample = over_power_of_two(std::move(sample));
    arma::uword longest = 0;
    T most = -1;
    for (arma::uword s = 0; s < drawn; ++s) {
      const T square = arma::dot(sample.col(s), sample.col(s));
      if (square > most) most = square, longest = s;
    }
    const arma::Col<T> weights = sample.t() * sample.col(longest);
    return sample * weights;
  }

  arma::Col<T> farthest(const Node& node, const arma::Col<T>& mean) const {
    const std::uint32_t* order = tree_.order.data() + node.begin;
    std::vector<T> products(node.count());
    in_blocks(node.begin, node.end, [&](std::size_t b, arma::uword begin, arma::uword end) {
      dots(mean.memptr(), points_.memptr(), points_.n_rows, tree_.order.data() + begin, end - begin,
           products.data() + b * kPointsAtOnce);
    });
    arma::uword best = 0;
    T most = -std::numeric_limits<T>::infinity();
    const T own = arma::dot(mean, mean);
    for (arma::uword i = 0; i < node.count(); ++i) {
      const T far = weights_[order[i]] * (norms_[order[i]] - 2 * products[i] + own);
      if (far > most) most = far, best = i;
    }
    return points_.col(order[best]) - mean;
  }

  void split(const std::vector<arma::uword>& chosen) {
    std::vector<Node> halves(chosen.size());
    arma::uword all = 0, most = 0;
    for (const arma::uword place : chosen) {
      all += nodes_[place].count();
      most = std::max(most, nodes_[place].count());
    }
    tree_.visits += static_cast<double>(all);
    // A thread a node, whose points then stay in its cache, if none has more than a thread's share of the points. Loops
    // within divide the points of few nodes, and run on one thread otherwise.
    const auto halve = [&](std::size_t c) { halves[c] = smaller_half(nodes_[chosen[c]]); };
    if (most * static_cast<arma::uword>(threads()) <= all) {
      parallel_for(chosen.size(), (all / chosen.size() + 2 * kPointsDrawn) * 4 * points_.n_rows, halve);
    } else {
      for (std::size_t c = 0; c < chosen.size(); ++c) halve(c);
    }
    for (arma::uword c = 0; c < chosen.size(); ++c) make_children(chosen[c], std::move(halves[c]));
  }

  // Puts the points of either side of the cut next to each other. The smaller side, whose points are added up; without
  // points if the direction tells none apart.
  Node smaller_half(const Node& node) {
    const arma::Col<T> mean = mean_of(node);
    arma::Col<T> direction = direction_ == SplitDirection::far ? farthest(node, mean) : principal(node, mean);
    const T length = arma::norm(direction);
    if (length > 0) direction /= length;
    const T at = arma::dot(direction, mean);
    in_blocks(node.begin, node.end, [&](std::size_t, arma::uword begin, arma::uword end) {
      T along[kPointsAtOnce];
      dots(direction.memptr(), points_.memptr(), points_.n_rows, tree_.order.data() + begin, end - begin, along);
      for (arma::uword i = begin; i < end; ++i) side_[i] = along[i - begin] > at;
    });
    const arma::uword middle = divide(node);
    const bool left = middle - node.begin <= node.end - middle;
    Node half{.begin = left ? node.begin : middle, .end = left ? middle : node.end};
    if (half.count() > 0) add_up(half);
    return half;
  }

  // A loop over the blocks of some places of the order.
  template <typename Body>
  void in_blocks(arma::uword first, arma::uword last, const Body& body) const {
    parallel_for(blocks_of(last - first, kPointsAtOnce), [&](std::size_t b) {
      const arma::uword begin = first + b * kPointsAtOnce;
      body(b, begin, std::min(last, begin + kPointsAtOnce));
    });
  }

  // Stable: the points of either side keep their order. Returns where the second side begins. Every point is written to
  // both sides, and the place of one moves on, so that no jump depends on the data.
  arma::uword divide(const Node& node) {
    std::uint32_t *order = tree_.order.data(), *second = moved_.data() + node.begin;
    arma::uword middle = node.begin, moved = 0;
    for (arma::uword i = node.begin; i < node.end; ++i) {
      const std::uint32_t point = order[i];
      const arma::uword is_second = side_[i] ? 1 : 0;
      order[middle] = second[moved] = point;
      middle += 1 - is_second;
      moved += is_second;
    }
    std::copy_n(second, moved, order + middle);
    return middle;
  }

  void make_children(arma::uword place, Node half) {
    Node& node = nodes_[place];
    if (half.count() == 0) {
      node.spread = 0;  // a leaf for good
      return;
    }
    const bool left = half.begin == node.begin;
    Node other{.begin = left ? half.end : node.begin, .end = left ? node.end : half.begin};
    other.sum = node.sum - half.sum;
    other.weight = node.weight - half.weight;
    other.squares = node.squares - half.squares;
    set_spread(other);
    const auto made = static_cast<std::uint32_t>(tree_.parent.size());
    tree_.parent.push_back(node.id);
    tree_.parent.push_back(node.id);
    if (!left) std::swap(half, other);
    half.id = made;
    other.id = made + 1;
    node = std::move(half);
    nodes_.push_back(std::move(other));
  }

  PointTree finished() && {
    std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.begin < b.begin; });
    tree_.leaf.resize(tree_.order.size());
    for (const Node& node : nodes_) {
      tree_.first.push_back(node.begin);
      tree_.node.push_back(node.id);
    }
    parallel_for(nodes_.size(), tree_.order.size() / nodes_.size(), [&](std::size_t c) {
      for (arma::uword i = nodes_[c].begin; i < nodes_[c].end; ++i) {
        tree_.leaf[tree_.order[i]] = static_cast<std::uint32_t>(c);
      }
    });
    tree_.first.push_back(tree_.order.size());
    return std::move(tree_);
  }

  const arma::Mat<T>& points_;
  const arma::Col<T>& weights_;
  SplitDirection direction_;
  Key draw_key_;
  std::vector<T> norms_;
  std::vector<Node> nodes_;  // the leaves so far
  PointTree tree_;
  std::vector<char> side_;  // by places of the order
  std::vector<std::uint32_t> moved_;
};

PointTree each_alone(arma::uword n) {
  PointTree tree;
  tree.order.resize(n);
  std::iota(tree.order.begin(), tree.order.end(), 0U);
  tree.leaf = tree.order;
  tree.node = tree.order;
  tree.first.resize(n + 1);
  std::iota(tree.first.begin(), tree.first.end(), arma::uword{0});
  return tree;
}

}  // namespace

std::vector<std::uint32_t> PointTree::coarser(arma::uword wanted) const {
  std::vector<std::uint32_t> ancestors = node;
  if (parent.empty()) return ancestors;  // every point alone: there was no split
  const auto last = static_cast<std::uint32_t>(2 * (std::min(wanted, leaves()) - 1));
  for (std::uint32_t& n : ancestors) {
    while (n > last) n = parent[n];
  }
  std::vector<std::uint32_t> kept = ancestors;
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (std::uint32_t& n : ancestors) {
    n = static_cast<std::uint32_t>(std::lower_bound(kept.begin(), kept.end(), n) - kept.begin());
  }
  return ancestors;
}

template <typename T>
PointTree split_points(const arma::Mat<T>& points, const arma::Col<T>& weights, arma::uword leaves,
                       SplitDirection direction, const Key& draw_key) {
  const SerialBlas serial;
  require(weights.n_elem == points.n_cols && leaves >= 1, "split_points", "a weight for each point, leaves >= 1",
          {{"points", points.n_cols}, {"weights", weights.n_elem}, {"leaves", leaves}});
  if (leaves >= points.n_cols) return each_alone(points.n_cols);
  Splitter<T> splitter(points, weights, direction, draw_key);
  if (splitter.squares_fit()) return std::move(splitter).run(leaves);
  const arma::Mat<T> scaled = over_power_of_two(points);
  return Splitter<T>(scaled, weights, direction, draw_key).run(leaves);
}

template PointTree split_points(const arma::Mat<float>&, const arma::Col<float>&, arma::uword, SplitDirection,
                                const Key&);
template PointTree split_points(const arma::Mat<double>&, const arma::Col<double>&, arma::uword, SplitDirection,
                                const Key&);
}  // namespace croquis
