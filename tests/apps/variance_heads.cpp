// croquis variance on heads: arrays of two and three dimensions, models, and what spheres do not have.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/measure/feature_variance.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "apps/formula_folder.hpp"
#include "support/archives.hpp"
#include "support/capture.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

constexpr arma::uword kVarianceTokens = 20, kVarianceWidth = 4, kVarianceHeads = 3;
constexpr arma::uword kVarianceNumbers = kVarianceTokens * kVarianceWidth;  // of a head
const std::string kVarianceArrays = "variance --q q.npy --k k.npy ";
const std::string kVarianceCurves = "--maps prf,trf --projections iid,haar --norms 0.5,1 --features 4,8 --trials 3 ";

// Arrays of three heads, and head 1 alone: q1.npy, k1.npy.
struct VarianceArrays : TemporaryFolder {
  std::vector<double> q, k;

  VarianceArrays() : q(write("q")), k(write("k")) {}
  // Tokens of a head, as rows.
  static arma::mat head(std::vector<double> all, arma::uword h) {
    return arma::mat(all.data() + h * kVarianceNumbers, kVarianceWidth, kVarianceTokens).t();
  }
  ProgramRun run(const std::string& arguments) const {
    ProgramRun run = run_croquis(arguments, path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    return run;
  }

 private:
  std::vector<double> write(const std::string& name) const {
    std::vector<double> all(kVarianceHeads * kVarianceNumbers);
    croquis::fill_normal(croquis::Key(4).child(name), 0, all.size(), all.data());
    write_text(path() / (name + ".npy"), npy_doubles("(3, 20, 4)", all));
    const auto begin = all.begin() + kVarianceNumbers;
    write_text(path() / (name + "1.npy"), npy_doubles("(20, 4)", {begin, begin + kVarianceNumbers}));
    return all;
  }
};

}  // namespace

TEST_CASE("croquis variance: every head of an array has the rows that it has alone, also after an interruption") {
  const VarianceArrays folder;
  folder.run("variance --q q1.npy --k k1.npy --quiet --out one.csv " + kVarianceCurves);
  const auto alone = rows_of(folder / "one.csv", "arrays:q1");
  REQUIRE(alone.size() == 2 * 2 * 2 * 2 * 3);
  folder.run(kVarianceArrays + "--quiet --out all.csv " + kVarianceCurves);
  CHECK(rows_of(folder / "all.csv", "arrays:q;head=1") == alone);
  const auto rows = rows_of(folder / "all.csv");
  REQUIRE(rows.size() == kVarianceHeads * alone.size());
  const std::vector<std::string> heads = column_of(folder / "all.csv", "head");
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(heads[i] == std::to_string(i / alone.size()));
  const std::string whole = read_text(folder / "all.csv");
  for (const std::size_t part : {5, 2}) {  // in the first head, and in the second
    write_text(folder / "all.csv", whole.substr(0, whole.size() / part));
    folder.run(kVarianceArrays + "--resume --quiet --out all.csv " + kVarianceCurves);
    CHECK(rows_of(folder / "all.csv") == rows);
  }
}

TEST_CASE("croquis variance: points of a head are its queries and keys over the fourth root of the width") {
  const VarianceArrays folder;
  folder.run(kVarianceArrays + "--norms 0.5 --features 8 --trials 2 --seed 9 --out all.csv");
  const croquis::CsvTable table = croquis::read_csv((folder / "all.csv").string());
  REQUIRE(table.rows.size() == kVarianceHeads * 2);
  const croquis::Key key = croquis::Key(9).child("variance").child("iid");
  for (const auto& row : table.rows) {
    const auto field = [&](const char* name) { return row[table.column(name)]; };
    const arma::uword h = std::stoul(field("head"));
    const double factor = 0.5 / std::sqrt(std::sqrt(4.0));
    const croquis::FeaturePoints points = {factor * VarianceArrays::head(folder.q, h),
                                           factor * VarianceArrays::head(folder.k, h)};
    const croquis::VarianceRow expected =
        croquis::feature_variance(points, 8, {}, key.child(8).child(std::stoul(field("trial"))));
    CHECK(field("queries") == "20");  // all of them, in an order of its own
    CHECK(field("keys") == "20");
    CHECK(std::stod(field("l1_error")) == doctest::Approx(expected.l1_error).epsilon(1e-12));
    CHECK(std::stod(field("squared_error")) == doctest::Approx(expected.squared_error).epsilon(1e-12));
    CHECK(std::stod(field("lemma_2")) == doctest::Approx(expected.lemma_2).epsilon(1e-12));
  }
}

