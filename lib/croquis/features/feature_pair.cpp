#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace croquis {
namespace {

constexpr arma::uword kDirectionsPerBlock = 64, kPointsMapped = 512, kEntriesPerTask = 16384;

// Calls body(c) for all columns of `rows` entries, with enough columns in each task to make a thread worthwhile.
void for_columns(arma::uword columns, arma::uword rows, const std::function<void(std::size_t)>& body) {
  const arma::uword share = std::max<arma::uword>(1, kEntriesPerTask / std::max<arma::uword>(1, rows));
  parallel_for((columns + share - 1) / share, [&](std::size_t task) {
    for (std::size_t c = task * share; c < std::min((task + 1) * share, columns); ++c) body(c);
  });
}

arma::uword checked_directions(const FeatureOptions& options, arma::uword d) {
  const arma::uword functions = functions_of(options.map);
  require(d >= 1, "features", "d >= 1", {{"d", d}});
  require(d % functions == 0, "features", "an even d, two functions a direction",
          {{"map", name_of(options.map)}, {"d", d}});
  require(options.epsilon >= 0 && std::isfinite(options.epsilon), "features", "epsilon >= 0 and finite",
          {{"epsilon", options.epsilon}});
  require(options.epsilon == 0 || options.map != FeatureMap::trf, "features", "epsilon goes with positive maps",
          {{"map", name_of(options.map)}, {"epsilon", options.epsilon}});
  return d / functions;
}

// First the sines of all columns, then their cosines.
template <typename T>
void fill_waves(const arma::Mat<T>& angles, arma::Mat<T>& waves) {
  for_columns(angles.n_cols, angles.n_rows, [&](std::size_t c) {
    sine_cosine(angles.colptr(c), angles.n_rows, waves.colptr(c), waves.colptr(angles.n_cols + c));
  });
}

// mean over all pairs of ||scale (x_i + y_j)||^2
template <typename T>
double mean_squared_sum(const arma::Mat<T>& x, const arma::Mat<T>& y, T scale) {
  const SerialBlas serial;
  const arma::Row<T> mean_x = scale * arma::mean(x, 0), mean_y = scale * arma::mean(y, 0);
  const T squares = scale * scale * (arma::mean(squared_row_norms(x)) + arma::mean(squared_row_norms(y)));
  return std::max(0.0, static_cast<double>(squares + 2 * arma::dot(mean_x, mean_y)));
}

}  // namespace

template <typename T>
FeaturePair<T>::FeaturePair(arma::Mat<T> x, arma::Mat<T> y, arma::uword d, const FeatureOptions& options,
                            const Key& draw_key)
    : FeaturePair(std::make_shared<const arma::Mat<T>>(std::move(x)),
                  std::make_shared<const arma::Mat<T>>(std::move(y)), T(1), d, options, draw_key) {}

template <typename T>
FeaturePair<T>::FeaturePair(std::shared_ptr<const arma::Mat<T>> x, std::shared_ptr<const arma::Mat<T>> y, T scale,
                            arma::uword d, const FeatureOptions& options, const Key& draw_key)
    : options_(options),
      functions_(functions_of(options.map)),
      x_(std::move(x)),
      y_(std::move(y)),
      scale_(scale),
      projection_(options.projection, checked_directions(options, d), x_->n_cols, draw_key) {
  require(x_->n_cols == y_->n_cols && x_->n_rows >= 1 && y_->n_rows >= 1, "features",
          "points of one width, one at least of each",
          {{"x.rows", x_->n_rows}, {"x.cols", x_->n_cols}, {"y.rows", y_->n_rows}, {"y.cols", y_->n_cols}});
  const arma::uword m = projection_.rows(), p = x_->n_cols;
  log_factor_ = -std::log(static_cast<double>(options.map == FeatureMap::trf ? m : count()));
  slopes_.ones(m);
  offsets_.zeros(m);
  if (options.map == FeatureMap::saderf) {
    balance_ = balancing_scale(*x_, *y_);
    x_ = std::make_shared<const arma::Mat<T>>(x_->each_row() % balance_);
    y_ = std::make_shared<const arma::Mat<T>>(y_->each_row() / balance_);
  }
  if (options.map == FeatureMap::sphere) {
    const arma::Row<T> norms = arma::sqrt(squared_row_norms<T>(projection_.dense())).t();
    // Of sorf the first p of p' columns are kept, and where p is small and no power of two they can all be 0.
    require(norms.min() > 0, "map=sphere",
            "no direction of norm 0; with projection=sorf take a p of 2, 4, 8, ..., or another projection", {{"p", p}});
    slopes_ = std::sqrt(static_cast<T>(p)) / norms;
  } else if (options.map == FeatureMap::oprf || options.map == FeatureMap::saderf) {
    exponent_ = optimal_exponent(mean_squared_sum(*x_, *y_, scale), p);
    slopes_.fill(static_cast<T>(std::sqrt(1 - 4 * exponent_)));
    offsets_ = static_cast<T>(exponent_) * squared_row_norms<T>(projection_.dense()).t();
    log_factor_ += static_cast<double>(p) / 2 * std::log1p(-4 * exponent_);
  }
  projection_.scale(scale);
  const T half = scale * scale * (options.map == FeatureMap::trf ? T(0.5) : T(-0.5));
  x_log_prefactors_ = half * squared_row_norms(*x_);
  y_log_prefactors_ = half * squared_row_norms(*y_);
}

