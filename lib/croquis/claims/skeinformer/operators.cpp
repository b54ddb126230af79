#include <croquis/claims/skeinformer/operators.hpp>
#include <croquis/core/require.hpp>
#include <utility>

namespace croquis::claims {

Operator::Operator(std::string name, SketchDescription complete)
    : name_(std::move(name)),
      description_(std::move(complete)),
      distribution_(&find_sketch_distribution<double>(description_.distribution)) {}

std::vector<Operator> operators(arma::uword n, arma::uword d) {
  require(d >= 4 && d % 4 == 0 && d <= n, "operators", "d a multiple of 4 from 4 to n", {{"n", n}, {"d", d}});
  const Key any(0);  // a description has a random key; draw() takes another
  std::vector<Operator> all;
  for (const auto& distribution : sketch_distributions<double>()) {
    std::vector<double> weights;
    for (arma::uword i = 0; distribution.weighted && i < n; ++i) weights.push_back(static_cast<double>(1 + i % 3));
    std::map<std::string, double> parameters;
    if (distribution.name == "sparse-stack" && d < 8) parameters = {{"zeta", 2}};
    all.emplace_back(distribution.name, describe_sketch(distribution.name, n, d, any, parameters, weights));
    if (distribution.name == "uniform") {
      all.emplace_back("uniform without replacement",
                       describe_sketch(distribution.name, n, d, any, {{"replacement", 0}}));
    }
  }
  return all;
}

}  // namespace croquis::claims
