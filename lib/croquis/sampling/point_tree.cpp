#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
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

// What a node is split by, and what its halves are.
template <typename T>
struct Cut {
  arma::Col<T> direction;
  T at = 0;
  arma::uword left = 0;   // points of the first half
  bool sums_left = true;  // the half whose points are added up: the smaller one
  std::vector<arma::vec> parts;
  double weight = 0, squares = 0;
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
    Node root{.begin = 0, .end = n, .sum = arma::vec(points.n_rows, arma::fill::zeros)};
    std::vector<arma::vec> parts(blocks_of(n, kPointsAtOnce));
    parallel_for(parts.size(), [&](std::size_t b) {
      const arma::uword first = b * kPointsAtOnce, end = block_end(b, root);
      squared_norms(points_.colptr(first), points_.n_rows, end - first, norms_.data() + first);
      parts[b] = sum_of(first, end);
    });
    for (const arma::vec& part : parts) root.sum += part;
    finish(root, 0, n);
    nodes_.push_back(std::move(root));
    tree_.parent.push_back(0);
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
  static arma::uword block_end(arma::uword b, const Node& node) {
    return std::min(node.end, node.begin + (b + 1) * kPointsAtOnce);
  }

  // sum of w x over places of the order, in T, for at most kPointsAtOnce of them
  arma::vec sum_of(arma::uword begin, arma::uword end) const {
    arma::Col<T> weights(end - begin), sum(points_.n_rows);
    for (arma::uword i = begin; i < end; ++i) weights[i - begin] = weights_[tree_.order[i]];
    weighted_sum(weights.memptr(), points_.memptr(), points_.n_rows, tree_.order.data() + begin, end - begin,
                 sum.memptr());
    return arma::conv_to<arma::vec>::from(sum);
  }

  // Weight, squares and spread of a node whose sum is known, from the places begin ... end of the order.
  void finish(Node& node, arma::uword begin, arma::uword end) const {
    for (arma::uword i = begin; i < end; ++i) {
      const auto w = static_cast<double>(weights_[tree_.order[i]]);
      node.weight += w;
      node.squares += w * static_cast<double>(norms_[tree_.order[i]]);
    }
    set_spread(node);
  }
  static void set_spread(Node& node) {
    node.spread = node.squares - arma::dot(node.sum, node.sum) / node.weight;
    const double rounding = 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * node.squares;
    if (node.count() < 2 || !(node.spread > rounding)) node.spread = 0;
  }

