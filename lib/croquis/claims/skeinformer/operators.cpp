#include <algorithm>
#include <croquis/claims/skeinformer/operators.hpp>
#include <croquis/core/require.hpp>
#include <utility>

namespace croquis::claims {

Operator::Operator(std::string name, SketchDescription complete)
    : name_(std::move(name)),
      description_(std::move(complete)),
      distribution_(&find_sketch_distribution<double>(description_.distribution)) {}

double Operator::largest_entry() const {
  constexpr double largest_normal = 9.5;
  const auto n = static_cast<double>(description_.rows);
  const std::string& distribution = description_.distribution;
  if (distribution == "gaussian") return largest_normal * largest_normal;
  if (distribution == "uniform") return n;
  if (distribution == "importance") {
    double sum = 0;
    for (const double w : description_.weights) sum += w;
    return sum / *std::min_element(description_.weights.begin(), description_.weights.end());
  }
  if (distribution == "srct") return 2;
  if (distribution == "very-sparse") return description_.parameters.at("q");
  if (distribution == "accumulative") return description_.parameters.at("m") * n;
  return 1;  // signs: S_ij^2 = 1/d, or at most s entries +-1/sqrt(s) a row
}

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
