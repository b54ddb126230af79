// Q, K and V that break programs: rows of finite numbers or with a reason, or one clear line and status 2.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>

#include <algorithm>

#include "support/tries.hpp"

namespace {

struct Matrices {
  std::string name;
  arma::mat q, k, v;
  std::string refusal{};  // a part of it, where there is one in double
};

std::vector<Matrices> hard_matrices() {
  constexpr arma::uword n = 13, p = 4, p_v = 3;
  arma::arma_rng::set_seed(11);  // any numbers will do
  const arma::mat q(n, p, arma::fill::randn), k(n, p, arma::fill::randn), v(n, p_v, arma::fill::randn);
  std::vector<Matrices> all;
  const auto with = [&](double value, const char* text) {
    for (const char which : {'Q', 'K', 'V'}) {
      Matrices m{fmt::format("{} in {}", text, which), q, k, v,
                 fmt::format("{}.npy: row 5, column 2", static_cast<char>(which - 'A' + 'a'))};
      (which == 'Q' ? m.q : which == 'K' ? m.k : m.v)(5, 2) = value;
      all.push_back(m);
    }
  };
  with(arma::datum::nan, "NaN");
  with(arma::datum::inf, "Inf");
  with(-arma::datum::inf, "-Inf");
  for (const double norm : {1e-320, 1e-300, 1e-150, 1e-20, 1e8, 1e20, 1e38, 1e50, 1e100, 1e150}) {
    all.push_back({fmt::format("Q, K of {}", norm), norm * q, norm * k, v});
    all.push_back({fmt::format("Q of {}, K of {}", norm, 1 / norm), norm * q, k / std::max(norm, 1e-300), v});
    all.push_back({fmt::format("V of {}", norm), q, k, norm * v});
    Matrices one{fmt::format("a key of {}", norm), q, k, v};
    one.k.row(4) *= norm;
    all.push_back(one);
  }
  for (const double norm : {1e155, 1e300}) {  // squares overflow
    all.push_back({fmt::format("Q, K of {}", norm), norm * q, norm * k, v, "q.npy: row 1 (from 0) has norm"});
    all.push_back({fmt::format("V of {}", norm), q, k, norm * v, "v.npy: row 11 (from 0) has norm"});
    Matrices one{fmt::format("a key of {}", norm), q, k, v, "k.npy: row 4 (from 0) has norm"};
    one.k.row(4) *= norm;
    all.push_back(one);
  }
  const arma::mat zero(n, p, arma::fill::zeros), one(n, p, arma::fill::ones);
  all.push_back({"zeros", zero, zero, arma::mat(n, p_v, arma::fill::zeros)});
  all.push_back({"negative zeros", -zero, -zero, v});
  all.push_back({"zero queries", zero, k, v});
  all.push_back({"zero keys", q, zero, v});
  all.push_back({"ones", one, one, one});
  all.push_back({"one token, many times", arma::repmat(q.row(0), n, 1), arma::repmat(k.row(0), n, 1), v});
  all.push_back({"two tokens", arma::repmat(q.rows(0, 1), 6, 1), arma::repmat(k.rows(0, 1), 6, 1), v.head_rows(12)});
  all.push_back({"rank one", q.col(0) * one.row(0), k.col(0) * one.row(0), v});
  all.push_back({"n = 1", q.row(0), k.row(0), v.row(0)});
  all.push_back({"n = 2", q.head_rows(2), k.head_rows(2), v.head_rows(2)});
  all.push_back({"p = 1", q.col(0), k.col(0), v.col(0)});
  all.push_back({"n = p = 1", q.submat(0, 0, 0, 0), k.submat(0, 0, 0, 0), v.submat(0, 0, 0, 0)});
  all.push_back({"n = 0", arma::mat(0, 4), arma::mat(0, 4), arma::mat(0, 3), "there are no numbers"});
  all.push_back({"p = 0", arma::mat(n, 0), arma::mat(n, 0), v, "there are no numbers"});
  all.push_back({"p_v = 0", q, k, arma::mat(n, 0), "there are no numbers"});
  return all;
}

}  // namespace

TEST_CASE("hard Q, K and V: every command on every method has sound rows, or one clear line") {
  TemporaryFolder folder;
  std::vector<Try> tries;
  int number = 0;
  for (const Matrices& m : hard_matrices()) {
    const std::string name = std::to_string(number++);
    std::filesystem::create_directory(folder / name);
    for (const auto& [file, matrix] : {std::pair{"q.npy", &m.q}, {"k.npy", &m.k}, {"v.npy", &m.v}}) {
      croquis::write_npy((folder / name / file).string(), *matrix);
    }
    const std::string arrays = fmt::format(" --q ../{0}/q.npy --k ../{0}/k.npy --v ../{0}/v.npy", name);
    const std::string d = m.q.n_rows > 1 ? "1,2" : "1";
    const std::string names = m.refusal.empty() ? "Problem|--matrix|: " : m.refusal;
    const auto add = [&](const std::string& line) {
      tries.push_back({words(line + kTryOptions), names, !m.refusal.empty()});
    };
    add("error --methods all --trials 1 --features " + d + arrays);
    add("error --methods all --trials 1 --precision float --features " + d + arrays);
    add("error --methods all --trials 1 --causal --features " + d + arrays);
    add("error --methods all --trials 1 --bias alibi:0.1 --causal --features " + d + arrays);
    add("sketch --trials 1 --features " + d + arrays);
    add("spectrum" + arrays);
    add("dimension --trials 1" + arrays);
    tries.push_back(
        {words(fmt::format("variance --q ../{0}/q.npy --k ../{0}/k.npy --maps all --features 4 --trials 1", name) +
               kTryOptions),
         ": "});
  }
  MESSAGE(tries.size() << " command lines");
  check_all(tries, folder);
}

TEST_CASE("norms up to 1e150: what is exact at d = n stays exact") {
  TemporaryFolder folder;
  for (const char* norm : {"0", "1e-300", "1e-150", "1e-20", "1", "1e20", "1e100", "1e150"}) {
    CAPTURE(std::string(norm));
    const ProgramRun run =
        run_process(words("error --input gaussian --n 13 --p 4 --methods best-rank-d,informer --features 13 --trials "
                          "1 --norm " +
                          std::string(norm) + kTryOptions),
                    folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    const croquis::CsvTable table = croquis::read_csv((folder / "rows.csv").string());
    REQUIRE(table.rows.size() == 2);
    for (const auto& row : table.rows) CHECK(std::stod(row[table.column("spectral_rel")]) < 1e-12);
  }
}
