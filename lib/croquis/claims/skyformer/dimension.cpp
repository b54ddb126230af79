// "d_stat should be O~(1)": how the statistical dimension grows with n.
#include <fmt/format.h>

#include <croquis/claims/decisions.hpp>
#include <croquis/claims/skyformer/checks.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/stats/regression.hpp>

namespace croquis::claims {
namespace {

// d_stat <= c log(n)^k has slope k / log n: below this one for k = 1 from n = 64 on. d_stat ~ n has slope 1.
constexpr double kThreshold = 0.25;
constexpr std::uint64_t kRepeats = 6;

struct Case {
  std::string name;
  double eps;
  arma::uword p;
  std::vector<arma::uword> sizes;
  std::function<Problem<double>(arma::uword n, const Key& draw_key)> tokens;
};

// n different tokens of a problem.
Problem<double> some_tokens(const Problem<double>& problem, arma::uword n, const Key& draw_key) {
  const arma::uvec rows = sample_without_replacement(problem.n(), n, draw_key);
  return {problem.Q().rows(rows), problem.K().rows(rows), problem.V().rows(rows)};
}

std::vector<Case> cases_of(const Check& check) {
  const arma::uword most = check.quick ? 128 : 512;
  std::vector<arma::uword> sizes;
  for (arma::uword n = most / 8; n <= most; n *= 2) sizes.push_back(n);
  std::vector<Case> cases;
  for (const Subject& s : check.subjects) {
    if (!check.own_input && (s.name != "text:sample" || check.makes("wide-only"))) continue;
    std::vector<arma::uword> own;  // subsets of at most half of the tokens, so that repetitions differ
    const arma::uword half = std::min(most, s.problem.n() / 2);
    for (const arma::uword n : {half / 8, half / 4, half / 2, half}) own.push_back(n);
    if (half < 64) own.clear();
    cases.push_back({s.name, 0.1, s.problem.p(), own,
                     [problem = s.problem](arma::uword n, const Key& t) { return some_tokens(problem, n, t); }});
  }
  if (check.own_input) return cases;
  const std::vector<double> norms = check.makes("wide-only") ? std::vector{1.0} : std::vector{1.0, 4.0, 8.0};
  for (const arma::uword p : {2, 16, 64}) {
    for (const double norm : norms) {
      cases.push_back({fmt::format("gaussian:{} p = {}", norm, p), 0.1, p, sizes, [=](arma::uword n, const Key& t) {
                         return gaussian_input(t, {n, p, norm});
                       }});
    }
  }
  return cases;
}

double statistical_dimension(const Problem<double>& problem, double eps, const Check& check) {
  const arma::uword n = problem.n();
  const arma::mat lift = LiftedPoints<double>(problem.Q(), problem.K()).kernel().dense();
  const double norm = spectral_norm<double>(lift.submat(0, n, n - 1, 2 * n - 1));
  // The mistake: ||C|| replaced by its trivial bound n.
  const double lambda = eps * (check.makes("trivial-norm") ? static_cast<double>(n) : norm);
  const arma::vec eigenvalues = arma::clamp(arma::eig_sym(lift), 0.0, arma::datum::inf);
  return arma::accu(eigenvalues / (eigenvalues + lambda));
}

Finding grow(const Case& c, const Check& check, double alpha) {
  Finding finding;
  finding.input = fmt::format("{} eps = {}", c.name, c.eps);
  finding.p = c.p;
  if (c.sizes.empty()) {
    finding.verdict = Verdict::not_applicable;
    finding.hypotheses = "tokens >= 128 = no";
    return finding;
  }
  const std::uint64_t repeats = kRepeats, points = repeats * c.sizes.size();
  const Key draw_key = check.draw_key.child(finding.input);
  std::vector<double> x(points), y(points);
  const auto size_of = [&](std::size_t i) { return c.sizes[c.sizes.size() - 1 - i / repeats]; };  // largest first
  parallel_for(points, [&](std::size_t i) {
    if (check.interrupted()) throw Interrupted();
    x[i] = static_cast<double>(size_of(i));
    y[i] = statistical_dimension(c.tokens(size_of(i), draw_key.child(size_of(i)).child(i)), c.eps, check);
  });
  const LineFit fit = fit_power_law(x, y);
  finding.n = c.sizes.back();
  finding.trials = points;
  finding.estimate = finding.observed = fit.slope;
  finding.interval = fit.slope_interval(alpha);
  finding.confidence = 1 - alpha;
  finding.bound = kThreshold;
  if (finding.interval.hi <= kThreshold) finding.verdict = Verdict::verified;
  if (finding.interval.lo > kThreshold) finding.verdict = Verdict::refuted;
  finding.hypotheses = fmt::format("eps = {}; d_stat at n = {} is {:.4g}; at n = {} is {:.4g}", c.eps, c.sizes.front(),
                                   y.back(), c.sizes.back(), y.front());
  return finding;
}

}  // namespace

Report check_statistical_dimension(const Check& check) {
  const std::vector<Case> cases = cases_of(check);
  Report report;
  std::string flat, steep;
  for (const Case& c : cases) {
    const Finding finding = grow(c, check, check.alpha / static_cast<double>(cases.size()));
    if (!(finding.estimate <= report.number)) report.number = finding.estimate;
    report.findings.push_back(finding);
  }
  std::size_t fails = 0;
  for (const Finding& f : report.findings) fails += f.verdict == Verdict::refuted ? 1 : 0;
  report.sentence = fmt::format("d_stat grows faster than n^{} in {} of {} cases, with n^{:.2f} at most", kThreshold,
                                fails, cases.size(), report.number);
  return report;
}

}  // namespace croquis::claims
