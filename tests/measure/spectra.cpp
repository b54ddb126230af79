// Singular values of a head's matrices as rows, against those of the matrices written out.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/spectrum_summary.hpp>
#include <string>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

arma::mat stored(const Dense& m) {
  arma::mat result(m.rows, m.cols);
  for (arma::uword i = 0; i < result.n_rows; ++i) {
    for (arma::uword j = 0; j < result.n_cols; ++j) result(i, j) = static_cast<double>(m(i, j));
  }
  return result;
}

// B of a small head by its definition.
arma::mat softmax_scores(const Problem<double>& problem) {
  return stored(scores_of(Dense(problem.Q()), Dense(problem.K()), Target::softmax));
}

Problem<double> spectral_problem(const char* name) {
  return random_problem<double>(24, 5, 3, 2, Key(test_seed()).child("spectra").child(name));
}

// Fields of a row that are in the columns.
std::vector<std::string> texts_of(const Record& record) {
  std::vector<std::string> texts;
  for (const Value& value : record) texts.push_back(text_of(value));
  return texts;
}

}  // namespace

TEST_CASE("matrix_spectrum: dense rows have the singular values of the matrix, their sums and its norm") {
  const Problem<double> problem = spectral_problem("dense");
  const arma::mat b = softmax_scores(problem);
  for (const std::string matrix : {"b", "bv"}) {
    CAPTURE(matrix);
    const arma::vec expected = arma::svd(matrix == "b" ? b : arma::mat(b * problem.V()));
    const auto rows = matrix_spectrum(problem, matrix, Key(1));
    REQUIRE(rows.size() == expected.n_elem);
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum += expected(i);
      CHECK(rows[i].index == i + 1);
      CHECK(rows[i].matrix == matrix);
      CHECK(rows[i].method == "dense");
      CHECK(rows[i].status == "ok");
      // Rounding of the scores and of two decompositions, some n u of the norm each.
      CHECK(std::abs(rows[i].singular_value - expected(i)) <= 1e-12 * expected(0));
      CHECK(std::abs(rows[i].cumulative - sum / arma::accu(expected)) <= 1e-12);
      CHECK(rows[i].frobenius == doctest::Approx(arma::norm(expected)).epsilon(1e-12));
    }
  }
}

