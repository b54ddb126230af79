#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/stopwatch.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/measure/finite.hpp>
#include <croquis/measure/head_columns.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <exception>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

SketchRow failed(SketchRow row, const std::string& status) {
  row.norm_error = row.injectivity = row.dilation = row.product_spectral_rel = row.product_frobenius_rel =
      row.nystrom_spectral_rel = row.nystrom_trace_rel = row.seconds = SketchRow::kUndefined;
  row.status = status;
  return row;
}

// Runs `measure` on the row; what fails or overflows becomes the status.
template <typename Measure>
SketchRow guarded(SketchRow row, const Measure& measure) {
  try {
    measure(row);
  } catch (const std::exception& failure) {
    return failed(std::move(row), reason_of(failure));
  }
  const std::string status = status_of({{"norm_error", row.norm_error, true},
                                        {"injectivity", row.injectivity, true},
                                        {"dilation", row.dilation, true},
                                        {"product_spectral_rel", row.product_spectral_rel, true},
                                        {"product_frobenius_rel", row.product_frobenius_rel, true},
                                        {"nystrom_spectral_rel", row.nystrom_spectral_rel, true},
                                        {"nystrom_trace_rel", row.nystrom_trace_rel, true}});
  return status == "ok" ? row : failed(std::move(row), status);
}

// Of the columns, each divided by a power of two, so that the squares of small ones do not vanish.
arma::vec squared_norms(arma::mat matrix, const arma::ivec& exponents) {
  for (arma::uword j = 0; j < matrix.n_cols; ++j) {
    const int exponent = static_cast<int>(exponents(j));
    matrix.col(j).for_each([=](double& x) { x = std::ldexp(x, -exponent); });
  }
  return arma::sum(arma::square(matrix), 0).t();
}

// A class of the library that refuses, "SrhtSketch: rule", is not what users know: "srht: rule".
AnySketch<double> named_sketch(const SketchDescription& description) {
  try {
    return make_sketch<double>(description);
  } catch (const std::invalid_argument& refused) {
    const std::string why = refused.what();
    const std::size_t colon = why.find(": ");
    throw std::invalid_argument(description.distribution +
                                (colon == std::string::npos ? ": " + why : why.substr(colon)));
  }
}

}  // namespace

Key sketch_key(std::uint64_t seed, const std::string& kind, const std::string& name, arma::uword d,
               std::uint64_t trial) {
  return Key(seed).child("sketch").child(kind).child(name).child(d).child(trial);
}

