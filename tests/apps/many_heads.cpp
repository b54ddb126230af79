// Heads that are more than memory: one is there at a time.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>

#include <string>

#include "support/archives.hpp"
#include "support/head_arrays.hpp"
#include "support/process.hpp"
#include "support/refusal.hpp"
#include "support/torch_files.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which map terabytes
namespace {

constexpr std::size_t kTokens = 2000, kWidth = 64, kHeads = 60;

// Bytes of address space in which the command line runs, to 4 MB.
std::size_t needed(const TemporaryFolder& folder, const std::string& line) {
  std::size_t low = std::size_t{32} << 20, high = std::size_t{2} << 30;
  REQUIRE_MESSAGE(run_process(words(line), folder.path(), {.memory = high}).status == 0, line);
  while (high - low > std::size_t{4} << 20) {
    const std::size_t middle = (low + high) / 2;
    (run_process(words(line), folder.path(), {.memory = middle}).status == 0 ? high : low) = middle;
  }
  return high;
}

}  // namespace

TEST_CASE("many heads: as much memory as one, from .npy, .npz, .safetensors and .pt") {
  const TemporaryFolder folder;
  const std::vector<std::uint64_t> shape = {kHeads, kTokens, kWidth};
  const std::string numbers = bytes_of(as_bfloat16(head_numbers("q", kHeads * kTokens * kWidth)));
  const std::string npy = npy_of(shape, numbers, "<f2");
  write_text(folder / "q.npy", npy);
  write_text(folder / "all.npz", zip_file({{"q.npy", npy}, {"k.npy", npy}, {"v.npy", npy}}, Compression::stored));
  std::string header = "{";
  for (std::size_t i = 0; i < 3; ++i) {
    header += fmt::format(R"({}"{}":{{"dtype":"BF16","shape":[{}],"data_offsets":[{},{}]}})", i == 0 ? "" : ",",
                          "qkv"[i], fmt::join(shape, ","), i * numbers.size(), (i + 1) * numbers.size());
  }
  write_text(folder / "all.safetensors", safetensors_file(header + "}", numbers + numbers + numbers));
  const std::string tensor = pickled(contiguous("0", shape, "BFloat16Storage"));
  write_text(folder / "all.pt", torch_file(torch_pickle(pickled_tuple({tensor, tensor, tensor})), {numbers}));
  // A head takes 3 MB in double, all of them 180 MB, and a file of half precision 15 to 45 MB.
  const std::string options = " --methods v-mean --features 4 --rows 20 --threads 1 --quiet --overwrite";
  for (const char* files :
       {"--q q.npy --k q.npy --v q.npy", "--qkv all.npz", "--qkv all.safetensors", "--qkv all.pt"}) {
    CAPTURE(std::string(files));
    const std::string line = fmt::format("error {}{}", files, options);
    const std::size_t one = needed(folder, line + " --head 7");
    const ProgramRun all =
        run_process(words(line + " --head all"), folder.path(), {.memory = one + (std::size_t{12} << 20)});
    CHECK_MESSAGE(all.status == 0, all.output);
    CHECK(croquis::read_csv((folder / "error.csv").string()).rows.size() == kHeads);
  }
}

TEST_CASE("many heads: spectra and dimensions have as many heads in memory as threads") {
  const TemporaryFolder folder;
  constexpr std::size_t tokens = 300, heads = 80;  // 0.5 MB a head in double, 37 MB in all
  write_text(folder / "q.npy",
             npy_of({heads, tokens, kWidth}, bytes_of(as_bfloat16(head_numbers("q", heads * tokens * kWidth))), "|V2"));
  for (const char* command : {"spectrum --matrices bv", "dimension --trials 0 --epsilons 0.5"}) {
    CAPTURE(std::string(command));
    const std::string line =
        fmt::format("{} --q q.npy --k q.npy --v q.npy --threads 2 --quiet --overwrite --out s.csv", command);
    const std::size_t two = needed(folder, line + " --head 7,8");
    const ProgramRun all =
        run_process(words(line + " --head all"), folder.path(), {.memory = two + (std::size_t{12} << 20)});
    CHECK_MESSAGE(all.status == 0, all.output);
  }
}
#endif
