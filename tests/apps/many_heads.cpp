// Heads that are more than memory: one is there at a time.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <malloc.h>
#include <croquis/io/csv.hpp>

#include <string>

#include "support/archives.hpp"
#include "support/capture.hpp"
#include "support/head_arrays.hpp"
#include "support/process.hpp"
#include "support/torch_files.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what was freed
namespace {

constexpr std::size_t kManyWidth = 64;
constexpr double kMegabyte = 1 << 20;

// A process begins as a copy of this one, so what the files were made of must be gone.
double peak_of(const TemporaryFolder& folder, const std::string& line) {
  ::malloc_trim(0);
  const ProgramRun run = run_process(words(line), folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  return static_cast<double>(run.peak_bytes) / kMegabyte;
}

std::string bfloat16(const std::string& name, std::size_t heads, std::size_t tokens) {
  return bytes_of(as_bfloat16(head_numbers(name, heads * tokens * kManyWidth)));
}

// q.npy with all heads, and files with queries of all heads, which share one of keys and one of values.
void write_files(const TemporaryFolder& folder, std::uint64_t heads, std::uint64_t tokens) {
  const std::vector<std::uint64_t> many = {heads, tokens, kManyWidth}, one = {1, tokens, kManyWidth};
  const std::string q = bfloat16("q", heads, tokens), k = bfloat16("k", 1, tokens), v = bfloat16("v", 1, tokens);
  write_text(folder / "q.npy", npy_of(many, q, "<f2"));
  write_text(
      folder / "all.npz",
      zip_file({{"q.npy", npy_of(many, q, "<f2")}, {"k.npy", npy_of(one, k, "<f2")}, {"v.npy", npy_of(one, v, "<f2")}},
               Compression::deflated));
  const auto entry = [](char name, const std::vector<std::uint64_t>& shape, std::size_t begin, std::size_t end) {
    return fmt::format(R"("{}":{{"dtype":"BF16","shape":[{}],"data_offsets":[{},{}]}})", name, fmt::join(shape, ","),
                       begin, end);
  };
  const std::size_t first = q.size(), second = first + k.size();
  write_text(folder / "all.safetensors",
             safetensors_file(fmt::format("{{{},{},{}}}", entry('q', many, 0, first), entry('k', one, first, second),
                                          entry('v', one, second, second + v.size())),
                              q + k + v));
  const std::string type = "BFloat16Storage";
  write_text(
      folder / "all.pt",
      torch_file(torch_pickle(pickled_tuple({pickled(contiguous("0", many, type)), pickled(contiguous("1", one, type)),
                                             pickled(contiguous("2", one, type))})),
                 {q, k, v}));
}

}  // namespace

TEST_CASE("many heads: as much memory as a few, from .npy, .npz, .safetensors and .pt") {
  const TemporaryFolder folder;
  constexpr std::size_t heads = 120;
  write_files(folder, heads, 2000);  // a head takes 3 MB in double, all of them 360 MB, and one matrix of each 120 MB
  for (const char* files :
       {"--q q.npy --k q.npy --v q.npy", "--qkv all.npz", "--qkv all.safetensors", "--qkv all.pt"}) {
    CAPTURE(std::string(files));
    const std::string line = fmt::format(
        "error {} --methods v-mean,performer --features 4 --trials 1 --rows 20 --threads 1 --quiet --overwrite", files);
    const double few = peak_of(folder, line + " --head 5-7"), all = peak_of(folder, line);
    CHECK(all <= few + 20);
    CHECK(croquis::read_csv((folder / "error.csv").string()).rows.size() == 2 * heads);
  }
}

TEST_CASE("many heads: spectra and dimensions have as many heads in memory as threads") {
  const TemporaryFolder folder;
  const struct {
    const char* command;
    std::size_t heads, tokens;  // 60 and 77 MB in double
    double rows;                // MB of rows and their keys, at 2200 bytes each
  } cases[] = {{"spectrum --matrices bv", 40, 1000, 6}, {"dimension --trials 0 --epsilons 0.5", 200, 256, 1}};
  for (const auto& [command, heads, tokens, rows] : cases) {
    CAPTURE_BINDING(command);
    write_files(folder, heads, tokens);
    const std::string line =
        fmt::format("{} --q q.npy --k q.npy --v q.npy --threads 2 --quiet --overwrite --out s.csv", command);
    CHECK(peak_of(folder, line) <= peak_of(folder, line + " --head 5-9") + rows + 20);
  }
}
#endif
