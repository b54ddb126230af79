// croquis sketch: sizes that some of the operators and policies do not take, in the rows and in the printed tables.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "support/gnuplot_script.hpp"
#include "support/matrices.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

struct SketchFolder : TemporaryFolder {
  SketchFolder() {
    croquis::write_npy((path() / "G.npy").string(), random_matrix(100, 40, croquis::Key(1).child("sketch tables")));
  }
  std::string sketch(const std::string& arguments) const {
    const ProgramRun run = run_croquis("sketch " + arguments, path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run.output;
  }
};

// The lines of the printed table whose title starts so, without the title and the sizes; none where there is no table.
std::vector<std::string> printed_table(const std::string& output, const std::string& title) {
  const std::vector<std::string> lines = lines_of(output);
  auto line = std::find_if(lines.begin(), lines.end(), [&](const std::string& l) { return l.starts_with(title); });
  std::vector<std::string> table;
  if (line == lines.end()) return table;
  for (line += 3; line != lines.end() && !line->empty(); ++line) table.push_back(*line);
  return table;
}

}  // namespace

TEST_CASE("croquis sketch: a size that an operator does not take is a failed row, and the run goes on to its end") {
  const SketchFolder folder;
  const std::string options =
      "--matrix G.npy --trials 3 --landmarks none --quiet --out s.csv --sketches gaussian,sjlt:s=8,sparse-stack:zeta=3"
      ",srht";
  folder.sketch(options + " --features 4,15,16,200");
  const croquis::CsvTable table = croquis::read_csv((folder / "s.csv").string());
  CHECK(table.rows.size() == 4 * 4 * 3);
  for (const auto& row : table.rows) {
    const auto field = [&](const char* name) { return row[table.column(name)]; };
    CAPTURE(field("name"));
    CAPTURE(field("features"));
    const std::size_t d = std::stoul(field("features"));
    std::string status = "ok";
    if (field("name") == "sjlt:s=8" && d == 4) {
      status = "sjlt: s a whole number in 1 ... d, got s = 8, rows = 100, cols = 4";
    }
    if (field("name") == "srht" && d == 200) status = "srht: n >= 1, 1 <= d <= n', the next power of two";
    if (field("name") == "sparse-stack:zeta=3" && d != 15) status = "sparse-stack: ";
    CHECK(field("status").starts_with(status));
    CHECK((field("norm_error") == "NA") == (status != "ok"));
  }
}

TEST_CASE("croquis sketch: a run with sizes that an operator does not take is resumed") {
  const SketchFolder folder;
  const std::string options =
      "--matrix G.npy --trials 3 --out s.csv --sketches gaussian,sjlt:s=8 --landmarks none --features 16,4 --quiet";
  folder.sketch(options);
  const auto rows = rows_of(folder / "s.csv");
  REQUIRE(rows.size() == 12);
  const std::string whole = read_text(folder / "s.csv");
  write_text(folder / "s.csv", whole.substr(0, whole.size() * 3 / 5));
  folder.sketch(options + " --resume");
  CHECK(rows_of(folder / "s.csv") == rows);
}

TEST_CASE(
    "croquis sketch: a policy that fails is in the tables of policies alone, also where an operator has its name") {
  const SketchFolder folder;
  const std::string output =
      folder.sketch("--matrix v --n 128 --p 16 --features 200,1000 --trials 3 --sketches uniform,gaussian --out s.csv");
  for (const std::string title : {"| ||S^T x||", "injectivity", "dilation", "||BV - B S S^T V||"}) {
    CAPTURE(title);
    const std::vector<std::string> lines = printed_table(output, title);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].starts_with("uniform "));
    CHECK(lines[1].starts_with("gaussian "));
    for (const std::string& line : lines) CHECK_FALSE(contains(line, "failed"));
  }
  const std::vector<std::string> policies = printed_table(output, "Nystrom on the lift M");
  CHECK(policies.size() == 5);
  for (const std::string& line : policies) CHECK(contains(line, "failed"));
  CHECK(contains(output, "15 of 42 rows failed; the first: landmarks: "));
  CHECK(printed_table(run_croquis("show s.csv", folder.path()).output, "injectivity").size() == 2);
}

