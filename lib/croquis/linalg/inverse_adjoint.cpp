#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/inverse_adjoint.hpp>
#include <croquis/linalg/products.hpp>
#include <stdexcept>
#include <vector>

namespace croquis {
namespace {

template <typename T>
arma::Mat<T> plus_identity(arma::Mat<T> m, T factor) {
  m.diag() += factor;
  return m;
}

// What a step from Z to Z A1 / 4 computes: M = N Z, A3 = 7 I - M, A2 = 15 I - M A3, A1 = 13 I - M A2.
template <typename T>
struct Step {
  arma::Mat<T> m, third, second, first;
};

template <typename T>
Step<T> step_from(const arma::Mat<T>& n, const arma::Mat<T>& z) {
  Step<T> step;
  step.m = product(n, z);
  step.third = plus_identity<T>(-step.m, 7);
  step.second = plus_identity<T>(product(step.m, step.third, T(-1)), 15);
  step.first = plus_identity<T>(product(step.m, step.second, T(-1)), 13);
  return step;
}

// The Z of every step: the last one is the inverse.
template <typename T>
std::vector<arma::Mat<T>> steps_of(const arma::Mat<T>& n, const InverseIteration& options) {
  std::vector<arma::Mat<T>> steps = {inverse_start(n, options.start)};
  for (int step = 0; step < options.iterations; ++step) {
    steps.push_back(product(steps.back(), step_from(n, steps.back()).first, T(0.25)));
  }
  return steps;
}

// Adds the derivatives of <E, N^T / (c r)> by N, c and r the norms of the start.
template <typename T>
void add_start(const arma::Mat<T>& n, InverseStart start, const arma::Mat<T>& cotangent, arma::Mat<T>& result) {
  if (start == InverseStart::identity) return;
  const arma::Row<T> columns = arma::sum(arma::abs(n), 0);
  const arma::Col<T> rows = arma::sum(arma::abs(n), 1);
  const arma::uword column = columns.index_max(), row = rows.index_max();
  const bool both = start == InverseStart::transpose_both;
  const T c = columns[column], r = both ? rows[row] : T(1);  // their product would overflow, or vanish
  const arma::Mat<T> of_n = cotangent.t() / c / r;
  const T share = -arma::accu(of_n % n);
  result += of_n;
  result.col(column) += share / c * arma::sign(n.col(column));
  if (both) result.row(row) += share / r * arma::sign(n.row(row));
}

template <typename T>
void require_factors(const char* where, const arma::Mat<T>& a, const arma::Mat<T>& left, const arma::Mat<T>& right) {
  require(a.n_rows == a.n_cols && a.n_rows >= 1, where, "a square matrix, of one row at least",
          {{"rows", a.n_rows}, {"cols", a.n_cols}});
  require(left.n_rows == a.n_rows && arma::size(left) == arma::size(right), where,
          "two factors of the cotangent, d x c both",
          {{"d", a.n_rows}, {"left.rows", left.n_rows}, {"right.rows", right.n_rows}});
}

}  // namespace

template <typename T>
arma::Mat<T> iterative_inverse_adjoint(const arma::Mat<T>& n, const InverseIteration& options,
                                       const arma::Mat<T>& cotangent) {
  require(arma::size(cotangent) == arma::size(n), "iterative_inverse_adjoint", "a cotangent with the shape of N",
          {{"rows", cotangent.n_rows}, {"d", n.n_rows}});
  const SerialBlas serial;
  const std::vector<arma::Mat<T>> steps = steps_of(n, options);
  arma::Mat<T> of_z = cotangent, of_n(arma::size(n), arma::fill::zeros);
  for (std::size_t step = steps.size() - 1; step-- > 0;) {
    const arma::Mat<T>& z = steps[step];
    const auto [m, third, second, first] = step_from(n, z);  // computed again, then each term backwards
    const arma::Mat<T> of_first = product_tn(z, of_z) * T(0.25), of_second = -product_tn(m, of_first),
                       of_third = -product_tn(m, of_second);
    const arma::Mat<T> of_m = -(product_nt(of_first, second) + product_nt(of_second, third) + of_third);
    of_n += product_nt(of_m, z);
    of_z = product_nt(of_z, first) * T(0.25) + product_tn(n, of_m);
  }
  add_start(n, options.start, of_z, of_n);
  return of_n;
}

template <typename T>
arma::Mat<T> pseudo_inverse_psd_adjoint(const arma::Mat<T>& a, T relative_cutoff, const arma::Mat<T>& left,
                                        const arma::Mat<T>& right) {
  require_factors("pseudo_inverse_psd_adjoint", a, left, right);
  const SerialBlas serial;
  arma::Col<T> values;
  arma::Mat<T> vectors;
  if (!arma::eig_sym(values, vectors, arma::symmatu(a))) {
    throw std::runtime_error("pseudo_inverse_psd_adjoint: the eigenvalue solver failed");
  }
  const T cut = relative_cutoff * std::max(values.max(), T(0));
  const arma::Mat<T> rotated = product_nt(product_tn(vectors, left), product_tn(vectors, right));
  arma::Mat<T> inner = T(0.5) * (rotated + rotated.t());
  for (arma::uword j = 0; j < inner.n_cols; ++j) {
    for (arma::uword i = 0; i < inner.n_rows; ++i) {
      const T x = values[i], y = values[j];
      if (x > cut && y > cut) {
        inner(i, j) /= -x * y;
      } else if (x > cut || y > cut) {
        inner(i, j) *= (x > cut ? 1 / x : -1 / y) / (x - y);
      } else {
        inner(i, j) = 0;
      }
    }
  }
  return product(vectors, product_nt(inner, vectors));
}

template <typename T>
arma::Mat<T> pseudo_inverse_adjoint(const arma::Mat<T>& a, T relative_cutoff, const arma::Mat<T>& left,
                                    const arma::Mat<T>& right) {
  require_factors("pseudo_inverse_adjoint", a, left, right);
  const SerialBlas serial;
  arma::Mat<T> u, v;
  arma::Col<T> values;
  if (!arma::svd(u, values, v, a)) {
    throw std::runtime_error("pseudo_inverse_adjoint: the singular value solver failed");
  }
  const T cut = relative_cutoff * values.max();
  // A^+T = U f(S) V^T: in the bases of U and V, f acts on the symmetric part as on eigenvalues s, and on the
  // antisymmetric one as on pairs s and -s.
  const arma::Mat<T> inner = product_nt(product_tn(u, right), product_tn(v, left));
  arma::Mat<T> outer(arma::size(inner), arma::fill::zeros);
  for (arma::uword j = 0; j < inner.n_cols; ++j) {
    for (arma::uword i = 0; i < inner.n_rows; ++i) {
      const T x = values[i], y = values[j], even = (inner(i, j) + inner(j, i)) / 2, odd = inner(i, j) - even;
      if (x > cut && y > cut) {
        outer(i, j) = -inner(j, i) / (x * y);  // odd - even
      } else if (x > cut || y > cut) {
        outer(i, j) = even * (x > cut ? 1 / x : -1 / y) / (x - y) + odd / std::max(x, y) / (x + y);
      }
    }
  }
  return product(u, product_nt(outer, v));
}

template arma::Mat<float> iterative_inverse_adjoint(const arma::Mat<float>&, const InverseIteration&,
                                                    const arma::Mat<float>&);
template arma::Mat<double> iterative_inverse_adjoint(const arma::Mat<double>&, const InverseIteration&,
                                                     const arma::Mat<double>&);
template arma::Mat<float> pseudo_inverse_psd_adjoint(const arma::Mat<float>&, float, const arma::Mat<float>&,
                                                     const arma::Mat<float>&);
template arma::Mat<double> pseudo_inverse_psd_adjoint(const arma::Mat<double>&, double, const arma::Mat<double>&,
                                                      const arma::Mat<double>&);
template arma::Mat<float> pseudo_inverse_adjoint(const arma::Mat<float>&, float, const arma::Mat<float>&,
                                                 const arma::Mat<float>&);
template arma::Mat<double> pseudo_inverse_adjoint(const arma::Mat<double>&, double, const arma::Mat<double>&,
                                                  const arma::Mat<double>&);

}  // namespace croquis
