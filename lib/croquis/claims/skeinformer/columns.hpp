// The columns of B, and how well pilot rows see them.
#pragma once

#include <cmath>
#include <croquis/attention/problem.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/random/key.hpp>
#include <croquis/stats/chernoff.hpp>
#include <croquis/stats/intervals.hpp>

namespace croquis::claims {

/// The quality beta of Eq. 3 that Lemma 1 is about.
inline const double kPilotQuality = std::sqrt(1.0 / 3);

/// How many times too large a constant is in d_0 >= constant * rho log(2n / delta): 6.52 is proved (T13b), and the
/// circle needs 1 / h(1/3) = 3.3283 as n grows, h(y) = 1 - y + y log y.
inline Interval tightness_of_rows(double constant) {
  return {constant / kHalfOfMean, constant / 3.3283};
}

/// b_ji^2 for all rows j of B and columns i, with ||V_i||.
struct Columns {
  arma::mat squares;                       ///< b_ji^2 at (i, j)
  arma::vec values;                        ///< ||V_i||
  arma::vec sums = arma::sum(squares, 1);  ///< ||B^(i)||^2

  static Columns of(const Problem<double>& problem) {
    return {arma::square(softmax_transposed(problem.Q(), problem.K())),
            arma::sqrt(arma::sum(arma::square(problem.V()), 1))};
  }
  /// n/c tokens attend to each other evenly in each of c clusters: rho = c. The sharpest case of Lemma 1.
  static Columns of_clusters(arma::uword n, arma::uword clusters) {
    const arma::uword m = n / clusters;
    arma::mat squares(n, n, arma::fill::zeros);
    for (arma::uword c = 0; c < clusters; ++c) {
      squares.submat(c * m, c * m, (c + 1) * m - 1, (c + 1) * m - 1).fill(1 / static_cast<double>(m * m));
    }
    return {squares, arma::vec(n, arma::fill::ones)};
  }

  arma::uword n() const { return squares.n_rows; }
  /// beta of Eq. 3 for probabilities p_i proportional to w_i, against ||B^(i)|| ||V_i||.
  double quality(const arma::vec& w) const {
    const arma::vec best = arma::sqrt(sums) % values;
    const arma::uvec needed = arma::find(best > 0);
    if (needed.is_empty()) return 1;  // V = 0
    return arma::min(w(needed) / best(needed)) * arma::accu(best) / arma::accu(w);
  }
  /// The quality of probabilities from d_0 pilot rows, drawn with replacement (Eq. 5). Cost: n min(n, d_0).
  double drawn_quality(arma::uword d_0, const Key& draw_key) const {
    arma::vec counts(n(), arma::fill::zeros);
    for (const arma::uword j : sample_with_replacement(n(), d_0, draw_key)) counts(j) += 1;
    const arma::uvec drawn = arma::find(counts > 0);
    return quality(arma::sqrt(arma::vec(squares.cols(drawn) * counts(drawn))) % values);
  }
  /// rho = max_i max_j n b_ji^2 / ||B^(i)||^2, from 1 to n: what decides how many rows are needed.
  double concentration() const { return static_cast<double>(n()) * arma::max(arma::max(squares, 1) / sums); }
};

}  // namespace croquis::claims
