// Products on which Proposition 1 is least generous, by the multinomial law of the draws.
#include <algorithm>
#include <cmath>
#include <croquis/claims/papers.hpp>

namespace croquis::claims {
namespace {

// Flat B: the terms B^(i) V_i / p_i of exact probabilities are S times unit vectors u_i, drawn with probability ~ the
// norm of V_i. Of the three rows the first two columns are the direction of u, the square of the third its weight. The
// largest d || mean of d draws - mean ||^2 that is exceeded or met with more than delta, d up to "most draws", over
// eta^2 of T12 at beta = 1.
double product_share(const arma::mat& atoms, const Check& check) {
  const double delta = check.value("delta");
  arma::mat units = atoms.head_cols(2);
  for (arma::uword i = 0; i < units.n_rows; ++i) units.row(i) /= std::max(1e-12, arma::norm(units.row(i)));
  arma::vec weights = arma::square(atoms.col(2));
  if (!(arma::accu(weights) > 0)) return 0;
  weights /= arma::accu(weights);
  const arma::rowvec mean = weights.t() * units;
  double worst = 0;
  for (arma::uword d = 1; d <= check.count("most draws"); ++d) {
    struct DrawnError {
      double error, probability;
    };
    std::vector<DrawnError> outcomes;
    const auto draws = static_cast<double>(d);
    for (arma::uword a = 0; a <= d; ++a) {
      for (arma::uword b = 0; a + b <= d; ++b) {
        const arma::vec counts = {double(a), double(b), double(d - a - b)};
        double log_probability = std::lgamma(draws + 1);
        bool possible = true;
        for (arma::uword i = 0; i < 3; ++i) {
          if (counts(i) > 0 && !(weights(i) > 0)) possible = false;
          if (counts(i) > 0) log_probability += counts(i) * std::log(weights(i)) - std::lgamma(counts(i) + 1);
        }
        if (!possible) continue;
        const arma::rowvec gap = counts.t() * units / draws - mean;
        outcomes.push_back({draws * arma::dot(gap, gap), std::exp(log_probability)});
      }
    }
    std::sort(outcomes.begin(), outcomes.end(),
              [](const DrawnError& x, const DrawnError& y) { return x.error > y.error; });
    double above = 0;
    for (const DrawnError& outcome : outcomes) {
      above += outcome.probability;
      if (above > delta) {  // this error is met with more than delta: the bound must not be below
        worst = std::max(worst, outcome.error);
        break;
      }
    }
  }
  return worst / std::pow(1 + std::sqrt(2 * std::log(1 / delta)), 2);
}

}  // namespace

std::vector<SearchedBound> skeinformer_bounds() {
  return {{.name = "ske.prop1",
           .claim = "ske.prop1/corrected",
           .space = {3, 3, 1},
           .starts = {{{0.7, 0, 0.7}, {-0.7, 0, 0.7}, {0, 1, 0}}},
           .share = product_share}};
}

}  // namespace croquis::claims
