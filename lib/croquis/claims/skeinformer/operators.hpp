// The sketching operators on which claims about all sketches are checked: every distribution of the library.
#pragma once

#include <croquis/sketch/description.hpp>
#include <croquis/sketch/distributions.hpp>
#include <string>
#include <vector>

namespace croquis::claims {

/// An n x d sketch whose distribution is fixed and whose random key is not.
class Operator {
 public:
  /// `complete` as describe_sketch() returns it. Throws std::invalid_argument for an unknown distribution.
  Operator(std::string name, SketchDescription complete);

  const std::string& name() const { return name_; }
  const SketchDescription& description() const { return description_; }
  /// The sketch of this key. Cost: that of making it (sketch/).
  AnySketch<double> draw(const Key& draw_key) const { return distribution_->make(description_, draw_key); }

 private:
  std::string name_;
  SketchDescription description_;
  const SketchDistribution<double>* distribution_;
};

/// Every distribution of sketch_distributions() with default parameters, except zeta = 2 for `sparse-stack` with d = 4;
/// sampling without replacement too. `importance` has weights 1, 2, 3, 1, 2, 3, ... .
/// Throws std::invalid_argument unless d is a multiple of 4 from 4 to n. Cost: n.
std::vector<Operator> operators(arma::uword n, arma::uword d);

}  // namespace croquis::claims
