#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/kolmogorov.hpp>
#include <croquis/stats/tests.hpp>
#include <limits>
#include <numeric>

namespace croquis {
namespace {

namespace bm = boost::math;

std::vector<double> sorted(std::vector<double> sample) {
  require(!sample.empty(), "kolmogorov_smirnov_test", "a sample that is not empty");
  for (const double x : sample) require(!std::isnan(x), "kolmogorov_smirnov_test", "no NaN in a sample");
  std::sort(sample.begin(), sample.end());
  return sample;
}

// Checks what both tests of counts need; returns the number of draws.
std::uint64_t total_of(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                       std::string_view where) {
  require(counts.size() == probabilities.size(), where, "a probability for every count",
          {{"counts", counts.size()}, {"probabilities", probabilities.size()}});
  double sum = 0;
  for (const double p : probabilities) {
    require(p >= 0, where, "probabilities >= 0", {{"probability", p}});
    sum += p;
  }
  require(std::abs(sum - 1) <= 1e-9, where, "probabilities that sum to 1", {{"sum", sum}});
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  require(total >= 1, where, "at least one draw");
  return total;
}

struct Cell {
  double count = 0, expected = 0;
  void join(const Cell& other) {
    count += other.count;
    expected += other.expected;
  }
};

std::vector<Cell> pooled(const std::vector<Cell>& cells, double least_expected) {
  std::vector<Cell> large, small;
  bool open = false;  // the last of `small` has not reached least_expected
  for (const Cell& cell : cells) {
    if (cell.expected >= least_expected) {
      large.push_back(cell);
    } else if (open) {
      small.back().join(cell);
      open = small.back().expected < least_expected;
    } else {
      small.push_back(cell);
      open = true;
    }
  }
  if (open) {
    const Cell rest = small.back();
    small.pop_back();
    const auto fewer = [](const Cell& a, const Cell& b) { return a.expected < b.expected; };
    if (!small.empty()) {
      small.back().join(rest);
    } else if (!large.empty()) {
      std::min_element(large.begin(), large.end(), fewer)->join(rest);
    } else {
      large.push_back(rest);
    }
  }
  large.insert(large.end(), small.begin(), small.end());
  return large;
}

}  // namespace

KolmogorovSmirnovResult kolmogorov_smirnov_test(std::vector<double> sample,
                                                const std::function<double(double)>& distribution) {
  sample = sorted(std::move(sample));
  const auto n = static_cast<double>(sample.size());
  double gap = 0, last = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = distribution(sample[i]);
    require(f >= last - 1e-9 && f >= 0 && f <= 1, "kolmogorov_smirnov_test",
            "a distribution function, in [0, 1] and not decreasing", {{"x", sample[i]}, {"F(x)", f}, {"before", last}});
    last = f;
    gap = std::max({gap, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  KolmogorovSmirnovResult result;
  result.statistic = gap;
  result.p_value = kolmogorov_tail(sample.size(), gap);
  result.p_bound = dkwm_bound(sample.size(), gap);
  return result;
}

KolmogorovSmirnovResult kolmogorov_smirnov_test(std::vector<double> first, std::vector<double> second) {
  first = sorted(std::move(first));
  second = sorted(std::move(second));
  const std::uint64_t m = first.size(), n = second.size();
  std::uint64_t i = 0, j = 0, distance = 0;
  while (i < m && j < n) {
    const double x = std::min(first[i], second[j]);
    while (i < m && first[i] == x) ++i;
    while (j < n && second[j] == x) ++j;
    distance = std::max(distance, i * n > j * m ? i * n - j * m : j * m - i * n);
  }
  const auto m_size = static_cast<double>(m), n_size = static_cast<double>(n);
  KolmogorovSmirnovResult result;
  result.statistic = static_cast<double>(distance) / m_size / n_size;
  result.p_value = two_sample_kolmogorov_tail(m, n, distance);
  const double share = std::sqrt(n_size) / (std::sqrt(m_size) + std::sqrt(n_size));
  result.p_bound =
      std::min(1.0, dkwm_bound(m, share * result.statistic) + dkwm_bound(n, (1 - share) * result.statistic));
  return result;
}

ChiSquaredResult chi_squared_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                                  double least_expected, std::size_t estimated) {
  constexpr std::string_view where = "chi_squared_test";
  const auto total = static_cast<double>(total_of(counts, probabilities, where));
  require(least_expected > 0, where, "least_expected > 0", {{"least_expected", least_expected}});
  std::vector<Cell> cells;
  bool impossible = false;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (probabilities[i] > 0) cells.push_back({static_cast<double>(counts[i]), total * probabilities[i]});
    impossible = impossible || (probabilities[i] <= 0 && counts[i] > 0);
  }
  cells = pooled(cells, least_expected);
  require(cells.size() >= 2 + estimated, where, "at least one degree of freedom after pooling",
          {{"cells", cells.size()}, {"estimated", estimated}});
  ChiSquaredResult result;
  result.cells = cells.size();
  result.degrees = static_cast<double>(cells.size() - 1 - estimated);
  for (const Cell& cell : cells) {
    result.statistic += (cell.count - cell.expected) * (cell.count - cell.expected) / cell.expected;
  }
  if (impossible) result.statistic = std::numeric_limits<double>::infinity();
  result.p_value = impossible ? 0.0 : bm::cdf(bm::complement(bm::chi_squared(result.degrees), result.statistic));
  return result;
}

TestResult multinomial_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities) {
  const std::uint64_t total = total_of(counts, probabilities, "multinomial_test");
  TestResult result{1, 1};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double p = std::min(probabilities[i], 1.0);  // the sum may be above 1 by rounding
    result.statistic = std::min(result.statistic, binomial_test(counts[i], total, p).p_value);
  }
  result.p_value = std::min(1.0, static_cast<double>(counts.size()) * result.statistic);
  return result;
}

TestResult z_test(double mean, std::uint64_t n, double mu, double sigma, Side side) {
  require(n >= 1 && sigma > 0 && std::isfinite(mean) && std::isfinite(mu) && std::isfinite(sigma), "z_test",
          "n >= 1, sigma > 0, finite numbers", {{"mean", mean}, {"n", n}, {"mu", mu}, {"sigma", sigma}});
  const double z = (mean - mu) / sigma * std::sqrt(static_cast<double>(n));
  const double lower = bm::cdf(bm::normal(), z), upper = bm::cdf(bm::complement(bm::normal(), z));
  if (side == Side::upper) return {z, upper};
  if (side == Side::lower) return {z, lower};
  return {z, 2 * std::min(lower, upper)};
}

TestResult binomial_test(std::uint64_t successes, std::uint64_t trials, double probability, Side side) {
  constexpr std::string_view where = "binomial_test";
  require(trials >= 1 && successes <= trials, where, "successes <= trials and at least one trial",
          {{"successes", successes}, {"trials", trials}});
  require(probability >= 0 && probability <= 1, where, "a probability", {{"probability", probability}});
  const auto n = static_cast<double>(trials), k = static_cast<double>(successes);
  const bm::binomial distribution(n, probability);
  const double lower = bm::cdf(distribution, k),
               upper = successes == 0 ? 1.0 : bm::cdf(bm::complement(distribution, k - 1));
  if (side == Side::upper) return {k / n, upper};
  if (side == Side::lower) return {k / n, lower};
  return {k / n, std::min(1.0, 2 * std::min(lower, upper))};
}

}  // namespace croquis
