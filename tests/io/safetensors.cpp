#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/safetensors.hpp>

#include <limits>

#include "support/archives.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"

using namespace croquis;

namespace {

std::string entry(const std::string& name, const std::string& type, const std::string& shape, int begin, int end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, type, shape, begin, end);
}

// The tensors `data` has, by their entries.
std::string file_of(const std::vector<std::string>& entries, const std::string& data) {
  return safetensors_file(fmt::format("{{{}}}", fmt::join(entries, ",")), data);
}

std::string message_of(const std::string& bytes, const std::string& tensor = "a") {
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
  const SafeTensors file(
      file_of({R"("__metadata__":{"format":"pt"})", entry("a", "F32", "[2,3]", 0, 24), entry("h", "F16", "[4]", 24, 32),
               entry("b", "BF16", "[1,2]", 32, 36), entry("d", "F64", "[1]", 36, 44)},
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
  const std::string good = file_of({entry("a", "F32", "[2]", 0, 8)}, one);
  std::string endless = good;
  endless[7] = '\x7f';  // a header of 9e18 bytes
  CHECK(contains(message_of(""), "too short"));
  CHECK(contains(message_of(endless), "header of"));
  CHECK(contains(message_of(good.substr(0, good.size() - 1)), "truncated"));
  CHECK(contains(message_of(good, "b"), "has no tensor 'b'"));
  for (const char* header : {"", "[]", "{", "null", "{\"a\":1}", "{\"a\":{}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,8],\"data_offsets\":[0,8]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}",
                             "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,80]}}"}) {
    CAPTURE(header);
    message_of(safetensors_file(header, one));
  }
  CHECK(contains(message_of(file_of({entry("a", "I64", "[1]", 0, 8)}, one)), "is I64"));
  CHECK(contains(message_of(file_of({entry("a", "F32", "[1,1,2]", 0, 8)}, one)), "3 dimensions"));
  CHECK(contains(message_of(file_of({entry("a", "F32", "[0]", 0, 0)}, one)), "has no numbers"));
  const std::string nan = bytes_of(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()});
  CHECK(contains(message_of(file_of({entry("a", "F32", "[2]", 0, 8)}, nan)), "NaN"));
}
