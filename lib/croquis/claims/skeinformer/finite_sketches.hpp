// Small sketches with all their outcomes: E[S S^T] by enumeration, in rational arithmetic.
#pragma once

#include <croquis/claims/rational.hpp>
#include <croquis/sketch/description.hpp>
#include <map>
#include <string>
#include <vector>

namespace croquis::claims {

/// The distribution of an n x d sketch with finitely many outcomes, as its documentation states it. Column j of an
/// outcome is sqrt(scale_j) t_j with a rational scale_j and whole numbers t_j.
struct FiniteSketch {
  struct Outcome {
    Rational probability;
    std::vector<Rational> scales;           ///< d
    std::vector<std::vector<int>> columns;  ///< d of n numbers
  };
  std::string name;
  SketchDescription description;  ///< complete; draws of the library have this distribution
  std::vector<Outcome> outcomes;

  /// sum of probability S S^T: E[S S^T], exactly.
  RationalMatrix mean() const;
  /// The distinct matrices S, by key_of(S), with their probabilities.
  std::map<std::vector<int>, Rational> values() const;
};

/// The entries of S in units of 10^-6, rounded: tells different outcomes of one distribution apart.
std::vector<int> key_of(const arma::mat& s);

/// All distributions of the library whose entries are square roots of rationals, n = 4, d = 2: rademacher, uniform
/// (with and without replacement), importance (weights 1, 2, 3, 1), srht, countsketch, sjlt (s = 2), sparse-stack (zeta
/// = 2), very-sparse (q = 2), accumulative (m = 2). From 12 to 6561 outcomes.
std::vector<FiniteSketch> finite_sketches();

}  // namespace croquis::claims
