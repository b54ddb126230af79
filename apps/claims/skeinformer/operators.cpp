#include "claims/skeinformer/operators.hpp"

#include <algorithm>
#include <utility>

using croquis::describe_sketch;
using croquis::SketchDescription;
using croquis::Stream;

Operator::Operator(std::string name, SketchDescription complete)
    : name_(std::move(name)),
      description_(std::move(complete)),
      law_(&croquis::find_sketch_law<double>(description_.law)) {}

double Operator::largest_entry() const {
  constexpr double largest_normal = 9.5;
  const auto n = static_cast<double>(description_.rows);
  const std::string& law = description_.law;
  if (law == "gaussian") return largest_normal * largest_normal;
  if (law == "uniform") return n;
  if (law == "importance") {
    double sum = 0;
    for (const double w : description_.weights) sum += w;
    return sum / *std::min_element(description_.weights.begin(), description_.weights.end());
  }
  if (law == "srct") return 2;
  if (law == "very-sparse") return description_.parameters.at("q");
  if (law == "accumulative") return description_.parameters.at("m") * n;
  return 1;  // signs: S_ij^2 = 1/d, or at most s entries +-1/sqrt(s) a row
}

std::vector<Operator> operators(arma::uword n, arma::uword d) {
  const Stream any(0);  // a description has a stream; draw() takes another
  std::vector<Operator> all;
  for (const auto& law : croquis::sketch_laws<double>()) {
    std::vector<double> weights;
    for (arma::uword i = 0; law.weighted && i < n; ++i) weights.push_back(static_cast<double>(1 + i % 3));
    std::map<std::string, double> parameters;
    if (law.name == "sparse-stack" && d < 8) parameters = {{"zeta", 2}};
    all.emplace_back(law.name, describe_sketch(law.name, n, d, any, parameters, weights));
    if (law.name == "uniform") {
      all.emplace_back("uniform without replacement", describe_sketch(law.name, n, d, any, {{"replacement", 0}}));
    }
  }
  return all;
}