TEST_CASE("matrix_spectrum: of A both ways measure A over its largest entry, and say how large that is") {
  const Problem<double> problem = spectral_problem("raw");
  const arma::mat log_a = problem.Q() * problem.K().t() / std::sqrt(5.0);
  const double expected = arma::svd(arma::exp(log_a - log_a.max())).max();
  for (const SpectrumMethod method : {SpectrumMethod::dense, SpectrumMethod::lanczos}) {
    const SpectrumRow row = matrix_spectrum(problem, "a", Key(1), {method, 4, 4}).front();
    CHECK(row.log_scale == doctest::Approx(log_a.max()).epsilon(1e-12));
    CHECK(row.singular_value == doctest::Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("matrix_spectrum: a row an index is planned, with Lanczos the leading ones of n x n matrices alone") {
  const Problem<double> problem = spectral_problem("planned");
  const SpectrumSettings lanczos{SpectrumMethod::lanczos, 6, 4};
  for (const std::string& matrix : spectrum_matrices()) {
    CAPTURE(matrix);
    const SpectrumPlan plan = plan_spectrum(problem, matrix, lanczos);
    const bool output = matrix == "bv" || matrix == "cv";
    CHECK(plan.lanczos == !output);
    CHECK(plan.values == (output ? 3 : 6));
    CHECK(matrix_spectrum(problem, matrix, Key(1), lanczos).size() == plan.values);
    CHECK(plan_spectrum(problem, matrix).values == (output ? 3 : 24));
    CHECK(plan_spectrum({.n_q = 2, .n_k = 24}, 3, matrix, {}).values == 2);  // a row a query
  }
  CHECK_FALSE(plan_spectrum({.n_q = 4096, .n_k = 4096}, 3, "b", {}).lanczos);
  CHECK(plan_spectrum({.n_q = 4097, .n_k = 4097}, 3, "b", {}).lanczos);
}

TEST_CASE("matrix_spectrum: Lanczos finds the leading values within their residuals, the same ones for the same key") {
  const Problem<double> problem = spectral_problem("lanczos");
  const SpectrumSettings lanczos{SpectrumMethod::lanczos, 6, 4};
  const Key key = Key(test_seed()).child("lanczos");
  const auto exact = matrix_spectrum(problem, "c", key), found = matrix_spectrum(problem, "c", key, lanczos),
             again = matrix_spectrum(problem, "c", key, lanczos);
  REQUIRE(found.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(found[i].method == "lanczos");
    CHECK(std::abs(found[i].singular_value - exact[i].singular_value) <=
          found[i].residual + 1e-6 * exact[0].singular_value);
    // The part of the sum that was not found is estimated: 16 of 24 values.
    CHECK(found[i].cumulative_lo < found[i].cumulative);
    CHECK(found[i].cumulative < found[i].cumulative_hi);
    CHECK(texts_of(spectrum_columns().record(found[i])) == texts_of(spectrum_columns().record(again[i])));
  }
}

// Points so far apart that C is the identity beside zeros: n_q or n_k singular values of 1, and no zero beyond them.
TEST_CASE("matrix_spectrum: Lanczos on a head with fewer queries than keys, or more, has singular values alone") {
  const arma::mat few = arma::regspace(0, 100, 600), many = arma::regspace(0, 100, 1900);
  for (const bool wide : {true, false}) {
    const arma::mat &q = wide ? few : many, &k = wide ? many : few;
    const Problem<double> problem(q, k, arma::ones(k.n_rows, 1));
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(wide);
      CAPTURE(seed);
      const auto rows = matrix_spectrum(problem, "c", Key(seed), {.method = SpectrumMethod::lanczos});
      REQUIRE(rows.size() == 7);
      for (const SpectrumRow& row : rows) {
        CHECK(row.singular_value == doctest::Approx(1));
        CHECK(row.frobenius == doctest::Approx(std::sqrt(7)));
      }
      CHECK(rows.back().cumulative == doctest::Approx(1));
    }
  }
}

TEST_CASE("matrix_spectrum: of a given matrix, tall, wide or square, with the summary of all its singular values") {
  const arma::vec values = {5, 4, 3, 0.5, 1e-3, 0};
  for (const auto& [rows, cols] : {std::pair<arma::uword, arma::uword>{30, 6}, {6, 30}, {6, 6}}) {
    const Key key = Key(test_seed()).child("given").child(rows);
    const arma::mat matrix = with_singular_values(rows, cols, values, key);
    for (const SpectrumMethod method : {SpectrumMethod::automatic, SpectrumMethod::lanczos}) {
      const SpectrumSettings settings{method, 4, 4};
      const bool lanczos = method == SpectrumMethod::lanczos;
      auto found = matrix_spectrum(matrix, key, settings);
      REQUIRE(found.size() == plan_spectrum(matrix, settings).values);
      REQUIRE(found.size() == (lanczos ? 4 : 6));
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].status == "ok");
        CHECK(found[i].method == (lanczos ? "lanczos" : "dense"));
        CHECK(found[i].index == i + 1);
        CHECK(found[i].n == rows);
        CHECK(found[i].n_q == rows);
        CHECK(found[i].p == cols);
        CHECK(found[i].log_scale == 0);
        CHECK(std::abs(found[i].singular_value - values(i)) <= found[i].residual + 1e-6 * values(0));
        CHECK(found[i].frobenius == doctest::Approx(arma::norm(values)));
        found[i].matrix = "own.npy";
      }
      const SpectrumSummary s = summarise_spectra(found).front();
      CHECK(s.stable_rank == doctest::Approx(arma::accu(arma::square(values)) / 25));
      CHECK(s.cumulative_quarter == doctest::Approx(5 / arma::accu(values)).epsilon(1e-3));
      if (lanczos) continue;
      CHECK(s.rank == 5);
      CHECK(s.condition == doctest::Approx(1 / (static_cast<double>(std::max(rows, cols)) * 1.1102230246251565e-16)));
      CHECK(s.nuclear == doctest::Approx(arma::accu(values)));
    }
  }
  CHECK(refusal([] { matrix_spectrum(arma::mat(0, 3), Key(1)); }).find("entries") != std::string::npos);
}

