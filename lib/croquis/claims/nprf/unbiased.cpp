// Means of features, map by map and projection by projection.
#include <fmt/format.h>

#include <bit>
#include <boost/math/special_functions/hypergeometric_0F1.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/random/draws.hpp>
#include <functional>

namespace croquis::claims {
namespace {

constexpr arma::uword kWidth = 4;

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

  // Along z = x + y.
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

// The directions are those of x + y, or of x - y for the maps whose estimate depends on it (trf).
Pairs pairs_of(const Check& check, bool differences = false) {
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
  if (own && differences) pairs.add("q - k", problem.Q().row(0) - problem.K().row(0), draw_key);
  if (own && !differences) pairs.add("q + k", problem.Q().row(0) + problem.K().row(0), draw_key);
  if (differences) pairs.y = -pairs.y;
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

// Blocks of p orthogonal rows by QR, with chi_p norms: the mistakes.
arma::mat mistaken_directions(const Check& check, arma::uword m, arma::uword p, const Key& draw_key) {
  arma::mat w(0, p);
  for (std::uint64_t b = 0; w.n_rows < m; ++b) {
    arma::mat gaussian(p, p), norms(p, p), q, r;
    fill_normal(draw_key.child("block").child(b), 0, p * p, gaussian.memptr());
    fill_normal(draw_key.child("norm").child(b), 0, p * p, norms.memptr());
    arma::qr(q, r, gaussian);
    if (!check.makes("qr-unsigned") && !check.makes("qr")) q *= arma::diagmat(arma::sign(r.diag()));
    arma::vec lengths = arma::sqrt(arma::sum(arma::square(norms), 1));
    if (check.makes("unit-rows")) lengths.ones();
    w = arma::join_cols(w, arma::mat(arma::diagmat(lengths) * q.t()));
  }
  return w.head_rows(m);
}

// Rows w_0, w_{p-1} and w_p along z, ||z|| = 1, against N(0, 1): every draw, by the Dvoretzky-Kiefer-Wolfowitz
// inequality. The mean of the estimate is a mean over the marginal distributions of the rows.
Finding rows_finding(const Check& check, const std::string& name, const Pairs& pairs, double alpha,
                     const std::function<arma::mat(const Key&)>& directions) {
  const std::uint64_t trials = check.trials(check.count("draws"));
  const arma::uword p = pairs.x.n_cols;
  const arma::mat z = (pairs.x + pairs.y).t();
  const arma::uvec rows = {0, p - 1, p};
  arma::cube values(rows.n_elem, z.n_cols, trials);
  const Key draw_key = check.draw_key.child(name);
  parallel_for(trials, [&](std::size_t t) {
    if (check.interrupted()) throw Interrupted();
    values.slice(t) = directions(draw_key.child(t)).rows(rows) * z;
  });
  double worst = 0, bias = 0;
  for (arma::uword r = 0; r < rows.n_elem; ++r) {
    for (arma::uword c = 0; c < z.n_cols; ++c) {
      const arma::vec one = arma::vectorise(values.tube(r, c));
      const double mean = arma::mean(arma::exp(one)) * std::exp(-0.5) - 1;
      if (std::abs(mean) > std::abs(bias)) bias = mean;
      std::vector<double> uniform(one.begin(), one.end());
      for (double& x : uniform) x = std::erfc(-x / std::sqrt(2.0)) / 2;
      raise(worst, distance_to_uniform(std::move(uniform)));
    }
  }
  const double share = alpha / static_cast<double>(rows.n_elem * z.n_cols);
  Finding finding = decide_distance(check.of_own(name), worst, trials, share);
  finding.p = p;
  finding.confidence = 1 - alpha;
  add_measured(finding, fmt::format("largest sampled bias of e^(w.z), which decides nothing = {:.3g}", bias));
  return finding;
}

// A map of the library, feature by feature, against the estimate of one direction that the proof is about.
Finding map_finding(const Check& check, FeatureMap map, const Pairs& pairs) {
  const arma::uword p = pairs.x.n_cols, m = 2 * p;
  const Key draw_key = check.draw_key.child("map").child(std::string(name_of(map)));
  const arma::mat w = Projection<double>(ProjectionDistribution::iid, m, p, draw_key).dense();
  const FeaturePair<double> features(pairs.x, pairs.y, m * functions_of(map), {map, ProjectionDistribution::iid, 0},
                                     draw_key);
  const auto phi = features.matrices();
  const double a = features.exponent(), c = 1 - 4 * a;
  arma::mat x = pairs.x, y = pairs.y;
  if (map == FeatureMap::saderf) {
    const arma::rowvec scale = balancing_scale(x, y);
    x.each_row() %= scale;
    y.each_row() /= scale;
  }
  double worst = 0;
  for (arma::uword k = 0; k < x.n_rows; ++k) {
    const double height = arma::dot(x.row(k), x.row(k)), other = arma::dot(y.row(k), y.row(k));
    const double halves = (height + (check.makes("key-height-dropped") ? 0 : other)) / 2;
    for (arma::uword r = 0; r < m; ++r) {
      const double sum = arma::dot(w.row(r), x.row(k) + y.row(k)), gap = arma::dot(w.row(r), x.row(k) - y.row(k));
      double expected = 0;
      if (map == FeatureMap::trf) {
        expected = std::exp(halves) * std::cos(gap);
      } else if (map == FeatureMap::hyperbolic) {
        expected = std::exp(-halves) * std::cosh(sum);
      } else {  // prf is oprf with a = 0
        expected =
            std::pow(c, double(p) / 2) * std::exp(2 * a * arma::dot(w.row(r), w.row(r)) + std::sqrt(c) * sum - halves);
      }
      double found = 0;
      for (arma::uword f = 0; f < functions_of(map); ++f) {
        found += phi.queries(k, f * m + r) * phi.keys(k, f * m + r);
      }
      found *= std::exp(phi.log_scale(k)) * static_cast<double>(m);
      raise(worst, std::abs(found - expected) / (std::abs(expected) + 1));
    }
  }
  // Exponents below 40 are rounded some p + 8 times.
  Finding finding = decide_identity(check.of_own(fmt::format("{}, feature by feature", name_of(map))), worst,
                                    400 * (double(p) + 8) * kUnit, 1);
  finding.p = p;
  finding.d = m * functions_of(map);
  return finding;
}

}  // namespace

Report check_gaussian_rows(const Check& check) {
  const Pairs pairs = pairs_of(check);
  Report report;
  report.number = 0;
  using Distribution = ProjectionDistribution;
  for (const Distribution distribution : {Distribution::iid, Distribution::haar, Distribution::halton}) {
    const bool wrong = distribution == Distribution::haar && (check.makes("qr-unsigned") || check.makes("unit-rows"));
    const arma::uword p = pairs.x.n_cols;
    report.findings.push_back(
        rows_finding(check, fmt::format("{} rows", name_of(distribution)), pairs, check.alpha / 3, [&](const Key& key) {
          return wrong ? mistaken_directions(check, p + 1, p, key)
                       : Projection<double>(distribution, p + 1, p, key).dense();
        }));
    report.number = std::max(report.number, report.findings.back().observed);
  }
  for (const FeatureMap map :
       {FeatureMap::trf, FeatureMap::prf, FeatureMap::hyperbolic, FeatureMap::oprf, FeatureMap::saderf}) {
    report.findings.push_back(map_finding(check, map, pairs));
  }
  report.sentence = "largest gap of a row's distribution to the normal one; the maps are what the proof is about";
  return report;
}

Report check_other_rows(const Check& check) {
  const double allowed = check.value("bias");
  std::vector<Cell> cells;
  for (const std::string& map : feature_map_names()) {
    for (const std::string& distribution : projection_names()) {
      const Cell cell{feature_map(map), projection_distribution(distribution)};
      if (!cell.normal()) cells.push_back(cell);
    }
  }
  const Pairs sums = pairs_of(check), differences = pairs_of(check, true);
  Report report;
  report.number = 0;
  for (const Cell& cell : cells) {
    const bool trf = cell.map == FeatureMap::trf;
    const Pairs& pairs = trf ? differences : sums;
    if (cell.distribution == ProjectionDistribution::sorf && pairs.x.n_cols != kWidth) continue;
    const arma::vec means =
        documented_means({pairs.x, pairs.y, functions_of(cell.map), {cell.map, cell.distribution, 0}, check.draw_key},
                         cell, pairs.x, pairs.y);
    arma::vec bias = means / arma::exp(arma::sum(pairs.x % pairs.y, 1)) - 1;
    if (check.makes("chi-norms")) bias.zeros();  // with them every row is normal
    const arma::uword worst = arma::abs(bias).index_max();
    Finding finding = decide_identity(check.of_own(cell.name()), largest_entry<double>(bias), allowed);
    finding.p = pairs.x.n_cols;
    finding.estimate = bias(worst);
    finding.threshold = check.stated("bias");
    finding.hypotheses = fmt::format("exact relative bias = {:.5g}; {} along {}", bias(worst), trf ? "x - y" : "x + y",
                                     pairs.names[worst]);
    report.number = std::max(report.number, finding.observed);
    report.findings.push_back(std::move(finding));
  }
  report.sentence =
      fmt::format("largest exact relative bias of {} maps and projections whose rows are not normal, p = {}",
                  report.findings.size(), sums.x.n_cols);
  return report;
}

// Orthogonal blocks as several published implementations draw them: Householder QR without the sign of R's diagonal.
Report check_unsigned_rows(const Check& check) {
  const Pairs pairs = pairs_of(check);
  const arma::uword p = pairs.x.n_cols;
  Check with_qr = check;
  if (check.mutant.empty()) with_qr.mutant = "qr";
  Report report;
  report.findings = {rows_finding(check, "QR without the signs of R", pairs, check.alpha,
                                  [&](const Key& key) { return mistaken_directions(with_qr, p + 1, p, key); })};
  report.number = report.findings.front().observed;
  report.sentence = fmt::format(
      "largest gap of a row's distribution to the normal one, rows by QR without the signs of R, p = {}", p);
  return report;
}

}  // namespace croquis::claims
