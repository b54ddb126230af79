#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/stored_array.hpp>
#include <cstring>
#include <utility>

namespace croquis {
namespace {

constexpr std::uint64_t kMostHeads = 1 << 14;                  // no model has more; a file that says so is damaged
constexpr std::uint64_t kMostOfAll = 1 << 20;                  // heads of all batches
constexpr std::uint64_t kReadAtOnce = std::uint64_t{4} << 20;  // bytes that are read at once

// `lines` lines of `count` numbers. In the file the numbers of a line are `stride` apart, which is at most the distance
// of lines. `put(line, k, value)` takes them.
struct Lines {
  std::uint64_t lines, distance, count, stride;
};

template <typename Number, typename Convert, typename Put>
void read_lines(const ByteSource& source, std::uint64_t first, const Lines& l, Convert to_double, const Put& put) {
  constexpr std::uint64_t item = sizeof(Number), most = kReadAtOnce / item;
  std::string buffer;
  // The numbers of some lines: those from `begin` on, `some` of each.
  const auto read = [&](std::uint64_t line, std::uint64_t lines, std::uint64_t begin, std::uint64_t some) {
    const std::uint64_t extent = (lines - 1) * l.distance + (some - 1) * l.stride + 1;
    buffer.resize(extent * item);
    source.read(first + (line * l.distance + begin * l.stride) * item, buffer.size(), buffer.data());
    for (std::uint64_t i = 0; i < lines; ++i) {
      for (std::uint64_t k = 0; k < some; ++k) {
        Number number;
        std::memcpy(&number, buffer.data() + (i * l.distance + k * l.stride) * item, item);
        put(line + i, begin + k, to_double(number));
      }
    }
  };
  const std::uint64_t extent = (l.count - 1) * l.stride + 1;  // of a line
  if (extent <= most) {
    const std::uint64_t together = l.distance == 0 ? l.lines : (most - extent) / l.distance + 1;
    for (std::uint64_t i = 0; i < l.lines; i += together) read(i, std::min(together, l.lines - i), 0, l.count);
    return;
  }
  const std::uint64_t together = (most - 1) / l.stride + 1;
  for (std::uint64_t i = 0; i < l.lines; ++i) {
    for (std::uint64_t k = 0; k < l.count; k += together) read(i, 1, k, std::min(together, l.count - k));
  }
}

template <typename Put>
void read_lines(const ByteSource& source, NumberType type, std::uint64_t first, const Lines& lines, const Put& put) {
  const auto widen = [](auto x) { return static_cast<double>(x); };
  switch (type) {
    case NumberType::float16:
      return read_lines<std::uint16_t>(source, first, lines, from_half, put);
    case NumberType::bfloat16:
      return read_lines<std::uint16_t>(source, first, lines, from_bfloat, put);
    case NumberType::float32:
      return read_lines<float>(source, first, lines, widen, put);
    case NumberType::float64:
      return read_lines<double>(source, first, lines, widen, put);
  }
}

// Bytes from the beginning of the source to the end of the last number. Empty if there are more than 2^64.
std::optional<std::uint64_t> end_of(const ArrayLayout& layout) {
  std::uint64_t end = 1, step = 0;
  for (std::size_t k = 0; k < layout.shape.size(); ++k) {
    if (__builtin_mul_overflow(layout.shape[k] - 1, layout.strides[k], &step)) return std::nullopt;
    if (__builtin_add_overflow(end, step, &end)) return std::nullopt;
  }
  if (__builtin_mul_overflow(end, size_of(layout.type), &end)) return std::nullopt;
  if (__builtin_add_overflow(end, layout.first, &end)) return std::nullopt;
  return end;
}

}  // namespace

std::uint64_t size_of(NumberType type) {
  switch (type) {
    case NumberType::float16:
    case NumberType::bfloat16:
      return 2;
    case NumberType::float32:
      return 4;
    case NumberType::float64:
      break;
  }
  return 8;
}

ArrayLayout ArrayLayout::of(NumberType type, std::uint64_t first, std::vector<std::uint64_t> shape, bool fortran) {
  ArrayLayout layout{type, first, std::move(shape), {}};
  layout.strides.resize(layout.shape.size());
  std::uint64_t stride = 1;
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    const std::size_t k = fortran ? i : layout.shape.size() - 1 - i;
    layout.strides[k] = stride;
    stride *= layout.shape[k];  // wraps where a size is 0, and nothing is read
  }
  return layout;
}

