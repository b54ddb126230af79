// Work that is counted in a plain implementation of a method, and what the method declares.
#pragma once

#include <cmath>

#include "support/approximations.hpp"

/// Counts while it computes.
class Counter {
 public:
  double multiply_adds = 0, exponentials = 0, additions = 0;

  Dense product(const Dense& a, const Dense& b) {
    multiply_adds += static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(b.cols);
    return a * b;
  }
  Dense softmax(const Dense& logits) {
    exponentials += static_cast<double>(logits.rows) * static_cast<double>(logits.cols);
    return softmax_of(logits);
  }
  Dense exponential(Dense x) {
    for (long double& e : x.entries) e = std::exp(e);
    exponentials += static_cast<double>(x.entries.size());
    return x;
  }
  Dense attention_weights(const Dense& q, const Dense& k) {
    return softmax(1 / std::sqrt(static_cast<long double>(q.cols)) * product(q, transposed(k)));
  }
  double flops() const { return 2 * multiply_adds + exponentials + additions; }
};

inline constexpr arma::uword kCountedTokens = 768, kFeatures = 16, kWidth = 32;
inline const double kUnitOfWork = static_cast<double>(kCountedTokens) * kFeatures * kWidth;  // n d p

inline croquis::Problem<double> problem_for_counting() {
  return random_problem<double>(kCountedTokens, kWidth, kWidth, 2, croquis::Key(4));
}

/// The counted output is the method's, and the count is what it declares (`slack` is for lower terms that are counted
/// and not declared or the other way round).
inline void check_count(const Counter& work, const Dense& output, const croquis::PreparedMethod<double>& method,
                        arma::uword d, const croquis::Key& draw_key, double slack = 1e-12) {
  CHECK(distance(method.approximate(d, draw_key).output, output) <= 1e-9);
  CHECK(method.flops(static_cast<double>(d)) == doctest::Approx(work.flops()).epsilon(slack));
}

/// The same, and both are `leading` n d p in multiply-adds.
inline void check_work(const Counter& work, const Dense& output, const char* name,
                       std::map<std::string, std::string> options, const croquis::Key& draw_key, double leading,
                       double slack) {
  CAPTURE(name);
  const croquis::Problem<double> problem = problem_for_counting();
  const croquis::PreparedMethod<double> method = method_on(problem, name, std::move(options));
  check_count(work, output, method, kFeatures, draw_key, slack);
  CHECK(work.multiply_adds / kUnitOfWork == doctest::Approx(leading).epsilon(0.1));
  CHECK(method.flops(kFeatures) / (2 * kUnitOfWork) == doctest::Approx(leading).epsilon(0.1));
}
