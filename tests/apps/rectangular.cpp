// Other numbers of queries than of keys on the command line: decoding and cross-attention.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/io/csv.hpp>

#include <algorithm>
#include <set>

#include "support/array_files.hpp"
#include "support/capture.hpp"
#include "support/matrices.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

using croquis::Key;
using croquis::Problem;

const Problem<double> kProblem(random_matrix(20, 4, Key(1)), random_matrix(50, 4, Key(2)),
                               random_matrix(50, 6, Key(3)));
const std::string kRectangularArrays = " --q q.npy --k k.npy --v v.npy ";

struct RectangularFolder : TemporaryFolder {
  RectangularFolder() { write_arrays(*this, kProblem.Q(), kProblem.K(), kProblem.V()); }
};

struct Result {
  croquis::CsvTable table;
  std::string at(std::size_t row, const char* column) const { return table.rows[row][table.column(column)]; }
  double number(std::size_t row, const char* column) const { return std::stod(at(row, column)); }
};

Result result_of(const RectangularFolder& folder, const std::string& arguments, std::string* said = nullptr) {
  const ProgramRun run = run_croquis(arguments + " --quiet --overwrite --out r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  if (said != nullptr) *said = run.output;
  return {croquis::read_csv((folder / "r.csv").string())};
}

}  // namespace

TEST_CASE("rectangular: croquis error measures the methods that take it, and says which it leaves out of all") {
  const RectangularFolder folder;
  std::string said;
  const Result all = result_of(folder, "error" + kRectangularArrays + "--features 8 --trials 1", &said);
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  CHECK_MESSAGE(contains(said, "left out, because they need as many"), said);
  std::set<std::string> measured;
  for (std::size_t i = 0; i < all.table.rows.size(); ++i) {
    measured.insert(all.at(i, "method"));
    CHECK(all.at(i, "status") == "ok");
    CHECK(all.at(i, "n") == "50");
    CHECK(all.at(i, "n_q") == "20");
  }
  for (const auto& method : croquis::methods<double>()) {
    CAPTURE(method.name);
    CHECK(measured.contains(method.name) == method.rectangular({}));
    CHECK(contains(said, method.name) == !method.rectangular({}));
  }
  // Against the definition: every row of the output of v-mean is the mean of the values.
  const Result mean = result_of(folder, "error" + kRectangularArrays + "--methods v-mean --features 8", &said);
  CHECK(said.empty());
  const arma::mat exact = croquis::exact_attention(kProblem, croquis::Target::softmax).output;
  const arma::mat error = exact.each_row() - arma::mean(kProblem.V(), 0);
  CHECK(mean.number(0, "spectral_abs") == doctest::Approx(arma::norm(error, 2)).epsilon(1e-9));
  const Result sampled = result_of(folder, "error" + kRectangularArrays + "--methods v-mean --features 8 --rows 20");
  CHECK(sampled.number(0, "frobenius_abs") == doctest::Approx(arma::norm(error, "fro")).epsilon(1e-9));
  const Result decoding =
      result_of(folder, "error --q q.npy --k k.npy --v v.npy --methods performer --features 8 --length 45");
  CHECK(decoding.at(0, "n") == "45");
  CHECK(decoding.at(0, "n_q") == "20");
  const Result single =
      result_of(folder, "error" + kRectangularArrays + "--methods v-mean --features 8 --precision float");
  CHECK(single.at(0, "status") == "ok");
}

TEST_CASE("rectangular: a range of --features ends at what all methods take, a larger number is refused") {
  const RectangularFolder folder;
  const auto features = [&](const std::string& arguments) {
    const Result found = result_of(folder, arguments + " --trials 1");
    std::set<std::string> all;
    for (std::size_t i = 0; i < found.table.rows.size(); ++i) all.insert(found.at(i, "features"));
    return all;
  };
  CHECK(features("error" + kRectangularArrays) == std::set<std::string>{"16", "20"});
  CHECK(features("error" + kRectangularArrays + "--methods v-mean,skeinformer") ==
        std::set<std::string>{"16", "32", "50"});
  CHECK(features("gradient" + kRectangularArrays + "--methods nystromformer,linformer --features 4:64") ==
        std::set<std::string>{"4", "8", "16", "20"});
  for (const char* command : {"error", "gradient"}) {
    check_refused(run_croquis(command + kRectangularArrays + "--methods nystromformer --features 21", folder.path()),
                  "--features: 21 is more than the 20 that nystromformer takes here");
  }
}

