// The tables that commands print: what each number is, against sums over the rows.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <armadillo>
#include <croquis/io/csv.hpp>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/gnuplot_script.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// The line that begins with this label.
std::string line_of(const std::string& output, const std::string& label) {
  for (const std::string& line : lines_of(output)) {
    if (line.starts_with(label + " ")) return line;
  }
  return "";
}

// The finite values of a column, by input, of the rows of a method at one d.
std::map<std::string, std::vector<double>> values_of(const std::filesystem::path& file, const std::string& method,
                                                     const std::string& d, const std::string& column = "spectral_rel") {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  std::map<std::string, std::vector<double>> values;
  for (const auto& row : table.rows) {
    if (row[table.column("method")] != method || row[table.column("features")] != d) continue;
    if (row[table.column(column)] != "NA")
      values[row[table.column("input")]].push_back(std::stod(row[table.column(column)]));
  }
  return values;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

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

TEST_CASE("croquis error: the printed table has a block for each target, with a line that says whose function it is") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "error --n 64 --p 8 --features 8 --trials 2 --methods skyformer,nystromformer,nprf,v-mean,prf-rpe,nprf-rpe",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::vector<std::pair<std::string, std::string>> blocks = {
      {"Gaussian-kernel attention C V, another function than softmax attention", "skyformer"},
      {"softmax attention", "nystromformer"},
      {"softmax attention of unit queries and keys, another function than softmax attention", "nprf"},
      {"softmax attention with the relative position bias, if one is given", "prf-rpe"},
      {"softmax attention of unit queries and keys with the relative position bias, another function than softmax "
       "attention",
       "nprf-rpe"}};
  std::size_t at = 0;
  for (const auto& [meaning, method] : blocks) {
    CAPTURE_BINDING(meaning);
    at = run.output.find("\napproximations of " + meaning + "\n", at);
    REQUIRE(at != std::string::npos);
    const std::size_t end = run.output.find("\n\n", at);
    const std::string block = run.output.substr(at, end - at);
    CHECK(contains(block, "\n" + method + " "));
    CHECK(contains(block, "\nv-mean ") == (method == "nystromformer"));
    CHECK(contains(block, " d = 8\n"));
  }
}

TEST_CASE("croquis error: methods of an output that is zero are named, since they have no relative error") {
  TemporaryFolder folder;
  const std::string zeros(40 * 4 * sizeof(double), '\0');
  write_text(folder / "v.npy", npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (40, 4), }", zeros));
  const std::vector<double> numbers(40 * 4, 0.5);
  for (const char* name : {"q", "k"}) {
    write_text(folder / (std::string(name) + ".npy"),
               npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (40, 4), }", bytes_of(numbers)));
  }
  const ProgramRun run = run_croquis(
      "error --q q.npy --k k.npy --v v.npy --features 8 --trials 2 --methods v-mean,skyformer", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "no relative error (column spectral_abs): v-mean, skyformer\n"));
}

