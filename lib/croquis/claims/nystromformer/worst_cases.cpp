// Cores on which six steps of the iteration are least good.
#include <cmath>
#include <croquis/claims/nystromformer/cores.hpp>
#include <croquis/claims/papers.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/norms.hpp>

namespace croquis::claims {
namespace {

double gap_of(const arma::mat& a) {
  const arma::mat z = iterative_inverse(a, {.iterations = 6}).inverse;
  return spectral_norm<double>(arma::mat(a * z * a - a));
}

// ||A Z_6 A - A|| over 0.012532 sqrt(||A||_1 ||A||_inf).
double penrose_share(const arma::mat& a, const Check&) {
  const double size = arma::norm(a, 1) * arma::norm(a, "inf");
  return size > 1e-12 ? gap_of(a) / (penrose_constant() * std::sqrt(size)) : 0;
}

// A = softmax of the rows: ||A Z_6 A - A|| over 0.012532 m^{1/4} ||A||.
double stochastic_share(const arma::mat& logits, const Check&) {
  arma::mat a = arma::exp(logits);
  a.each_col() /= arma::sum(a, 1);
  return gap_of(a) / (penrose_constant() * std::pow(static_cast<double>(a.n_rows), 0.25) * spectral_norm<double>(a));
}

}  // namespace

std::vector<SearchedBound> nystromformer_bounds() {
  return {{.name = "nys.penrose-1",
           .claim = "nys.six-iterations/penrose-1",
           .space = {3, 3, 1},
           .starts = {{{1, 0, 0}, {0, std::sqrt(4.3e-4), 0}, {0, 0, 0}}},
           .share = penrose_share},
          {.name = "nys.penrose-1-stochastic",
           .claim = "nys.six-iterations/penrose-1",
           .space = {6, 6, 12},
           .starts = {},
           .share = stochastic_share}};
}

}  // namespace croquis::claims
