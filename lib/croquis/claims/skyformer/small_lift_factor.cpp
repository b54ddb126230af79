#include <croquis/claims/skyformer/small_lift_factor.hpp>
#include <croquis/claims/subjects.hpp>

namespace croquis::claims {

LiftFactor small_lift_factor(const Problem<double>& problem, const Check& check) {
  const arma::uword most = check.count("directions"), fewest = check.count("least tokens");
  const double cut = check.value("least weight");
  for (arma::uword n = check.count("tokens");; n /= 2) {
    LiftFactor factor(first_tokens(problem, n), check.draw_key.child("factor"));
    if (n <= fewest || factor.leverage_factor(ridge_of(factor, check), cut).n_rows <= most) return factor;
  }
}

}  // namespace croquis::claims
