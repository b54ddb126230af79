// croquis variance: error and variance of random features against norm and number of features.
#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/problem.hpp>
#include <croquis/core/choices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/measure/feature_variance.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

#include "commands/command.hpp"
#include "commands/variance_points.hpp"
#include "files/group_table.hpp"
#include "files/group_words.hpp"
#include "files/number.hpp"
#include "files/progress.hpp"
#include "files/run.hpp"
#include "files/summary.hpp"
#include "options/common_options.hpp"
#include "options/lists.hpp"
#include "pictures/curves.hpp"
#include "report/groups_section.hpp"

namespace {

using croquis::Key;

struct VarianceOptions {
  RunOptions run;
  InputOptions input;
  PointsOptions points;
  std::string norms;  ///< factors on unit vectors, or on the rows of a head; empty: 1 ... 6, or 1
  std::string maps = "prf", projections = "iid", features = "4:1024";
  long long trials = 20;
};

std::vector<double> parse_norms(const std::string& text) {
  return numbers_once(text, "--norms", [](const std::string& item) {
    const auto norm = parse_number(item);
    if (!norm || *norm <= 0) throw std::invalid_argument(fmt::format("--norms: '{}' is not a positive number", item));
    if (const double most = 0.99 * croquis::largest_row_norm<double>(1); *norm > most) {
      throw std::invalid_argument(
          fmt::format("--norms: {} is more than {:.3g}, and squares of norms overflow", item, most));
    }
    return *norm;
  });
}

// The maps that take some d. One that takes none is refused where it is named, and `all` leaves it out.
std::vector<std::string> usable_maps(const std::string& text, const std::vector<arma::uword>& features) {
  const std::vector<std::string> items = croquis::split_list(text, "--maps");
  const bool all = std::find(items.begin(), items.end(), "all") != items.end();
  std::vector<std::string> maps = parse_names(text, "--maps", croquis::feature_map_names());
  std::erase_if(maps, [&](const std::string& map) {
    const arma::uword functions = croquis::functions_of(croquis::feature_map(map));
    if (std::any_of(features.begin(), features.end(), [&](arma::uword d) { return d % functions == 0; })) return false;
    const std::string why = fmt::format("it takes none of --features: d is a multiple of {}", functions);
    if (!all) throw std::invalid_argument(fmt::format("--maps {}: {}", map, why));
    say_once(fmt::format("croquis variance: {} is left out, {}\n", map, why));
    return true;
  });
  return maps;
}

// Of one trial: the points, their products, the projections and features.
void require_memory_for(const PendingPoints& points, arma::uword d) {
  const auto x = static_cast<double>(points.queries), y = static_cast<double>(points.keys);
  const auto p = static_cast<double>(points.p), f = static_cast<double>(d);
  croquis::require_memory(sizeof(double) * ((x + y + f) * p + x * y + (x + y) * f),
                          "variance: --keys, --queries, --p, --features",
                          {{"keys", points.keys}, {"queries", points.queries}, {"p", points.p}, {"d", d}});
}

struct VarianceCurve {
  std::string input, map, projection;
  double norm;
};

using VarianceCell = std::pair<arma::uword, std::uint64_t>;  // d, trial

Run::Fields key_of(const VarianceCurve& curve, const VarianceCell& cell) {
  return Run::key({curve.input, curve.map, curve.projection, curve.norm, std::uint64_t{cell.first}, cell.second});
}

// Maps, projections and norms, the same for all points.
std::vector<VarianceCurve> curves_of(const VarianceOptions& options, const std::vector<arma::uword>& features) {
  const std::string default_norms = are_of_heads(options.run) ? "1" : "1,2,3,4,5,6";
  const std::vector<std::string> maps = usable_maps(options.maps, features);
  const std::vector<std::string> projections =
      parse_names(options.projections, "--projections", croquis::projection_names());
  std::vector<VarianceCurve> curves;
  for (const double norm : parse_norms(options.norms.empty() ? default_norms : options.norms)) {
    for (const std::string& map : maps) {
      for (const std::string& projection : projections) curves.push_back({"", map, projection, norm});
    }
  }
  return curves;
}

std::vector<VarianceCurve> curves_on(const PendingPoints& subject, std::vector<VarianceCurve> curves) {
  for (VarianceCurve& curve : curves) curve.input = subject.input;
  return curves;
}

void compute(const VarianceOptions& options, const PendingPoints& subject, const PointsAt& points,
             const VarianceCurve& curve, std::vector<VarianceCell> cells, Run& run) {
  std::erase_if(cells, [&](const VarianceCell& cell) { return !run.wants(key_of(curve, cell)); });
  croquis::FeatureOptions choice;
  choice.map = croquis::feature_map(curve.map);
  choice.projection = croquis::projection_distribution(curve.projection);
  // Maps meet the same projections, and so do heads: their rows are paired.
  const Key key = Key(options.run.seed).child("variance").child(curve.projection);
  run.compute(cells.size(), fmt::format("{} {} R = {:g}", curve.map, curve.projection, curve.norm), [&](std::size_t i) {
    const auto [d, trial] = cells[i];
    croquis::VarianceRow row =
        croquis::feature_variance(points(curve.norm, trial), d, choice, key.child(d).child(trial));
    row.input = subject.input;
    row.sequence = subject.sequence;
    row.layer = subject.layer;
    row.head = subject.head;
    row.map = curve.map;
    row.projection = curve.projection;
    row.norm = curve.norm;
    row.trial = trial;
    row.seed = options.run.seed;
    return croquis::variance_columns().record(row, input_columns(options.input));
  });
}

// Reads the head when something of it is wanted.
void measure(const VarianceOptions& options, const PendingPoints& subject, const std::vector<VarianceCurve>& curves,
             const std::vector<VarianceCell>& cells, Run& run) {
  std::size_t wanted = 0;
  for (const VarianceCurve& curve : curves) {
    for (const VarianceCell& cell : cells) wanted += run.wants(key_of(curve, cell)) ? 1 : 0;
  }
  if (Run::interrupted() || wanted == 0 || run.skip(wanted)) return;
  const PointsAt points = subject.load();
  for (const VarianceCurve& curve : curves) {
    if (Run::interrupted()) return;
    compute(options, subject, points, curve, cells, run);
  }
}

void print_variances(const croquis::Table& table) {
  const croquis::Grouping grouping = shown_groups(table, "");
  const bool heads = grouping.is_nested();
  fmt::print("\n{}\n", table_title("random features", grouping, ""));
  print_groups("||b - b~||_1 of a row b of scores, normalised to sum 1", grouping, "l1_error");
  print_groups(
      "mean of (estimate / exp(x.y) - 1)^2", grouping, "squared_error", Statistic::mean,
      {.mark = "~",
       .meaning = fmt::format(
           "~ less than a tenth of the expectation, which is in the table below: it is made by estimates too large and "
           "too rare to be among these draws. Neither the mean nor the {} says anything about it. The expectation is "
           "computed for prf with iid alone; other curves have no marks",
           heads ? "spread over the heads" : "standard error"),
       .is_for = [](const croquis::Group& group) { return misses_its_tail(group, "squared_error"); }});
  print_groups("its expectation for prf with iid, NPRF Lemma 2: (e^{||x+y||^2} - 1) / d, mean over the points" +
                   std::string(heads ? "" : " of the draws (standard error 0 where all draws have the same points)"),
               grouping, "lemma_2");
}

int run_variance(const VarianceOptions& options) {
  const std::vector<arma::uword> features = parse_sizes(options.features, "--features");
  const std::vector<VarianceCurve> curves = curves_of(options, features);
  prepare_run(options.run);
  const auto [subjects, identity] = variance_points(options.input, options.points, options.run);
  for (const PendingPoints& subject : subjects) require_memory_for(subject, features.back());
  require_room_for_rows(
      static_cast<double>(subjects.size() * curves.size() * features.size()) * static_cast<double>(options.trials),
      "--trials", options.trials);
  std::vector<VarianceCell> cells;
  for (const arma::uword d : features) {
    for (std::uint64_t trial = 1; trial <= static_cast<std::uint64_t>(options.trials); ++trial) {
      cells.emplace_back(d, trial);
    }
  }
  Run run(options.run, "variance", croquis::variance_columns().list(input_columns(options.input)), identity,
          summary_files(subjects.size()));
  std::vector<Run::Cell> plan;
  for (const PendingPoints& subject : subjects) {
    for (const VarianceCurve& curve : curves_on(subject, curves)) {
      for (const VarianceCell& cell : cells) plan.push_back({key_of(curve, cell)});
    }
  }
  run.plan(plan);
  for (const PendingPoints& subject : subjects) measure(options, subject, curves_on(subject, curves), cells, run);
  return conclude(run);
}

void add_options(CLI::App& app, VarianceOptions& options) {
  add_run_options(app, options.run);
  add_double_option(app, options.run);
  add_points_options(app, options.input, options.points);
  app.add_option(
      "--norms", options.norms,
      "radii R of the spheres, as 1,2,4 (default 1,2,3,4,5,6); for heads, factors for their points (default 1)");
  app.add_option("--maps", options.maps, "prf,trf,... or all (see list features)")->capture_default_str();
  app.add_option("--projections", options.projections, "iid,haar,... or all")->capture_default_str();
  app.add_option("--features", options.features, "4,16,64 or 4:1024 (doubling)")->capture_default_str();
  app.add_option("--trials", options.trials, "draws for every map, projection, norm and d")
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
                      .draw = drawing("l1_error"),
                      .picture = "a metric against d, a line for each feature map, projection and norm",
                      .print = print_variances,
                      .report = [](const croquis::Table& table) {
                        return section_of_groups(table, {.title = "Error and variance of random features",
                                                         .answered = {"l1_error"},
                                                         .compared = false});
                      }}};
}
