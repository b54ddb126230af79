// croquis variance: error and variance of random features against norm and number of features.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/problem.hpp>
#include <croquis/core/choices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/measure/feature_variance.hpp>
#include <croquis/random/indices.hpp>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include "commands/command.hpp"
#include "files/group_table.hpp"
#include "files/run.hpp"
#include "files/summary.hpp"
#include "options/common_options.hpp"
#include "options/finite.hpp"
#include "options/lists.hpp"
#include "pictures/curves.hpp"
#include "report/groups_section.hpp"

namespace {

using croquis::FeaturePoints;
using croquis::Key;

constexpr arma::uword kMostQueries = 64;

struct VarianceOptions {
  RunOptions run;
  std::string q, k;   ///< .npy files of queries and keys; without them points on spheres
  std::string norms;  ///< factors on unit vectors, or on the files' rows; empty: 1 ... 6, or 1
  std::string maps = "prf", projections = "iid", features = "4:1024";
  long long p = 64, keys = 1024, queries = 0, trials = 20;  ///< queries 0: 1 on spheres, at most 64 of a file's
};

std::vector<double> parse_norms(const std::string& text) {
  std::vector<double> norms;
  for (const std::string& item : croquis::split_list(text, "--norms")) {
    const auto norm = parse_number(item);
    if (!norm || *norm <= 0) throw std::invalid_argument(fmt::format("--norms: '{}' is not a positive number", item));
    if (const double most = 0.99 * croquis::largest_row_norm<double>(1); *norm > most) {
      throw std::invalid_argument(
          fmt::format("--norms: {} is more than {:.3g}, and squares of norms overflow", item, most));
    }
    if (std::find(norms.begin(), norms.end(), *norm) != norms.end()) {
      throw std::invalid_argument(fmt::format("--norms: {} stands there twice", item));
    }
    norms.push_back(*norm);
  }
  return norms;
}

std::vector<std::string> parse_names(const std::string& text, const std::string& option,
                                     const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const croquis::Choice& choice : croquis::parse_choices(text, option, known)) {
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
    for (const char* option : {"--p", "--keys"}) {
      if (!o.run.given.contains(option)) continue;
      throw std::invalid_argument(
          fmt::format("{}: of spheres, the files of --q and --k have theirs; leave it out", option));
    }
    arma::mat q = croquis::read_npy(o.q), k = croquis::read_npy(o.k);
    require_finite_numbers(q, o.q + ": ");
    require_finite_numbers(k, o.k + ": ");
    if (q.is_empty() || k.is_empty() || q.n_cols != k.n_cols) {
      throw std::invalid_argument(fmt::format("--q {} x {}, --k {} x {}: matrices of one width are needed", q.n_rows,
                                              q.n_cols, k.n_rows, k.n_cols));
    }
    const double scale = std::pow(static_cast<double>(q.n_cols), -0.25);  // once: x.y is then q.k / sqrt(p)
    const arma::uword some =
        std::min<arma::uword>(q.n_rows, o.queries > 0 ? static_cast<arma::uword>(o.queries) : kMostQueries);
    const Key draw_key = Key(o.run.seed).child("variance").child("queries");
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

  FeaturePoints points(double norm, std::uint64_t trial) const {
    if (from_files_) return {norm * fixed_.x, norm * fixed_.y};
    return croquis::sphere_points(queries(), static_cast<arma::uword>(o_.keys), static_cast<arma::uword>(o_.p), norm,
                                  Key(o_.run.seed).child("variance").child("sphere").child(trial));
  }

 private:
  arma::uword queries() const { return o_.queries > 0 ? static_cast<arma::uword>(o_.queries) : 1; }

  const VarianceOptions& o_;
  bool from_files_;
  std::string name_, digest_;
  FeaturePoints fixed_;
};

struct VarianceCurve {
  double norm;
  std::string map, projection;
};

using VarianceCell = std::pair<arma::uword, std::uint64_t>;  // d, trial

Run::Fields key_of(const VarianceCurve& curve, const VarianceCell& cell) {
  return Run::key({curve.map, curve.projection, curve.norm, std::uint64_t{cell.first}, cell.second});
}

void compute(const VarianceOptions& options, const Source& source, const VarianceCurve& curve,
             std::vector<VarianceCell> cells, Run& run) {
  std::erase_if(cells, [&](const VarianceCell& cell) { return !run.wants(key_of(curve, cell)); });
  croquis::FeatureOptions choice;
  choice.map = croquis::feature_map(curve.map);
  choice.projection = croquis::projection_distribution(curve.projection);
  // Maps meet the same projections: their rows are paired.
  const Key key = Key(options.run.seed).child("variance").child(curve.projection);
  run.compute(cells.size(), fmt::format("{} {} R = {:g}", curve.map, curve.projection, curve.norm), [&](std::size_t i) {
    const auto [d, trial] = cells[i];
    croquis::VarianceRow row =
        croquis::feature_variance(source.points(curve.norm, trial), d, choice, key.child(d).child(trial));
    row.input = source.name();
    row.map = curve.map;
    row.projection = curve.projection;
    row.norm = curve.norm;
    row.trial = trial;
    row.seed = options.run.seed;
    return croquis::variance_columns().record(row);
  });
}

// Where the expectation is known and the mean of the draws is far below it: what makes the expectation is too rare to
// have been drawn.
bool misses_its_tail(const croquis::Group& group) {
  constexpr double far = 10;
  const croquis::Summary *squared = group.metric("squared_error"), *expected = group.metric("lemma_2");
  return squared != nullptr && expected != nullptr && far * squared->mean < expected->mean;
}

void print_variances(const croquis::Table& table) {
  const croquis::Grouping grouping = croquis::group_rows(table);
  print_groups("||b - b~||_1 of a row b of scores, normalised to sum 1, mean (standard error)", grouping, "l1_error");
  print_groups("mean of (estimate / exp(x.y) - 1)^2 (standard error)", grouping, "squared_error", Statistic::mean,
               {.mark = "~",
                .meaning = "~ less than a tenth of the known expectation, which is in the table below: it is made by "
                           "estimates too large and too rare to be among these draws. Neither the mean nor the "
                           "standard error says anything about it",
                .is_for = misses_its_tail});
  print_groups(
      "its expectation for prf with iid, NPRF Lemma 2: (e^{||x+y||^2} - 1) / d, mean over the points of the draws "
      "(standard error; 0 where all draws have the same points)",
      grouping, "lemma_2");
}

int run_variance(const VarianceOptions& options) {
  const std::string default_norms = options.q.empty() ? "1,2,3,4,5,6" : "1";
  const std::vector<double> norms = parse_norms(options.norms.empty() ? default_norms : options.norms);
  const std::vector<std::string> maps = parse_names(options.maps, "--maps", croquis::feature_map_names());
  const std::vector<std::string> projections =
      parse_names(options.projections, "--projections", croquis::projection_names());
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features");
  prepare_run(options.run);
  const Source source(options);
  source.require_memory(features.back());
  std::vector<VarianceCurve> curves;
  for (const double norm : norms) {
    for (const std::string& map : maps) {
      for (const std::string& projection : projections) curves.push_back({norm, map, projection});
    }
  }
  require_room_for_rows(static_cast<double>(curves.size() * features.size()) * static_cast<double>(options.trials),
                        "--trials", options.trials);
  std::vector<VarianceCell> cells;
  for (const arma::uword d : features) {
    for (std::uint64_t trial = 1; trial <= static_cast<std::uint64_t>(options.trials); ++trial) {
      cells.emplace_back(d, trial);
    }
  }
  Run run(options.run, "variance", croquis::variance_columns().list(),
          {{"input", source.name()}, {"numbers", source.digest()}}, summary_files());
  std::vector<Run::Cell> plan;
  for (const VarianceCurve& curve : curves) {
    for (const VarianceCell& cell : cells) plan.push_back({key_of(curve, cell)});
  }
  run.plan(plan);
  for (const VarianceCurve& curve : curves) {
    if (Run::interrupted()) break;
    compute(options, source, curve, cells, run);
  }
  if (const auto status = run.finish()) return *status;

  write_grouped_summary(run.table(), beside(options.run.out, ".summary.csv"));
  if (!options.run.plot.empty()) draw_groups(croquis::group_rows(run.table()), "l1_error", options.run.plot);
  if (!options.run.quiet) {
    print_variances(run.table());
    print_files(run.table(), options.run.out, options.run.plot);
  }
  return 0;
}

void add_options(CLI::App& app, VarianceOptions& options) {
  add_run_options(app, options.run);
  add_double_option(app, options.run);
  app.option_defaults()->group(kInputGroup);
  app.add_option("--q", options.q, "queries, .npy (n, p); without files points are uniform on spheres");
  app.add_option("--k", options.k, "keys, .npy (n, p)");
  app.add_option("--p", options.p, "dimension of the spheres")->check(whole_number(1))->capture_default_str();
  app.add_option("--keys", options.keys, "keys on the sphere")->check(whole_number(1))->capture_default_str();
  app.add_option("--queries", options.queries, "queries (default 1; at most 64 of a file)")->check(whole_number(1));
  app.option_defaults()->group(kMeasureGroup);
  app.add_option("--norms", options.norms, "R: 1,2,4 (default 1,2,3,4,5,6; with files 1, a factor)");
  app.add_option("--maps", options.maps, "prf,trf,... or all (see list features)")->capture_default_str();
  app.add_option("--projections", options.projections, "iid,haar,... or all")->capture_default_str();
  app.add_option("--features", options.features, "4,16,64 or 4:1024 (doubling)")->capture_default_str();
  app.add_option("--trials", options.trials, "draws of each")
      ->check(whole_number(1, kMaximumTrials))
      ->capture_default_str();
}

}  // namespace

Command variance_command() {
  const auto options = std::make_shared<VarianceOptions>();
  return {.name = "variance",
          .summary = "random features: error and variance against norm and d",
          .example = "croquis variance --maps prf,trf --norms 1,2,4 --features 16:256 --out variance.csv",
          .add_options = [options](CLI::App& app) { add_options(app, *options); },
          .run = measuring(options, run_variance),
          .results = {.columns = croquis::variance_columns().all(),
                      .write_summary = write_grouped_summary,
                      .draw = draw_grouped,
                      .picture = "a metric against d, a line a feature map, projection and norm",
                      .print = print_variances,
                      .report = [](const croquis::Table& table) {
                        return section_of_groups(table, {.title = "Error and variance of random features",
                                                         .answered = {"l1_error"},
                                                         .compared = false});
                      }}};
}
