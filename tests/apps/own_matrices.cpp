// croquis sketch and croquis spectrum on matrices from files, from the outside.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/kernel/point_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "support/capture.hpp"
#include "support/matrices.hpp"
#include "support/program.hpp"

namespace {

using croquis::Key;

arma::mat psd_matrix() {
  return with_eigenvalues(60, arma::exp2(-arma::linspace(0, 12, 60)), Key(1).child("own"));
}

std::string as_mtx(const arma::mat& m) {
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", m.n_rows, m.n_cols, m.n_elem);
  for (arma::uword j = 0; j < m.n_cols; ++j) {
    for (arma::uword i = 0; i < m.n_rows; ++i) text += fmt::format("{} {} {:.17g}\n", i + 1, j + 1, m(i, j));
  }
  return text;
}

struct Files : TemporaryFolder {
  Files() {
    write("G", psd_matrix());
    write("X", random_matrix(60, 3, Key(2)));
    write("B", random_matrix(60, 5, Key(3)));
    arma::mat skewed = psd_matrix();
    skewed(7, 3) += 1;
    write("skewed", skewed);
    write("indefinite", arma::mat(psd_matrix() - 0.01 * arma::mat(60, 60, arma::fill::eye)));
    write_text(path() / "G.mtx", as_mtx(psd_matrix()));
  }
  void write(const std::string& name, const arma::mat& m) const {
    croquis::write_npy((path() / (name + ".npy")).string(), m);
  }
  croquis::CsvTable run(const std::string& arguments) const {
    const ProgramRun run = run_croquis(arguments + " --quiet --overwrite --out rows.csv", path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    said = run.output;
    return croquis::read_csv((path() / "rows.csv").string());
  }
  mutable std::string said;
};

std::set<std::string> all_of(const croquis::CsvTable& table, const char* column) {
  std::set<std::string> values;
  for (const auto& row : table.rows) values.insert(row[table.column(column)]);
  return values;
}

double best_trace(const arma::mat& g, arma::uword d) {
  const arma::vec values = arma::sort(arma::eig_sym(g), "descend");
  return arma::accu(values.tail(values.n_elem - d)) / arma::accu(values);
}

}  // namespace

TEST_CASE("croquis sketch: landmark policies on a positive semi-definite matrix, from .npy and .mtx the same rows") {
  const Files files;
  const std::string options =
      " --sketches none --landmarks rpcholesky,uniform,leverage,recursive --features 8,30 --trials 3";
  const croquis::CsvTable table = files.run("sketch --matrix G.npy" + options);
  REQUIRE(table.rows.size() == 4 * 2 * 3);
  const double norm_of_rest = std::exp2(-12.0 * 8 / 59);  // of the best approximation of rank 8; ||G|| = 1
  for (const auto& row : table.rows) {
    const auto field = [&](const char* name) { return row[table.column(name)]; };
    CHECK(field("status") == "ok");
    CHECK(field("input") == "G.npy");
    CHECK(field("matrix") == "G.npy");
    CHECK(field("kind") == "landmarks");
    CHECK(field("n") == "60");
    CHECK(field("cols") == "60");
    CHECK(field("rank") == "0");
    CHECK(field("injectivity") == "NA");
    // No approximation of rank d is better than the best one.
    const arma::uword d = std::stoul(field("features"));
    CHECK(std::stod(field("nystrom_trace_rel")) >= best_trace(psd_matrix(), d) * (1 - 1e-9));
    if (d == 8) CHECK(std::stod(field("nystrom_spectral_rel")) >= norm_of_rest * (1 - 1e-3));
    CHECK(std::stod(field("nystrom_spectral_rel")) <= 1);
  }
  const auto rows = rows_of(files / "rows.csv", "G.npy");
  croquis::CsvTable mtx = files.run("sketch --matrix G.mtx" + options);
  auto others = rows_of(files / "rows.csv", "G.mtx");
  for (auto& row : others) std::replace(row.begin(), row.end(), std::string("G.mtx"), std::string("G.npy"));
  CHECK(rows == others);
  files.run("sketch --threads 3 --matrix G.npy" + options);
  CHECK(rows_of(files / "rows.csv", "G.npy") == rows);
}

TEST_CASE("croquis sketch: with all landmarks, a matrix that has none is sketched, and why is said once") {
  const Files files;
  const std::pair<std::string, std::string> cases[] = {
      {"B.npy", "B.npy: is 60 x 5, not square"},
      {"skewed.npy", "skewed.npy: is not symmetric: entry (7, 3) is "},
      {"indefinite.npy", "indefinite.npy: is not positive semi-definite: its smallest eigenvalue is -0.00975"}};
  for (const auto& [file, says] : cases) {
    CAPTURE_BINDING(file);
    const std::string options = "sketch --features 8 --trials 1 --sketches srht --matrix " + file;
    CHECK(all_of(files.run(options), "kind") == std::set<std::string>{"operator"});
    CHECK(files.said.find("landmark policies are left out, " + says) != std::string::npos);
    CHECK(std::count(files.said.begin(), files.said.end(), '\n') == 1);
    files.run(options + " --landmarks none");
    CHECK(files.said.empty());
    const ProgramRun named = run_croquis(options + " --out new.csv --landmarks uniform", files.path());
    CAPTURE(named.output);
    CHECK(named.status == 2);
    CHECK(named.output.find(says) != std::string::npos);
    CHECK(std::count(named.output.begin(), named.output.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(files / "new.csv"));
  }
  CHECK(files.run("sketch --matrix G.npy --features 8 --trials 1").rows.size() == 11 + 4);
  CHECK(files.said.empty());
}

TEST_CASE("croquis sketch: points and their kernel are measured as the kernel matrix in a file") {
  const Files files;
  const arma::mat points = random_matrix(60, 3, Key(2));
  for (const std::string& kernel : croquis::point_kernel_names()) {
    CAPTURE(kernel);
    files.write("K", point_kernel_matrix(points, croquis::point_kernel(kernel), 1.5).dense());
    const std::string options = " --features 8 --trials 3 --sketches gaussian,srht";
    const croquis::CsvTable stored = files.run("sketch --matrix K.npy" + options),
                            blocks = files.run("sketch --matrix X.npy --bandwidth 1.5 --kernel " + kernel + options);
    CHECK(all_of(blocks, "matrix") == std::set<std::string>{kernel + ":bandwidth=1.5"});
    CHECK(all_of(blocks, "input") == std::set<std::string>{"X.npy"});
    CHECK(all_of(blocks, "cols") == std::set<std::string>{"60"});
    REQUIRE(stored.rows.size() == 6 * 3);
    REQUIRE(blocks.rows.size() == stored.rows.size());
    for (std::size_t i = 0; i < stored.rows.size(); ++i) {
      for (const char* metric :
           {"norm_error", "injectivity", "dilation", "nystrom_spectral_rel", "nystrom_trace_rel"}) {
        const std::string one = stored.rows[i][stored.column(metric)], other = blocks.rows[i][blocks.column(metric)];
        CAPTURE(stored.rows[i][stored.column("name")]);
        CAPTURE(std::string(metric));
        CHECK((one == "NA") == (other == "NA"));
        if (one != "NA") CHECK(std::stod(one) == doctest::Approx(std::stod(other)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("croquis sketch: more points than are stored n x n have landmarks by blocks") {
  const Files files;
  files.write("many", random_matrix(4100, 2, Key(4)));
  const std::string options = "sketch --matrix many.npy --kernel laplace --bandwidth 1 --features 20 --trials 1";
  const croquis::CsvTable table = files.run(options + " --sketches none");
  CHECK(all_of(table, "name") == std::set<std::string>{"uniform", "recursive", "rpcholesky"});
  CHECK(all_of(table, "status") == std::set<std::string>{"ok"});
  CHECK(all_of(table, "nystrom_spectral_rel") == std::set<std::string>{"NA"});
  for (const auto& row : table.rows) CHECK(std::stod(row[table.column("nystrom_trace_rel")]) < 1);
  CHECK(files.said ==
        "croquis sketch: nystrom_spectral_rel and the policy leverage are left out, n = 4100 is more than 4096\n");
  const ProgramRun stored = run_croquis(options + " --out new.csv", files.path());
  CHECK(stored.status == 2);
  CHECK(stored.output.find("--sketches none") != std::string::npos);
}

TEST_CASE("croquis sketch: a product of two files, exact where S keeps every row") {
  const Files files;
  const croquis::CsvTable table = files.run(
      "sketch --matrix X.npy --product B.npy --landmarks none --features 60 --trials 2 "
      "--sketches uniform:replacement=0,gaussian,importance");
  CHECK(all_of(table, "input") == std::set<std::string>{"X.npy;product=B.npy"});
  for (const auto& row : table.rows) {
    const double spectral = std::stod(row[table.column("product_spectral_rel")]),
                 frobenius = std::stod(row[table.column("product_frobenius_rel")]);
    const bool keeps = row[table.column("name")].starts_with("uniform");
    CHECK((spectral < 1e-13) == keeps);
    CHECK((frobenius < 1e-13) == keeps);
  }
  const std::string meta = read_text(files / "rows.meta.json");
  CHECK(meta.find("numbers of the product") != std::string::npos);
  // Another factor is another run.
  files.write("B", random_matrix(60, 5, Key(9)));
  CHECK(run_croquis("sketch --matrix X.npy --product B.npy --landmarks none --features 60 --trials 2 "
                    "--sketches uniform:replacement=0,gaussian,importance --out rows.csv --resume",
                    files.path())
            .status == 2);
}

TEST_CASE("croquis spectrum: the singular values of a file, dense and by Lanczos, with summary and plot") {
  const Files files;
  const arma::vec expected = arma::svd(psd_matrix());
  for (const std::string file : {"G.npy", "G.mtx"}) {
    const croquis::CsvTable dense = files.run("spectrum --plot s.svg --matrix " + file);
    REQUIRE(dense.rows.size() == 60);
    for (std::size_t i = 0; i < 60; ++i) {
      CHECK(std::stod(dense.rows[i][dense.column("singular_value")]) == doctest::Approx(expected(i)).epsilon(1e-9));
      CHECK(dense.rows[i][dense.column("matrix")] == file);
      CHECK(dense.rows[i][dense.column("method")] == "dense");
    }
    CHECK(read_text(files / "s.svg").find(file) != std::string::npos);
    const croquis::CsvTable summary = croquis::read_csv((files / "rows.summary.csv").string());
    REQUIRE(summary.rows.size() == 1);
    CHECK(std::stod(summary.rows[0][summary.column("nuclear")]) == doctest::Approx(arma::accu(expected)));
    CHECK(std::stod(summary.rows[0][summary.column("condition")]) == doctest::Approx(4096));
    std::string plot = "plot rows.csv --out ";
    plot += file;
    plot += ".svg";
    CHECK(run_croquis(plot, files.path()).status == 0);
  }
  const croquis::CsvTable lanczos = files.run("spectrum --method lanczos --leading 10 --matrix B.npy");
  const arma::vec of_b = arma::svd(random_matrix(60, 5, Key(3)));
  REQUIRE(lanczos.rows.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(std::stod(lanczos.rows[i][lanczos.column("singular_value")]) == doctest::Approx(of_b(i)).epsilon(1e-6));
    CHECK(lanczos.rows[i][lanczos.column("n")] == "60");
    CHECK(lanczos.rows[i][lanczos.column("p")] == "5");
  }
}

TEST_CASE("own matrices: what does not go together is one line and status 2") {
  const Files files;
  arma::mat wrong(7, 5, arma::fill::ones);
  wrong(3, 2) = arma::datum::nan;
  files.write("nan", wrong);
  wrong(3, 2) = 1;
  wrong(6, 4) = arma::datum::inf;
  files.write("inf", wrong);
  files.write("empty", arma::mat(0, 5));
  const std::pair<std::string, std::string> cases[] = {
      {"sketch --matrix nan.npy --sketches gaussian", "nan.npy: row 3, column 2 (from 0) is NaN"},
      {"spectrum --matrix inf.npy", "inf.npy: row 6, column 4 (from 0) is infinite"},
      {"spectrum --matrix empty.npy", "empty.npy: is empty, it has 0 x 5 numbers"},
      {"sketch --matrix G.npy --sketches none --landmarks none", "both are none"},
      {"sketch --matrix G.npy --q none.npy", "--matrix: a file takes the place of an input; leave out --q"},
      {"sketch --matrix G.npy --n 7", "--matrix: a file takes the place of an input; leave out --n"},
      {"sketch --matrix G.npy --causal", "--matrix: a file takes the place of an input; leave out --causal"},
      {"sketch --matrix B.npy --sketches none", "B.npy: is 60 x 5, not square"},
      {"sketch --matrix G.npy --landmarks stratified", "queries"},
      {"sketch --matrix G.npy --landmarks given", "rpcholesky"},
      {"sketch --matrix X.npy --kernel laplace", "--bandwidth"},
      {"sketch --matrix X.npy --bandwidth 2", "--kernel"},
      {"sketch --matrix X.npy --kernel cauchy --bandwidth 2", "matern32"},
      {"sketch --matrix X.npy --kernel laplace --bandwidth 0", "--bandwidth: 0"},
      {"sketch --matrix X.npy --kernel laplace --bandwidth nan", "--bandwidth"},
      {"sketch --matrix k --kernel laplace --bandwidth 2", "--kernel: goes with a file"},
      {"sketch --matrix k --product B.npy", "--product: goes with a file"},
      {"sketch --matrix G.npy --product k", "--product: 'k' is neither"},
      {"sketch --matrix X.npy --product none.mtx", "none.mtx: cannot be opened"},
      {"sketch --matrix G.npy --product B.npy --sketches none", "--product"},
      {"sketch --matrix G.txt", "FILE.mtx"},
      {"spectrum --matrix G.txt", "FILE.mtx"},
      {"spectrum --matrix none.npy", "none.npy: cannot be opened"},
      {"spectrum --matrix G.npy --matrices b", "--matrices"},
      {"spectrum --matrix G.npy --n 40", "--matrix: a file takes the place of an input; leave out --n"}};
  for (const auto& [arguments, says] : cases) {
    std::string line = arguments;
    line += " --out new.csv";
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis(line, files.path()), says);
  }
  files.write("short", arma::mat(59, 2, arma::fill::ones));
  const ProgramRun run = run_croquis("sketch --matrix X.npy --product short.npy --out new.csv", files.path());
  CHECK(run.output.find("short.npy has 59 rows, X.npy has 60") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(files / "new.csv"));
}