template <typename T>
arma::Mat<T> FeaturePair<T>::exponents(const arma::Mat<T>& points, arma::span directions) const {
  const arma::uword first = directions.a, count = directions.b - directions.a + 1;
  arma::Mat<T> block = projection_.apply(points, first, count);
  if (options_.map == FeatureMap::trf || options_.map == FeatureMap::prf || options_.map == FeatureMap::hyperbolic) {
    return block;  // slopes 1, offsets 0
  }
  for_columns(count, block.n_rows,
              [&, slope = slopes_.memptr() + first, offset = offsets_.memptr() + first](std::size_t c) {
                T* column = block.colptr(c);
                for (arma::uword i = 0; i < block.n_rows; ++i) column[i] = slope[c] * column[i] + offset[c];
              });
  return block;
}

template <typename T>
typename FeaturePair<T>::Shifts FeaturePair<T>::empty_shifts() const {
  Shifts shifts;
  shifts.keys.zeros(count());
  shifts.carried.zeros(count());
  shifts.queries.set_size(x_->n_rows);
  shifts.queries.fill(-std::numeric_limits<T>::infinity());
  return shifts;
}

// The largest exponent of every key column.
template <typename T>
void FeaturePair<T>::raise_key_shifts(const arma::Mat<T>& block, arma::uword first, Shifts& shifts) const {
  if (options_.map == FeatureMap::trf) return;
  const bool log_prefactors = options_.epsilon == 0;
  for_columns(block.n_cols, block.n_rows, [&](std::size_t c) {
    thread_local std::vector<T> raised;
    raised.resize(block.n_rows);
    const T *column = block.colptr(c), *log_prefactor = y_log_prefactors_.memptr();
    for (arma::uword f = 0; f < functions_; ++f) {
      const T sign = f == 0 ? T(1) : T(-1);
      for (arma::uword j = 0; j < block.n_rows; ++j)
        raised[j] = sign * column[j] + (log_prefactors ? log_prefactor[j] : T(0));
      shifts.keys(f * directions() + first + c) = maximum(raised.data(), raised.size());
    }
  });
}

template <typename T>
void FeaturePair<T>::raise_query_shifts(const arma::Mat<T>& block, arma::uword first, Shifts& shifts) const {
  if (options_.map == FeatureMap::trf) return;
  parallel_for((block.n_rows + kPointsMapped - 1) / kPointsMapped, [&](std::size_t b) {
    const arma::uword top = b * kPointsMapped, bottom = std::min(top + kPointsMapped, block.n_rows);
    for (arma::uword c = 0; c < block.n_cols; ++c) {
      for (arma::uword f = 0; f < functions_; ++f) {
        const T sign = f == 0 ? T(1) : T(-1), carried = shifts.carried(f * directions() + first + c);
        const T* column = block.colptr(c);
        T* largest = shifts.queries.memptr();
        for (arma::uword i = top; i < bottom; ++i) largest[i] = std::max(largest[i], sign * column[i] + carried);
      }
    }
  });
}

// The factors that the query columns take over from the key columns.
template <typename T>
void FeaturePair<T>::carry(Shifts& shifts) const {
  if (options_.map == FeatureMap::trf) {
    shifts.keys.fill(y_log_prefactors_.max());
  } else if (options_.epsilon == 0) {
    shifts.carried = shifts.keys;
  } else {
    shifts.keys.fill(shifts.keys.max());
  }
}

template <typename T>
void FeaturePair<T>::finish(Shifts& shifts) const {
  const T factor = static_cast<T>(log_factor_);
  if (options_.map == FeatureMap::trf) {
    shifts.queries.zeros();
    shifts.log_scale = x_log_prefactors_ + shifts.keys.max() + factor;
  } else if (options_.epsilon == 0) {
    shifts.log_scale = x_log_prefactors_ + shifts.queries + factor;
  } else {
    shifts.log_scale = shifts.queries + shifts.keys.max() + factor;
  }
}

template <typename T>
arma::Col<T> FeaturePair<T>::key_shifts() const {
  Shifts shifts = empty_shifts();
  for (arma::uword first = 0; options_.map != FeatureMap::trf && first < directions(); first += kDirectionsPerBlock) {
    const arma::span block(first, std::min(first + kDirectionsPerBlock, directions()) - 1);
    raise_key_shifts(exponents(*y_, block), first, shifts);
  }
  carry(shifts);
  return shifts.keys;
}