const Columns<SketchRow>& sketch_columns() {
  static const Columns<SketchRow> columns = {
      {{"input", Role::key,
        "the [input](inputs.md), or the file of the matrix, with `;product=` and the file of the other factor if there "
        "is one"},
       &SketchRow::input},
      {{"matrix", Role::subject,
        "the sketched matrix: `q`, `k`, `v`, `b` (softmax scores), `c` (kernelized scores), a file, or the kernel "
        "matrix of the points in a file, as `matern32:bandwidth=2`"},
       &SketchRow::matrix},
      {{"n", Role::subject, "the number of its rows"}, &SketchRow::n},
      {{"cols", Role::subject, "the number of its columns"}, &SketchRow::cols},
      {{"rank", Role::subject,
        "the dimension of the leading part U of its column space that is to be embedded; 0 with `--sketches none`"},
       &SketchRow::rank},
      {{"kind", Role::key, "`operator` for a sketching operator, `landmarks` for a landmark policy"}, &SketchRow::kind},
      {{"name", Role::curve, "the operator with its options, or the policy"}, &SketchRow::name},
      {{"features", Role::axis, "d: columns of S, or number of landmarks", "d"}, &SketchRow::features},
      {{"trial", Role::draw, "number of the draw, from 1"}, &SketchRow::trial},
      {{"seed", Role::note, "`--seed`"}, &SketchRow::seed},
      {{"norm_error", Role::metric,
        "the mean over the columns x of \\|‖Sᵀx‖² / ‖x‖² - 1\\|. Columns of zeros are left out",
        "| ||S^T x||^2 / ||x||^2 - 1 |"},
       &SketchRow::norm_error},
      {{"injectivity", Role::metric,
        "the smallest singular value of SᵀU. It is reported apart from the largest because an embedding may stretch "
        "vectors and still lose nothing, whereas a direction with injectivity 0 is lost"},
       &SketchRow::injectivity},
      {{"dilation", Role::metric, "the largest singular value of SᵀU"}, &SketchRow::dilation},
      {{"product_spectral_rel", Role::metric,
        "‖BV - BSSᵀV‖ / ‖BV‖, if the input has Q, K and V, and the matrix as many rows as V. With `--matrix A "
        "--product B` it is ‖AᵀB - AᵀSSᵀB‖ / ‖AᵀB‖, "
        "where A is the sketched matrix. `NA` where there is no product",
        "relative spectral error of the product"},
       &SketchRow::product_spectral_rel},
      {{"product_frobenius_rel", Role::metric, "the same in the Frobenius norm",
        "relative Frobenius error of the product"},
       &SketchRow::product_frobenius_rel},
      {{"nystrom_spectral_rel", Role::metric,
        "‖M - M~‖ / ‖M‖ of the Nystrom approximation at these landmarks, computed by the Lanczos method to 1e-4. M is "
        "the lift of the queries and keys of an input; for a matrix or points of your own it is the sketched matrix, "
        "and `NA` above n = 4096",
        "||M - M~|| / ||M||"},
       &SketchRow::nystrom_spectral_rel},
      {{"nystrom_trace_rel", Role::metric, "trace(M - M~) / trace(M)", "trace(M - M~) / trace(M)"},
       &SketchRow::nystrom_trace_rel},
      {{"seconds", Role::metric, "the time of the product SᵀM, or of choosing the landmarks", "", "s"},
       &SketchRow::seconds},
      {{"status", Role::note, "`ok`, or the reason of a failure"}, &SketchRow::status},
      {sequence_column(), &SketchRow::sequence},
      {layer_column(), &SketchRow::layer},
      {head_column(), &SketchRow::head}};
  return columns;
}

arma::mat leading_basis(const arma::mat& matrix, arma::uword rank) {
  const SerialBlas serial;
  require(!matrix.is_empty(), "leading_basis", "a matrix with an entry",
          {{"rows", matrix.n_rows}, {"cols", matrix.n_cols}});
  arma::mat u, v;
  arma::vec values;
  if (!arma::svd_econ(u, values, v, matrix, "left")) {
    throw std::runtime_error("sketch: the singular value solver failed");
  }
  const double cutoff =
      values(0) * static_cast<double>(std::max(matrix.n_rows, matrix.n_cols)) * std::numeric_limits<double>::epsilon();
  const arma::uword numerical = arma::accu(values > cutoff);
  require(numerical > 0, "leading_basis", "a matrix that is not zero");
  return u.head_cols(std::min(rank, numerical));
}

SketchQuality::SketchQuality(arma::mat matrix, arma::mat basis, const std::optional<Problem<double>>& problem,
                             std::optional<arma::mat> factor)
    : matrix_(over_power_of_two(std::move(matrix))), basis_(std::move(basis)), exponents_(matrix_.n_cols) {
  const SerialBlas serial;
  require(!matrix_.is_empty() && !matrix_.is_zero() && matrix_.is_finite(), "SketchQuality",
          "a matrix that is finite, and not zero", {{"n", matrix_.n_rows}, {"cols", matrix_.n_cols}});
  const arma::uword of_v = problem && !factor ? problem->n_k() : matrix_.n_rows;
  require(basis_.n_rows == matrix_.n_rows && basis_.n_cols >= 1 && of_v == matrix_.n_rows, "SketchQuality",
          "a basis, and values if any, with as many rows as the matrix",
          {{"basis.rows", basis_.n_rows}, {"basis.cols", basis_.n_cols}, {"V.rows", of_v}, {"n", matrix_.n_rows}});
  for (arma::uword j = 0; j < matrix_.n_cols; ++j) {
    const double largest = arma::abs(matrix_.col(j)).max();
    exponents_(j) = largest > 0 ? std::ilogb(largest) : 0;
  }
  squared_norms_ = squared_norms(matrix_, exponents_);
  if (factor) {
    require(factor->n_rows == matrix_.n_rows, "SketchQuality", "a factor with as many rows as the matrix",
            {{"rows", factor->n_rows}, {"n", matrix_.n_rows}});
    values_ = over_power_of_two(std::move(*factor));  // the errors are relative
    product_.emplace(product_tn(matrix_, *values_));
    return;
  }
  if (!problem) return;
  values_ = problem->V();
  scores_ = exact_scores(*problem, Target::softmax);
  product_.emplace(scores_->apply(*values_));
}

