// --causal from the outside: every number is of causal attention, or the command refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <croquis/io/csv.hpp>
#include <croquis/random/draws.hpp>
#include <set>
#include <string>

#include "support/array_files.hpp"
#include "support/program.hpp"

namespace {

const std::string kInput = " --input gaussian --n 40 --p 8 --norm 4 --quiet --overwrite ";

double number(const croquis::CsvTable& table, std::size_t row, const std::string& column) {
  return std::stod(table.rows[row][table.column(column)]);
}

croquis::CsvTable rows_after(const std::string& arguments, const TemporaryFolder& folder) {
  const ProgramRun run = run_croquis(arguments + " --out r.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  return croquis::read_csv((folder / "r.csv").string());
}

// Softmax attention of arrays in which every query attends to itself and to what is before it.
arma::mat causal_scores(const arma::mat& q, const arma::mat& k) {
  arma::mat scores(q.n_rows, q.n_rows, arma::fill::zeros);
  for (arma::uword i = 0; i < q.n_rows; ++i) {
    for (arma::uword j = 0; j <= i; ++j) {
      scores(i, j) = std::exp(arma::dot(q.row(i), k.row(j)) / std::sqrt(static_cast<double>(q.n_cols)));
    }
    scores.row(i) /= arma::accu(scores.row(i));
  }
  return scores;
}

}  // namespace

TEST_CASE("--causal: errors are against causal attention, and the spectrum is that of the causal scores") {
  TemporaryFolder folder;
  arma::mat q(30, 4), k(30, 4), v(30, 3);
  std::uint64_t which = 0;
  for (arma::mat* m : {&q, &k, &v}) croquis::fill_normal(croquis::Key(5).child(++which), 0, m->n_elem, m->memptr());
  write_arrays(folder, q, k, v);
  const std::string arrays = " --q q.npy --k k.npy --v v.npy --quiet --overwrite --causal";
  const arma::mat scores = causal_scores(q, k), exact = scores * v;

  const croquis::CsvTable errors = rows_after("error --methods v-mean --features 4" + arrays, folder);
  arma::mat means(30, 3);
  for (arma::uword i = 0; i < 30; ++i) means.row(i) = arma::mean(v.head_rows(i + 1), 0);
  CHECK(number(errors, 0, "frobenius_rel") ==
        doctest::Approx(arma::norm(exact - means, "fro") / arma::norm(exact, "fro")).epsilon(1e-10));

  const arma::vec values = arma::svd(scores), outputs = arma::svd(exact);
  for (const std::string method : {"dense", "lanczos"}) {
    CAPTURE(method);
    const croquis::CsvTable b = rows_after("spectrum --matrices b --leading 5 --method " + method + arrays, folder);
    for (arma::uword i = 0; i < 5; ++i) {
      CHECK(number(b, i, "singular_value") == doctest::Approx(values(i)).epsilon(1e-7));
      CHECK(number(b, i, "frobenius") == doctest::Approx(arma::norm(scores, "fro")).epsilon(1e-10));
    }
  }
  const croquis::CsvTable bv = rows_after("spectrum --matrices bv" + arrays, folder);
  for (arma::uword i = 0; i < 3; ++i) CHECK(number(bv, i, "singular_value") == doctest::Approx(outputs(i)));

  // The product of a sketch: B V and B S S^T V with the causal B. An S of 30 distinct columns of the identity, scaled,
  // is exact.
  const croquis::CsvTable sketched =
      rows_after("sketch --matrix b --sketches srct --landmarks none --features 30 --trials 1" + arrays, folder);
  CHECK(number(sketched, 0, "product_frobenius_rel") < 1e-8);
}

TEST_CASE("--causal --methods all: those with a causal form; a method without one is refused with their names") {
  TemporaryFolder folder;
  const croquis::CsvTable all = rows_after("error --methods all --features 8 --trials 1 --causal" + kInput, folder);
  std::set<std::string> methods;
  for (const auto& row : all.rows) {
    methods.insert(row[all.column("method")]);
    CHECK(row[all.column("status")] == "ok");
  }
  for (const char* name : {"v-mean", "best-rank-d", "prf-rpe", "nprf-rpe"}) CHECK(methods.contains(name));
  CHECK_FALSE(methods.contains("nystromformer"));
  const ProgramRun refused =
      run_croquis("error --methods nystromformer,v-mean --features 8 --causal --out n.csv" + kInput, folder.path());
  CHECK(refused.status == 2);
  CHECK(refused.output.find("nystromformer: has no causal form; methods that have one are") != std::string::npos);
  CHECK(std::count(refused.output.begin(), refused.output.end(), '\n') == 1);
}

TEST_CASE("--causal: what is about full attention alone refuses it") {
  TemporaryFolder folder;
  for (const std::string command : {"dimension --n 40 --input gaussian --causal", "verify --input gaussian --causal",
                                    "sketch --landmarks uniform --input gaussian --n 40 --causal"}) {
    CAPTURE(command);
    check_refused(run_croquis(command, folder.path()), "causal");
  }
}

TEST_CASE("--features: a range doubles up to its end, ends at n, and has its end") {
  TemporaryFolder folder;
  const auto sizes = [&](const std::string& arguments) {
    const croquis::CsvTable table = rows_after("error --methods linformer --trials 1 " + arguments, folder);
    std::string list;
    for (const auto& row : table.rows) list += row[table.column("features")] + ' ';
    return list;
  };
  const std::string input = " --input gaussian --n 200 --p 4 --quiet --overwrite";
  CHECK(sizes("--features 16:100" + input) == "16 32 64 100 ");
  CHECK(sizes("--features 8,32:64" + input) == "8 32 64 ");
  CHECK(sizes(input) == "16 32 64 128 200 ");
  CHECK(sizes("--features 16:400" + input) == "16 32 64 128 200 ");
  CHECK(sizes("--input gaussian --n 10 --p 4 --quiet --overwrite") == "10 ");
  CHECK(run_croquis("error --methods linformer --features 201 --out x.csv" + input, folder.path()).status == 2);
}
