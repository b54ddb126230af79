#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/prime.hpp>
#include <cmath>
#include <croquis/core/choices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/features/projections.hpp>
#include <croquis/linalg/hadamard.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/normal_matrix.hpp>
#include <stdexcept>

namespace croquis {
namespace {

constexpr arma::uword kPointsPerBlock = 512;
constexpr std::string_view kProjectionNames[] = {"iid", "haar", "orthogonal", "sorf", "halton"};

// A p x p orthogonal matrix with the Haar distribution: QR with the sign convention R_ii > 0 is unique, so Q inherits
// the rotation invariance of the Gaussian matrix.
arma::mat haar(arma::uword p, const Key& draw_key) {
  arma::mat q, r;
  if (!arma::qr(q, r, normal_matrix<double>(draw_key, p, p)))
    throw std::runtime_error("Projection: the QR factorisation failed");
  for (arma::uword c = 0; c < p; ++c) {
    if (r(c, c) < 0) q.col(c) *= -1;
  }
  return q;
}

double radical_inverse(std::uint64_t index, std::uint64_t base) {
  double value = 0, weight = 1;
  for (; index > 0; index /= base) {
    weight /= static_cast<double>(base);
    value += weight * static_cast<double>(index % base);
  }
  return value;
}

constexpr arma::uword kPrimes = boost::math::max_prime + 1;

// p x m. A uniform number of 53 bits may be 0, where the quantile is not finite, so half a step is added.
arma::mat halton_normals(arma::uword m, arma::uword p, const Key& draw_key) {
  constexpr double step = 0x1p-53, half = 0x1p-54;
  constexpr int unused_bits = 11;
  require(p <= kPrimes, "Projection", "p <= 10000 for halton, a prime a coordinate", {{"p", p}});
  std::vector<std::uint64_t> words(p);
  fill_words(draw_key.child("shift"), 0, p, words.data());
  arma::mat columns(p, m);
  const boost::math::normal distribution;
  parallel_for(m, [&](std::size_t r) {
    for (arma::uword c = 0; c < p; ++c) {
      const double shift = static_cast<double>(words[c] >> unused_bits) * step;
      double u = radical_inverse(r + 1, boost::math::prime(static_cast<unsigned>(c))) + shift;
      u -= std::floor(u);
      columns(c, r) = boost::math::quantile(distribution, std::clamp(u, half, 1 - step));
    }
  });
  return columns;
}

arma::mat columns_of(ProjectionDistribution distribution, arma::uword m, arma::uword p, const Key& draw_key) {
  if (distribution == ProjectionDistribution::halton) return halton_normals(m, p, draw_key);
  arma::mat columns(p, m);
  if (distribution == ProjectionDistribution::iid) {
    parallel_for(m, [&](std::size_t r) { fill_normal(draw_key.child(r), 0, p, columns.colptr(r)); });
    return columns;
  }
  parallel_for(blocks_of(m, p), [&](std::size_t b) {
    const arma::uword first = b * p, count = std::min(p, m - first);
    const arma::mat rotation = haar(p, draw_key.child("block").child(b));
    columns.cols(first, first + count - 1) = rotation.head_cols(count);
    for (arma::uword r = first; r < first + count; ++r) {
      const bool chi = distribution == ProjectionDistribution::haar;
      columns.col(r) *= chi ? arma::norm(normal_matrix<double>(draw_key.child("norm").child(r), p, 1))
                            : std::sqrt(static_cast<double>(p));
    }
  });
  return columns;
}

// The numbers that W takes at least, in floating point: products of sizes could overflow before anything is allocated.
double least_entries(ProjectionDistribution distribution, arma::uword m, arma::uword p) {
  const auto rows = static_cast<double>(m), cols = static_cast<double>(p);
  return distribution == ProjectionDistribution::sorf ? 3 * std::max(rows, cols) : rows * cols;
}

}  // namespace

std::string_view name_of(ProjectionDistribution distribution) {
  return kProjectionNames[static_cast<std::size_t>(distribution)];
}

std::vector<std::string> projection_names() {
  return {std::begin(kProjectionNames), std::end(kProjectionNames)};
}

ProjectionDistribution projection_distribution(std::string_view name) {
  return static_cast<ProjectionDistribution>(index_of_name(name, projection_names(), "projection"));
}

template <typename T>
Projection<T>::Projection(ProjectionDistribution distribution, arma::uword m, arma::uword p, const Key& draw_key)
    : m_(m), p_(p) {
  require(m >= 1 && p >= 1, "Projection", "m >= 1, p >= 1", {{"m", m}, {"p", p}});
  require_memory(sizeof(T) * least_entries(distribution, m, p), "Projection", {{"m", m}, {"p", p}});
  if (distribution != ProjectionDistribution::sorf) {
    columns_ = arma::conv_to<arma::Mat<T>>::from(columns_of(distribution, m, p, draw_key));
    return;
  }
  const arma::uword width = next_power_of_two(p), blocks = blocks_of(m, width);
  signs_.set_size(width, 3 * blocks);
  for (arma::uword c = 0; c < signs_.n_cols; ++c) {
    const T magnitude = c % 3 == 2 ? 1 / static_cast<T>(width) : T(1);
    fill_signs(draw_key.child("block").child(c / 3), c % 3 * width, width, magnitude, signs_.colptr(c));
  }
}

template <typename T>
arma::Mat<T> Projection<T>::apply(const arma::Mat<T>& x, arma::uword first, arma::uword count) const {
  require(x.n_cols == p_, "Projection::apply", "points with p columns", {{"cols", x.n_cols}, {"p", p_}});
  require(first <= m_ && count <= m_ - first, "Projection::apply", "rows of W",
          {{"first", first}, {"count", count}, {"m", m_}});
  if (x.is_empty() || count == 0) return arma::Mat<T>(x.n_rows, count, arma::fill::zeros);
  if (signs_.is_empty()) return product<T>(x, columns_.cols(first, first + count - 1));
  arma::Mat<T> projected(x.n_rows, count);
  parallel_for(blocks_of(x.n_rows, kPointsPerBlock), [&](std::size_t b) {
    const arma::uword top = b * kPointsPerBlock, bottom = std::min(top + kPointsPerBlock, x.n_rows) - 1;
    arma::Mat<T> block(bottom - top + 1, count);
    apply_signs(x.rows(top, bottom), first, block);
    projected.rows(top, bottom) = block;
  });
  return projected;
}

template <typename T>
void Projection<T>::apply_signs(const arma::Mat<T>& x, arma::uword first, arma::Mat<T>& product) const {
  const arma::uword width = signs_.n_rows, last = first + product.n_cols - 1;
  arma::Mat<T> work(width, x.n_rows);
  for (arma::uword b = first / width; b <= last / width; ++b) {
    work.zeros();
    work.head_rows(p_) = x.t();
    for (arma::uword k = 0; k < 3; ++k) {
      work.each_col() %= signs_.col(3 * b + k);
      hadamard_transform(work);
    }
    const arma::uword top = std::max(first, b * width), bottom = std::min(last, (b + 1) * width - 1);
    product.cols(top - first, bottom - first) = work.rows(top - b * width, bottom - b * width).t();
  }
}

template <typename T>
arma::Mat<T> Projection<T>::dense() const {
  return apply(arma::Mat<T>(p_, p_, arma::fill::eye)).t();
}

template <typename T>
void Projection<T>::scale(T factor) {
  columns_ *= factor;
  for (arma::uword c = 2; c < signs_.n_cols; c += 3) signs_.col(c) *= factor;  // the scale is in D1
}

double projection_flops(ProjectionDistribution distribution, double n, double m, double p) {
  if (distribution != ProjectionDistribution::sorf) return 2 * n * m * p;
  const double log_width = std::ceil(std::log2(p)), width = std::exp2(log_width);
  return 3 * n * std::ceil(m / width) * width * log_width;
}

template class Projection<float>;
template class Projection<double>;

}  // namespace croquis