TEST_CASE("rectangular: croquis spectrum has the singular values of n_q x n_k matrices, dense and by Lanczos") {
  const RectangularFolder folder;
  const std::pair<const char*, arma::mat> matrices[] = {
      {"a", croquis::score_matrix(kProblem, croquis::ScoreMatrix::raw)},
      {"b", croquis::score_matrix(kProblem, croquis::ScoreMatrix::softmax)},
      {"c", croquis::score_matrix(kProblem, croquis::ScoreMatrix::kernelized)},
      {"bv", croquis::exact_attention(kProblem, croquis::Target::softmax).output},
      {"cv", croquis::exact_attention(kProblem, croquis::Target::kernelized).output}};
  for (const auto& [name, matrix] : matrices) {
    const arma::vec values = arma::svd(matrix);
    for (const char* method : {"auto", "lanczos"}) {
      const std::string tried = name;
      CAPTURE(tried);
      const Result found = result_of(
          folder, fmt::format("spectrum{}--matrices {} --method {} --leading 30", kRectangularArrays, name, method));
      REQUIRE(found.table.rows.size() == values.n_elem);
      for (arma::uword i = 0; i < values.n_elem; ++i) {
        CHECK(found.number(i, "singular_value") == doctest::Approx(values(i)).epsilon(1e-5));
        CHECK(found.at(i, "n") == "50");
        CHECK(found.at(i, "n_q") == "20");
      }
    }
  }
  const Result summary = {[&] {
    result_of(folder, "spectrum" + kRectangularArrays + "--matrices b,bv");
    return croquis::read_csv((folder / "r.summary.csv").string());
  }()};
  CHECK(summary.at(0, "rank") == "20");
  CHECK(summary.at(1, "rank") == "6");
  CHECK(summary.at(0, "cumulative_quarter") != "NA");
}

TEST_CASE("rectangular: a method, a command or a policy that needs as many queries as keys refuses it in one line") {
  const RectangularFolder folder;
  const std::pair<std::string, std::string> wrong[] = {
      {"error" + kRectangularArrays + "--methods v-mean,bigbird --features 8",
       "bigbird: as many queries as keys; methods that take other numbers of them are"},
      {"error" + kRectangularArrays + "--methods v-mean,skeinformer --features 51",
       "--features: 51 is more than the n = 50 tokens"},
      {"error" + kRectangularArrays + "--methods v-mean --features 8 --rows 21", "--rows: 21 is none of 20 to n = 20"},
      {"dimension" + kRectangularArrays, "dimension: Q has 20 rows, K 50; as many queries as keys are needed"},
      {"verify" + kRectangularArrays + "--claims sky.conditioning",
       "verify: Q has 20 rows, K 50; as many queries as keys are needed"},
      {"sketch" + kRectangularArrays + "--landmarks uniform --features 8", "--landmarks: Q has 20 rows, K 50"},
  };
  for (const auto& [arguments, message] : wrong) {
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis(arguments, folder.path()), message);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);
  }
}

TEST_CASE("rectangular: croquis sketch compares operators on Q, K, V and the scores, without landmarks") {
  const RectangularFolder folder;
  for (const auto& [matrix, rows] :
       {std::pair("q", "20"), std::pair("k", "50"), std::pair("v", "50"), std::pair("b", "20"), std::pair("c", "20")}) {
    const std::string tried = matrix;
    CAPTURE(tried);
    std::string said;
    const Result found = result_of(
        folder,
        fmt::format("sketch{}--matrix {} --sketches gaussian --features 8 --trials 2", kRectangularArrays, matrix),
        &said);
    CHECK_MESSAGE(contains(said, "landmark policies are left out: Q has 20 rows, K 50"), said);
    REQUIRE(found.table.rows.size() == 2);
    CHECK(found.at(0, "status") == "ok");
    CHECK(found.at(0, "n") == rows);
    CHECK((found.at(0, "product_spectral_rel") != "NA") == (std::string(rows) == "50"));
  }
}
