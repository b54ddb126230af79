#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/papers.hpp>
#include <croquis/claims/thresholds.hpp>
#include <croquis/claims/worst_case.hpp>
#include <croquis/claims/worst_text.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/random/draws.hpp>
#include <sstream>
#include <stdexcept>

namespace croquis::claims {
namespace {

constexpr double kRounding = 1e-9;  // what a share that is 1 may be above it

void shorten(arma::mat& input, double radius) {
  for (arma::uword i = 0; i < input.n_rows; ++i) {
    const double length = arma::norm(input.row(i));
    if (length > radius) input.row(i) *= radius / length;
  }
}

arma::mat random_input(const SearchSpace& space, const Key& key) {
  arma::mat input(space.rows, space.cols);
  fill_normal(key.child("directions"), 0, input.n_elem, input.memptr());
  for (arma::uword i = 0; i < space.rows; ++i) {
    const double length = space.radius * std::pow(10.0, -3 * uniform_at(key.child("lengths"), i));
    input.row(i) *= length / arma::norm(input.row(i));
  }
  return input;
}

double finite_or_zero(double share) {
  return std::isfinite(share) ? share : 0;
}

// A step of one row or of all, longer after one that helped.
WorstCase improved(const SearchSpace& space, arma::uword steps, arma::mat input,
                   const std::function<double(const arma::mat&)>& share, const Key& key,
                   const std::function<bool()>& interrupted) {
  shorten(input, space.radius);
  WorstCase best{input, finite_or_zero(share(input))};
  double length = 0.3 * space.radius;
  arma::mat step(space.rows, space.cols);
  for (arma::uword s = 0; s < steps; ++s) {
    if (interrupted()) throw Interrupted();
    fill_normal(key, s * step.n_elem, step.n_elem, step.memptr());
    arma::mat next = best.input;
    if (s % 2 == 0) {
      next += length * step;
    } else {
      const arma::uword row = s / 2 % space.rows;
      next.row(row) += length * step.row(row);
    }
    shorten(next, space.radius);
    const double found = finite_or_zero(share(next));
    if (found > best.share) {
      best = {std::move(next), found};
      length = std::min(space.radius, 2 * length);
    } else {
      length = std::max(1e-9 * space.radius, 0.85 * length);
    }
  }
  return best;
}

std::string text_of(const arma::mat& input) {
  std::string text;
  for (arma::uword i = 0; i < input.n_rows; ++i) {
    for (arma::uword j = 0; j < input.n_cols; ++j) {
      text += fmt::format("{}{}", j > 0 ? " " : i > 0 ? " / " : "", csv_number(input(i, j)));
    }
  }
  return text;
}

SearchEffort effort_of(const Check& check) {
  const auto number = [&](const char* quantity) {
    return static_cast<arma::uword>(find_threshold("search", quantity)->front());
  };
  if (check.thorough) return {number("starts (thorough)"), number("steps (thorough)")};
  return {number("starts"), number("steps")};
}

}  // namespace

WorstCase search_worst(const SearchSpace& space, const SearchEffort& effort, const std::vector<arma::mat>& given,
                       const std::function<double(const arma::mat&)>& share, const Key& key,
                       const std::function<bool()>& interrupted) {
  require(space.rows >= 1 && space.cols >= 1 && space.radius > 0 && std::isfinite(space.radius), "search_worst",
          "rows, cols >= 1, radius > 0 and finite",
          {{"rows", space.rows}, {"cols", space.cols}, {"radius", space.radius}});
  require(!given.empty() || effort.starts > 0, "search_worst", "one start at least", {{"starts", effort.starts}});
  for (const arma::mat& start : given) {
    require(start.n_rows == space.rows && start.n_cols == space.cols, "search_worst", "starts of the size of the space",
            {{"rows", start.n_rows}, {"cols", start.n_cols}});
  }
  std::vector<WorstCase> found(given.size() + effort.starts);
  parallel_for(found.size(), [&](std::size_t s) {
    const Key own = key.child(s);
    found[s] = improved(space, effort.steps, s < given.size() ? given[s] : random_input(space, own.child("start")),
                        share, own.child("steps"), interrupted);
  });
  return *std::max_element(found.begin(), found.end(),
                           [](const WorstCase& a, const WorstCase& b) { return a.share < b.share; });
}

const std::vector<SearchedBound>& searched_bounds() {
  static const std::vector<SearchedBound> all = [] {
    std::vector<SearchedBound> bounds;
    for (auto&& some : {skyformer_bounds(), nystromformer_bounds(), linformer_bounds(), skeinformer_bounds(),
                        nprf_bounds(), topk_bounds()}) {
      bounds.insert(bounds.end(), some.begin(), some.end());
    }
    return bounds;
  }();
  return all;
}

const SearchedBound& searched_bound(std::string_view name) {
  for (const SearchedBound& bound : searched_bounds()) {
    if (bound.name == name) return bound;
  }
  throw std::invalid_argument(fmt::format("searched_bound: there is none called {}", name));
}

WorstCase stored_worst(std::string_view name) {
  WorstCase worst;
  for (const auto& [stored, text] : kWorstTexts) {
    if (stored != name) continue;
    std::istringstream lines{std::string(text)};
    std::string line;
    std::getline(lines, line);  // share,NUMBER
    worst.share = std::stod(split_csv_line(line).at(1));
    std::vector<arma::rowvec> rows;
    while (std::getline(lines, line)) {
      std::vector<double> row;
      for (const std::string& field : split_csv_line(line)) row.push_back(std::stod(field));
      rows.emplace_back(row);
    }
    for (const arma::rowvec& row : rows) worst.input = arma::join_cols(worst.input, arma::mat(row));
  }
  return worst;
}

void add_worst(Report& report, const Check& check, std::string_view name, double proved, double generous, double seen) {
  const SearchedBound& bound = searched_bound(name);
  // Of what the reading allows, as all numbers of the row are.
  const auto share = [&](const arma::mat& input) { return bound.share(input, check) / generous; };
  const auto again = [&](const arma::mat& input) { return bound.again(input, check) / generous; };
  const WorstCase stored = stored_worst(name);
  double worst = stored.input.is_empty() ? 0 : share(stored.input);
  double fresh = stored.input.is_empty() || !bound.again ? 0 : again(stored.input);
  std::string text = fmt::format("on file = {:.6g}", worst);
  if (!check.quick && !check.own_input && check.mutant.empty() && check.claim == bound.claim) {
    std::vector<arma::mat> given = bound.starts;
    if (!stored.input.is_empty()) given.push_back(stored.input);
    const SearchEffort effort = effort_of(check);
    const WorstCase found =
        search_worst(bound.space, effort, given, share, check.draw_key.child(name), check.interrupted);
    text += fmt::format("; evaluations = {}; largest found = {:.6g}",
                        (effort.starts + given.size()) * (effort.steps + 1), found.share);
    if (found.share > worst * (1 + 1e-6)) {
      text += "; at " + text_of(found.input);
      if (bound.again) raise(fresh, again(found.input));
    }
    raise(worst, found.share);
  }
  if (bound.again) {
    worst = fresh;
    text += fmt::format("; on fresh draws = {:.6g}", fresh);
  }
  report.tightness = {proved, 1 / std::max(worst, seen)};
  if (check.own_input) return;
  Finding finding;
  finding.input = fmt::format("worst case of {}", name);
  finding.verdict = !std::isfinite(worst)    ? Verdict::inconclusive
                    : worst <= 1 + kRounding ? Verdict::verified
                                             : Verdict::refuted;
  finding.estimate = finding.observed = worst;
  finding.bound = 1;
  finding.tightness = report.tightness;
  if (finding.verdict == Verdict::verified) finding.power = 1 + kRounding - worst;  // of a bound that is too small
  finding.hypotheses = std::move(text);
  report.findings.push_back(std::move(finding));
}

}  // namespace croquis::claims
