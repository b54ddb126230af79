// Heads as models and programs save them: shared keys, batches, all formats of files, choices of heads.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "support/archives.hpp"
#include "support/capture.hpp"
#include "support/head_arrays.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/torch_files.hpp"

namespace {

constexpr std::size_t kTokens = 40, kWidth = 4, kHead = kTokens * kWidth;
const std::string kOptions = " --methods v-mean,skeinformer --features 8 --trials 2 --quiet ";
const std::string kFiles = "error --q q.npy --k k.npy --v v.npy --out ";

void write_heads(const TemporaryFolder& folder, const std::string& file, const std::vector<float>& numbers,
                 const std::vector<std::uint64_t>& heads) {
  std::vector<std::uint64_t> shape = heads;
  shape.push_back(kTokens);
  shape.push_back(kWidth);
  write_text(folder / file, npy_of(shape, bytes_of(numbers)));
}

// q.npy, k.npy and v.npy with these heads.
void write_all(const TemporaryFolder& folder, const std::vector<std::uint64_t>& heads) {
  std::size_t count = 1;
  for (const std::uint64_t size : heads) count *= size;
  for (const char* name : {"q", "k", "v"}) {
    write_heads(folder, fmt::format("{}.npy", name), head_numbers(name, count * kHead), heads);
  }
}

std::string done(const TemporaryFolder& folder, const std::string& arguments) {
  const ProgramRun run = run_croquis(arguments + kOptions, folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  return run.output;
}

}  // namespace

TEST_CASE("grouped queries: a head of the keys is repeated by itself for the queries next to each other") {
  const TemporaryFolder folder;
  const std::vector<float> k = head_numbers("k", 2 * kHead), v = head_numbers("v", 2 * kHead);
  write_heads(folder, "q.npy", head_numbers("q", 4 * kHead), {4});
  write_heads(folder, "k.npy", k, {2});
  write_heads(folder, "v.npy", v, {2});
  const auto repeated = [](const std::vector<float>& heads) {
    std::vector<float> all;
    for (const std::size_t h : {0, 0, 1, 1}) {
      all.insert(all.end(), heads.begin() + static_cast<std::ptrdiff_t>(h * kHead),
                 heads.begin() + static_cast<std::ptrdiff_t>((h + 1) * kHead));
    }
    return all;
  };
  write_heads(folder, "k4.npy", repeated(k), {4});
  write_heads(folder, "v4.npy", repeated(v), {4});
  const std::string said = done(folder, kFiles + "shared.csv");
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  CHECK_MESSAGE(contains(said,
                         "4 heads of queries share 2 of keys and values: head h of the keys is that of queries "
                         "2h to 2h + 1"),
                said);
  CHECK(done(folder, "error --q q.npy --k k4.npy --v v4.npy --out whole.csv").empty());
  CHECK(rows_of(folder / "shared.csv") == rows_of(folder / "whole.csv"));
  CHECK(rows_of(folder / "shared.csv").size() == 4 * 3);

  write_heads(folder, "three.npy", head_numbers("q", 3 * kHead), {3});
  write_heads(folder, "one.npy", head_numbers("k", kHead), {});
  for (const auto& [arguments, message] : {std::pair("--q three.npy --k k.npy --v v.npy", "Q has 3 heads, K 2, V 2"),
                                           std::pair("--q k.npy --k q.npy --v q.npy", "Q has 2 heads, K 4, V 4"),
                                           std::pair("--q one.npy --k k.npy --v v.npy", "Q has 1 head, K 2, V 2"),
                                           std::pair("--q q.npy --k k.npy --v v4.npy", "Q has 4 heads, K 2, V 4"),
                                           std::pair("--q q.npy --k one.npy --v v.npy", "Q has 4 heads, K 1, V 2")}) {
    check_refused(run_croquis(fmt::format("error {}", arguments), folder.path()), message);
  }
}

TEST_CASE("four dimensions: batch and head in the name, the head in its column, the rows those of the heads alone") {
  const TemporaryFolder folder;
  write_all(folder, {2, 3});
  done(folder, kFiles + "four.csv");
  write_all(folder, {6});
  done(folder, kFiles + "six.csv");
  for (int batch = 0; batch < 2; ++batch) {
    for (int head = 0; head < 3; ++head) {
      const auto rows = rows_of(folder / "four.csv", fmt::format("arrays:q;batch={};head={}", batch, head));
      CHECK(rows.size() == 3);
      CHECK(rows == rows_of(folder / "six.csv", fmt::format("arrays:q;head={}", 3 * batch + head)));
    }
  }
  const std::vector<std::string> heads = column_of(folder / "four.csv", "head");
  CHECK(std::count(heads.begin(), heads.end(), "2") == 2 * 3);
  CHECK(column_of(folder / "four.csv", "layer") == std::vector<std::string>(18, "NA"));

  // Keys that the heads of a batch share are those of that batch.
  write_all(folder, {2, 3});
  write_heads(folder, "k1.npy", head_numbers("k", 2 * kHead), {2, 1});
  write_heads(folder, "v1.npy", head_numbers("v", 2 * kHead), {2, 1});
  done(folder, "error --q q.npy --k k1.npy --v v1.npy --head 1 --out shared.csv");
  const std::vector<float> q = head_numbers("q", 6 * kHead), k = head_numbers("k", 2 * kHead),
                           v = head_numbers("v", 2 * kHead);
  const auto head = [](const std::vector<float>& all, std::ptrdiff_t h) {
    return std::vector<float>(all.begin() + h * static_cast<std::ptrdiff_t>(kHead),
                              all.begin() + (h + 1) * static_cast<std::ptrdiff_t>(kHead));
  };
  write_heads(folder, "q4.npy", head(q, 4), {});
  write_heads(folder, "k2.npy", head(k, 1), {});
  write_heads(folder, "v2.npy", head(v, 1), {});
  done(folder, "error --q q4.npy --k k2.npy --v v2.npy --out alone.csv");
  CHECK(rows_of(folder / "shared.csv", "arrays:q;batch=1;head=1") == rows_of(folder / "alone.csv", "arrays:q4"));
  CHECK(column_of(folder / "alone.csv", "head") == std::vector<std::string>(3, "NA"));
}

TEST_CASE("formats: .npz, .safetensors and .pt, one file or three, give the rows of .npy") {
  const TemporaryFolder folder;
  const std::vector<std::uint64_t> shape = {2, kTokens, kWidth};
  std::vector<std::string> bytes, halves, tensors;
  for (const char* name : {"q", "k", "v"}) {
    const std::vector<float> numbers = head_numbers(name, 2 * kHead);
    bytes.push_back(bytes_of(numbers));
    halves.push_back(bytes_of(as_bfloat16(numbers)));
    tensors.push_back(pickled(contiguous(std::to_string(tensors.size()), shape, "BFloat16Storage")));
    write_text(folder / fmt::format("{}.npy", name), npy_of(shape, bytes.back()));
    write_text(folder / fmt::format("{}16.npy", name), npy_of(shape, halves.back(), "|V2"));
    const std::string header = fmt::format(R"({{"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})", name,
                                           fmt::join(shape, ","), bytes.back().size());
    write_text(folder / fmt::format("{}.safetensors", name), safetensors_file(header, bytes.back()));
    write_text(folder / fmt::format("{}.pt", name),
               torch_file(torch_pickle(pickled(contiguous("0", shape))), {bytes.back()}));
  }
  const std::size_t size = halves[0].size();
  std::string header = "{";
  for (int i = 0; i < 3; ++i) {
    header +=
        fmt::format(R"({}"{}":{{"dtype":"BF16","shape":[{}],"data_offsets":[{},{}]}})", i == 0 ? "" : ",", "qkv"[i],
                    fmt::join(shape, ","), static_cast<std::size_t>(i) * size, static_cast<std::size_t>(i + 1) * size);
  }
  write_text(folder / "all.safetensors", safetensors_file(header + "}", halves[0] + halves[1] + halves[2]));
  write_text(folder / "all.npz", zip_file({{"q.npy", npy_of(shape, bytes[0])},
                                           {"k.npy", npy_of(shape, bytes[1])},
                                           {"v.npy", npy_of(shape, bytes[2])}},
                                          Compression::deflated));
  write_text(folder / "all.pt", torch_file(torch_pickle(pickled_tuple(tensors)), halves));
  done(folder, kFiles + "npy.csv");
  const auto alone = rows_of(folder / "npy.csv", "arrays:q;head=1");
  REQUIRE(alone.size() == 3);
  for (const char* file : {"all.npz", "all.safetensors", "all.pt"}) {
    CAPTURE(std::string(file));
    CHECK(done(folder, fmt::format("error --qkv {} --out one.csv --overwrite", file)).empty());
    CHECK(rows_of(folder / "one.csv", "arrays:all;head=1") == alone);
  }
  for (const char* end : {"safetensors", "pt"}) {
    CAPTURE(std::string(end));
    CHECK(done(folder, fmt::format("error --q q.{0} --k k.{0} --v v.{0} --out three.csv --overwrite", end)).empty());
    CHECK(rows_of(folder / "three.csv") == rows_of(folder / "npy.csv"));
  }
  const std::string said = done(folder, "error --q q16.npy --k k16.npy --v v16.npy --out b.csv");
  CHECK(rows_of(folder / "b.csv", "arrays:q16;head=1") == alone);
  CHECK_MESSAGE(contains(said, "q16.npy: two bytes without a type (V2), as NumPy writes bfloat16"), said);
  CHECK(std::count(said.begin(), said.end(), '\n') == 3);

  write_text(folder / "code.pt", torch_file("\x80\x02"
                                            "cposix\nsystem\n" +
                                                pickled(std::string("touch broken")) + "\x85R.",
                                            {}));
  for (const auto& [arguments, message] :
       {std::pair("--qkv code.pt", "code.pt: has a 'posix.system', which is no tensor; in Python, numpy.savez("),
        std::pair("--qkv q.pt", "q.pt: has no array q; it has a tensor without a name")}) {
    const std::string tried = arguments;
    CAPTURE(tried);
    check_refused(run_croquis(fmt::format("error {}", arguments), folder.path()), message);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "broken"));
}

