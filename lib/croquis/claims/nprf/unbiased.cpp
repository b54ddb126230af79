// Means of features, map by map and projection by projection.
#include <fmt/format.h>

#include <bit>
#include <boost/math/special_functions/hypergeometric_0F1.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/stats/intervals.hpp>

namespace croquis::claims {
namespace {

constexpr arma::uword kWidth = 4, kDirections = 256;

struct Cell {
  FeatureMap map;
  ProjectionDistribution distribution;

  bool normal() const {
    return map != FeatureMap::sphere &&
           (distribution == ProjectionDistribution::iid || distribution == ProjectionDistribution::haar ||
            distribution == ProjectionDistribution::halton);
  }
  std::string name() const { return fmt::format("{} x {}", name_of(map), name_of(distribution)); }
};

// Pairs with x.y = 0, z = x + y and x - y of length 1 and orthogonal: exp(x.y) = 1, and neither map is exact.
struct Pairs {
  arma::mat x, y;
  std::vector<std::string> names;

  void add(const std::string& name, const arma::rowvec& direction, const Key& draw_key) {
    if (arma::norm(direction) == 0) return;
    const arma::rowvec z = arma::normalise(direction);
    arma::rowvec g(z.n_elem);
    fill_normal(draw_key.child(name), 0, g.n_elem, g.memptr());
    g = arma::normalise(arma::rowvec(g - arma::dot(g, z) * z));
    x = arma::join_cols(x, arma::mat(0.5 * (z + g)));
    y = arma::join_cols(y, arma::mat(0.5 * (z - g)));
    names.push_back(name);
  }
};

Pairs pairs_of(const Check& check) {
  const Key draw_key = check.draw_key.child("pairs");
  Pairs pairs;
  const Problem<double>& problem = check.subjects.front().problem;
  const bool own = check.own_input && problem.p() >= 2;  // an orthogonal direction is needed
  const arma::uword p = own ? problem.p() : kWidth;
  const arma::rowvec ones(p, arma::fill::ones);
  arma::rowvec first(p, arma::fill::zeros), any(p);
  first(0) = 1;
  fill_normal(draw_key, 0, p, any.memptr());
  pairs.add("+1/sqrt(p)", ones, draw_key);
  pairs.add("-1/sqrt(p)", -ones, draw_key);
  pairs.add("e_0", first, draw_key);
  pairs.add("any", any, draw_key);
  if (own) pairs.add("q + k", problem.Q().row(0) + problem.K().row(0), draw_key);
  return pairs;
}

// All W of sorf with p = 4, 2^12 patterns of signs: every row w as a row.
const arma::mat& sorf_directions() {
  static const arma::mat all = [] {
    constexpr unsigned patterns = 1U << (3 * kWidth);
    arma::mat hadamard(kWidth, kWidth), rows(patterns * kWidth, kWidth);
    for (unsigned i = 0; i < kWidth; ++i) {
      for (unsigned j = 0; j < kWidth; ++j) hadamard(i, j) = std::popcount(i & j) % 2 == 0 ? 1 : -1;
    }
    for (unsigned pattern = 0; pattern < patterns; ++pattern) {
      arma::mat w = arma::eye(kWidth, kWidth);
      for (unsigned k = 0; k < 3; ++k) {
        for (unsigned c = 0; c < kWidth; ++c) w.row(c) *= (pattern >> (kWidth * k + c) & 1U) != 0 ? -1 : 1;
        w = hadamard * w;
      }
      rows.rows(pattern * kWidth, (pattern + 1) * kWidth - 1) = w / static_cast<double>(kWidth);
    }
    return rows;
  }();
  return all;
}

// The mean of a map whose w has length sqrt(p): uniform on the sphere, where E e^{w.z} = 0F1(p/2; p ||z||^2 / 4) and
// E cos(w.z) the same with the sign changed, or one of sorf's, over all of them.
arma::vec documented_means(const FeaturePair<double>& features, const Cell& cell, arma::mat x, arma::mat y) {
  const auto p = static_cast<double>(x.n_cols);
  const bool sphere = cell.distribution != ProjectionDistribution::sorf;
  if (cell.map == FeatureMap::saderf) {
    const arma::rowvec scale = balancing_scale(x, y);
    x.each_row() %= scale;
    y.each_row() /= scale;
  }
  const double a = features.exponent();  // 0 for the maps without
  arma::vec means(x.n_rows);
  for (arma::uword k = 0; k < x.n_rows; ++k) {
    const double halves = (arma::dot(x.row(k), x.row(k)) + arma::dot(y.row(k), y.row(k))) / 2;
    const arma::rowvec z = std::sqrt(1 - 4 * a) * (x.row(k) + y.row(k)), g = x.row(k) - y.row(k);
    if (cell.map == FeatureMap::trf) {
      means(k) = std::exp(halves) * (sphere ? boost::math::hypergeometric_0F1(p / 2, -p * arma::dot(g, g) / 4)
                                            : arma::mean(arma::cos(sorf_directions() * g.t())));
    } else {
      means(k) = std::exp(p / 2 * std::log1p(-4 * a) + 2 * a * p - halves) *
                 (sphere ? boost::math::hypergeometric_0F1(p / 2, p * arma::dot(z, z) / 4)
                         : arma::mean(arma::exp(sorf_directions() * z.t())));
    }
  }
  return means;
}

// prf by its formula, with directions that are drawn wrongly.
arma::vec mistaken_estimate(const Check& check, const Pairs& pairs, const Key& draw_key) {
  const arma::uword p = pairs.x.n_cols;
  arma::mat w(0, p);
  for (std::uint64_t b = 0; w.n_rows < kDirections; ++b) {
    arma::mat gaussian(p, p), norms(p, p), q, r;
    fill_normal(draw_key.child("block").child(b), 0, p * p, gaussian.memptr());
    fill_normal(draw_key.child("norm").child(b), 0, p * p, norms.memptr());
    arma::qr(q, r, gaussian);
    if (!check.makes("qr-unsigned")) q *= arma::diagmat(arma::sign(r.diag()));
    arma::vec lengths = arma::sqrt(arma::sum(arma::square(norms), 1));
    if (check.makes("unit-rows")) lengths.ones();
    w = arma::join_cols(w, arma::mat(arma::diagmat(lengths) * q.t()));
  }
  arma::vec values(pairs.x.n_rows);
  for (arma::uword k = 0; k < values.n_elem; ++k) {
    const arma::rowvec x = pairs.x.row(k), y = pairs.y.row(k);
    const double keys = check.makes("key-height-dropped") ? 0 : arma::dot(y, y) / 2;
    values(k) = arma::mean(arma::exp(w * (x + y).t())) * std::exp(-arma::dot(x, x) / 2 - keys);
  }
  return values;
}

// One estimate of every pair.
arma::vec estimate_of(const Check& check, const Cell& cell, const Pairs& pairs, const Key& draw_key) {
  if (!check.mutant.empty()) return mistaken_estimate(check, pairs, draw_key);
  const arma::uword d = kDirections * functions_of(cell.map);
  const auto phi = FeaturePair<double>(pairs.x, pairs.y, d, {cell.map, cell.distribution, 0}, draw_key).matrices();
  return arma::exp(phi.log_scale) % arma::sum(phi.queries % phi.keys, 1);
}

// Student's intervals of the means of m = 256 directions a draw. The least normal values are prf's, log-normal with
// sigma = 1 and skewness 6.2: over 10^6 directions the mean has 0.006, which changes the tail at z = 6.4 by a factor
// exp(0.006 z^3 / 6) = 1.3.
Finding finding_of(const Check& check, const Cell& cell, const Pairs& pairs, double alpha) {
  const std::uint64_t trials = check.trials(4000);
  const arma::uword count = pairs.x.n_rows;
  arma::mat estimates(count, trials);
  const Key draw_key = check.draw_key.child(cell.name());
  parallel_for(trials, [&](std::size_t t) {
    if (check.interrupted()) throw Interrupted();
    estimates.col(t) = estimate_of(check, cell, pairs, draw_key.child(t));
  });
  arma::vec expected(count, arma::fill::ones);
  const bool known = cell.distribution != ProjectionDistribution::sorf || pairs.x.n_cols == kWidth;
  if (!cell.normal() && known) {
    const arma::uword d = functions_of(cell.map);
    expected = documented_means({pairs.x, pairs.y, d, {cell.map, cell.distribution, 0}, check.draw_key}, cell, pairs.x,
                                pairs.y);
  }
  Finding finding;
  finding.input = cell.name();
  finding.p = pairs.x.n_cols;
  finding.d = kDirections * functions_of(cell.map);
  finding.trials = trials;
  finding.confidence = 1 - alpha;
  finding.bound = check.quick ? 0.05 : 0.01;
  finding.observed = -1;
  finding.verdict = Verdict::verified;
  double widest = 0;
  for (arma::uword k = 0; k < count; ++k) {
    Accumulator sample;
    for (const double value : estimates.row(k)) sample.add(value);
    const Interval interval = student_interval(sample, alpha / static_cast<double>(count));
    if (known && !interval.contains(expected(k))) finding.verdict = Verdict::refuted;
    widest = std::max(widest, interval.width() / 2);
    const double bias = sample.mean() - 1;
    if (std::abs(bias) <= finding.observed) continue;
    finding.observed = std::abs(bias);
    finding.estimate = bias;
    finding.interval = {interval.lo - 1, interval.hi - 1};
    finding.hypotheses =
        fmt::format("w ~ N(0, I) = {}; worst z along {}; documented bias = {:.4g}", cell.normal() ? "yes" : "no",
                    pairs.names[k], known ? expected(k) - 1 : Finding::kNone);
  }
  if (finding.verdict == Verdict::verified) {
    if (!cell.normal()) {
      finding.verdict = Verdict::not_applicable;
    } else if (widest > finding.bound) {
      finding.verdict = Verdict::inconclusive;
      finding.hypotheses += fmt::format("; trials that would decide = {:.0f}",
                                        1.1 * std::pow(widest / finding.bound, 2) * static_cast<double>(trials));
    }
  }
  return finding;
}

}  // namespace

Report check_feature_means(const Check& check) {
  std::vector<Cell> cells;
  for (const std::string& map : feature_map_names()) {
    for (const std::string& distribution : projection_names()) {
      cells.push_back({feature_map(map), projection_distribution(distribution)});
    }
  }
  const double alpha = check.alpha / static_cast<double>(cells.size());
  if (!check.mutant.empty()) cells = {{FeatureMap::prf, ProjectionDistribution::haar}};
  const Pairs pairs = pairs_of(check);
  Report report;
  report.number = 0;
  double biased = 0;
  int unbiased = 0;
  for (const Cell& cell : cells) {
    report.findings.push_back(finding_of(check, cell, pairs, alpha));
    const Finding& f = report.findings.back();
    (cell.normal() ? report.number : biased) = std::max(cell.normal() ? report.number : biased, f.observed);
    if (f.verdict == Verdict::verified) ++unbiased;
  }
  report.sentence =
      fmt::format("largest relative bias of the {} cells with w ~ N(0, I), p = {}; the others reach {:.1f} %", unbiased,
                  pairs.x.n_cols, 100 * biased);
  return report;
}

}  // namespace croquis::claims
