#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/array_file.hpp>
#include <croquis/io/safetensors.hpp>

#include <cstring>
#include <limits>

#include "support/archives.hpp"
#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

std::string entry(const std::string& name, const std::string& type, const std::string& shape, int begin, int end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, type, shape, begin, end);
}

// The tensors `data` has, by their entries.
std::string tensor_file(const std::vector<std::string>& entries, const std::string& data) {
  return safetensors_file(fmt::format("{{{}}}", fmt::join(entries, ",")), data);
}

std::string refusal_of(const std::string& bytes, const std::string& tensor = "a") {
  std::string text = refusal([&] { SafeTensors(bytes, "m.safetensors").matrix(tensor); });
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.starts_with("m.safetensors: "));
  return text;
}

}  // namespace

TEST_CASE("safetensors: float32, float16, bfloat16 and float64, rows in order, a vector as a row") {
  const std::string data = bytes_of(std::vector<float>{1, 2, 3, 4, 5, -6.5F}) +
                           bytes_of(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x7bff, 0x0001}) +
                           bytes_of(std::vector<std::uint16_t>{0x3f80, 0xc049}) + bytes_of(std::vector<double>{0.1});
  const SafeTensors file(tensor_file({R"("__metadata__":{"format":"pt"})", entry("a", "F32", "[2,3]", 0, 24),
                                      entry("h", "F16", "[4]", 24, 32), entry("b", "BF16", "[1,2]", 32, 36),
                                      entry("d", "F64", "[1]", 36, 44)},
                                     data),
                         "m");
  const arma::mat a = file.matrix("a");
  REQUIRE(a.n_rows == 2);
  CHECK(a(0, 2) == 3);
  CHECK(a(1, 2) == -6.5);
  const arma::mat h = file.matrix("h");
  REQUIRE(h.n_rows == 1);
  CHECK(h(0) == 1);
  CHECK(h(1) == -2);
  CHECK(h(2) == 65504);
  CHECK(h(3) == 0x1p-24);
  CHECK(file.matrix("b")(0) == 1);
  CHECK(file.matrix("b")(1) == -3.140625);
  CHECK(file.matrix("d")(0) == 0.1);
  CHECK(file.has("a"));
  CHECK_FALSE(file.has("z"));
  CHECK(file.names().size() == 4);
}

TEST_CASE("safetensors: damaged files are refused in one line, without a large allocation") {
  const std::string one = bytes_of(std::vector<float>{1, 2});
  const std::string good = tensor_file({entry("a", "F32", "[2]", 0, 8)}, one);
  std::string endless = good;
  endless[7] = '\x7f';  // a header of 9e18 bytes
  CHECK(contains(refusal_of(""), "too short"));
  CHECK(contains(refusal_of(endless), "header of"));
  CHECK(contains(refusal_of(good.substr(0, good.size() - 1)), "truncated"));
  CHECK(contains(refusal_of(good, "b"), "has no tensor 'b'"));
  for (const char* header : {"", "[]", "{", "null", "{\"a\":1}", "{\"a\":{}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,8],\"data_offsets\":[0,8]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,80]}}"}) {
    CAPTURE(header);
    refusal_of(safetensors_file(header, one));
  }
  CHECK(contains(refusal_of(tensor_file({entry("a", "I64", "[1]", 0, 8)}, one)), "is I64"));
  CHECK(contains(refusal_of(tensor_file({entry("a", "F32", "[1,1,2]", 0, 8)}, one)), "3 dimensions"));
  CHECK(contains(refusal_of(tensor_file({entry("a", "F32", "[0]", 0, 0)}, "")), "has no numbers"));
  const std::string nan = bytes_of(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()});
  CHECK(contains(refusal_of(tensor_file({entry("a", "F32", "[2]", 0, 8)}, nan)), "NaN"));
}