TEST_CASE("--head takes ranges; --head-sample draws some with the seed, in their order, and the meta file names them") {
  const TemporaryFolder folder;
  write_all(folder, {12});
  done(folder, kFiles + "all.csv");
  done(folder, kFiles + "some.csv --head 9-11,0-1");
  std::vector<std::string> heads = column_of(folder / "some.csv", "head");
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  CHECK(heads == std::vector<std::string>{"9", "10", "11", "0", "1"});

  std::set<std::string> lists;
  for (const char* seed : {"1", "2", "3", "4"}) {  // four draws of 5 of 12 are the same in 1 of 5e8 cases
    const std::string options = fmt::format("--head-sample 5 --seed {} --overwrite", seed);
    done(folder, kFiles + "sample.csv " + options);
    std::vector<std::string> sample = column_of(folder / "sample.csv", "head");
    sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
    REQUIRE(sample.size() == 5);
    CHECK(std::is_sorted(sample.begin(), sample.end(),
                         [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); }));
    const auto meta = nlohmann::json::parse(read_text(folder / "sample.meta.json"));
    std::string names;
    for (const std::string& head : sample) names += fmt::format("{}arrays:q;head={}", names.empty() ? "" : ", ", head);
    CHECK(meta["identity"]["input"] == names);
    lists.insert(names);
    if (std::string(seed) == "1") {  // heads of the sample have the rows that they have among all
      for (const std::string& head : sample) {
        CHECK(rows_of(folder / "sample.csv", "arrays:q;head=" + head) ==
              rows_of(folder / "all.csv", "arrays:q;head=" + head));
      }
      const std::string before = read_text(folder / "sample.csv");
      const ProgramRun again =
          run_croquis(kFiles + "sample.csv --head-sample 5 --seed 1 --resume" + kOptions, folder.path());
      CHECK_MESSAGE(again.status == 0, again.output);
      CHECK(read_text(folder / "sample.csv") == before);
    }
  }
  CHECK(lists.size() > 1);
  for (const auto& [arguments, message] :
       {std::pair("--head 3-1", "--head: '3-1' runs downwards"),
        std::pair("--head 0-12", "--head: '0-12' is none of 0 to 11"),
        std::pair("--head 0-3,2", "--head: 2 is there twice"), std::pair("--head 1-", "--head: '1-'"),
        std::pair("--head 1-2-3", "--head: '1-2-3'"),
        std::pair("--head-sample 13", "--head-sample: 13 is more than the 12 heads\n"),
        std::pair("--head 2 --head-sample 2", "--head-sample: 2 is more than the 1 head\n"),
        std::pair("--head 0-3 --head-sample 5", "--head-sample: 5 is more than the 4 heads"),
        std::pair("--head-sample 0", "--head-sample")}) {
    CAPTURE_BINDING(arguments);
    check_refused(run_croquis(kFiles + fmt::format("w.csv {}", arguments), folder.path()), message);
  }
  // Another list of heads is another run; of a long list, the message has the place where it differs.
  const ProgramRun other = run_croquis(kFiles + "all.csv --head 0-5,7-11,6 --resume" + kOptions, folder.path());
  CHECK(other.status == 2);
  CHECK_MESSAGE(contains(other.output, "head=5, arrays:q;head=6, arrays:q;head=7"), other.output);
  CHECK_MESSAGE(contains(other.output, "head=5, arrays:q;head=7, arrays:q;head=8"), other.output);
  const ProgramRun text = run_croquis("error --head-sample 2", folder.path());
  CHECK_MESSAGE(contains(text.output, "--head-sample: goes with --input arrays and model"), text.output);
}