StoredArray::StoredArray(SharedBytes source, std::string name, ArrayLayout layout)
    : source_(std::move(source)), name_(std::move(name)), layout_(std::move(layout)) {
  const std::vector<std::uint64_t>& shape = layout_.shape;
  if (shape.size() < 2 || shape.size() > 4) {
    refuse_file(name_, fmt::format("has {}; a matrix (tokens, width) has 2, heads of one 3, a batch of heads 4",
                                   counted(shape.size(), "dimension")));
  }
  require(layout_.strides.size() == shape.size(), "StoredArray", "a stride a dimension");
  if (shape.size() > 2 && std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    refuse_file(name_, "has no numbers");
  }
  if (shape.size() > 2) batch_heads_ = shape[shape.size() - 3];
  if (batch_heads_ > kMostHeads) {
    refuse_file(name_, fmt::format("has {} heads; at most {} are read", batch_heads_, kMostHeads));
  }
  if (shape.size() == 4 && shape[0] > kMostOfAll / batch_heads_) {
    refuse_file(name_, fmt::format("has {} x {} heads; at most {} are read", shape[0], batch_heads_, kMostOfAll));
  }
  heads_ = shape.size() == 4 ? shape[0] * batch_heads_ : batch_heads_;
  if (rows() == 0 || cols() == 0) return;
  const auto end = end_of(layout_);
  if (!end || *end > source_->size()) refuse_file(name_, "has fewer numbers than its shape says");
}

arma::mat StoredArray::rows(arma::uword head, arma::uword first, arma::uword count) const {
  require(head < heads_, "StoredArray", "head < heads", {{"head", head}, {"heads", heads_}});
  require(first <= rows() && count <= rows() - first, "StoredArray", "rows that the array has",
          {{"first", first}, {"count", count}, {"rows", rows()}});
  if (count == 0 || cols() == 0) return arma::mat(count, cols());  // the other sizes may be anything
  require_memory(static_cast<double>(count) * static_cast<double>(cols()) * sizeof(double), name_, {});
  const std::size_t k = dimensions();
  const std::uint64_t down = layout_.strides[k - 2], right = layout_.strides[k - 1];
  std::uint64_t place = first * down;
  if (k > 2) place += head % batch_heads_ * layout_.strides[k - 3];
  if (k > 3) place += head / batch_heads_ * layout_.strides[k - 4];
  const std::uint64_t start = layout_.first + place * size_of(layout_.type);
  arma::mat matrix(count, cols());
  if (down >= right) {
    read_lines(*source_, layout_.type, start, {count, down, cols(), right},
               [&](std::uint64_t i, std::uint64_t j, double value) { matrix(i, j) = value; });
  } else {
    read_lines(*source_, layout_.type, start, {cols(), right, count, down},
               [&](std::uint64_t j, std::uint64_t i, double value) { matrix(i, j) = value; });
  }
  return matrix;
}

arma::mat StoredArray::matrix(arma::uword head) const {
  return rows(head, 0, rows());
}

std::vector<arma::mat> StoredArray::matrices() const {
  require_memory(
      static_cast<double>(heads_) * static_cast<double>(rows()) * static_cast<double>(cols()) * sizeof(double), name_,
      {});
  std::vector<arma::mat> all;
  for (arma::uword h = 0; h < heads_; ++h) all.push_back(matrix(h));
  return all;
}

}  // namespace croquis
