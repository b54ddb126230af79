// A sketch of one's own: what makes it one, and its distribution checked.
#include <fmt/format.h>

#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/random/key.hpp>
#include <croquis/sketch/any_sketch.hpp>
#include <croquis/sketch/uniform_sampling.hpp>

using namespace croquis;

/// Column j of S is sqrt(n/d) e_i, i uniform in the j-th of d segments of n/d rows.
/// Guarantees: E[S S^T] = I, since row i is in one segment, and drawn there with probability d/n.
/// Randomness: index j is a word of block j of the key.
class SegmentSampling {
 public:
  SegmentSampling(arma::uword n, arma::uword d, const Key& key) : n_(n), indices_(d) {
    require(d >= 1 && n % d == 0, "SegmentSampling", "d divides n", {{"n", n}, {"d", d}});
    const arma::uword length = n / d;
    for (arma::uword j = 0; j < d; ++j) indices_(j) = j * length + ((key.block(j)[0] * length) >> 32);
  }

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return indices_.n_elem; }
  template <typename T>
  arma::Mat<T> left(const arma::Mat<T>& m) const {
    return scale<T>() * m.rows(indices_);
  }
  template <typename T>
  arma::Mat<T> right(const arma::Mat<T>& m) const {
    return scale<T>() * m.cols(indices_);
  }
  template <typename T>
  arma::Mat<T> expand(const arma::Mat<T>& m) const {
    arma::Mat<T> product(n_, m.n_cols, arma::fill::zeros);
    product.rows(indices_) = scale<T>() * m;
    return product;
  }
  template <typename T>
  arma::Mat<T> dense() const {
    return expand(arma::Mat<T>(cols(), cols(), arma::fill::eye));
  }

 private:
  template <typename T>
  T scale() const {
    return std::sqrt(T(n_) / T(cols()));
  }

  arma::uword n_;
  arma::uvec indices_;
};
static_assert(Sketch<SegmentSampling, float> && Sketch<SegmentSampling, double>);

// | ||S^T x||^2 / ||x||^2 - 1 |, mean over many draws.
template <typename Make>
double norm_error(const arma::mat& x, const Make& make) {
  double mean = 0;
  for (std::uint64_t draw = 0; draw < 1000; ++draw) {
    const AnySketch<double> sketch = make(Key(1).child(draw));  // any sketch fits in one type
    mean += std::abs(std::pow(arma::norm(sketch.left(x)) / arma::norm(x), 2) - 1) / 1000;
  }
  return mean;
}

int main() {
  const arma::uword n = 8, d = 4, draws = 20000;
  arma::mat mean(n, n, arma::fill::zeros);
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const arma::mat s = SegmentSampling(n, d, Key(2).child(draw)).dense<double>();
    mean += s * s.t() / draws;
  }
  const double off = arma::abs(mean - arma::eye(n, n)).max();
  fmt::print("largest entry of |mean of S S^T - I|: {:.2g}\n", off);

  const arma::mat wave = arma::cos(arma::regspace(0, 1023) / 100) + 1;
  const double segments = norm_error(wave, [](const Key& s) { return SegmentSampling(1024, 64, s); });
  const double uniform = norm_error(wave, [](const Key& s) { return UniformSampling(1024, 64, s); });
  fmt::print("norm of a slow wave, d = 64: off by {:.2g}; uniform sampling by {:.2g}\n", segments, uniform);

  // An entry of S S^T is 0 or n/d: Hoeffding allows (n/d) sqrt(log(2 n^2 / 1e-6) / (2 draws)) but once in a million.
  const double allowed = double(n) / d * std::sqrt(std::log(2.0 * n * n / 1e-6) / (2.0 * draws));
  return off <= allowed && segments < uniform ? 0 : 1;
}
