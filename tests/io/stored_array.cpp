// Heads that are read one at a time, from any order of numbers, against indices written out.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/bytes.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/safetensors.hpp>
#include <croquis/io/stored_array.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

#include "support/archives.hpp"
#include "support/dense.hpp"
#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// The number at a place in a file: different for places that are near.
float number_at(std::size_t place) {
  return static_cast<float>(place % 9973) - 5000.0F;
}

std::string numbers(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = number_at(i);
  return bytes_of(all);
}

// Entry (h, i, j) by the definition of strides.
void check_heads(const StoredArray& array, const ArrayLayout& layout) {
  const std::size_t k = layout.shape.size();
  for (arma::uword h = 0; h < array.heads(); ++h) {
    const arma::mat head = array.matrix(h);
    REQUIRE(head.n_rows == layout.shape[k - 2]);
    REQUIRE(head.n_cols == layout.shape[k - 1]);
    arma::uword wrong = 0;
    for (arma::uword i = 0; i < head.n_rows; ++i) {
      for (arma::uword j = 0; j < head.n_cols; ++j) {
        std::size_t place = i * layout.strides[k - 2] + j * layout.strides[k - 1];
        if (k == 3) place += h * layout.strides[0];
        if (k == 4) place += h / layout.shape[1] * layout.strides[0] + h % layout.shape[1] * layout.strides[1];
        wrong += head(i, j) != static_cast<double>(number_at(place)) ? 1 : 0;
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("StoredArray: every order of the dimensions, with pieces of a file and with all of it at once") {
  // The last three are more than the 4 MB that are read at once, and in some orders a row or a column is.
  const std::vector<std::vector<std::uint64_t>> shapes = {{5, 7},         {3, 5, 7},      {2, 3, 5, 7},  {1, 1, 2, 3},
                                                          {3, 1000, 500}, {2, 2, 600000}, {2, 400000, 2}};
  const TemporaryFolder folder;
  for (const std::vector<std::uint64_t>& shape : shapes) {
    const std::size_t count = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
    const std::string bytes = "1234" + numbers(count);
    write_text(folder / "numbers", bytes);
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      ArrayLayout layout{NumberType::float32, 4, shape, std::vector<std::uint64_t>(shape.size())};
      std::uint64_t stride = 1;
      for (const std::size_t k : order) {
        layout.strides[k] = stride;
        stride *= shape[k];
      }
      CAPTURE(fmt::format("{} by {}", fmt::join(shape, "x"), fmt::join(layout.strides, ",")));
      check_heads({bytes_in_memory(bytes, "m"), "m", layout}, layout);
      check_heads({bytes_of_file((folder / "numbers").string()), "f", layout}, layout);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("StoredArray: row by row and column by column, some rows of a head, numbers of all types") {
  const std::vector<std::uint64_t> shape = {2, 4, 3};
  const std::string bytes = numbers(24);
  for (const bool fortran : {false, true}) {
    const ArrayLayout layout = ArrayLayout::of(NumberType::float32, 0, shape, fortran);
    const StoredArray array(bytes_in_memory(bytes, "m"), "m", layout);
    check_heads(array, layout);
    for (arma::uword h = 0; h < 2; ++h) CHECK(identical(array.rows(h, 1, 2), arma::mat(array.matrix(h).rows(1, 2))));
    CHECK(array.rows(1, 4, 0).n_rows == 0);
    CHECK_THROWS_AS(array.rows(0, 3, 2), std::invalid_argument);
    CHECK_THROWS_AS(array.matrix(2), std::invalid_argument);
  }
  const std::vector<std::uint16_t> halves = {0x3c00, 0xc049};
  const auto one = [&](NumberType type, const std::string& data) {
    return StoredArray(bytes_in_memory(data, "m"), "m", ArrayLayout::of(type, 0, {1, 2})).matrix();
  };
  CHECK(identical(one(NumberType::float16, bytes_of(halves)), arma::mat{{1, from_half(0xc049)}}));
  CHECK(identical(one(NumberType::bfloat16, bytes_of(halves)), arma::mat{{0.0078125, -3.140625}}));
  CHECK(identical(one(NumberType::float64, bytes_of(std::vector<double>{0.1, -2})), arma::mat{{0.1, -2}}));
}

TEST_CASE("StoredArray: sizes that the source does not have, and dimensions that are no heads, are refused") {
  const auto message = [](const ArrayLayout& layout) {
    return refusal([&] { StoredArray(bytes_in_memory(std::string_view("12345678"), "f"), "f: a", layout); });
  };
  const auto of = [](std::vector<std::uint64_t> shape, std::vector<std::uint64_t> strides, std::uint64_t first = 0) {
    return ArrayLayout{NumberType::float32, first, std::move(shape), std::move(strides)};
  };
  constexpr std::uint64_t huge = std::uint64_t{1} << 63;
  CHECK(message(of({1, 2}, {2, 1})) == "nothing was thrown");
  for (const ArrayLayout& layout :
       {of({1, 3}, {3, 1}), of({2, 2}, {1, 1}), of({1, 2}, {2, 1}, 1), of({1, 2}, {2, huge}), of({huge, 2}, {0, huge}),
        of({3, huge}, {huge, 1}), of({1, 2}, {2, 1}, ~std::uint64_t{0})}) {
    CHECK(message(layout) == "f: a: has fewer numbers than its shape says");
  }
  CHECK(contains(message(of({2}, {1})), "f: a: has 1 dimension;"));
  CHECK(contains(message(of({1, 1, 1, 1, 2}, {1, 1, 1, 1, 1})), "f: a: has 5 dimensions"));
  CHECK(contains(message(of({0, 1, 1}, {1, 1, 1})), "f: a: has no numbers"));
  CHECK(contains(message(of({20000, 1, 1}, {0, 1, 1})), "20000 heads"));
  CHECK(contains(message(of({huge, 2, 1, 1}, {0, 0, 1, 1})), "x 2 heads"));
}

TEST_CASE("npy: four dimensions are a batch of heads; two bytes without a type are bfloat16") {
  const auto npy = [](const char* type, const char* shape, const std::string& data) {
    return npy_file(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape), data);
  };
  const std::string four = npy("<f4", "(2, 3, 5, 7)", numbers(210));
  const StoredArray array = npy_array(bytes_in_memory(four, "m"));
  CHECK(array.dimensions() == 4);
  CHECK(array.heads() == 6);
  CHECK(array.batch_heads() == 3);
  check_heads(array, ArrayLayout::of(NumberType::float32, 0, {2, 3, 5, 7}));
  CHECK(parse_npy(four, "m").size() == 6);
  for (const char* type : {"|V2", "<V2"}) {
    const std::string file = npy(type, "(1, 2)", bytes_of(std::vector<std::uint16_t>{0x3f80, 0xc049}));
    CHECK(npy_array(bytes_in_memory(file, "m")).type() == NumberType::bfloat16);
    CHECK(identical(parse_npy(file, "m").front(), arma::mat{{1, -3.140625}}));
  }
  CHECK(contains(refusal([&] { parse_npy(npy("|V4", "(1, 2)", "12345678"), "m"); }), "dtype '|V4'"));
}

TEST_CASE("safetensors: an array of three and four dimensions, of every type that is read") {
  const std::string file = safetensors_file(
      R"({"q":{"dtype":"F32","shape":[2,3,5,7],"data_offsets":[0,840]},)"
      R"("k":{"dtype":"BF16","shape":[2,1,1],"data_offsets":[840,844]},"i":{"dtype":"I8","shape":[1,2],"data_offsets":[844,846]}})",
      numbers(210) + bytes_of(std::vector<std::uint16_t>{0x3f80, 0xc049}) + "ab");
  const SafeTensors tensors(file, "m");
  check_heads(tensors.array("q"), ArrayLayout::of(NumberType::float32, 0, {2, 3, 5, 7}));
  CHECK(tensors.array("k").matrix(1)(0) == -3.140625);
  CHECK(tensors.array("q").name() == "m: q");
  CHECK(contains(refusal([&] { tensors.array("i"); }), "tensor 'i' is I8"));
  CHECK(contains(refusal([&] { tensors.array("z"); }), "has no tensor 'z'"));
}
