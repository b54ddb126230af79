// croquis error --save-output and --row-errors, from the outside.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "support/array_files.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kSavedArrays = " --q q.npy --k k.npy --v v.npy --quiet ";

void write_saved_arrays(const TemporaryFolder& folder) {
  const croquis::Key key(5);
  write_arrays(folder, random_matrix(30, 4, key.child(1)), random_matrix(30, 4, key.child(2)),
               random_matrix(30, 3, key.child(3)));
}

}  // namespace

TEST_CASE("croquis error --save-output: the outputs of all rows and the exact ones, whose difference is the error") {
  TemporaryFolder folder;
  write_saved_arrays(folder);
  const std::string command =
      "error --methods linformer,nprf --features 8 --trials 2 --save-output outs" + kSavedArrays;
  const ProgramRun run = run_croquis(command, folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "outs")) {
    files.insert(entry.path().filename().string());
  }
  CHECK(files.size() == 6);  // two targets, two draws of two methods
  const auto read = [&](const std::string& contains, const std::string& also = "") {
    for (const std::string& file : files) {
      if (file.find(contains) != std::string::npos && file.find(also) != std::string::npos) {
        return croquis::read_npy((folder / "outs" / file).string());
      }
    }
    return arma::mat();
  };
  const arma::mat exact = read("exact_softmax");
  const croquis::Problem<double> problem(croquis::read_npy((folder / "q.npy").string()),
                                         croquis::read_npy((folder / "k.npy").string()),
                                         croquis::read_npy((folder / "v.npy").string()));
  CHECK(identical(exact, exact_attention(problem, croquis::Target::softmax).output));
  const croquis::CsvTable rows = croquis::read_csv((folder / "error.csv").string());
  for (const auto& row : rows.rows) {
    const std::string target = row[rows.column("target")];
    const arma::mat output = read("_" + row[rows.column("method")] + "_", "trial=" + row[rows.column("trial")]);
    CHECK(arma::norm(read("exact_" + target) - output, "fro") ==
          doctest::Approx(std::stod(row[rows.column("frobenius_abs")])).epsilon(1e-12));
  }
  // A folder with files is not written into; with --resume it is. Rows whose outputs were not kept are not gone on
  // with: the folder would lack them.
  CHECK(run_croquis(command + " --out other.csv", folder.path()).status == 2);
  CHECK(run_croquis(command + " --resume", folder.path()).status == 0);
  const std::string plain = "error --methods linformer,nprf --features 8 --trials 2 --out plain.csv" + kSavedArrays;
  REQUIRE(run_croquis(plain, folder.path()).status == 0);
  CHECK(run_croquis(plain + " --resume --save-output outs", folder.path()).status == 2);
}

TEST_CASE("croquis error --save-output: --resume needs the folder of the rows, --overwrite empties it of theirs") {
  TemporaryFolder folder;
  write_saved_arrays(folder);
  const std::string command = "error --methods linformer,nprf --features 8 --save-output outs" + kSavedArrays;
  REQUIRE(run_croquis(command + "--trials 2", folder.path()).status == 0);
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "outs")) {
      names.insert(entry.path().filename().string());
    }
    return names;
  };
  const std::set<std::string> all = files();
  CHECK(all.size() == 6);
  const auto refused = [&](const std::string& arguments, const std::string& says) {
    const ProgramRun run = run_croquis(arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(run.output.find(says) != std::string::npos, run.output);
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  };
  refused("error --methods linformer,nprf --features 8 --trials 3 --save-output other --resume" + kSavedArrays,
          "--resume: --save-output was outs and is other now");
  for (const std::string& name : all) {
    std::filesystem::rename(folder / "outs" / name, folder / "away.npy");
    refused(command + "--trials 3 --resume", name + " is missing, and error.csv has a row of it");
    std::filesystem::rename(folder / "away.npy", folder / "outs" / name);
  }
  REQUIRE(run_croquis(
              "error --methods linformer,nprf --features 8 --save-output ./outs/ --trials 3 --resume" + kSavedArrays,
              folder.path())
              .status == 0);
  CHECK(files().size() == 8);
  // What the earlier result had goes, what somebody else has there stays.
  write_text(folder / "outs" / "mine.npy", "mine");
  REQUIRE(run_croquis("error --methods linformer --features 8 --trials 1 --overwrite --save-output outs" + kSavedArrays,
                      folder.path())
              .status == 0);
  CHECK(files().size() == 3);
  CHECK(files().contains("mine.npy"));
}

