#include <fmt/format.h>

#include <croquis/io/bytes.hpp>
#include <croquis/io/safetensors.hpp>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace croquis {
namespace {

std::optional<std::uint64_t> item_size(const std::string& type) {
  if (type == "F64" || type == "I64" || type == "U64") return 8;
  if (type == "F32" || type == "I32" || type == "U32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16") return 2;
  if (type == "I8" || type == "U8" || type == "BOOL") return 1;
  return std::nullopt;
}

// Row by row in the file.
template <typename Number, typename Convert>
arma::mat convert(const char* data, std::uint64_t rows, std::uint64_t cols, Convert to_double) {
  arma::mat matrix(rows, cols);
  for (arma::uword j = 0; j < cols; ++j) {
    for (arma::uword i = 0; i < rows; ++i) {
      Number number;
      std::memcpy(&number, data + (i * cols + j) * sizeof(Number), sizeof(Number));
      matrix(i, j) = to_double(number);
    }
  }
  return matrix;
}

}  // namespace

SafeTensors::SafeTensors(const std::string& path) : SafeTensors(read_bytes(path), path) {}

SafeTensors::SafeTensors(std::string bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {
  parse_header();
}

void SafeTensors::parse_header() {
  constexpr std::uint64_t prefix = 8;
  std::uint64_t size = 0;
  if (bytes_.size() < prefix) refuse_file(name_, "is not a safetensors file (too short)");
  std::memcpy(&size, bytes_.data(), prefix);
  if (size > bytes_.size() - prefix) {
    refuse_file(name_, fmt::format("is not a safetensors file, or truncated: a header of {} bytes", size));
  }
  data_ = prefix + size;
  const std::uint64_t data_size = bytes_.size() - data_;
  const auto header = nlohmann::json::parse(bytes_.begin() + prefix,
                                            bytes_.begin() + static_cast<std::ptrdiff_t>(data_), nullptr, false);
  if (!header.is_object()) refuse_file(name_, "is not a safetensors file (its header is no JSON object)");
  for (const auto& item : header.items()) {
    const std::string& tensor = item.key();
    const nlohmann::json& entry = item.value();
    if (tensor == "__metadata__") continue;
    const auto damaged = [&] { refuse_file(name_, fmt::format("has a damaged header at tensor '{}'", tensor)); };
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
        !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
        entry["data_offsets"].size() != 2) {
      damaged();
    }
    const auto number = [&](const nlohmann::json& value) -> std::uint64_t {
      if (!value.is_number_unsigned()) damaged();
      return value.get<std::uint64_t>();
    };
    Tensor t{entry["dtype"].get<std::string>(), {}, number(entry["data_offsets"][0]), number(entry["data_offsets"][1])};
    for (const auto& extent : entry["shape"]) t.shape.push_back(number(extent));
    if (t.begin > t.end || t.end > data_size) {
      refuse_file(name_, fmt::format("is truncated: tensor '{}' ends at byte {} of {}", tensor, t.end, data_size));
    }
    if (const auto size_of_one = item_size(t.type)) {
      std::uint64_t bytes = *size_of_one;
      for (const std::uint64_t extent : t.shape) {
        if (extent != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / extent) damaged();
        bytes *= extent;
      }
      if (bytes != t.end - t.begin) damaged();
    }
    tensors_.emplace(tensor, std::move(t));
  }
}

std::vector<std::string> SafeTensors::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

const SafeTensors::Tensor& SafeTensors::find(const std::string& tensor) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) refuse_file(name_, fmt::format("has no tensor '{}'", tensor));
  return found->second;
}

arma::mat SafeTensors::matrix(const std::string& tensor) const {
  const Tensor& t = find(tensor);
  if (t.shape.empty() || t.shape.size() > 2) {
    refuse_file(name_, fmt::format("tensor '{}' has {} dimensions; 1 or 2 are read", tensor, t.shape.size()));
  }
  const std::uint64_t rows = t.shape.size() == 1 ? 1 : t.shape[0], cols = t.shape.back();
  if (rows == 0 || cols == 0) refuse_file(name_, fmt::format("tensor '{}' has no numbers", tensor));
  const char* data = bytes_.data() + data_ + t.begin;
  const auto widen = [](auto x) { return static_cast<double>(x); };
  arma::mat matrix;
  if (t.type == "F32") {
    matrix = convert<float>(data, rows, cols, widen);
  } else if (t.type == "F64") {
    matrix = convert<double>(data, rows, cols, widen);
  } else if (t.type == "F16") {
    matrix = convert<std::uint16_t>(data, rows, cols, from_half);
  } else if (t.type == "BF16") {
    matrix = convert<std::uint16_t>(data, rows, cols, from_bfloat);
  } else {
    refuse_file(name_, fmt::format("tensor '{}' is {}; F32, F16, BF16 and F64 are read", tensor, t.type));
  }
  if (!matrix.is_finite()) refuse_file(name_, fmt::format("tensor '{}' has NaN or Inf", tensor));
  return matrix;
}

}  // namespace croquis