TEST_CASE("croquis variance --causal: a query has the row of the keys up to its own, as if there were no others") {
  const VarianceArrays folder;
  const arma::mat q = VarianceArrays::head(folder.q, 1), k = VarianceArrays::head(folder.k, 1);
  croquis::write_npy((folder / "last.npy").string(), arma::mat(q.tail_rows(4)));  // queries of the last four keys
  const croquis::Key key = croquis::Key(1).child("variance").child("iid");
  const double factor = 0.7 / std::sqrt(std::sqrt(4.0));
  for (const auto& [file, first] : {std::pair{"q1.npy", arma::uword{0}}, {"last.npy", kVarianceTokens - 4}}) {
    CAPTURE_BINDING(file);
    folder.run(
        fmt::format("variance --q {} --k k1.npy --causal --maps prf --norms 0.7 --features 8 --trials 2 "
                    "--overwrite --out causal.csv",
                    file));
    const std::vector<std::string> errors = column_of(folder / "causal.csv", "l1_error"),
                                   variances = column_of(folder / "causal.csv", "squared_error");
    REQUIRE(errors.size() == 2);
    for (std::uint64_t trial = 1; trial <= 2; ++trial) {
      double error = 0, variance = 0;
      for (arma::uword i = first; i < kVarianceTokens; ++i) {
        const croquis::FeaturePoints points = {factor * q.row(i), factor * k.head_rows(i + 1)};
        const croquis::VarianceRow row = croquis::feature_variance(points, 8, {}, key.child(8).child(trial));
        error += row.l1_error / static_cast<double>(kVarianceTokens - first);
        variance += row.squared_error / static_cast<double>(kVarianceTokens - first);
      }
      CHECK(std::stod(errors[trial - 1]) == doctest::Approx(error).epsilon(1e-12));
      CHECK(std::stod(variances[trial - 1]) == doctest::Approx(variance).epsilon(1e-12));
    }
    CHECK(column_of(folder / "causal.csv", "input").front().ends_with(";causal"));
  }
}

TEST_CASE("croquis variance: shards of several heads merged are one run, with the tables of several heads") {
  const VarianceArrays folder;
  folder.run(kVarianceArrays + "--quiet --out whole.csv " + kVarianceCurves);
  for (const char* part : {"1", "2"}) {
    folder.run(fmt::format("{}--shard {}/2 --quiet --out p{}.csv {}", kVarianceArrays, part, part, kVarianceCurves));
  }
  folder.run("merge all.csv p1.csv p2.csv");
  CHECK(rows_of(folder / "all.csv") == rows_of(folder / "whole.csv"));
  const std::string shown = folder.run("show all.csv").output;
  CHECK(contains(shown, "median over 3 heads of the mean over 3 draws (smallest - largest head); 3 heads, p = 4"));
  CHECK_FALSE(contains(shown, "standard error)"));
  folder.run("plot all.csv --out all.svg");
  CHECK(contains(read_text(folder / "all.svg"), "median over 3 heads"));
  folder.run("report all.csv --out all.html");
  CHECK(contains(read_text(folder / "all.html"), "all 3: median"));
}

TEST_CASE("croquis variance: heads of the sequences of a model, without their padding") {
  const FormulaFolder folder;
  const std::string model =
      "variance --model bert/model.safetensors" + kModelTokens + "--maps prf --features 4 --trials 2 --quiet --layer ";
  const ProgramRun all = run_croquis(model + "all --out all.csv", folder.path());
  REQUIRE_MESSAGE(all.status == 0, all.output);
  const croquis::CsvTable table = croquis::read_csv((folder / "all.csv").string());
  std::set<std::string> inputs;
  for (const auto& row : table.rows) {
    const auto field = [&](const char* name) { return row[table.column(name)]; };
    inputs.insert(field("input"));
    CHECK(field("input") ==
          fmt::format("model:bert;sequence={};layer={};head={}", field("sequence"), field("layer"), field("head")));
    CHECK(field("keys") == (field("sequence") == "2" ? "6" : "9"));
    CHECK(field("queries") == field("keys"));
    CHECK(field("status") == "ok");
  }
  CHECK(table.rows.size() == inputs.size() * 2);
  CHECK(inputs.size() > 3);
}