TEST_CASE("NaN and infinity are named with file, batch, head, row and column, before there are rows") {
  const TemporaryFolder folder;
  write_all(folder, {2, 3});
  std::vector<float> k = head_numbers("k", 6 * kHead);
  k[4 * kHead + 17 * kWidth + 3] = std::numeric_limits<float>::quiet_NaN();
  write_heads(folder, "k.npy", k, {2, 3});
  ProgramRun run = run_croquis(kFiles + "e.csv", folder.path());
  CHECK(run.status == 2);
  CHECK(run.output ==
        "croquis: k.npy: batch 1, head 1, row 17, column 3 (from 0) is NaN; every number must be finite\n");
  CHECK_FALSE(std::filesystem::exists(folder / "e.csv"));
  std::vector<float> v = head_numbers("v", 6 * kHead);
  v[2 * kHead + 5 * kWidth] = -std::numeric_limits<float>::infinity();
  write_all(folder, {6});
  write_heads(folder, "v.npy", v, {6});
  run = run_croquis(kFiles + "e.csv", folder.path());
  CHECK(run.output == "croquis: v.npy: head 2, row 5, column 0 (from 0) is infinite; every number must be finite\n");
  CHECK(run_croquis(kFiles + "e.csv --head 3-5" + kOptions, folder.path()).status == 0);
}