TEST_CASE("safetensors: tensors that overlap, leave a hole or do not reach the end are refused") {
  const std::string data(16, '\0');
  const auto message = [&](const std::vector<std::string>& entries) { return refusal_of(tensor_file(entries, data)); };
  const std::string first = entry("a", "F32", "[2]", 0, 8);
  CHECK(
      contains(message({first, entry("b", "F32", "[2]", 4, 12)}), "'b' begins at byte 4, before the one before ends"));
  CHECK(contains(message({first, entry("b", "F32", "[2]", 0, 8)}), "'b' begins at byte 0, before"));
  CHECK(contains(message({entry("a", "F32", "[4]", 0, 16), entry("b", "F32", "[1]", 4, 8)}), "'b' begins at byte 4"));
  CHECK(contains(message({first, entry("b", "F32", "[1]", 12, 16)}), "'b' begins at byte 12, after a hole"));
  CHECK(contains(message({entry("a", "F32", "[2]", 8, 16)}), "'a' begins at byte 8, after a hole"));
  CHECK(contains(message({first}), "has 8 bytes after its last tensor"));
  CHECK(contains(message({first, entry("b", "F32", "[1]", 8, 12)}), "has 4 bytes after its last tensor"));
  CHECK(contains(message({}), "has 16 bytes after its last tensor"));
  CHECK(contains(message({first, entry("b", "F32", "[3]", 8, 20)}), "truncated: tensor 'b' ends at byte 20 of 16"));
  CHECK(contains(message({first, entry("b", "F32", "[2]", 16, 8)}), "begins at byte 16 and ends at byte 8"));
  CHECK(contains(message({first, entry("b", "F32", "[0]", 4, 4), entry("c", "F32", "[2]", 8, 16)}), "begins at"));
  CHECK(contains(message({first, entry("b", "F32", "[2]", 8, 16), entry("c", "F32", "[0]", 20, 20)}), "truncated"));
}

TEST_CASE("safetensors: any order of the entries, tensors without numbers and padding of the header are allowed") {
  const std::string data = bytes_of(std::vector<float>{1, 2, 3, 4});
  const SafeTensors file(tensor_file({entry("z", "F32", "[0,3]", 8, 8), entry("b", "F32", "[2]", 8, 16),
                                      entry("empty", "F32", "[0]", 0, 0), entry("a", "F32", "[2]", 0, 8),
                                      entry("end", "I64", "[9223372036854775807,0]", 16, 16)},
                                     data),
                         "m");
  CHECK(file.matrix("a")(1) == 2);
  CHECK(file.matrix("b")(0) == 3);
  const std::string one = fmt::format("{{{}}}", entry("a", "F32", "[4]", 0, 16));
  for (const char* padding : {"", " ", "        "}) {
    CHECK(SafeTensors(safetensors_file(one + padding, data), "m").matrix("a")(3) == 4);
  }
  CHECK(SafeTensors(safetensors_file("{}", ""), "m").names().empty());
}

TEST_CASE("safetensors: a header that begins with anything but '{', or is followed by anything but space, is refused") {
  const std::string data(8, '\0'), one = fmt::format("{{{}}}", entry("a", "F32", "[2]", 0, 8));
  for (const std::string& before :
       {std::string(" "), std::string("\n"), std::string("\xef\xbb\xbf"), std::string("["), std::string(1, '\0')}) {
    CHECK(contains(refusal_of(safetensors_file(before + one, data)), "does not begin with '{'"));
  }
  for (const std::string& after : {std::string("x"), std::string("{}"), std::string(1, '\0'), std::string("\0x", 2),
                                   std::string("\xef\xbb\xbf"), std::string(",")}) {
    CHECK(contains(refusal_of(safetensors_file(one + after, data)), "damaged header"));
  }
}

TEST_CASE("safetensors: a line break and an escape in the name of a tensor do not reach the message") {
  const TemporaryFolder folder;
  const std::string path = (folder / "m.safetensors").string();
  write_text(path, tensor_file({entry(R"(a\nb\u001b[31m)", "F32", "[2]", 0, 8)}, std::string(8, '\0')));
  CHECK(refusal([&] { only_array(path, "q"); }).starts_with(path + ": a?b?[31m: has 1 dimension;"));
}

TEST_CASE("safetensors: names twice are refused, of tensors and in an entry") {
  const std::string data(16, '\0');
  CHECK(contains(refusal_of(tensor_file({entry("a", "F32", "[2]", 0, 8), entry("a", "F32", "[2]", 8, 16)}, data)),
                 "'a' twice in one object"));
  CHECK(contains(
      refusal_of(safetensors_file(R"({"a":{"dtype":"F64","dtype":"F32","shape":[4],"data_offsets":[0,16]}})", data)),
      "'dtype' twice"));
  CHECK(contains(
      refusal_of(safetensors_file(R"({"a":{"dtype":"F32","shape":[2,2],"shape":[4],"data_offsets":[0,16]}})", data)),
      "'shape' twice"));
  CHECK(
      contains(refusal_of(tensor_file({R"("__metadata__":{"x":"1","x":"2"})", entry("a", "F32", "[4]", 0, 16)}, data)),
               "'x' twice"));
  CHECK(contains(refusal_of(tensor_file({R"("__metadata__":{})", R"("__metadata__":{})"}, data)),
                 "'__metadata__' twice"));
}