SketchRow SketchQuality::row(const SketchDescription& description) const {
  const SerialBlas serial;
  SketchRow row;
  row.n = matrix_.n_rows;
  row.cols = matrix_.n_cols;
  row.rank = basis_.n_cols;
  row.kind = "operator";
  row.features = description.cols;
  return guarded(std::move(row), [&](SketchRow& measured) { measure(measured, description); });
}

void SketchQuality::measure(SketchRow& row, const SketchDescription& description) const {
  const Stopwatch stopwatch;
  const AnySketch<double> sketch = named_sketch(description);
  const arma::mat sketched = sketch.left(matrix_);
  row.seconds = stopwatch.seconds();
  const arma::vec ratios = squared_norms(sketched, exponents_) / squared_norms_;
  row.norm_error = arma::mean(arma::abs(ratios.elem(arma::find(squared_norms_ > 0)) - 1));
  const arma::vec stretch = arma::svd(sketch.left(basis_));
  row.dilation = stretch.max();
  row.injectivity = description.cols < basis_.n_cols ? 0.0 : stretch.min();
  if (!product_) return;
  const arma::mat values = sketch.left(*values_);
  const auto errors = product_->compare(scores_ ? scores_->apply(sketch.expand(values)) : product_tn(sketched, values));
  row.product_spectral_rel = errors.spectral_rel;
  row.product_frobenius_rel = errors.frobenius_rel;
}

LandmarkQuality::LandmarkQuality(const Problem<double>& problem)
    : LandmarkQuality(LiftedPoints<double>(problem.Q(), problem.K()).kernel()) {}

LandmarkQuality::LandmarkQuality(KernelMatrix<double> matrix, bool stored)
    : kernel_(std::move(matrix)), entry_error_(kernel_.entry_error()) {
  if (!stored) return;
  dense_ = kernel_.dense();
  norm_ = spectral_norm(as_operator(dense_), Key(1)).value;
}

void LandmarkQuality::prepare(const std::string& policy) {
  const SerialBlas serial;
  const Stopwatch stopwatch;
  sampler_.emplace(kernel_, landmark_policy(policy));
  preparation_ = stopwatch.seconds();
}

SketchRow LandmarkQuality::row(arma::uword d, const Key& key) const {
  const SerialBlas serial;
  require(sampler_.has_value(), "LandmarkQuality::row", "prepare() before it, with a policy");
  SketchRow row;
  row.kind = "landmarks";
  row.features = d;
  return guarded(std::move(row), [&](SketchRow& measured) { measure(measured, key); });
}

void LandmarkQuality::measure(SketchRow& row, const Key& key) const {
  const Stopwatch stopwatch;
  const arma::uvec landmarks = sampler_->draw(row.features, key);
  row.seconds = stopwatch.seconds() + preparation_;
  const double cutoff =
      static_cast<double>(row.features) * std::numeric_limits<double>::epsilon() * entry_error_;  // as core_cutoff()
  const auto core = pseudo_inverse_psd(kernel_.block(landmarks, landmarks), std::min(cutoff, 0.5));
  arma::mat factor = kernel_.columns(landmarks) * core.right;  // M~ = factor factor^T
  factor.each_row() /= arma::sqrt(core.values).t();
  row.nystrom_trace_rel = 1 - arma::accu(arma::square(factor)) / arma::accu(kernel_.diagonal);
  if (dense_.is_empty()) return;
  const auto residual = [&](const arma::mat& x) -> arma::mat { return dense_ * x - factor * (factor.t() * x); };
  constexpr double kAccuracy = 1e-4;  // far below the spread of the trials
  row.nystrom_spectral_rel = spectral_norm<double>({dense_.n_rows, dense_.n_rows, residual, residual},
                                                   key.child("norm"), {.tolerance = kAccuracy})
                                 .value /
                             norm_;
}

}  // namespace croquis