TEST_CASE("croquis variance --queries: so many queries, drawn without repetition; 64 by default") {
  const VarianceArrays folder;
  arma::mat q(100, 3), k(7, 3);
  croquis::fill_normal(croquis::Key(5).child("q"), 0, q.n_elem, q.memptr());
  croquis::fill_normal(croquis::Key(5).child("k"), 0, k.n_elem, k.memptr());
  croquis::write_npy((folder / "many.npy").string(), q);
  croquis::write_npy((folder / "few.npy").string(), k);
  const croquis::Key key = croquis::Key(1).child("variance");
  for (const auto& [option, count] : {std::pair{"", arma::uword{64}}, {" --queries 3", arma::uword{3}}}) {
    CAPTURE_BINDING(option);
    folder.run(
        fmt::format("variance --q many.npy --k few.npy --features 8 --trials 1 --overwrite --out m.csv{}", option));
    const double scale = std::pow(3.0, -0.25);
    const arma::uvec some = croquis::sample_without_replacement(100, count, key.child("queries"));
    const croquis::FeaturePoints points = {scale * q.rows(some), scale * k};
    const croquis::VarianceRow row = croquis::feature_variance(points, 8, {}, key.child("iid").child(8).child(1));
    CHECK(column_of(folder / "m.csv", "queries").front() == std::to_string(count));
    CHECK(std::stod(column_of(folder / "m.csv", "l1_error").front()) == doctest::Approx(row.l1_error).epsilon(1e-12));
  }
  // Rows of other queries are not mixed with these.
  const ProgramRun run =
      run_croquis("variance --q many.npy --k few.npy --features 8 --trials 2 --resume --out m.csv", folder.path());
  CHECK(run.status == 2);
  CHECK_MESSAGE(contains(run.output, "queries was 3 and is 64 now"), run.output);
}

TEST_CASE("croquis variance: inputs of every kind, of which values are not needed where there are files of each") {
  const VarianceArrays folder;
  const std::string end = " --features 4 --trials 1 --quiet --overwrite --out k.csv";
  const std::pair<std::string, std::string> inputs[] = {{"--input gaussian --n 12 --p 4", "gaussian:2"},
                                                        {"--text words.txt --n 12 --p 4", "text:words"},
                                                        {"--q q1.npy --k k1.npy --length 9", "arrays:q1"},
                                                        {"--q q.npy --k k1.npy", "arrays:q;head=0"},
                                                        {"--qkv head.npz", "arrays:head"}};
  write_text(folder / "words.txt", "a b c d e f g h i j k l m n o p\n");
  write_text(folder / "head.npz", zip_file({{"q.npy", read_text(folder / "q1.npy")},
                                            {"k.npy", read_text(folder / "k1.npy")},
                                            {"v.npy", read_text(folder / "k1.npy")}},
                                           Compression::stored));
  for (const auto& [arguments, name] : inputs) {
    CAPTURE_BINDING(arguments);
    folder.run("variance " + arguments + end);
    CHECK(column_of(folder / "k.csv", "input").front() == name);
    CHECK(column_of(folder / "k.csv", "status").front() == "ok");
    if (arguments.ends_with("9")) CHECK(column_of(folder / "k.csv", "keys").front() == "9");
  }
}

TEST_CASE("croquis variance --maps all: without the maps that take none of --features, with those that take some") {
  TemporaryFolder folder;
  const auto maps = [&](const char* features, int failed) {
    const ProgramRun run = run_croquis(
        fmt::format("variance --maps all --p 4 --keys 8 --norms 1 --trials 1 --overwrite --features {}", features),
        folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    for (const char* map : {"trf", "hyperbolic"}) {
      CHECK(contains(run.output, fmt::format("{} is left out, it takes none of --features", map)) == (failed == 0));
    }
    const std::vector<std::string> status = column_of(folder / "variance.csv", "status");
    CHECK(std::count_if(status.begin(), status.end(), [](const auto& s) { return s != "ok"; }) == failed);
    return status.size();
  };
  CHECK(maps("3", 0) == 4);  // of six maps two have an even d
  CHECK(maps("3,4", 2) == 12);
}

TEST_CASE("croquis variance: what does not go with spheres or with heads is one line") {
  const VarianceArrays folder;
  const std::pair<std::string, std::string> wrong[] = {
      {"--n 12", "--n: goes with --model, --q and --k, --text or --input; without, points are uniform on spheres"},
      {"--head 1", "--head: goes with --model"},
      {"--v v.npy", "--v: goes with --model"},
      {"--causal", "--causal: goes with --model"},
      {"--q q.npy", "--q and --k: both are needed"},
      {"--k k.npy", "--q and --k: both are needed"},
      {"--input gaussian --keys 12", "--keys: of spheres, a head has its own; leave it out"},
      {"--q q.npy --k k.npy --p 4", "--n and --p: the arrays have their sizes; leave them out"},
      {"--q q.npy --k k.npy --head 3", "--head: '3' is none of 0 to 2"},
      {"--q long.npy --k k1.npy --causal",
       "--causal: 30 queries and 20 keys; each query attends to a key at its own place or before"}};
  croquis::write_npy((folder / "long.npy").string(), arma::mat(30, kVarianceWidth, arma::fill::ones));
  for (const auto& [arguments, says] : wrong) {
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis("variance --features 4 --out new.csv " + arguments, folder.path()), says);
    CHECK_FALSE(std::filesystem::exists(folder / "new.csv"));
  }
  check_refused(run_croquis("variance --features 3,5 --maps prf,trf --out new.csv", folder.path()),
                "--maps trf: it takes none of --features: d is a multiple of 2");
}