TEST_CASE("a run whose rows have nothing to draw is complete: a line says so, and no earlier picture stays beside it") {
  TemporaryFolder folder;
  write_text(folder / "e.svg", "<svg/>");
  const ProgramRun run = run_croquis(
      "error --input gaussian --norm 1e6 --n 40 --p 4 --features 8 --trials 2 --methods skyformer-softmax --quiet "
      "--out e.csv --plot e.svg",
      folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  REQUIRE(values_of(folder / "e.csv", "skyformer-softmax", "8").empty());  // denominators underflow
  CHECK(run.output ==
        "croquis error: e.svg: is not drawn: no row has a spectral_rel that an axis can show; the picture that was "
        "there is removed\n");
  CHECK_FALSE(std::filesystem::exists(folder / "e.svg"));
  const ProgramRun plot = run_croquis("plot e.csv", folder.path());
  CHECK(plot.status == 2);
  CHECK(plot.output == "croquis: e.svg: no row has a spectral_rel that an axis can show\n");
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

TEST_CASE("croquis cost: the table of times has the blocks too") {
#ifdef NDEBUG
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "cost --n 32,64 --p 4 --features 8 --repeats 2 --warmup 0 --methods skyformer,linformer", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::size_t other = run.output.find("\napproximations of Gaussian-kernel attention C V, another function");
  REQUIRE(other != std::string::npos);
  CHECK(contains(run.output.substr(other), "\nexact-kernelized "));
  CHECK(run.output.find("\nexact ") < other);
  CHECK(run.output.find("\nlinformer") < other);
#endif
}

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

TEST_CASE("croquis error: where a method computes exact attention, the table says that it is no approximation") {
  TemporaryFolder folder;
  const std::string command =
      "error --input gaussian --n 32 --p 4 --methods skeinformer --trials 2 --overwrite --features ";
  const std::string footnote = "= exact up to rounding: no approximation any more";
  CHECK_FALSE(contains(run_croquis(command + "8", folder.path()).output, footnote));
  const std::string both = run_croquis(command + "8,32", folder.path()).output;  // d = n is exact
  CHECK(contains(both, ")=\n"));
  CHECK(contains(both, footnote));
}

TEST_CASE("croquis variance: heavy-tailed cells are those of the definition, marked and explained below the table") {
  TemporaryFolder folder;
  const ProgramRun run =
      run_croquis("variance --maps prf --norms 1,4 --features 4,16 --trials 30 --p 8 --keys 32 --seed 2 --out v.csv",
                  folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const croquis::CsvTable table = croquis::read_csv((folder / "v.csv").string());
  const std::size_t title = run.output.find("mean of (estimate / exp(x.y) - 1)^2");
  REQUIRE(title != std::string::npos);
  const std::string printed = run.output.substr(title, run.output.find("its expectation", title) - title);
  int marks = 0;
  for (const std::string norm : {"1", "4"}) {
    for (const std::string d : {"4", "16"}) {
      std::vector<double> values;
      for (const auto& row : table.rows) {
        if (row[table.column("norm")] == norm && row[table.column("features")] == d)
          values.push_back(std::stod(row[table.column("squared_error")]));
      }
      REQUIRE(values.size() == 30);
      std::sort(values.begin(), values.end());
      const double sum = std::accumulate(values.begin(), values.end(), 0.0), mean = sum / 30;
      // The 10 % and 90 % quantiles lie at 2.9 and 26.1 of 29.
      const double q10 = 0.1 * values[2] + 0.9 * values[3], q90 = 0.9 * values[26] + 0.1 * values[27];
      const bool heavy = values.back() > 0.5 * sum || mean > q90 || mean < q10;
      double squares = 0;
      for (const double x : values) squares += (x - mean) * (x - mean);
      const std::string cell = fmt::format("{:.4g} ({:.1g})", mean, std::sqrt(squares / 29 / 30));
      CAPTURE(cell);
      CHECK(contains(printed, cell + "*") == heavy);
      CHECK(contains(printed, cell));
      marks += heavy ? 1 : 0;
    }
  }
  CHECK(marks > 0);  // at R = 4 a few draws of thirty are all there is
  CHECK(marks < 4);
  CHECK(contains(printed, "\n* heavy-tailed: one draw has more than half"));
}

TEST_CASE("croquis variance: a norm has the digits that it was given with in names of curves, and 17 in the rows") {
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis("variance --norms 0.2,1 --p 4 --features 4 --trials 2 --out v.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  for (const std::string& output : {run.output, run_croquis("show v.csv", folder.path()).output}) {
    CHECK_MESSAGE(contains(output, "prf (iid, R = 0.2) "), output);
    CHECK_FALSE(contains(output, "0.2000000"));
  }
  CHECK(contains(read_text(folder / "v.csv"), ",0.20000000000000001,"));
}

TEST_CASE("croquis variance: a mean far below its known expectation is marked, and the brackets are explained") {
  TemporaryFolder folder;
  const auto shown = [&](const std::string& norm) {
    const ProgramRun run =
        run_croquis("variance --norms " + norm + " --features 64 --trials 5 --overwrite", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(contains(run.output, "(e^{||x+y||^2} - 1) / d, mean over the points of the draws (standard error 0"));
    return run.output;
  };
  const auto answers = [&] { return run_croquis("show variance.csv", folder.path()).output; };
  const auto title = [&] { return drawn_plot("plot variance.csv --metric squared_error", folder.path()).title; };
  CHECK(contains(shown("6"), "~ less than a tenth of the expectation"));
  CHECK_MESSAGE(contains(title(), "\nmean below a tenth of the expectation: prf (iid, R = 6) (d = 64)\n"), title());
  CHECK_MESSAGE(contains(answers(), "and says nothing about it: prf (iid, R = 6) at d = 64.\n"), answers());
  CHECK_FALSE(contains(shown("0.5"), "~ less than"));
  CHECK_FALSE(contains(title(), "expectation:"));
  CHECK_FALSE(contains(answers(), "less than a tenth"));
}

TEST_CASE("croquis error --rows: the table has the interval and the number of rows") {
  TemporaryFolder folder;
  const std::string rows = "error --input clustered --n 300 --p 6 --methods skyformer --features 16 --trials 3 ";
  const ProgramRun run = run_croquis(rows + "--rows 100 --out r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "mean of 3 draws (standard error on these rows) [95 % interval for the sample of rows]"));
  CHECK(contains(run.output, "n = 300, p = 6, 100 of n rows\n"));
  const auto ends = [&](const char* column) {
    return mean_of(values_of(folder / "r.csv", "skyformer", "16", column).begin()->second);
  };
  CHECK(contains(line_of(run.output, "skyformer"),
                 fmt::format(") [{:.3g}, {:.3g}]", ends("spectral_rel_lo"), ends("spectral_rel_hi"))));
  const ProgramRun whole = run_croquis(rows + "--out w.csv", folder.path());
  CHECK_FALSE(contains(whole.output, "of n rows"));
  CHECK(contains(whole.output, "mean of 3 draws (standard error); "));
  CHECK_FALSE(contains(whole.output, "["));
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

TEST_CASE("croquis error --causal: the table says that attention is causal") {
  TemporaryFolder folder;
  const std::string methods = "error --n 48 --p 8 --features 8 --trials 2 --methods prf-rpe ";
  CHECK(contains(run_croquis(methods + "--causal --out c.csv", folder.path()).output, ", p = 8, causal attention\n"));
  CHECK_FALSE(contains(run_croquis(methods + "--out p.csv", folder.path()).output, "causal"));
}

TEST_CASE("croquis error: no entry of a table runs into the next") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "error --n 48 --p 8 --features 8,16 --trials 2 --methods "
      "skyformer-softmax:ridge=0.001,preset=code,iterations=9,v-mean",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::vector<std::string> lines = lines_of(run.output);
  const auto header =
      std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return contains(line, "d = 16"); });
  REQUIRE(header != lines.end());
  const std::size_t end = header->find("d = 8") + 5;
  for (auto line = header + 1; line != lines.end() && !line->empty(); ++line) {
    REQUIRE(line->size() > end);
    CHECK((*line)[end - 1] != ' ');  // columns end in one place
    CHECK(line->substr(end, 2) == "  ");
  }
}

TEST_CASE("X.summary.csv: the mean, its standard error and the quantiles of the rows, each in its column") {
  const TemporaryFolder folder;
  REQUIRE(run_croquis("error --input gaussian --n 24 --p 4 --methods performer --features 8 --trials 21 --quiet",
                      folder.path())
              .status == 0);
  std::vector<double> errors;
  for (const std::string& error : column_of(folder / "error.csv", "spectral_rel")) errors.push_back(std::stod(error));
  REQUIRE(errors.size() == 21);
  std::sort(errors.begin(), errors.end());
  const arma::vec all(errors);
  const auto metrics = column_of(folder / "error.summary.csv", "metric");
  const auto line = std::find(metrics.begin(), metrics.end(), "spectral_rel") - metrics.begin();
  const auto is = [&](const char* column, double right) {
    const double found = std::stod(column_of(folder / "error.summary.csv", column).at(static_cast<std::size_t>(line)));
    CAPTURE(column);
    CHECK(std::abs(found - right) <= 1e-13 * right);  // 21 terms, each rounded a few times
  };
  is("count", 21);
  is("mean", arma::mean(all));
  is("standard_error", std::sqrt(arma::accu(arma::square(all - arma::mean(all))) / 20 / 21));
  is("q10", all(2));
  is("q50", all(10));
  is("q90", all(18));
}
