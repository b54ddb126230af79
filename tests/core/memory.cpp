#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/inputs/text.hpp>
#include <croquis/linalg/spectrum.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "support/files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// A line "name:   1234 kB" of a file of /proc, in bytes.
double proc_bytes(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    double kilobytes = 0;
    if (word == name + ":" && file >> kilobytes) return 1024 * kilobytes;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

TEST_CASE("memory: what fits is allowed, what does not is refused with its bytes and sizes") {
  const double available = available_memory();
  CHECK(available > (32 << 20));  // the tests would not run with less
  CHECK_NOTHROW(require_memory(0.5 * available, "here", {}));
  const std::string message = refusal([] { require_memory(1e18, "here", {{"n", 5}, {"p", 7}}); });
  CHECK(contains(message, "here: needs 1000000000000000000 bytes, "));
  CHECK(message.ends_with(" are available, for n = 5, p = 7"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which map terabytes
TEST_CASE("memory: a limit on the process counts, less what it has already") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit limit{rlim_t{1} << 40, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
  const double with_much = available_memory();
  const auto mapped = static_cast<rlim_t>(proc_bytes("/proc/self/status", "VmSize"));
  const rlimit small{mapped + (rlim_t{64} << 20), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_AS, &small) == 0);
  const double with_little = available_memory();
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(with_much <= (1LL << 40));
  CHECK(with_little <= (65 << 20));
}
#endif

TEST_CASE("memory: the limits of all control groups above count, less what each has already") {
  const TemporaryFolder root;
  std::filesystem::create_directories(root / "a/b/c");
  const auto write = [&](const std::string& file, const std::string& text) {
    std::ofstream(root / file) << text << '\n';
  };
  const std::string path = root.path().string();
  CHECK(std::isinf(available_in_control_group(path, "/a/b/c")));
  write("a/b/c/memory.max", "max");
  write("a/b/c/memory.current", "5");
  CHECK(std::isinf(available_in_control_group(path, "/a/b/c")));
  write("a/memory.max", "1000");
  write("a/memory.current", "300");
  CHECK(available_in_control_group(path, "/a/b/c") == 700);
  write("a/b/memory.max", "500");
  write("a/b/memory.current", "400");
  CHECK(available_in_control_group(path, "/a/b/c") == 100);
  write("a/b/memory.stat", "anon 10\nfile 390\ninactive_file 250\nactive_file 140");
  CHECK(available_in_control_group(path, "/a/b/c") == 350);
  write("memory.max", "600");
  write("memory.current", "700");
  CHECK(available_in_control_group(path, "/a/b/c") == 0);
  std::filesystem::remove(root / "memory.current");  // nothing is known of the usage
  CHECK(available_in_control_group(path, "/a/b/c") == 350);
  std::filesystem::remove(root / "memory.max");
  CHECK(available_in_control_group(path, "/") == std::numeric_limits<double>::infinity());
}

TEST_CASE("memory: no more than what the kernel says others leave, which is not all that there is") {
  const double before = proc_bytes("/proc/meminfo", "MemAvailable"), available = available_memory(),
               after = proc_bytes("/proc/meminfo", "MemAvailable");
  CHECK(available <= std::max(before, after) + (64 << 20));  // what others give back in between
}

TEST_CASE("memory: sizes of inputs beyond it are refused before anything is allocated, products beyond 2^64 too") {
  const Key key(1);
  const SyntheticSize huge{.n = arma::uword{1} << 60, .p = arma::uword{1} << 60};
  CHECK(contains(refusal([&] { gaussian_input(key, huge); }), "gaussian_input: needs 63802943797675961"));
  CHECK(contains(refusal([&] { sphere_input(key, huge); }), "sphere_input: needs"));
  CHECK(contains(refusal([&] { heavy_norms_input(key, huge); }), "heavy_norms_input: needs"));
  CHECK(contains(refusal([&] { low_rank_input(key, huge); }), "low_rank_input: needs"));
  const SyntheticSize small{.n = 8, .p = 4};
  CHECK(contains(refusal([&] { clustered_input(key, small, {.clusters = arma::uword{1} << 60}); }), "clusters = "));
  CHECK(contains(refusal([&] { duplicates_input(key, small, {.distinct = arma::uword{1} << 60}); }), "distinct = "));
  InitialisedBert wide;
  wide.head = arma::uword{1} << 50;
  CHECK(contains(refusal([&] { initialised_bert({"a"}, key, wide); }), "initialised_bert: needs"));
}

TEST_CASE("memory: matrices of all pairs of tokens are refused before anything is allocated") {
  constexpr arma::uword n = arma::uword{1} << 20;  // a vector of them has 8 MB, a matrix 8 TB
  const Problem<double> problem(arma::mat(n, 1, arma::fill::zeros), arma::mat(n, 1, arma::fill::zeros),
                                arma::mat(n, 1, arma::fill::zeros));
  for (const ScoreMatrix which : {ScoreMatrix::raw, ScoreMatrix::softmax, ScoreMatrix::kernelized}) {
    CHECK(contains(refusal([&] { score_matrix(problem, which); }), "score_matrix: needs 17592186044416 bytes"));
  }
  CHECK(contains(refusal([&] { transposed_softmax(problem); }), "transposed_softmax: needs 8796093022208 bytes"));
  const LinearOperator<double> identity{n, n, [](const arma::mat& x) { return x; },
                                        [](const arma::mat& x) { return x; }};
  CHECK(contains(refusal([&] { leading_spectrum(identity, n, Key(1)); }), "leading_spectrum: needs 17592186044416"));
  double none = 0;  // a matrix that nobody may read
  const arma::mat large(&none, n, n, false, true);
  CHECK(contains(refusal([&] { singular_values(large); }), "singular_values: needs 8796093022208 bytes"));
}

TEST_CASE("reason_of: a failure for lack of memory has a sentence, others say what they say") {
  CHECK(croquis::reason_of(std::bad_alloc()) == "there is not enough memory");
  CHECK(croquis::reason_of(std::runtime_error("no luck")) == "no luck");
}