TEST_CASE("croquis error: of rows that failed there is no output, and the first reason is told") {
  TemporaryFolder folder;
  write_saved_arrays(folder);
  // Four features are too few for both.
  const ProgramRun run = run_croquis(
      "error --q q.npy --k k.npy --v v.npy --methods bigbird,streaming --features 4,8 --trials 2 --save-output outs",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK_MESSAGE(contains(run.output, "\n3 of 6 rows failed; the first: bigbird: "), run.output);
  std::multiset<std::string> saved;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "outs")) {
    const std::string name = entry.path().filename().string();
    const std::size_t features = name.find("_d=");
    saved.insert(features == std::string::npos ? "exact" : name.substr(features, 5));
  }
  CHECK(saved == std::multiset<std::string>{"exact", "_d=8_", "_d=8_", "_d=8_"});
}

TEST_CASE("croquis error --save-output: parts of a run have folders of their own, and are merged") {
  TemporaryFolder folder;
  write_saved_arrays(folder);
  for (const std::string part : {"1", "2"}) {
    const std::string command = "error --methods linformer,nprf --features 8 --trials 2 --shard " + part +
                                "/2 --save-output o" + part + " --out p" + part + ".csv " + kSavedArrays;
    REQUIRE(run_croquis(command, folder.path()).status == 0);
  }
  const ProgramRun merged = run_croquis("merge all.csv p1.csv p2.csv", folder.path());
  CHECK_MESSAGE(merged.status == 0, merged.output);
}

TEST_CASE("croquis error --save-output: a name that no file may have, a folder that cannot be, and --rows") {
  TemporaryFolder folder;
  write_saved_arrays(folder);
  std::filesystem::rename(folder / "q.npy", folder / "a b;c_Q.npy");
  const std::string arrays = " --q 'a b;c_Q.npy' --k k.npy --v v.npy --quiet --overwrite ";
  const ProgramRun run = run_croquis("error --methods v-mean --features 8 --save-output outs" + arrays, folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "outs")) {
    const std::string name = entry.path().filename().string();
    CHECK(name.find_first_of(" ;:") == std::string::npos);
    CHECK(name.ends_with(".npy"));
  }
  for (const char* wrong : {"--save-output k.npy", "--save-output outs2 --rows 20"}) {
    CAPTURE(wrong);
    const ProgramRun refused =
        run_croquis(std::string("error --methods v-mean --features 8 ") + wrong + arrays, folder.path());
    CHECK(refused.status == 2);
    CHECK(refused.output.find("--save-output") != std::string::npos);
    CHECK(std::count(refused.output.begin(), refused.output.end(), '\n') == 1);
  }
}