TEST_CASE("matrix_spectrum: of a matrix times a power of two, all numbers are so, and shares the same") {
  const Key key = Key(test_seed()).child("scaled");
  const SpectrumSettings lanczos{SpectrumMethod::lanczos, 4, 16};
  const arma::mat matrix = random_matrix(60, 20, key);  // columns so short that Armadillo adds their squares itself
  const auto expected = matrix_spectrum(matrix, key, lanczos);
  CHECK(expected[3].cumulative_hi - expected[3].cumulative_lo > 1e-4);  // of the probes, which no 16 numbers agree in
  // 2^-900 and 2^900 are exact; squares of the one vanish, those of the other overflow, and at 2^-530 they are
  // subnormal.
  for (const int exponent : {-900, -530, 500, 900}) {
    CAPTURE(exponent);
    const double scale = std::ldexp(1.0, exponent);
    const auto found = matrix_spectrum(scale * matrix, key, lanczos);
    REQUIRE(found.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(found[i].status == "ok");
      CHECK(found[i].singular_value == scale * expected[i].singular_value);
      CHECK(found[i].residual == scale * expected[i].residual);
      CHECK(found[i].cumulative == expected[i].cumulative);
      CHECK(found[i].cumulative_lo == expected[i].cumulative_lo);
      CHECK(found[i].cumulative_hi == expected[i].cumulative_hi);
      // Two norms of 1200 entries, each to (n + 2) u / 2 at most.
      CHECK(found[i].frobenius / scale == doctest::Approx(expected[i].frobenius).epsilon(1.5e-13));
    }
  }
  // Of a larger one, where Lanczos stops before residuals are 0.
  const arma::mat larger = random_matrix(90, 60, key);
  const double residual = matrix_spectrum(larger, key, lanczos)[3].residual;
  CHECK(residual > 0);
  CHECK(matrix_spectrum(4 * larger, key, lanczos)[3].residual == 4 * residual);
}

TEST_CASE("matrix_spectrum: of a matrix of zeros the sum is 0, and shares of it are no numbers") {
  for (const SpectrumMethod method : {SpectrumMethod::dense, SpectrumMethod::lanczos}) {
    auto rows = matrix_spectrum(arma::mat(12, 5, arma::fill::zeros), Key(1), {.method = method, .leading = 3});
    for (SpectrumRow& row : rows) {
      CHECK(row.status == "ok");
      CHECK(row.singular_value == 0);
      for (const double share : {row.cumulative, row.cumulative_lo, row.cumulative_hi}) CHECK(std::isnan(share));
      row.matrix = "own.npy";
    }
    const SpectrumSummary s = summarise_spectra(rows).front();
    for (const double sum : {s.nuclear, s.nuclear_lo, s.nuclear_hi}) CHECK(sum == 0);
    CHECK(std::isnan(s.cumulative_quarter));
  }
}

TEST_CASE("matrix_spectrum: an unknown matrix, no leading value and one probe are refused") {
  const Problem<double> problem = spectral_problem("refused");
  CHECK(refusal([&] { matrix_spectrum(problem, "d", Key(1)); }).find("matrix") != std::string::npos);
  CHECK(refusal([&] { matrix_spectrum(problem, "b", Key(1), {.leading = 0}); }).find("leading") != std::string::npos);
  CHECK(refusal([&] { matrix_spectrum(problem, "b", Key(1), {.probes = 1}); }).find("probes") != std::string::npos);
  CHECK(refusal([] { spectrum_method_named("svd"); }).find("svd") != std::string::npos);
}