TEST_CASE("safetensors: a type, shape, place or metadata of another kind is refused, each with what it is") {
  const std::string data(8, '\0');
  const auto message = [&](const std::string& type, const std::string& shape, const std::string& offsets) {
    return refusal_of(safetensors_file(
        fmt::format(R"({{"a":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", type, shape, offsets), data));
  };
  for (const char* type : {"\"F31\"", "\"f32\"", "\"\"", "\"F32 \""}) {
    CHECK(contains(message(type, "[2]", "[0,8]"), "is unknown"));
  }
  for (const char* type : {"null", "32", "[\"F32\"]"}) CHECK(contains(message(type, "[2]", "[0,8]"), "no string"));
  for (const char* shape :
       {"2", "[2.0]", "[-2]", "[\"2\"]", "[[2]]", "[null]", "[true]", "[2e0]", "{}", "[18446744073709551616]"}) {
    CHECK(contains(message("\"F32\"", shape, "[0,8]"), "shape is no array of whole numbers"));
  }
  for (const char* offsets : {"[0]", "[0,8,8]", "[]", "8", "[0.0,8]", "[-0.0,8]", "[0,\"8\"]", "{\"0\":8}"}) {
    CHECK(contains(message("\"F32\"", "[2]", offsets), "data_offsets are not two whole numbers"));
  }
  for (const char* shape : {"[]", "[1]", "[3]", "[0]", "[2,2]", "[4294967296,4294967296]", "[2305843009213693954]",
                            "[9223372036854775808,2,0]"}) {
    CHECK(contains(message("\"F32\"", shape, "[0,8]"), "8 bytes where shape ["));
  }
  CHECK(contains(message("\"F4\"", "[3]", "[0,8]"), "needs another number"));  // 12 bits
  for (const char* metadata : {"1", "[]", "\"x\"", "null", "{\"x\":1}", "{\"x\":{}}", "{\"x\":null}"}) {
    CHECK(contains(refusal_of(tensor_file({fmt::format("\"__metadata__\":{}", metadata)}, "")),
                   "__metadata__ has strings"));
  }
}

TEST_CASE("safetensors: a header of more than 100 MB is refused as too long, not as truncated") {
  std::string file(16, '\0');
  const auto with_header = [&](std::uint64_t size) {
    std::memcpy(file.data(), &size, sizeof size);
    return refusal_of(file);
  };
  CHECK(contains(with_header(100'000'001), "a header of 100000001 bytes; at most 100000000 are read"));
  CHECK(contains(with_header(100'000'000), "truncated"));
  CHECK(contains(with_header(std::uint64_t(-1)), "at most"));
}

TEST_CASE("safetensors: types that are not read may be there, of the size that they have") {
  const std::vector<std::pair<const char*, unsigned>> sizes = {
      {"BOOL", 4},        {"U8", 4},          {"I8", 4},   {"F8_E5M2", 4}, {"F8_E4M3", 4}, {"F8_E8M0", 4},
      {"F8_E4M3FNUZ", 4}, {"F8_E5M2FNUZ", 4}, {"F4", 2},   {"F6_E2M3", 3}, {"F6_E3M2", 3}, {"I16", 8},
      {"U16", 8},         {"I32", 16},        {"U32", 16}, {"I64", 32},    {"U64", 32},    {"C64", 32}};
  for (const auto& [type, size] : sizes) {
    const std::string tried = type;
    CAPTURE(tried);
    const std::string good = tensor_file({entry("a", type, "[4]", 0, static_cast<int>(size))}, std::string(size, '\0'));
    CHECK(SafeTensors(good, "m").has("a"));
    CHECK(contains(refusal_of(good), std::string("is ") + type));
    CHECK(contains(
        refusal_of(tensor_file({entry("a", type, "[4]", 0, static_cast<int>(size) + 1)}, std::string(33, '\0'))),
        "needs"));
  }
}
