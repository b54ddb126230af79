#include <fmt/format.h>

#include <croquis/core/require.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/npy_header.hpp>
#include <croquis/io/npy_integers.hpp>
#include <cstring>

namespace croquis {
namespace {

// A number of type T that need not be aligned.
template <typename T>
std::int64_t number_at(const char* bytes) {
  T value = 0;
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<std::int64_t>(value);
}

}  // namespace

IntegerRows::IntegerRows(const std::string& path) : IntegerRows(bytes_of_file(path)) {}

IntegerRows::IntegerRows(SharedBytes source) : source_(std::move(source)) {
  const NpyStart start = parse_npy_start(read_some(*source_, 0, kLongestNpyStart), name());
  const std::string& type = start.header.descr;
  const bool known = type == "<i8" || type == "<i4" || type == "<i2" || type == "|i1" || type == "|u1" ||
                     type == "<u2" || type == "<u4" || type == "<u8";
  if (!known) {
    refuse_file(name(), fmt::format("dtype '{}'; save whole numbers, with astype('<i8')", excerpt(type)));
  }
  is_signed_ = type[1] == 'i';
  bytes_ = static_cast<std::uint64_t>(type[2] - '0');
  const auto& shape = start.header.shape;
  if (shape.empty() || shape.size() > 2) {
    refuse_file(name(), fmt::format("has {} dimensions; whole numbers have 1 or 2", shape.size()));
  }
  rows_ = shape.size() == 2 ? shape[0] : 1;
  cols_ = shape.back();
  if (start.header.fortran && rows_ > 1 && cols_ > 1) {
    refuse_file(name(), "is in Fortran order; save it with numpy.ascontiguousarray");
  }
  if (rows_ == 0 || cols_ == 0) refuse_file(name(), "has no numbers");
  start_ = start.data;
  const std::uint64_t there = (source_->size() - start_) / bytes_;
  if ((source_->size() - start_) % bytes_ != 0 || there % cols_ != 0 || there / cols_ != rows_) {
    refuse_file(name(), fmt::format("has {} bytes of data where shape ({}) of '{}' needs another number",
                                    source_->size() - start_, fmt::join(shape, ", "), type));
  }
}

std::vector<std::int64_t> IntegerRows::row(std::uint64_t row) const {
  require(row < rows_, "IntegerRows", "row < rows", {{"row", row}, {"rows", rows_}});
  std::string text(cols_ * bytes_, '\0');
  source_->read(start_ + row * text.size(), text.size(), text.data());
  std::vector<std::int64_t> numbers(cols_);
  for (std::uint64_t i = 0; i < cols_; ++i) {
    const char* const at = text.data() + i * bytes_;
    switch (bytes_) {
      case 1:
        numbers[i] = is_signed_ ? number_at<std::int8_t>(at) : number_at<std::uint8_t>(at);
        break;
      case 2:
        numbers[i] = is_signed_ ? number_at<std::int16_t>(at) : number_at<std::uint16_t>(at);
        break;
      case 4:
        numbers[i] = is_signed_ ? number_at<std::int32_t>(at) : number_at<std::uint32_t>(at);
        break;
      default:
        numbers[i] = number_at<std::int64_t>(at);
        if (!is_signed_ && numbers[i] < 0) {
          refuse_file(name(), fmt::format("has {} in row {}, more than a whole number of 64 bits with a sign",
                                          static_cast<std::uint64_t>(numbers[i]), row));
        }
    }
  }
  return numbers;
}

arma::vec read_npy_list(const std::string& path) {
  const SharedBytes source = bytes_of_file(path);
  const std::string type = parse_npy_start(read_some(*source, 0, kLongestNpyStart), path).header.descr;
  if (type.find_first_of("iu") == std::string::npos) return arma::vectorise(read_npy_or_vector(path).t());
  const IntegerRows rows(source);
  std::vector<double> numbers;
  for (std::uint64_t row = 0; row < rows.rows(); ++row) {
    const std::vector<std::int64_t> of_row = rows.row(row);
    numbers.insert(numbers.end(), of_row.begin(), of_row.end());
  }
  return {numbers};
}

}  // namespace croquis
