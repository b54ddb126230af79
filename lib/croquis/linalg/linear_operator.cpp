#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <memory>
#include <mutex>
#include <utility>

namespace croquis {

template <typename T>
LinearOperator<T> as_operator(arma::Mat<T> matrix) {
  const auto shared = std::make_shared<const arma::Mat<T>>(std::move(matrix));
  return {shared->n_rows, shared->n_cols,
          [shared](const arma::Mat<T>& x) -> arma::Mat<T> { return product(*shared, x); },
          [shared](const arma::Mat<T>& x) -> arma::Mat<T> { return product_tn(*shared, x); }};
}

template <typename T>
LinearOperator<T> as_operator(arma::Mat<T> a, arma::Mat<T> b) {
  const auto left = std::make_shared<const arma::Mat<T>>(std::move(a)),
             right = std::make_shared<const arma::Mat<T>>(std::move(b));
  return {left->n_rows, right->n_rows,
          [left, right](const arma::Mat<T>& x) -> arma::Mat<T> { return product(*left, product_tn(*right, x)); },
          [left, right](const arma::Mat<T>& x) -> arma::Mat<T> { return product(*right, product_tn(*left, x)); }};
}

template <typename T>
LinearOperator<T> divided_rows(const LinearOperator<T>& a, arma::Col<T> f) {
  const auto divisors = std::make_shared<const arma::Col<T>>(std::move(f));
  return {a.rows, a.cols,
          [apply = a.apply, divisors](const arma::Mat<T>& x) {
            arma::Mat<T> y = apply(x);
            divide_rows(y, *divisors);
            return y;
          },
          [apply_transposed = a.apply_transposed, divisors](arma::Mat<T> x) {
            divide_rows(x, *divisors);
            return apply_transposed(x);
          }};
}

template <typename T>
LinearOperator<T> difference(const LinearOperator<T>& a, const LinearOperator<T>& b) {
  require(a.rows == b.rows && a.cols == b.cols, "difference", "operators of one size",
          {{"a.rows", a.rows}, {"a.cols", a.cols}, {"b.rows", b.rows}, {"b.cols", b.cols}});
  // a and b may be operators of the host.
  return {a.rows, a.cols,
          [a, b](const arma::Mat<T>& x) -> arma::Mat<T> {
            const SerialBlas serial;
            return a.apply(x) - b.apply(x);
          },
          [a, b](const arma::Mat<T>& x) -> arma::Mat<T> {
            const SerialBlas serial;
            return a.apply_transposed(x) - b.apply_transposed(x);
          }};
}

template <typename T>
LinearOperator<T> deferred(arma::uword rows, arma::uword cols, std::function<LinearOperator<T>()> make) {
  struct Made {
    std::once_flag once;
    LinearOperator<T> value;
  };
  const auto get = [made = std::make_shared<Made>(), make = std::move(make)]() -> const LinearOperator<T>& {
    std::call_once(made->once, [&] { made->value = make(); });
    return made->value;
  };
  return {rows, cols,
          [get](const arma::Mat<T>& x) {
            const SerialBlas serial;
            return get().apply(x);
          },
          [get](const arma::Mat<T>& x) {
            const SerialBlas serial;
            return get().apply_transposed(x);
          }};
}

template LinearOperator<float> as_operator(arma::Mat<float>);
template LinearOperator<double> as_operator(arma::Mat<double>);
template LinearOperator<float> as_operator(arma::Mat<float>, arma::Mat<float>);
template LinearOperator<double> as_operator(arma::Mat<double>, arma::Mat<double>);
template LinearOperator<float> divided_rows(const LinearOperator<float>&, arma::Col<float>);
template LinearOperator<double> divided_rows(const LinearOperator<double>&, arma::Col<double>);
template LinearOperator<float> deferred(arma::uword, arma::uword, std::function<LinearOperator<float>()>);
template LinearOperator<double> deferred(arma::uword, arma::uword, std::function<LinearOperator<double>()>);
template LinearOperator<float> difference(const LinearOperator<float>&, const LinearOperator<float>&);
template LinearOperator<double> difference(const LinearOperator<double>&, const LinearOperator<double>&);

}  // namespace croquis