TEST_CASE("spectrum_columns: rows come back from a table with all that they had") {
  const auto rows = matrix_spectrum(spectral_problem("columns"), "a", Key(1));
  Table table{spectrum_columns().list(), {}};
  for (const SpectrumRow& row : rows) table.rows.push_back(spectrum_columns().record(row));
  const auto back = spectrum_columns().rows(table);
  REQUIRE(back.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(spectrum_columns().record(back[i]) == table.rows[i]);
}

TEST_CASE("summarise_spectra: a summary a matrix and head, from the singular values alone") {
  std::vector<SpectrumRow> rows;
  const arma::vec values = {4, 2, 2, 0};
  for (const char* input : {"one", "two"}) {
    double sum = 0;
    for (arma::uword i = 0; i < 4; ++i) {
      SpectrumRow row;
      row.input = input;
      row.matrix = "b";
      row.n = row.n_q = 4;
      row.method = "dense";
      row.index = i + 1;
      row.singular_value = values(i);
      sum += values(i);
      row.cumulative = row.cumulative_lo = row.cumulative_hi = sum / 8;
      row.frobenius = std::sqrt(24.0);
      rows.push_back(row);
    }
  }
  rows[4].log_scale = 7;
  const auto summaries = summarise_spectra(rows);
  REQUIRE(summaries.size() == 2);
  for (const SpectrumSummary& s : summaries) {
    CHECK(s.spectral == 4);
    CHECK(s.nuclear == 8);
    CHECK(s.nuclear_lo == 8);
    CHECK(s.nuclear_hi == 8);
    CHECK(s.rank == 3);
    CHECK(s.stable_rank == doctest::Approx(1.5));
    CHECK(s.cumulative_quarter == 0.5);
    CHECK(std::isnan(s.cumulative_128));
    CHECK(s.condition > 1e14);  // 1 / (n u), where a singular value is 0
  }
  CHECK(summaries[0].input == "one");
  CHECK(summaries[1].log_scale == 7);
}

TEST_CASE("summarise_spectra: with Lanczos the sum of all has an interval, and a quarter is one of all values") {
  // Of 12 values 4 are found, 8 in sum; all have 16, between 10 and 20.
  const arma::vec values = {4, 2, 1, 1};
  for (const char* matrix : {"b", "bv"}) {
    std::vector<SpectrumRow> rows(4);
    double sum = 0;
    for (arma::uword i = 0; i < 4; ++i) {
      sum += values(i);
      rows[i].matrix = matrix;
      rows[i].n = rows[i].n_q = 12;
      rows[i].method = "lanczos";
      rows[i].singular_value = values(i);
      rows[i].cumulative = sum / 16;
      rows[i].cumulative_lo = sum / 20;
      rows[i].cumulative_hi = sum / 10;
    }
    const auto summaries = summarise_spectra(rows);
    REQUIRE(summaries.size() == 1);
    CHECK(summaries[0].nuclear == 16);
    CHECK(summaries[0].nuclear_lo == 10);
    CHECK(summaries[0].nuclear_hi == 20);
    CHECK(summaries[0].cumulative_quarter == (matrix == std::string("b") ? 7.0 : 4.0) / 16);
    CHECK(std::isnan(summaries[0].rank));
    CHECK(std::isnan(summaries[0].condition));
  }
}

TEST_CASE("summarise_spectra: a matrix that failed has its reason and no numbers") {
  SpectrumRow row;
  row.input = "head";
  row.matrix = "c";
  row.n = 4;
  row.method = "dense";
  row.index = 1;
  row.status = "not finite: frobenius = inf";
  const auto summaries = summarise_spectra({row});
  REQUIRE(summaries.size() == 1);
  CHECK(summaries[0].status == row.status);
  for (const double number : {summaries[0].spectral, summaries[0].nuclear, summaries[0].rank, summaries[0].condition,
                              summaries[0].cumulative_quarter}) {
    CHECK(std::isnan(number));
  }
}
