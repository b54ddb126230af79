// The work of attention with a bias by Fourier transform.
#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/linalg/fftw_plans.hpp>
#include <croquis/stats/intervals.hpp>
#include <croquis/toeplitz/paired_fft.hpp>

namespace croquis::claims {
namespace {

constexpr double kHeadWidth = 16, kFeatures = 16;  // p = p_v, d

// Additions and multiplications of a real transform of this length and its inverse, counted by FFTW in its plans.
double transforms_flops(arma::uword length) {
  const std::lock_guard<std::mutex> lock(fftw_planner());
  const auto n = static_cast<int>(length);
  double* real = fftw_alloc_real(length);
  fftw_complex* spectrum = fftw_alloc_complex(length / 2 + 1);
  double flops = 0;
  for (::fftw_plan plan : {fftw_plan_dft_r2c_1d(n, real, spectrum, FFTW_ESTIMATE),
                           fftw_plan_dft_c2r_1d(n, spectrum, real, FFTW_ESTIMATE)}) {
    double additions = 0, products = 0, fused = 0;
    fftw_flops(plan, &additions, &products, &fused);
    flops += additions + products + 2 * fused;
    fftw_destroy_plan(plan);
  }
  fftw_free(real);
  fftw_free(spectrum);
  return flops;
}

// What the paper's algorithm does: features twice (their shifts first), and for every feature and every column of
// (V, 1) a product with the feature, two transforms of a fast length L >= 2n - 1, L/2 + 1 complex products and n
// products and additions. (The library has up to 32 shorter transforms in place of a long one, PhaseLayout.) Directly:
// n^2 (d + p_v + 1) multiply-adds in the place of the transforms.
double counted_work(double n, bool direct) {
  const double features = 8 * n * kFeatures * kHeadWidth + 2 * n * kFeatures, columns = kHeadWidth + 1;
  if (direct) return features + 2 * n * n * (kFeatures + columns);
  const arma::uword length = fft_friendly_length(2 * static_cast<arma::uword>(n) - 1);
  const double complex_products = 6 * (static_cast<double>(length) / 2 + 1);
  return features + kFeatures * columns * (transforms_flops(length) + complex_products + 3 * n);
}

// Least squares of y on 1, x, x^2: coefficients and their standard errors.
struct Fit {
  arma::vec coefficients, errors;

  Fit(const arma::vec& x, const arma::vec& y) {
    const arma::mat design = arma::join_rows(arma::vec(x.n_elem, arma::fill::ones), x, arma::square(x));
    const arma::mat inverse = arma::inv_sympd(arma::mat(design.t() * design));
    coefficients = inverse * design.t() * y;
    const arma::vec rest = y - design * coefficients;
    errors = arma::sqrt(inverse.diag() * arma::dot(rest, rest) / (static_cast<double>(x.n_elem) - 3));
  }
};

}  // namespace

// The proof, number by number: the length L is at most 2(2n - 1), FFTW's two transforms take at most 5 L
// log2 L operations, so the work is at most a n + b n log2 n with the constants below.
Report check_fft_cost(const Check& check) {
  Report report;
  std::vector<double> logs, shares;
  double longest = 0, most = 0, worst = 0;
  // 2^7 ... 2^17 in steps of 2^(1/4): few are powers of two.
  const std::vector<double>& range = check.values("log2 n");
  for (double exponent = range.front(); exponent <= range.back(); exponent += check.value("step of log2 n")) {
    const double n = std::round(std::exp2(exponent)), log_n = std::log2(n);
    double work = counted_work(n, check.makes("direct"));
    if (check.makes("another-log")) work *= log_n / range.front();
    const auto length = static_cast<double>(fft_friendly_length(2 * static_cast<arma::uword>(n) - 1));
    const double transforms = transforms_flops(static_cast<arma::uword>(length));
    longest = std::max(longest, length / (2 * n - 1));
    most = std::max(most, transforms / (length * std::log2(length)));
    // L <= 4n: features 8 n d p + 2 n d; d (p + 1) times 5 (4n) log2(4n) + 6 (2n + 1) + 3n.
    const double allowed = 8 * n * kFeatures * kHeadWidth + 2 * n * kFeatures +
                           kFeatures * (kHeadWidth + 1) * (20 * n * (log_n + 2) + 12 * n + 6 + 3 * n);
    worst = std::max(worst, work / allowed);
  }
  // The rate on powers of two, whose transforms are all of one kind: the residuals of the fit are small.
  const std::vector<double>& powers = check.values("log2 n of the fit");
  for (double k = powers.front(); k <= powers.back(); ++k) {
    const double n = std::exp2(k);
    logs.push_back(k);
    shares.push_back(counted_work(n, check.makes("direct")) / n *
                     (check.makes("another-log") ? k / powers.front() : 1));
  }
  const auto add = [&](const std::string& input, double observed, double bound) {
    Finding finding = decide_identity(input, observed, bound);
    finding.d = static_cast<arma::uword>(kFeatures);
    finding.p = static_cast<arma::uword>(kHeadWidth);
    report.findings.push_back(std::move(finding));
  };
  add("length of the transform / (2n - 1)", longest, 2);
  add("operations of a pair of transforms / (L log2 L)", most, 5);
  add("work / its bound a n + b n log2 n", worst, 1);
  report.tightness = {1, 1 / worst};
  // n log^2 n in the place of n log n: c beyond its interval. The residuals are those of lengths, not of a draw.
  const Fit fit{arma::vec(logs), arma::vec(shares)};
  const double quantile = student_quantile(static_cast<double>(logs.size()) - 3, check.value("level"));
  const double b = fit.coefficients(1), c = fit.coefficients(2), half = quantile * fit.errors(2);
  Finding rate;
  rate.input = "work / n = a + b log2 n + c log2^2 n: c = 0";
  rate.estimate = c;
  rate.interval = {c - half, c + half};
  rate.observed = c;
  rate.bound = half;
  // n log^2 n would have the c of the same work at n = 2^12.
  const double twelve = fit.coefficients(0) + 12 * b + 144 * c;
  rate.power = 2 * half / (twelve / 144);
  rate.verdict = c > half ? Verdict::refuted : Verdict::verified;
  rate.hypotheses =
      fmt::format("b = {:.4g} +- {:.3g}; c = {:.4g} +- {:.3g} (standard errors); of n log^2 n alone c = {:.4g}", b,
                  fit.errors(1), c, fit.errors(2), twelve / 144);
  report.findings.push_back(rate);
  report.number = c;
  report.sentence = "c of work / n = a + b log2 n + c log2^2 n, n = 2^7, 2^8, ... 2^20";
  return report;
}

}  // namespace croquis::claims