  arma::Col<T> mean_of(const Node& node) const { return arma::conv_to<arma::Col<T>>::from(node.sum / node.weight); }

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
    parallel_for(blocks_of(node.count(), kPointsAtOnce), [&](std::size_t b) {
      const arma::uword from = b * kPointsAtOnce, count = std::min(kPointsAtOnce, node.count() - from);
      dots(mean.memptr(), points_.memptr(), points_.n_rows, order + from, count, products.data() + from);
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
    std::vector<Cut<T>> cuts(chosen.size());
    struct Block {
      arma::uword cut, begin, end;
    };
    std::vector<Block> blocks;
    for (arma::uword c = 0; c < chosen.size(); ++c) {
      const Node& node = nodes_[chosen[c]];
      for (arma::uword b = 0; b < blocks_of(node.count(), kPointsAtOnce); ++b) {
        blocks.push_back({c, node.begin + b * kPointsAtOnce, block_end(b, node)});
      }
      tree_.visits += static_cast<double>(node.count());
    }
    parallel_for(cuts.size(), kPointsDrawn * 8 * points_.n_rows, [&](std::size_t c) {
      const arma::Col<T> mean = mean_of(nodes_[chosen[c]]);
      cuts[c].direction =
          direction_ == SplitDirection::far ? farthest(nodes_[chosen[c]], mean) : principal(nodes_[chosen[c]], mean);
      const T length = arma::norm(cuts[c].direction);
      if (length > 0) cuts[c].direction /= length;
      cuts[c].at = arma::dot(cuts[c].direction, mean);
    });
    parallel_for(blocks.size(), [&](std::size_t b) {
      const auto [cut, begin, end] = blocks[b];
      T along[kPointsAtOnce];
      dots(cuts[cut].direction.memptr(), points_.memptr(), points_.n_rows, tree_.order.data() + begin, end - begin,
           along);
      for (arma::uword i = begin; i < end; ++i) side_[i] = along[i - begin] > cuts[cut].at;
    });
    parallel_for(cuts.size(), [&](std::size_t c) { divide(nodes_[chosen[c]], cuts[c]); });
    // The sums of the smaller halves.
    blocks.clear();
    for (arma::uword c = 0; c < chosen.size(); ++c) {
      const Node& node = nodes_[chosen[c]];
      const arma::uword middle = node.begin + cuts[c].left;
      const arma::uword begin = cuts[c].sums_left ? node.begin : middle, end = cuts[c].sums_left ? middle : node.end;
      cuts[c].parts.resize(blocks_of(end - begin, kPointsAtOnce));
      for (arma::uword b = 0; b < cuts[c].parts.size(); ++b) {
        blocks.push_back({c, begin + b * kPointsAtOnce, std::min(end, begin + (b + 1) * kPointsAtOnce)});
      }
    }
    parallel_for(blocks.size(), [&](std::size_t b) {
      const auto [cut, begin, end] = blocks[b];
      const Node& node = nodes_[chosen[cut]];
      const arma::uword first = cuts[cut].sums_left ? node.begin : node.begin + cuts[cut].left;
      cuts[cut].parts[(begin - first) / kPointsAtOnce] = sum_of(begin, end);
    });
    for (arma::uword c = 0; c < chosen.size(); ++c) make_children(chosen[c], cuts[c]);
  }

  // Stable: the points of either side keep their order.
  void divide(const Node& node, Cut<T>& cut) {
    arma::uword left = node.begin;
    for (arma::uword i = node.begin; i < node.end; ++i) left += side_[i] ? 0 : 1;
    cut.left = left - node.begin;
    cut.sums_left = 2 * cut.left <= node.count();
    arma::uword to[2] = {node.begin, left};
    for (arma::uword i = node.begin; i < node.end; ++i) moved_[to[side_[i] ? 1 : 0]++] = tree_.order[i];
    std::copy(moved_.begin() + static_cast<std::ptrdiff_t>(node.begin),
              moved_.begin() + static_cast<std::ptrdiff_t>(node.end),
              tree_.order.begin() + static_cast<std::ptrdiff_t>(node.begin));
  }

  void make_children(arma::uword place, const Cut<T>& cut) {
    Node& node = nodes_[place];
    if (cut.left == 0 || cut.left == node.count()) {
      node.spread = 0;  // nothing that this direction tells apart: a leaf for good
      return;
    }
    const arma::uword middle = node.begin + cut.left;
    Node left{.begin = node.begin, .end = middle}, right{.begin = middle, .end = node.end};
    Node& small = cut.sums_left ? left : right;
    Node& large = cut.sums_left ? right : left;
    small.sum.zeros(points_.n_rows);
    for (const arma::vec& part : cut.parts) small.sum += part;
    finish(small, small.begin, small.end);
    large.sum = node.sum - small.sum;
    large.weight = node.weight - small.weight;
    large.squares = node.squares - small.squares;
    set_spread(large);
    const auto made = static_cast<std::uint32_t>(tree_.parent.size());
    tree_.parent.push_back(node.id);
    tree_.parent.push_back(node.id);
    left.id = made;
    right.id = made + 1;
    node = std::move(left);
    nodes_.push_back(std::move(right));
  }

  PointTree finished() && {
    std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.begin < b.begin; });
    tree_.leaf.resize(tree_.order.size());
    for (std::uint32_t c = 0; c < nodes_.size(); ++c) {
      tree_.first.push_back(nodes_[c].begin);
      tree_.node.push_back(nodes_[c].id);
      for (arma::uword i = nodes_[c].begin; i < nodes_[c].end; ++i) tree_.leaf[tree_.order[i]] = c;
    }
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
  require(weights.n_elem == points.n_cols && leaves >= 1, "split_points", "a weight for each point, leaves >= 1",
          {{"points", points.n_cols}, {"weights", weights.n_elem}, {"leaves", leaves}});
  if (leaves >= points.n_cols) return each_alone(points.n_cols);
  return Splitter<T>(points, weights, direction, draw_key).run(leaves);
}

template PointTree split_points(const arma::Mat<float>&, const arma::Col<float>&, arma::uword, SplitDirection,
                                const Key&);
template PointTree split_points(const arma::Mat<double>&, const arma::Col<double>&, arma::uword, SplitDirection,
                                const Key&);
}  // namespace croquis