template <typename T>
typename FeaturePair<T>::Shifts FeaturePair<T>::shifts(const arma::Col<T>& key_shifts) const {
  require(key_shifts.n_elem == count(), "FeaturePair", "a shift for each feature",
          {{"shifts", key_shifts.n_elem}, {"features", count()}});
  Shifts shifts = empty_shifts();
  shifts.keys = key_shifts;
  if (options_.map != FeatureMap::trf && options_.epsilon == 0) shifts.carried = key_shifts;
  for (arma::uword first = 0; options_.map != FeatureMap::trf && first < directions(); first += kDirectionsPerBlock) {
    const arma::span block(first, std::min(first + kDirectionsPerBlock, directions()) - 1);
    raise_query_shifts(exponents(*x_, block), first, shifts);
  }
  finish(shifts);
  return shifts;
}

template <typename T>
typename FeaturePair<T>::Matrices FeaturePair<T>::matrices() const {
  Shifts shifts = empty_shifts();
  const arma::span all(0, directions() - 1);
  const arma::Mat<T> keys = exponents(*y_, all);
  const arma::Mat<T> queries = exponents(*x_, all);
  raise_key_shifts(keys, 0, shifts);
  carry(shifts);
  raise_query_shifts(queries, 0, shifts);
  finish(shifts);
  return {query_features(queries, x_log_prefactors_, shifts.queries, 0, shifts),
          key_features(keys, y_log_prefactors_, 0, shifts), shifts.log_scale};
}

template <typename T>
arma::Mat<T> FeaturePair<T>::key_features(const arma::Mat<T>& block, const arma::Col<T>& log_prefactors,
                                          arma::uword first, const Shifts& shifts) const {
  const arma::uword tokens = block.n_rows;
  arma::Mat<T> features(tokens, functions_ * block.n_cols, arma::fill::none);
  if (options_.map == FeatureMap::trf) {
    fill_waves(block, features);
    arma::Col<T> sizes = log_prefactors;
    exp_shifted(sizes.memptr(), tokens, shifts.keys(first));  // one shift for all columns
    multiply_rows(features, sizes);
    return features;
  }
  for_columns(features.n_cols, tokens, [&](std::size_t column) {
    const arma::uword f = column / block.n_cols, c = column % block.n_cols;
    const T shift = shifts.keys(f * directions() + first + c), sign = f == 0 ? T(1) : T(-1);
    const T* exponent = block.colptr(c);
    const T* log_prefactor = log_prefactors.memptr();
    T* out = features.colptr(column);
    for (arma::uword j = 0; j < tokens; ++j) out[j] = sign * exponent[j] + log_prefactor[j];
    exp_shifted(out, tokens, shift);
    if (options_.epsilon > 0) features.col(column) += static_cast<T>(options_.epsilon);
  });
  return features;
}

template <typename T>
arma::Mat<T> FeaturePair<T>::query_features(const arma::Mat<T>& block, const arma::Col<T>& log_prefactors,
                                            const arma::Col<T>& row_shifts, arma::uword first,
                                            const Shifts& shifts) const {
  const arma::uword tokens = block.n_rows;
  arma::Mat<T> features(tokens, functions_ * block.n_cols, arma::fill::none);
  if (options_.map == FeatureMap::trf) {
    fill_waves(block, features);
    return features;
  }
  for_columns(features.n_cols, tokens, [&](std::size_t column) {
    const arma::uword f = column / block.n_cols, c = column % block.n_cols;
    const T carried = shifts.carried(f * directions() + first + c), sign = f == 0 ? T(1) : T(-1);
    const T* exponent = block.colptr(c);
    const T* shift = row_shifts.memptr();
    T* out = features.colptr(column);
    // The log-prefactor of a query is a factor of its row and part of log_scale. It matters only for FAVOR+'s epsilon.
    for (arma::uword i = 0; i < tokens; ++i) out[i] = sign * exponent[i] + carried - shift[i];
    if (options_.epsilon > 0) features.col(column) += log_prefactors;
    exp_shifted(out, tokens, T(0));
    if (options_.epsilon > 0) features.col(column) += static_cast<T>(options_.epsilon);
  });
  return features;
}

template <typename T>
arma::Mat<T> FeaturePair<T>::queries(const arma::uvec& tokens, arma::span directions, const Shifts& shifts) const {
  return query_features(exponents(x_->rows(tokens), directions), x_log_prefactors_(tokens), shifts.queries(tokens),
                        directions.a, shifts);
}

template <typename T>
arma::Mat<T> FeaturePair<T>::keys(const arma::uvec& tokens, arma::span directions, const Shifts& shifts) const {
  return key_features(exponents(y_->rows(tokens), directions), y_log_prefactors_(tokens), directions.a, shifts);
}

template class FeaturePair<float>;
template class FeaturePair<double>;

}  // namespace croquis
