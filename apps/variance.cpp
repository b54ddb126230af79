#include "variance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/problem.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "lists.hpp"
#include "plot.hpp"
#include "results/finite.hpp"
#include "results/groups.hpp"

namespace {

using croquis::csv_field;
using croquis::csv_number;
using croquis::FeatureOptions;
using croquis::Key;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr arma::uword kMostQueries = 64;
const Run::Fields kColumns = {"input", "map",  "projection", "norm",          "p",       "queries", "keys", "features",
                              "trial", "seed", "l1_error",   "squared_error", "lemma_2", "status"};

// The points whose inner products are estimated: rows of x against rows of y.
struct Points {
  arma::mat x, y;
};

arma::mat on_sphere(arma::uword count, arma::uword p, const Key& draw_key) {
  arma::mat points(p, count);
  croquis::fill_normal(draw_key, 0, points.n_elem, points.memptr());
  return arma::normalise(points).t();
}

struct Errors {
  double l1 = 0, squared = 0, lemma_2 = 0;
};

Errors errors_of(const Points& points, arma::uword d, const FeatureOptions& features, const Key& draw_key) {
  const croquis::FeaturePair<double> pair(points.x, points.y, d, features, draw_key);
  const auto matrices = pair.matrices();
  const arma::mat products = points.x * points.y.t();
  Errors errors;
  for (arma::uword i = 0; i < products.n_rows; ++i) {
    const arma::rowvec exact = products.row(i);
    const arma::rowvec estimate = matrices.queries.row(i) * matrices.keys.t();
    const arma::rowvec weights = arma::exp(exact - exact.max());
    errors.l1 += arma::accu(arma::abs(weights / arma::accu(weights) - estimate / arma::accu(estimate)));
    // Relative to exp(x.y): ratio - 1, whose mean square is the variance of an unbiased estimate over exp(2 x.y).
    const arma::rowvec ratio = estimate % arma::exp(matrices.log_scale(i) - exact);
    errors.squared += arma::mean(arma::square(ratio - 1));
    arma::mat sums = points.y;
    sums.each_row() += points.x.row(i);
    errors.lemma_2 += arma::mean(arma::expm1(arma::sum(arma::square(sums), 1))) / static_cast<double>(d);
  }
  const auto rows = static_cast<double>(products.n_rows);
  return {errors.l1 / rows, errors.squared / rows, errors.lemma_2 / rows};
}

std::vector<double> parse_norms(const std::string& text) {
  std::vector<double> norms;
  for (const std::string& item : split_list(text, "--norms")) {
    const auto norm = number_in(item);
    if (!norm || *norm <= 0) throw std::invalid_argument(fmt::format("--norms: '{}' is not a positive number", item));
    if (const double most = 0.99 * croquis::largest_row_norm<double>(1); *norm > most) {
      throw std::invalid_argument(
          fmt::format("--norms: {} is more than {:.3g}, and squares of norms overflow", item, most));
    }
    norms.push_back(*norm);
  }
  return norms;
}

std::vector<std::string> parse_names(const std::string& text, const std::string& option,
                                     const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const Choice& choice : parse_choices(text, option, known)) {
    if (!choice.options.empty())
      throw std::invalid_argument(fmt::format("{}: '{}' takes no options", option, choice.name));
    names.push_back(choice.name);
  }
  return names;
}

// Where the points of a norm and a trial come from.
class Source {
 public:
  explicit Source(const VarianceOptions& o) : o_(o), from_files_(!o.q.empty() || !o.k.empty()) {
    if (o.p < 1 || o.keys < 1 || o.queries < 0 || o.trials < 1) {
      throw std::invalid_argument("variance: --p, --keys and --trials are positive, --queries is not negative");
    }
    if (!from_files_) {
      name_ = "sphere";
      digest_ = fmt::format("{} keys, {} queries, p = {}", o.keys, queries(), o.p);
      return;
    }
    if (o.q.empty() || o.k.empty()) throw std::invalid_argument("--q and --k: both are needed");
    arma::mat q = croquis::read_npy(o.q), k = croquis::read_npy(o.k);
    if (q.is_empty() || q.n_cols != k.n_cols || !q.is_finite() || !k.is_finite()) {
      throw std::invalid_argument(fmt::format("--q {} x {}, --k {} x {}: finite matrices of one width are needed",
                                              q.n_rows, q.n_cols, k.n_rows, k.n_cols));
    }
    const double scale = std::pow(static_cast<double>(q.n_cols), -0.25);  // once: x.y is then q.k / sqrt(p)
    const arma::uword some =
        std::min<arma::uword>(q.n_rows, o.queries > 0 ? static_cast<arma::uword>(o.queries) : kMostQueries);
    const Key draw_key = Key(o.seed()).child("variance").child("queries");
    fixed_ = {scale * q.rows(croquis::sample_without_replacement(q.n_rows, some, draw_key)), scale * k};
    name_ = "arrays:" + std::filesystem::path(o.q).stem().string();
    digest_ = croquis::Digest().add(q).add(k).hex();
  }

  const std::string& name() const { return name_; }
  const std::string& digest() const { return digest_; }
  bool from_files() const { return from_files_; }

