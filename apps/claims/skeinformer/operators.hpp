// The sketching operators as the claims meet them: every distribution of the library, and its variants.
#pragma once

#include <croquis/sketch/description.hpp>
#include <croquis/sketch/distributions.hpp>
#include <string>
#include <vector>

/// An n x d sketch whose distribution is fixed and whose random key is not.
class Operator {
 public:
  Operator(std::string name, croquis::SketchDescription complete);

  const std::string& name() const { return name_; }
  const croquis::SketchDescription& description() const { return description_; }
  croquis::AnySketch<double> draw(const croquis::Key& draw_key) const {
    return distribution_->make(description_, draw_key);
  }

  /// No |(S S^T)_ij| is above this, in any draw: d max |S_ij|^2. Normals are bounded too (random/draws.hpp).
  double largest_entry() const;

 private:
  std::string name_;
  croquis::SketchDescription description_;
  const croquis::SketchDistribution<double>* distribution_;
};

/// Every distribution of sketch_distributions() by its defaults; sampling without replacement too, and CountSketches
/// side by side of two columns at least. `importance` has weights 1, 2, 3, 1, 2, 3, ... . d is a multiple of 4 and d <=
/// n.
std::vector<Operator> operators(arma::uword n, arma::uword d);
