// The work of attention with a bias by Fourier transform.
#include <fftw3.h>
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/relative_features.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/linalg/fftw_plans.hpp>
#include <croquis/stats/regression.hpp>
#include <croquis/toeplitz/real_fft.hpp>

namespace croquis::claims {
namespace {

constexpr double kWidth = 16, kFeatures = 16;  // p = p_v, d

// Additions and multiplications of a real transform of this length and its inverse, counted by FFTW in the plans that
// the library makes (FFTW_ESTIMATE).
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

// What relative_feature_attention does on the path fft: features twice (their shifts first), and for every feature and
// every column of (V, 1) a product with the feature, two transforms of the library's length, L/2 + 1 complex products
// and n products and additions. On the path direct: n^2 (d + p_v + 1) multiply-adds in the place of the transforms.
double counted_work(double n, bool direct) {
  const double features = 8 * n * kFeatures * kWidth + 2 * n * kFeatures, columns = kWidth + 1;
  if (direct) return features + 2 * n * n * (kFeatures + columns);
  const arma::uword length = fft_friendly_length(2 * static_cast<arma::uword>(n) - 1);
  const double complex_products = 6 * (static_cast<double>(length) / 2 + 1);
  return features + kFeatures * columns * (transforms_flops(length) + complex_products + 3 * n);
}

}  // namespace

Report check_fft_cost(const Check& check) {
  constexpr double allowed = 0.15;
  std::vector<double> sizes, work, excess;
  Report report;
  // 2^7 ... 2^17 in steps of 2^(1/4): few are powers of two.
  for (int steps = 28; steps <= 68; ++steps) {
    const double n = std::round(std::exp2(steps / 4.0));
    sizes.push_back(n);
    work.push_back(counted_work(n, check.makes("direct")));
    excess.push_back(work.back() / (n * std::log2(n)));
    Finding measured;
    measured.input = fmt::format("n={:.0f}", n);
    measured.verdict = Verdict::not_applicable;  // a point of the rate
    measured.n = static_cast<arma::uword>(n);
    measured.d = static_cast<arma::uword>(kFeatures);
    measured.estimate = work.back();
    const double declared = relative_flops(RelativePath::fft, {*measured.n, *measured.n}, kWidth, kWidth, kFeatures,
                                           FeatureMap::prf, false);
    measured.hypotheses =
        fmt::format("work / (n log2 n) = {:.6g}; declared / counted = {:.4g}; direct / fft = {:.4g}", excess.back(),
                    declared / work.back(), counted_work(n, true) / counted_work(n, false));
    report.findings.push_back(std::move(measured));
  }
  const LineFit fit = fit_power_law(sizes, excess);
  Finding finding;
  finding.input = "slope of work / (n log2 n)";
  finding.d = static_cast<arma::uword>(kFeatures);
  finding.p = static_cast<arma::uword>(kWidth);
  finding.estimate = fit.slope;
  finding.interval = fit.slope_interval(check.alpha);
  finding.confidence = 1 - check.alpha;
  finding.bound = allowed;
  finding.observed = std::max(std::abs(finding.interval.lo), std::abs(finding.interval.hi));
  finding.verdict = finding.observed <= allowed                                       ? Verdict::verified
                    : finding.interval.lo > allowed || finding.interval.hi < -allowed ? Verdict::refuted
                                                                                      : Verdict::inconclusive;
  finding.hypotheses =
      fmt::format("n = 128 ... 131072; slope of the work itself = {:.4g}", fit_power_law(sizes, work).slope);
  report.findings.push_back(finding);
  report.number = fit.slope;
  report.sentence = "log-log slope of counted work / (n log n), n = 2^7 ... 2^17; -0.15 ... 0.15 was allowed";
  return report;
}

}  // namespace croquis::claims