  // Of one trial: the points, their products, the projections and features.
  void require_memory(arma::uword d) const {
    const arma::uword p = from_files_ ? fixed_.x.n_cols : static_cast<arma::uword>(o_.p);
    const arma::uword keys = from_files_ ? fixed_.y.n_rows : static_cast<arma::uword>(o_.keys);
    const arma::uword queries = from_files_ ? fixed_.x.n_rows : this->queries();
    const auto x = static_cast<double>(queries), y = static_cast<double>(keys), f = static_cast<double>(d);
    croquis::require_memory(sizeof(double) * ((x + y + f) * static_cast<double>(p) + x * y + (x + y) * f),
                            "variance: --keys, --queries, --p, --features",
                            {{"keys", keys}, {"queries", queries}, {"p", p}, {"d", d}});
  }

  Points points(double norm, long long trial) const {
    if (from_files_) return {norm * fixed_.x, norm * fixed_.y};
    const Key draw_key = Key(o_.seed()).child("variance").child("sphere").child(static_cast<std::uint64_t>(trial));
    const auto p = static_cast<arma::uword>(o_.p);
    return {norm * on_sphere(queries(), p, draw_key.child("query")),
            norm * on_sphere(static_cast<arma::uword>(o_.keys), p, draw_key.child("key"))};
  }

 private:
  arma::uword queries() const { return o_.queries > 0 ? static_cast<arma::uword>(o_.queries) : 1; }

  const VarianceOptions& o_;
  bool from_files_;
  std::string name_, digest_;
  Points fixed_;
};

}  // namespace

int run_variance(VarianceOptions options) {
  if (options.run.out.empty()) options.run.out = "variance.csv";
  if (options.norms.empty()) options.norms = options.q.empty() ? "1,2,3,4,5,6" : "1";
  const std::vector<double> norms = parse_norms(options.norms);
  const std::vector<std::string> maps = parse_names(options.maps, "--maps", croquis::feature_map_names());
  const std::vector<std::string> projections =
      parse_names(options.projections, "--projections", croquis::projection_names());
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features");
  prepare_run(options.run);
  const Source source(options);
  source.require_memory(features.back());
  require_room_for_rows(static_cast<double>(norms.size() * maps.size() * projections.size() * features.size()) *
                            static_cast<double>(options.trials),
                        "--trials", options.trials);
  std::vector<std::pair<arma::uword, long long>> all;  // of a curve
  for (const arma::uword d : features) {
    for (long long trial = 1; trial <= options.trials; ++trial) all.emplace_back(d, trial);
  }
  const auto key_of = [](double norm, const std::string& map, const std::string& projection, const auto& cell) {
    return Run::Fields{map, projection, csv_number(norm), std::to_string(cell.first), std::to_string(cell.second)};
  };
  std::vector<Run::Cell> plan;
  for (const double norm : norms) {
    for (const std::string& map : maps) {
      for (const std::string& projection : projections) {
        for (const auto& cell : all) plan.push_back({key_of(norm, map, projection, cell)});
      }
    }
  }
  Run run(options.run, "variance", kColumns, {{"map", "projection", "norm", "features", "trial"}},
          {{"input", source.name()}, {"numbers", source.digest()}});
  run.plan(plan);
  for (const double norm : norms) {
    for (const std::string& map : maps) {
      for (const std::string& projection : projections) {
        if (Run::interrupted()) break;
        auto cells = all;
        std::erase_if(cells, [&](const auto& cell) { return !run.wants(key_of(norm, map, projection, cell)); });
        FeatureOptions choice;
        choice.map = croquis::feature_map(map);
        choice.projection = croquis::projection_distribution(projection);
        // Maps meet the same projections: their rows are paired.
        const Key draw_key = Key(options.run.seed).child("variance").child(projection);
        run.compute(cells.size(), fmt::format("{} {} R = {:g}", map, projection, norm), [&](std::size_t i) {
          const auto [d, trial] = cells[i];
          const Points points = source.points(norm, trial);
          Errors errors{kUndefined, kUndefined, kUndefined};
          std::string status = "ok";
          try {
            errors = errors_of(points, d, choice, draw_key.child(d).child(static_cast<std::uint64_t>(trial)));
            status = status_of({{"l1_error", errors.l1}, {"squared_error", errors.squared}});
            if (status != "ok") errors = {kUndefined, kUndefined, kUndefined};
          } catch (const std::exception& failure) {
            status = failure.what();
          }
          const bool has_formula = map == "prf" && projection == "iid";
          return Run::Fields{csv_field(source.name()),
                             map,
                             projection,
                             csv_number(norm),
                             std::to_string(points.x.n_cols),
                             std::to_string(points.x.n_rows),
                             std::to_string(points.y.n_rows),
                             std::to_string(d),
                             std::to_string(trial),
                             std::to_string(options.run.seed),
                             csv_number(errors.l1),
                             csv_number(errors.squared),
                             csv_number(has_formula && std::isfinite(errors.lemma_2) ? errors.lemma_2 : kUndefined),
                             csv_field(status)};
        });
      }
    }
  }
  if (const auto status = run.finish()) return *status;

  const croquis::CsvTable table = croquis::read_csv(options.run.out);
  const std::vector<Group> groups = group_rows(table, variance_grouping());
  write_summary(beside(options.run.out, ".summary.csv"), groups, variance_grouping());
  if (!options.run.plot.empty()) draw_groups(groups, variance_grouping(), "l1_error", options.run.plot);
  if (!options.run.quiet) {
    print_groups("||A - A~||_1 of a normalised row of scores (2 at most), mean (standard error)", groups, "l1_error");
    print_groups("mean of (estimate / exp(x.y) - 1)^2 (standard error)", groups, "squared_error");
    print_groups("its expectation for prf with iid, NPRF Lemma 2: (e^{||x+y||^2} - 1) / m", groups, "lemma_2");
    print_files(table, options.run.out, options.run.plot);
  }
  return 0;
}
