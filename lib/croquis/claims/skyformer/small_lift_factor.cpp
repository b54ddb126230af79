#include <croquis/claims/skyformer/small_lift_factor.hpp>
#include <croquis/claims/subjects.hpp>

namespace croquis::claims {

LiftFactor small_lift_factor(const Problem<double>& problem, bool quick, const Key& draw_key) {
  constexpr arma::uword most = 64, fewest = 32;
  for (arma::uword n = quick ? 64 : 256;; n /= 2) {
    LiftFactor factor(first_tokens(problem, n), draw_key);
    if (n <= fewest || factor.leverage_factor(ridge_of(factor), kCounts).n_rows <= most) return factor;
  }
}

}  // namespace croquis::claims
