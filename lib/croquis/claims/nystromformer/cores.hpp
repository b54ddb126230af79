// The matrix that Nystromformer inverts, and inputs where it has all points.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/claims/claim.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/nystrom/segment_means.hpp>
#include <string>
#include <utility>

namespace croquis::claims {

/// The softmax core of d segment means of queries and keys, d x d.
inline arma::mat core_of(const Problem<double>& problem, arma::uword d) {
  return softmax_transposed(segment_means(problem.Q(), d), segment_means(problem.K(), d)).t();
}

/// Where the landmarks are as many as the points, all points pass trivially: VACUOUS.
inline Finding all_points_finding(std::string input, const Problem<double>& problem) {
  Finding finding;
  finding.input = std::move(input);
  finding.verdict = Verdict::vacuous;
  finding.trivial = "all points, d >= n";
  finding.n = finding.d = problem.n();
  finding.p = problem.p();
  return finding;
}

/// max over x in [0, 1] of sqrt(x) (1 - x_6) = 0.012532..., x_6 the mode x after six steps (T6).
double penrose_constant();

}  // namespace croquis::claims