TEST_CASE("croquis error --row-errors: adds its columns, leaves the others as they are, goes with --rows") {
  TemporaryFolder folder;
  write_saved_arrays(folder);
  const std::string command = "error --methods longformer,nprf,linformer --features 16 --trials 2" + kSavedArrays;
  REQUIRE(run_croquis(command + "--out plain.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(command + "--out more.csv --row-errors", folder.path()).status == 0);
  REQUIRE(run_croquis(command + "--out some.csv --row-errors --rows 24", folder.path()).status == 0);
  const croquis::CsvTable plain = croquis::read_csv((folder / "plain.csv").string()),
                          more = croquis::read_csv((folder / "more.csv").string()),
                          some = croquis::read_csv((folder / "some.csv").string());
  CHECK(more.header.size() == plain.header.size() + 12);
  for (const char* column :
       {"row_rel_q50", "row_rel_q90", "row_rel_q99", "row_rel_max", "row_cosine_mean", "row_cosine_q10"}) {
    for (const croquis::CsvTable* table : {&more, &some}) {
      for (const auto& row : table->rows) CHECK(row[table->column(column)] != "NA");
    }
  }
  for (std::size_t i = 0; i < plain.rows.size(); ++i) {
    CHECK(more.rows[i][more.column("spectral_abs")] == plain.rows[i][plain.column("spectral_abs")]);
    // Linformer's B~ has negative entries, of which there is no divergence.
    const bool is_distribution = more.rows[i][more.column("method")] != "linformer";
    CHECK((more.rows[i][more.column("row_kl_mean")] != "NA") == is_distribution);
    CHECK(some.rows[i][some.column("row_kl_mean")] == "NA");
    const bool is_mask = more.rows[i][more.column("method")] == "longformer";
    CHECK((more.rows[i][more.column("tail_mass")] != "NA") == is_mask);
  }
}

TEST_CASE("croquis error --bias: a matrix is that of an image, row offsets down and column offsets to the right") {
  TemporaryFolder folder;
  const croquis::Key key(6);
  constexpr int height = 2, width = 3, n = height * width;
  const arma::mat q = random_matrix(n, 4, key.child(1)), k = random_matrix(n, 4, key.child(2)),
                  v = random_matrix(n, 3, key.child(3)), bias = random_matrix(3, 5, key.child(4));
  write_arrays(folder, q, k, v);
  croquis::write_npy((folder / "b.npy").string(), bias);
  const ProgramRun run = run_croquis(
      "error --methods prf-rpe --features 4 --trials 1 --bias b.npy --save-output outs" + kSavedArrays, folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  arma::mat right(n, 3, arma::fill::zeros);
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      const int down = j / width - i / width, across = j % width - i % width;
      double dot = 0;
      for (arma::uword c = 0; c < 4; ++c) dot += q(i, c) * k(j, c);
      const double weight = std::exp(dot / 2 + bias(down + height - 1, across + width - 1));
      sum += weight;
      right.row(i) += weight * v.row(j);
    }
    right.row(i) /= sum;
  }
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "outs")) {
    if (entry.path().filename().string().find("_exact_softmax-rpe") == std::string::npos) continue;
    ++found;
    // Logits below 20, of which each rounding is a factor of 1 + 20 u, in 6 terms.
    CHECK(arma::abs(croquis::read_npy(entry.path().string()) - right).max() <= 1e-13 * arma::abs(v).max());
  }
  CHECK(found == 1);
}

TEST_CASE("croquis error and cost --bias: a file of another size is refused with the numbers that it has and needs") {
  TemporaryFolder folder;
  const auto refused = [&](const std::string& arguments) {
    const ProgramRun run = run_croquis(arguments + " --bias b.npy --methods prf-rpe --features 4", folder.path());
    CHECK(run.status == 2);
    return run.output;
  };
  const std::string error = "error --input gaussian --p 4 --n ", cost = "cost --p 4 --n ";
  const std::string line = "croquis: --bias b.npy: 2n - 1 = 39 entries for n = 20 tokens, got entries = 5\n";
  for (const auto& [rows, cols] : {std::pair<arma::uword, arma::uword>{5, 1}, {1, 5}}) {
    croquis::write_npy((folder / "b.npy").string(), arma::mat(rows, cols, arma::fill::zeros));
    CHECK(refused(error + "20") == line);
    CHECK(refused(cost + "20") == line);
  }
  croquis::write_npy((folder / "b.npy").string(), arma::mat(5, 3, arma::fill::zeros));
  const std::string image = "croquis: --bias: b.npy: 5 x 3 numbers are of an image of 3 x 2 tokens, there are ";
  for (const char* n : {"20", "9"}) {  // 9 tokens have three rows too
    CHECK(refused(error + n) == image + n + "\n");
    CHECK(refused(cost + n) == image + n + "\n");
  }
}