TEST_CASE("croquis plot and report: an operator and a landmark policy of one name are two curves") {
  const SketchFolder folder;
  folder.sketch("--n 64 --p 16 --features 8,16 --trials 3 --sketches uniform --landmarks uniform --quiet --out s.csv");
  const DrawnPlot plot = drawn_plot("plot s.csv --metric seconds --out s.svg", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(plot.legend == std::vector<std::string>{"uniform", "uniform (landmarks)"});
  for (const DrawnCurve& curve : plot.curves) CHECK(curve.points.size() == 2);
  REQUIRE(run_croquis("report s.csv --out s.html", folder.path()).status == 0);
  CHECK(contains(read_text(folder / "s.html"), "<th scope=\"row\">uniform (landmarks)</th>"));
  // A policy alone keeps its name.
  folder.sketch("--n 64 --p 16 --features 8,16 --trials 3 --sketches gaussian --landmarks uniform --quiet --out o.csv");
  CHECK(drawn_plot("plot o.csv --metric seconds --out o.svg", folder.path()).legend ==
        std::vector<std::string>{"gaussian", "uniform"});
}

TEST_CASE("croquis plot and show: of a product, its axis and its answers name the factors") {
  const SketchFolder folder;
  const std::string options = " --sketches gaussian --landmarks none --features 8,16 --trials 2 --quiet --out ";
  folder.sketch("--n 64 --p 16" + options + "head.csv");
  folder.sketch("--matrix G.npy --product G.npy" + options + "own.csv");
  const std::string what = "relative spectral error of the product ";
  const struct {
    const char *file, *factors, *escaped;  // for gnuplot
  } cases[] = {{"head.csv", "B V", "B V"}, {"own.csv", "A^T B", "A\\136T B"}};
  for (const auto& [file, factors, escaped] : cases) {
    const DrawnPlot plot = drawn_plot(fmt::format("plot {} --metric product_spectral_rel", file), folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    CHECK_MESSAGE(contains(plot.script, "set ylabel \"" + what + escaped + "\""), plot.script);
    const std::string shown = run_croquis(std::string("show ") + file, folder.path()).output;
    CHECK_MESSAGE(contains(shown, what + factors), shown);
  }
}

TEST_CASE("croquis sketch: without operators there are no tables of operators, also where policies fail") {
  const SketchFolder folder;
  const std::string output = folder.sketch("--n 64 --p 16 --sketches none --landmarks uniform --features 16,129");
  CHECK_FALSE(contains(output, "injectivity"));
  REQUIRE(printed_table(output, "Nystrom on the lift M").size() == 1);
  CHECK(contains(printed_table(output, "Nystrom on the lift M").front(), "failed"));
}

TEST_CASE("croquis sketch: an operator that fails at a size is in the table of products where there is a product") {
  const SketchFolder folder;
  const std::string options = "--matrix G.npy --sketches srct --landmarks none --trials 2 --features 50,101 ";
  const std::string without = folder.sketch(options + "--out without.csv");
  CHECK_FALSE(contains(without, "A^T B"));
  for (const std::string title : {"| ||S^T x||", "injectivity", "dilation"}) {
    CAPTURE(title);
    REQUIRE(printed_table(without, title).size() == 1);
    CHECK(contains(printed_table(without, title).front(), "failed"));
  }
  CHECK(contains(without, "2 of 4 rows failed; the first: srct: 1 <= d <= n"));
  const std::string with = folder.sketch(options + "--product G.npy --out with.csv");
  REQUIRE(printed_table(with, "||A^T B").size() == 1);
  CHECK(contains(printed_table(with, "||A^T B").front(), "failed"));
}

TEST_CASE("croquis sketch: refusals have the name of the operator, not of a class") {
  const SketchFolder folder;
  const std::string options = "sketch --matrix G.npy --landmarks none --features 200 --trials 1 --quiet --sketches ";
  const ProgramRun named = run_croquis(options + "srht", folder.path());
  CHECK(named.status == 2);
  CHECK(named.output.starts_with("croquis: --sketches srht: n >= 1, 1 <= d <= n'"));
  const ProgramRun all = run_croquis(options + "all", folder.path());
  CHECK(all.status == 0);
  CHECK(contains(all.output, "srht is left out, it takes none of --features: srht: n >= 1"));
  CHECK_FALSE(contains(all.output, "Sketch:"));
  // One that is named beside all, with its parameters, is not left out.
  const ProgramRun beside = run_croquis(options + "all,sjlt:s=201 --overwrite", folder.path());
  CHECK(beside.status == 2);
  CHECK_MESSAGE(contains(beside.output, "croquis: --sketches sjlt:s=201: s a whole number in 1 ... d"), beside.output);
}

TEST_CASE("croquis list sketches: every landmark policy that it names is taken by --landmarks") {
  const SketchFolder folder;
  const std::string start = "landmark policies: ";
  const std::vector<std::string> lines = lines_of(run_croquis("list sketches", folder.path()).output);
  REQUIRE(lines.back().starts_with(start));
  std::string policies = lines.back().substr(start.size());
  std::replace(policies.begin(), policies.end(), ' ', ',');
  CHECK(policies == "uniform,stratified,leverage,recursive,rpcholesky");
  folder.sketch("--n 32 --p 4 --features 8 --trials 1 --sketches none --quiet --landmarks " + policies);
}

TEST_CASE("croquis sketch: there may be as many landmarks as points, and not one more") {
  const TemporaryFolder folder;
  std::string matrix = "%%MatrixMarket matrix coordinate real general\n6 6 6\n";
  for (int i = 1; i <= 6; ++i) matrix += fmt::format("{0} {0} {0}\n", i);
  write_text(folder / "m.mtx", matrix);
  const std::string line =
      "sketch --matrix m.mtx --sketches none --landmarks uniform --trials 1 --quiet --overwrite --features ";
  const ProgramRun all = run_croquis(line + "6", folder.path());
  CHECK_MESSAGE(all.status == 0, all.output);
  check_refused(run_croquis(line + "7", folder.path()), "7 of --features are more than the 6 points there are");
}
