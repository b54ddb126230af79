#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/sampling/angular_order.hpp>
#include <numeric>

namespace croquis {
namespace {

// The place of the code in the sequence i -> i xor (i >> 1).
std::uint32_t gray_rank(std::uint32_t code) {
  for (std::uint32_t shift = 1; shift < 32; shift *= 2) code ^= code >> shift;
  return code;
}

}  // namespace

template <typename T>
std::vector<std::uint32_t> bucket_places(const arma::Mat<T>& x, const arma::Mat<T>& directions, BucketOrder order) {
  require(directions.n_cols >= 1 && directions.n_cols <= 30, "angular_order", "1 to 30 directions",
          {{"directions", directions.n_cols}});
  const arma::Mat<T> projected = product(x, directions);
  std::vector<std::uint32_t> places(x.n_rows, 0);
  for (arma::uword r = 0; r < projected.n_cols; ++r) {
    const T* column = projected.colptr(r);
    for (arma::uword i = 0; i < x.n_rows; ++i) places[i] |= static_cast<std::uint32_t>(column[i] > 0) << r;
  }
  for (std::uint32_t& place : places) place = order == BucketOrder::gray ? gray_rank(place) : place ^ (place >> 1);
  return places;
}

template <typename T>
std::vector<std::uint32_t> angular_order(const arma::Mat<T>& x, const arma::Mat<T>& directions, BucketOrder order) {
  const std::vector<std::uint32_t> places = bucket_places(x, directions, order);
  std::vector<std::uint32_t> sorted(x.n_rows);
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return places[a] < places[b]; });
  return sorted;
}

template std::vector<std::uint32_t> bucket_places(const arma::Mat<float>&, const arma::Mat<float>&, BucketOrder);
template std::vector<std::uint32_t> bucket_places(const arma::Mat<double>&, const arma::Mat<double>&, BucketOrder);
template std::vector<std::uint32_t> angular_order(const arma::Mat<float>&, const arma::Mat<float>&, BucketOrder);
template std::vector<std::uint32_t> angular_order(const arma::Mat<double>&, const arma::Mat<double>&, BucketOrder);

}  // namespace croquis
