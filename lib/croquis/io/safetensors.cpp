#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <croquis/io/json.hpp>
#include <croquis/io/safetensors.hpp>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace croquis {
namespace {

using nlohmann::json;

constexpr std::uint64_t kPrefix = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // as the reference implementation

// Bits of a number of each type that the reference implementation knows.
std::optional<std::uint64_t> bits_of(const std::string& type) {
  static const std::map<std::string, std::uint64_t, std::less<>> bits = {
      {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
      {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
      {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  const auto found = bits.find(type);
  if (found == bits.end()) return std::nullopt;
  return found->second;
}

// The number of bytes of a tensor. Empty if it is not a whole number or does not fit into 64 bits.
std::optional<std::uint64_t> bytes_of(std::uint64_t bits, std::vector<std::uint64_t> factors) {
  factors.push_back(bits);
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    if (factor != 0 && product > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    product *= factor;
  }
  if (product % 8 != 0) return std::nullopt;
  return product / 8;
}

// A whole number from 0 on. Empty for any other value.
std::optional<std::vector<std::uint64_t>> numbers_in(const json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (const json& number : *found) {
    if (!number.is_number_unsigned()) return std::nullopt;
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

// Free text by name, which is not used.
bool is_metadata(const json& value) {
  return value.is_object() && std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_string(); });
}

// Empty for a type that is not read.
std::optional<NumberType> number_type(const std::string& type) {
  if (type == "F16") return NumberType::float16;
  if (type == "BF16") return NumberType::bfloat16;
  if (type == "F32") return NumberType::float32;
  if (type == "F64") return NumberType::float64;
  return std::nullopt;
}

// What models are often stored as. Read as the length of a header, the first bytes of these are beyond any.
void refuse_other_format(std::string_view begin, const std::string& name) {
  static constexpr std::pair<std::string_view, const char*> formats[] = {
      {"PK\x03\x04", "is a zip archive, as torch.save writes"},
      {"\x80\x02\x8a\x0a", "is a pickle, as torch.save wrote before PyTorch 1.6"},
      {"GGUF", "is a GGUF file"},
      {"\x89HDF", "is an HDF5 file"}};
  for (const auto& [magic, what] : formats) {
    if (begin.starts_with(magic)) refuse_file(name, fmt::format("{}; convert it to safetensors", what));
  }
  if (begin == "version ") refuse_file(name, "is the pointer that Git LFS puts in a file's place; fetch the file");
}

}  // namespace

SafeTensors::SafeTensors(const std::string& path) : SafeTensors(bytes_of_file(path)) {}

SafeTensors::SafeTensors(std::string bytes, const std::string& name)
    : SafeTensors(bytes_in_memory(std::move(bytes), name)) {}

SafeTensors::SafeTensors(SharedBytes source) : source_(std::move(source)) {
  parse_header();
}

// A nested class, because it creates private members.
struct SafeTensors::Header {
  const std::string& file;

  Tensor tensor_of(const std::string& tensor, const json& entry) const {
    const auto damaged = [&](const std::string& why) {
      refuse_file(file, fmt::format("has a damaged header at tensor '{}' ({})", excerpt(tensor), why));
    };
    const auto require = [&](bool holds, const char* why) {
      if (!holds) damaged(why);
    };
    require(entry.is_object(), "its entry is no object");
    require(entry.contains("dtype") && entry["dtype"].is_string(), "dtype is no string");
    const auto shape = numbers_in(entry, "shape"), offsets = numbers_in(entry, "data_offsets");
    require(shape.has_value(), "shape is no array of whole numbers");
    require(offsets && offsets->size() == 2, "data_offsets are not two whole numbers");
    Tensor t{entry["dtype"].get<std::string>(), *shape, (*offsets)[0], (*offsets)[1]};
    const auto bits = bits_of(t.type);
    if (!bits) damaged(fmt::format("dtype '{}' is unknown", excerpt(t.type)));
    if (t.begin > t.end) damaged(fmt::format("it begins at byte {} and ends at byte {}", t.begin, t.end));
    const auto bytes = bytes_of(*bits, t.shape);
    if (bytes != t.end - t.begin) {
      damaged(fmt::format("{} bytes where shape [{}] of {} needs {}", t.end - t.begin,
                          excerpt(fmt::format("{}", fmt::join(t.shape, ", "))), t.type,
                          bytes ? std::to_string(*bytes) : "another number"));
    }
    return t;
  }
};

void SafeTensors::parse_header() {
  std::uint64_t size = 0;
  if (source_->size() < kPrefix) refuse_file(name(), "is not a safetensors file (too short)");
  source_->read(0, kPrefix, reinterpret_cast<char*>(&size));
  if (size > kLongestHeader) {
    refuse_other_format(read_some(*source_, 0, kPrefix), name());
    refuse_file(name(), fmt::format("is not a safetensors file: a header of {} bytes; at most {} are read", size,
                                    kLongestHeader));
  }
  if (size > source_->size() - kPrefix) {
    refuse_file(name(), fmt::format("is not a safetensors file, or truncated: a header of {} bytes", size));
  }
  data_ = kPrefix + size;
  const std::string text = read_some(*source_, kPrefix, size);
  if (!text.starts_with('{')) refuse_file(name(), "is not a safetensors file (its header does not begin with '{')");
  const json header = parse_json_object(text, name(), "is not a safetensors file, or has a damaged header");
  for (const auto& item : header.items()) {
    if (item.key() != "__metadata__") {
      tensors_.emplace(item.key(), Header{name()}.tensor_of(item.key(), item.value()));
    } else if (!is_metadata(item.value())) {
      refuse_file(name(), "has a damaged header (__metadata__ has strings by names and nothing else)");
    }
  }
  require_contiguous();
}

// The tensors must fill the data from the first byte to the last, one after the other.
void SafeTensors::require_contiguous() const {
  const std::uint64_t size = source_->size() - data_;
  using Entry = std::map<std::string, Tensor>::const_pointer;
  std::vector<Entry> by_place;
  for (const auto& entry : tensors_) by_place.push_back(&entry);
  std::sort(by_place.begin(), by_place.end(), [](Entry a, Entry b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t end = 0;
  for (const Entry entry : by_place) {
    const auto& [tensor, t] = *entry;
    if (t.end > size) {
      refuse_file(name(), fmt::format("is truncated: tensor '{}' ends at byte {} of {}", excerpt(tensor), t.end, size));
    }
    if (t.begin != end) {
      refuse_file(name(),
                  fmt::format("has a damaged header: tensor '{}' begins at byte {}, {} the one before ends, {}",
                              excerpt(tensor), t.begin, t.begin < end ? "before" : "after a hole from where", end));
    }
    end = t.end;
  }
  if (end != size) refuse_file(name(), fmt::format("has {} bytes after its last tensor", size - end));
}

std::vector<std::string> SafeTensors::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

const SafeTensors::Tensor& SafeTensors::find(const std::string& tensor) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) refuse_file(name(), fmt::format("has no tensor '{}'", tensor));
  return found->second;
}

StoredArray SafeTensors::array(const std::string& tensor, std::vector<std::uint64_t> shape) const {
  const Tensor& t = find(tensor);
  const auto type = number_type(t.type);
  if (!type) refuse_file(name(), fmt::format("tensor '{}' is {}; F32, F16, BF16 and F64 are read", tensor, t.type));
  return {source_, fmt::format("{}: {}", name(), excerpt(tensor)),
          ArrayLayout::of(*type, data_ + t.begin, std::move(shape))};
}

StoredArray SafeTensors::array(const std::string& tensor) const {
  return array(tensor, find(tensor).shape);
}

arma::mat SafeTensors::matrix(const std::string& tensor) const {
  const Tensor& t = find(tensor);
  if (t.shape.empty() || t.shape.size() > 2) {
    refuse_file(name(), fmt::format("tensor '{}' has {} dimensions; 1 or 2 are read", tensor, t.shape.size()));
  }
  const std::uint64_t rows = t.shape.size() == 1 ? 1 : t.shape[0], cols = t.shape.back();
  if (rows == 0 || cols == 0) refuse_file(name(), fmt::format("tensor '{}' has no numbers", tensor));
  arma::mat matrix = array(tensor, {rows, cols}).matrix();
  if (!matrix.is_finite()) refuse_file(name(), fmt::format("tensor '{}' has NaN or Inf", tensor));
  return matrix;
}

}  // namespace croquis
