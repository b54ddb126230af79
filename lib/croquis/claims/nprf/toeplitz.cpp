// The product with a Toeplitz matrix by Fourier transform.
#include <fmt/format.h>

#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/biases.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/inputs/biases.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>

namespace croquis::claims {

double part_of_allowed(double error, double allowed) {
  return error == 0 && allowed == 0 ? 0 : error / allowed;
}

namespace {

template <typename T>
RelativePosition<T> rounded(const RelativePosition<double>& position) {
  return {arma::conv_to<arma::Col<T>>::from(position.bias), position.causal, position.height};
}

// Offsets modulo n: a circulant matrix of length n, whose ends run into each other.
arma::mat wrapped(const arma::mat& weights) {
  const arma::uword n = weights.n_rows;
  arma::mat circulant = weights;
  for (arma::uword i = 0; i < n; ++i) {
    for (arma::uword j = 0; j < n; ++j) circulant(i, j) = weights(0, (j + n - i) % n);
  }
  return circulant;
}

// The largest |(T x)_i by fft - by definition| over what it may be: entry_error() ||x||_2 for the transforms, and
// (n + 4) u sum_j c_{j-i} |x_j| for the sum by definition and the rounding of c = exp(b - max b), whose relative error
// is (|b - max b| + 2) u and c |log c| <= 1/e. And the largest of what it may be, over the largest entry of T x.
struct ProductError {
  double ratio = 0, allowed = 0;
};

template <typename T>
ProductError worst_error(const Check& check, const RelativePosition<double>& given, const arma::mat& values) {
  const arma::uword n = values.n_rows;
  const RelativePosition<T> position = rounded<T>(given);
  const arma::Mat<T> x = arma::conv_to<arma::Mat<T>>::from(values);
  const arma::mat exact_x = arma::conv_to<arma::mat>::from(x);
  const ToeplitzOperator<T> toeplitz(position, n, ToeplitzPath::fft);
  const arma::mat t =
      dense_weights(rounded<double>(RelativePosition<double>{arma::conv_to<arma::vec>::from(position.bias),
                                                             position.causal, position.height}),
                    n);
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  ProductError worst;
  for (const bool transposed : {false, true}) {
    const arma::mat matrix = transposed ? arma::mat(t.t()) : t;
    const bool turned = check.makes("offset-turned") ? !transposed : transposed;
    arma::mat product = arma::conv_to<arma::mat>::from(turned ? toeplitz.apply_transposed(x) : toeplitz.apply(x));
    if (check.makes("length-n")) product = wrapped(matrix) * exact_x;
    const arma::mat exact = matrix * exact_x, sizes = matrix * arma::abs(exact_x), error = arma::abs(product - exact);
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      const double whole = toeplitz.entry_error() * arma::norm(exact_x.col(c)), largest = arma::abs(exact.col(c)).max();
      for (arma::uword i = 0; i < n; ++i) {
        const double allowed = whole + (static_cast<double>(n) + 4) * u * sizes(i, c);
        raise(worst.ratio, part_of_allowed(error(i, c), allowed));
        if (largest > 0) worst.allowed = std::max(worst.allowed, allowed / largest);
      }
    }
  }
  return worst;
}

// What a norm-wise error does to the entries: x = e_0 and a slope of 1, T x = e^-i.
Finding entrywise_finding(const Check& check, arma::uword n) {
  const double slope = 1;
  const RelativePosition<double> position = {
      arma::vec(-slope * arma::abs(arma::regspace(1 - static_cast<double>(n), static_cast<double>(n) - 1)))};
  arma::mat x(n, 1, arma::fill::zeros);
  x(0) = 1;
  const ToeplitzPath path = check.makes("direct") ? ToeplitzPath::direct : ToeplitzPath::fft;
  const arma::mat t = dense_weights(position, n), product = ToeplitzOperator<double>(position, n, path).apply(x);
  arma::uword lost = 0, negative = 0;
  double worst = 0;
  for (arma::uword i = 0; i < n; ++i) {
    const double error = std::abs(product(i) - t(i, 0)) / t(i, 0);
    raise(worst, error);
    if (!(error <= check.value("relative error"))) ++lost;
    if (product(i) < 0) ++negative;
  }
  Finding finding = decide_identity(fmt::format("alibi:1, x = e_0, n={}", n), worst, check.value("relative error"));
  finding.n = n;
  finding.estimate = static_cast<double>(lost) / static_cast<double>(n);
  finding.hypotheses = fmt::format("entries off by more than half = {} of {}; negative = {}", lost, n, negative);
  return finding;
}

// The values, times a power of two, so that the largest is between 1 and 2: T X is linear in X, and float has no values
// of 1e39.
arma::vec of_usual_size(arma::vec values) {
  const double largest = arma::abs(values).max();
  if (largest > 0) values.transform([exponent = std::ilogb(largest)](double x) { return std::ldexp(x, -exponent); });
  return values;
}

}  // namespace

double toeplitz_share(const arma::mat& x, const Check& check) {
  const RelativePosition<double> position{random_bias(x.n_elem, 3, Key(check.count("search seed")))};
  return worst_error<double>(check, position, x.t()).ratio;
}

Report check_toeplitz(const Check& check) {
  Report report;
  report.number = 0;
  std::vector<arma::uword> sizes = check.counts("tokens");
  if (check.own_input) sizes = {std::min(check.subjects.front().problem.n(), check.count("own tokens"))};
  for (const arma::uword n : sizes) {
    std::vector<NamedPosition> biases = all_biases(n, check.draw_key.child("bias").child(n));
    const Problem<double>& first = check.subjects.front().problem;
    if (check.own_input && !first.position().is_zero() && first.position().height == 1) {
      biases.push_back({"own bias", truncated(first.position(), first.n(), n)});
    }
    arma::mat x(n, 1, arma::fill::zeros);
    x(n / 2) = 1;
    for (const Subject& subject : check.subjects) {
      const Problem<double> part = first_tokens(subject.problem, n);
      if (part.n() == n) x = arma::join_rows(x, of_usual_size(part.V().col(0)));
    }
    for (const NamedPosition& bias : biases) {
      for (const bool single : {false, true}) {
        const auto [ratio, allowed] =
            single ? worst_error<float>(check, bias.position, x) : worst_error<double>(check, bias.position, x);
        Finding finding = decide_identity(
            check.of_own(fmt::format("{} n={} {}", bias.name, n, single ? "float" : "double")), ratio, 1);
        finding.n = n;
        finding.power = (1 + ratio) * allowed;
        add_measured(finding, fmt::format("columns of X = {}", x.n_cols));
        report.number = std::max(report.number, ratio);
        report.findings.push_back(std::move(finding));
      }
    }
  }
  report.sentence = "largest error of a product by transform over its norm-wise bound";
  // The search has one bias and one length; a row may be worse.
  if (check.mutant.empty()) add_worst(report, check, "rpe.toeplitz", 1, 1, report.number);
  return report;
}

Report check_toeplitz_entries(const Check& check) {
  Report report;
  for (const arma::uword n : check.counts("tokens")) report.findings.push_back(entrywise_finding(check, n));
  report.number = report.findings.back().estimate;
  report.sentence =
      "share of the entries e^-i that are off by more than half at the largest n: only the norm-wise bound holds";
  return report;
}

}  // namespace croquis::claims
