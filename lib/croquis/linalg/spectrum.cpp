#include <algorithm>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/bidiagonalisation.hpp>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/random/draws.hpp>
#include <limits>
#include <stdexcept>

namespace croquis {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr arma::uword kStepsBetweenChecks = 10;  // steps; a check is a singular value problem of the size of the space

template <typename T>
arma::Col<T> normals(const Key& key, arma::uword count) {
  arma::Col<T> x(count);
  fill_normal(key, 0, count, x.memptr());
  return x;
}

}  // namespace

arma::vec singular_values(const arma::mat& a) {
  const SerialBlas serial;
  if (a.is_empty()) return {};
  // A copy, which LAPACK overwrites; its workspace is small beside it.
  require_memory(sizeof(double) * static_cast<double>(a.n_rows) * static_cast<double>(a.n_cols), "singular_values",
                 {{"rows", a.n_rows}, {"cols", a.n_cols}});
  arma::vec values;
  if (!arma::svd(values, a)) throw std::runtime_error("singular_values: the solver failed");
  return values;
}

double stable_rank(const arma::vec& values) {
  if (values.is_empty() || !(values(0) > 0)) return kUndefined;
  return arma::accu(arma::square(values / values(0)));
}

double rank_cutoff(arma::uword m, arma::uword n) {
  return static_cast<double>(std::max(m, n)) * std::numeric_limits<double>::epsilon() / 2;
}

arma::uword numerical_rank(const arma::vec& values, double cutoff) {
  if (values.is_empty() || !(values(0) > 0)) return 0;
  return arma::accu(values > cutoff * values(0));
}

double condition_number(const arma::vec& values, double cutoff) {
  if (values.is_empty() || !(values(0) > 0)) return kUndefined;
  return values(0) / std::max(values(values.n_elem - 1), cutoff * values(0));
}

template <typename T>
LeadingSpectrum<T> leading_spectrum(const LinearOperator<T>& a, arma::uword k, const Key& key,
                                    const LeadingOptions& options) {
  const SerialBlas serial;
  require(k >= 1 && options.tolerance > 0 && options.max_steps >= 0, "leading_spectrum",
          "k >= 1, tolerance > 0, max_steps >= 0",
          {{"k", k}, {"tolerance", options.tolerance}, {"max_steps", options.max_steps}});
  LeadingSpectrum<T> leading;
  if (a.rows == 0 || a.cols == 0) return leading;
  k = std::min({k, a.rows, a.cols});
  const arma::uword steps = options.max_steps > 0 ? static_cast<arma::uword>(options.max_steps) : 3 * k + 100;
  const arma::uword most = std::min(steps, a.cols);
  require_memory(sizeof(T) * (static_cast<double>(a.rows) + static_cast<double>(a.cols)) * static_cast<double>(most),
                 "leading_spectrum", {{"rows", a.rows}, {"cols", a.cols}, {"steps", most}});
  Bidiagonalisation<T> space(a.rows, normals<T>(key.child("start"), a.cols), most);

  arma::mat ritz_left, ritz_right;
  arma::vec ritz;
  while (true) {
    space.set_left(a.apply(space.right()));
    space.set_right(a.apply_transposed(space.left()));
    const arma::uword taken = space.steps();
    const bool invariant = space.invariant();
    const bool more = invariant ? space.restart(normals<T>(key.child("restart").child(taken), a.cols)) : !space.full();
    if (more && (taken < k || taken % kStepsBetweenChecks != 0)) continue;
    if (!arma::svd(ritz_left, ritz, ritz_right, space.bidiagonal())) {
      throw std::runtime_error("leading_spectrum: the singular value solver failed");
    }
    leading.values = ritz.head(std::min(k, taken));
    const double last = invariant ? 0.0 : space.last();
    leading.residuals = last * arma::abs(ritz_left.row(taken - 1).head(leading.values.n_elem).t());
    leading.converged =
        leading.values.n_elem == k && arma::all(leading.residuals <= options.tolerance * std::max(ritz(0), 0.0));
    // After a restart, zero values are accepted only if no larger value can follow.
    if (!more || (leading.converged && !invariant)) break;
  }
  leading.steps = static_cast<int>(space.steps());
  leading.right = space.right_basis().head_cols(space.steps()) *
                  arma::conv_to<arma::Mat<T>>::from(ritz_right.head_cols(leading.values.n_elem));
  return leading;
}

template LeadingSpectrum<float> leading_spectrum(const LinearOperator<float>&, arma::uword, const Key&,
                                                 const LeadingOptions&);
template LeadingSpectrum<double> leading_spectrum(const LinearOperator<double>&, arma::uword, const Key&,
                                                  const LeadingOptions&);

}  // namespace croquis
