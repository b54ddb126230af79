#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/bidiagonalisation.hpp>
#include <croquis/linalg/trace_estimate.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/stats/intervals.hpp>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

namespace croquis {
namespace {

constexpr int kStepsBetweenEstimates = 5;  // steps; a check is a small singular value problem for each probe

// |z|^2 sum_i w_i f(sigma_i): the quadrature of B_k, or of [B_k, super_k e_k], which has a node at 0.
double quadrature(const arma::mat& bidiagonal, const std::function<double(double)>& f, double squared_length) {
  const SerialBlas serial;
  arma::mat left, right;
  arma::vec nodes;
  if (!arma::svd_econ(left, nodes, right, bidiagonal, "right")) {
    throw std::runtime_error("spectral_sum: the singular value solver failed");
  }
  double sum = 0;
  for (arma::uword i = 0; i < nodes.n_elem; ++i) sum += right(0, i) * right(0, i) * f(nodes(i));
  return squared_length * sum;
}

template <typename T>
struct Probe {
  double squared_length = 0;
  std::optional<Bidiagonalisation<T>> space;  // none for a probe that lies in the known directions
  bool closed = false;                        // the space is invariant, so the quadrature is exact
  double lower = 0, upper = 0;

  void bracket(const std::function<double(double)>& f) {
    upper = quadrature(space->bidiagonal(), f, squared_length);
    lower = closed ? upper : quadrature(space->bidiagonal(true), f, squared_length);
  }
};

template <typename T>
std::vector<Probe<T>> draw(arma::uword m, arma::uword n, const arma::Mat<T>& known, const Key& key, int count,
                           arma::uword steps) {
  const SerialBlas serial;
  std::vector<Probe<T>> probes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const Key signs = key.child(i);
    arma::Col<T> z(n);
    fill_signs(signs, 0, n, T(1), z.memptr());
    if (!known.is_empty()) {
      for (int pass = 0; pass < 2; ++pass) {
        const arma::Col<T> along = known.t() * z;
        z -= known * along;
      }
    }
    probes[i].squared_length = arma::accu(arma::square(z));
    const double rounding = 100 * static_cast<double>(n) * std::numeric_limits<T>::epsilon();
    if (std::sqrt(probes[i].squared_length) <= rounding) continue;
    probes[i].space.emplace(m, z, steps);
  }
  return probes;
}

}  // namespace

template <typename T>
SpectralSum spectral_sum(const LinearOperator<T>& a, const std::function<double(double)>& f, const arma::vec& values,
                         const arma::Mat<T>& known, const Key& key, const SpectralSumOptions& options) {
  const SerialBlas serial;
  require(options.probes >= 2 && options.max_steps >= 1 && options.tolerance > 0 && options.failure > 0 &&
              options.failure < 1,
          "spectral_sum", "probes >= 2, max_steps >= 1, tolerance > 0, 0 < failure < 1",
          {{"probes", options.probes}, {"max_steps", options.max_steps}, {"tolerance", options.tolerance}});
  require(values.n_elem == known.n_cols && (known.is_empty() || known.n_rows == a.cols), "spectral_sum",
          "a vector of cols(A) numbers for each value",
          {{"values", values.n_elem}, {"known.cols", known.n_cols}, {"known.rows", known.n_rows}, {"cols", a.cols}});
  SpectralSum sum;
  for (const double value : values) sum.value += f(value);
  sum.lower = sum.upper = sum.value;
  if (a.rows == 0 || a.cols == 0 || known.n_cols >= a.cols) return sum;

  const auto limit = std::min<arma::uword>(static_cast<arma::uword>(options.max_steps), a.cols);
  std::vector<Probe<T>> probes = draw<T>(a.rows, a.cols, known, key, options.probes, limit);
  const double sure = sum.value;
  while (true) {
    std::vector<Probe<T>*> open;
    for (Probe<T>& probe : probes) {
      if (probe.space && !probe.closed && !probe.space->full()) open.push_back(&probe);
    }
    if (!open.empty()) {
      arma::Mat<T> x(a.cols, open.size());
      for (std::size_t i = 0; i < open.size(); ++i) x.col(i) = open[i]->space->right();
      x = a.apply(x);
      for (std::size_t i = 0; i < open.size(); ++i) open[i]->space->set_left(x.col(i));
      x.set_size(a.rows, open.size());
      for (std::size_t i = 0; i < open.size(); ++i) x.col(i) = open[i]->space->left();
      x = a.apply_transposed(x);
      for (std::size_t i = 0; i < open.size(); ++i) {
        open[i]->space->set_right(x.col(i));
        open[i]->closed = open[i]->space->invariant() || open[i]->space->steps() == a.cols;
      }
      ++sum.steps;
      if (sum.steps % kStepsBetweenEstimates != 0) continue;
    }
    Accumulator below, above;
    for (Probe<T>& probe : probes) {
      if (probe.space) probe.bracket(f);
      below.add(probe.lower);
      above.add(probe.upper);
    }
    sum.bracket = above.mean() - below.mean();
    sum.value = sure + (above.mean() + below.mean()) / 2;
    sum.lower = sure + std::max(0.0, student_interval(below, options.failure / 2, Side::lower).lo);
    sum.upper = sure + student_interval(above, options.failure / 2, Side::upper).hi;
    if (open.empty() || sum.bracket <= options.tolerance * sum.value) break;
  }
  return sum;
}

template SpectralSum spectral_sum(const LinearOperator<float>&, const std::function<double(double)>&, const arma::vec&,
                                  const arma::Mat<float>&, const Key&, const SpectralSumOptions&);
template SpectralSum spectral_sum(const LinearOperator<double>&, const std::function<double(double)>&, const arma::vec&,
                                  const arma::Mat<double>&, const Key&, const SpectralSumOptions&);

}  // namespace croquis
