// The tables of several heads, printed and in X.heads.csv: what each number is, against sums over the rows.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <armadillo>
#include <croquis/io/csv.hpp>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/table_numbers.hpp"
#include "support/gnuplot_script.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Five heads whose queries differ in norm, so that errors do.
void write_heads(const TemporaryFolder& folder) {
  constexpr std::size_t heads = 5, tokens = 40, width = 4;
  for (const char* name : {"q", "k", "v"}) {
    std::vector<double> numbers(heads * tokens * width);
    croquis::fill_normal(croquis::Key(11).child(name), 0, numbers.size(), numbers.data());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] *= 0.3 * static_cast<double>(1 + i / (tokens * width));
    write_text(folder / (std::string(name) + ".npy"),
               npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (5, 40, 4), }", bytes_of(numbers)));
  }
}

const std::string kTableHeads = "error --q q.npy --k k.npy --v v.npy --features 8,16 --trials 4 ";

}  // namespace

TEST_CASE(
    "croquis error: of several heads, the median of their means and the smallest and largest, in the table and "
    "X.heads.csv") {
  TemporaryFolder folder;
  write_heads(folder);
  const ProgramRun run =
      run_croquis(kTableHeads + "--methods skyformer-softmax,nystromformer,performer --out e.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(
      run.output,
      "relative spectral error of the output, median over 5 heads of the mean over 4 draws (smallest - largest "
      "head); 5 heads, n = 40, p = 4\n"));
  CHECK(contains(run.output, "\nheads    e.heads.csv\n"));
  const croquis::CsvTable heads = croquis::read_csv((folder / "e.heads.csv").string());
  CHECK(fmt::format("{}", fmt::join(heads.header, ",")) ==
        "method,preset,target,n,p,p_v,features,metric,heads,failed,median,smallest,largest,mean,standard_error,heavy_"
        "tailed,"
        "n_q");
  for (const std::string method : {"skyformer-softmax", "nystromformer", "performer"}) {
    for (const std::string d : {"8", "16"}) {
      std::vector<double> means;
      arma::rowvec over_heads;  // of every draw, the sum
      for (const auto& [input, draws] : values_of(folder / "e.csv", method, d)) {
        CHECK(draws.size() == (method == "nystromformer" ? 1 : 4));
        means.push_back(mean_of(draws));
        const arma::rowvec row(draws);
        over_heads = over_heads.is_empty() ? row : arma::rowvec(over_heads + row);
      }
      const double of_draws = over_heads.n_elem > 1 ? arma::var(over_heads / 5) / 4 : 0;  // all heads share them
      REQUIRE(means.size() == 5);
      std::sort(means.begin(), means.end());
      CHECK_MESSAGE(
          contains(line_of(run.output, method), fmt::format("{:.4g} ({:.3g} - {:.3g})", means[2], means[0], means[4])),
          run.output);
      const double mean = mean_of(means);
      double squares = 0;
      for (const double m : means) squares += (m - mean) * (m - mean);
      int found = 0;
      for (const auto& row : heads.rows) {
        if (row[heads.column("method")] != method || row[heads.column("features")] != d ||
            row[heads.column("metric")] != "spectral_rel") {
          continue;
        }
        ++found;
        const auto number = [&](const char* column) { return std::stod(row[heads.column(column)]); };
        CHECK(number("heads") == 5);
        CHECK(number("failed") == 0);
        CHECK(number("median") == doctest::Approx(means[2]));
        CHECK(number("smallest") == doctest::Approx(means[0]));
        CHECK(number("largest") == doctest::Approx(means[4]));
        CHECK(number("mean") == doctest::Approx(mean));
        CHECK(number("standard_error") == doctest::Approx(std::sqrt(squares / 4 / 5 + of_draws)));
      }
      CHECK(found == 1);
    }
  }
  // Every head keeps its line of the summary.
  const croquis::CsvTable summary = croquis::read_csv((folder / "e.summary.csv").string());
  CHECK(summary.rows.size() == 5 * 3 * 2 * 5);
  CHECK(
      fmt::format("{}", fmt::join(summary.header, ",")) ==
      "input,method,preset,target,n,p,p_v,features,metric,count,failed,mean,standard_error,q10,q50,q90,layer,head,n_q");
}

TEST_CASE("croquis error: how many heads have no relative error is said below the table, in the plot and in answers") {
  TemporaryFolder folder;
  write_heads(folder);
  std::vector<double> values(5 * 40 * 4, 0.0);  // of the first head they stay zero
  croquis::fill_normal(croquis::Key(12), 0, values.size() - 160, values.data() + 160);
  write_text(folder / "v.npy",
             npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (5, 40, 4), }", bytes_of(values)));
  const std::string words =
      "1 of 5 heads has no relative error, as what is approximated there is zero or rounding alone";
  const DrawnPlot plot = drawn_plot(kTableHeads + "--methods v-mean,linformer --out e.csv --plot e.svg", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK_MESSAGE(contains(plot.run.output, "\n" + words + "\n"), plot.run.output);
  CHECK_MESSAGE(contains(plot.title, "\n" + words + "\n"), plot.title);
  CHECK(contains(run_croquis("show e.csv", folder.path()).output, "spectral_rel: " + words + ".\n"));
  CHECK_FALSE(contains(drawn_plot("plot e.csv --metric spectral_abs", folder.path()).title, "no relative error"));
}

TEST_CASE("croquis error --rows of several heads: the interval's ends are the medians over the heads") {
  TemporaryFolder folder;
  write_heads(folder);
  const ProgramRun run = run_croquis(kTableHeads + "--methods performer --rows 30 --out r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const auto median = [&](const char* column) {
    std::vector<double> ends;
    for (const auto& [input, draws] : values_of(folder / "r.csv", "performer", "8", column))
      ends.push_back(mean_of(draws));
    return median_of(ends);
  };
  CHECK_MESSAGE(contains(line_of(run.output, "performer"),
                         fmt::format(") [{:.3g}, {:.3g}]", median("spectral_rel_lo"), median("spectral_rel_hi"))),
                run.output);
}

TEST_CASE("X.heads.csv: merged shards have it, and a run of one head leaves none of an earlier run's") {
  TemporaryFolder folder;
  write_heads(folder);
  const std::string run = kTableHeads + "--methods v-mean,performer --quiet ";
  REQUIRE(run_croquis(run + "--out all.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(run + "--shard 1/2 --out a.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(run + "--shard 2/2 --out b.csv", folder.path()).status == 0);
  REQUIRE(run_croquis("merge m.csv a.csv b.csv", folder.path()).status == 0);
  CHECK(read_text(folder / "m.heads.csv") == read_text(folder / "all.heads.csv"));
  REQUIRE(run_croquis(run + "--head 2 --out all.csv --overwrite", folder.path()).status == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "all.heads.csv"));
  write_text(folder / "all.heads.csv", "a,table,of,mine\n");
  REQUIRE(run_croquis(run + "--head 2 --out all.csv --overwrite", folder.path()).status == 0);
  CHECK(read_text(folder / "all.heads.csv") == "a,table,of,mine\n");
}
