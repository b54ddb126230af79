#include "support/formula_model.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "support/archives.hpp"
#include "support/files.hpp"

namespace {

// value() of torch_reference.py: k/64 with |k| <= 32.
double value(const std::string& name, std::uint64_t index) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::uint64_t z = hash + 0x9e3779b97f4a7c15 * (index + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (static_cast<double>((z ^ (z >> 31)) % 65) - 32) / 64;
}

std::uint16_t half_of(float x) {
  if (x == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::abs(x), &exponent);
  if (exponent < -13)
    return static_cast<std::uint16_t>((x < 0 ? 0x8000 : 0) + std::lround(std::ldexp(std::abs(x), 24)));
  const auto bits = static_cast<unsigned>(std::lround((2 * fraction - 1) * 1024));
  return static_cast<std::uint16_t>((x < 0 ? 0x8000U : 0U) + (static_cast<unsigned>(exponent + 14) << 10) + bits);
}

template <typename T>
void append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::string bytes_as(const std::string& type, float x) {
  std::string bytes;
  if (type == "F32") append(bytes, x);
  if (type == "F16") append(bytes, half_of(x));
  if (type == "BF16") append(bytes, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16));
  return bytes;
}

std::string numbers_of(const std::string& name, const std::vector<std::uint64_t>& shape, const std::string& type) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) count *= size;
  const double mean = shape.size() == 1 && name.ends_with(".weight") ? 1 : 0;
  std::string bytes;
  for (std::uint64_t i = 0; i < count; ++i) bytes += bytes_as(type, static_cast<float>(mean + value(name, i)));
  return bytes;
}

}  // namespace

std::string FormulaModel::file(const std::string& type) const {
  std::string header, data;
  const auto add = [&](const std::string& tensor, const std::vector<std::uint64_t>& shape, const std::string& bytes) {
    header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", header.empty() ? "" : ",",
                          tensor, type, fmt::join(shape, ","), data.size(), data.size() + bytes.size());
    data += bytes;
  };
  for (const auto& [tensor, shape] : tensors) {
    const auto copy = copies.find(tensor);
    add(tensor, shape, numbers_of(copy == copies.end() ? tensor : copy->second, shape, type));
  }
  for (const auto& [tensor, numbers_given] : given) {
    std::string bytes;
    for (const double x : numbers_given) bytes += bytes_as(type, static_cast<float>(x));
    add(tensor, {numbers_given.size()}, bytes);
  }
  return safetensors_file("{" + header + "}", data);
}

void FormulaModel::write_parts(const std::filesystem::path& folder) const {
  std::string index;
  FormulaModel parts[2] = {*this, *this};
  for (FormulaModel& part : parts) part.tensors.clear();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    parts[i % 2].tensors.push_back(tensors[i]);
    index += fmt::format(R"({}"{}":"part-{}.safetensors")", index.empty() ? "" : ",", tensors[i].first, i % 2);
  }
  for (int i = 0; i < 2; ++i) write_text(folder / fmt::format("part-{}.safetensors", i), parts[i].file());
  write_text(folder / "model.safetensors.index.json", "{\"metadata\":{},\"weight_map\":{" + index + "}}");
}

std::vector<FormulaModel> formula_models() {
  std::vector<FormulaModel> models;
  std::ifstream file(CROQUIS_TORCH_REFERENCE);
  REQUIRE(file.is_open());
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind;
    if (kind == "model") {
      models.emplace_back();
      words >> models.back().name;
      std::getline(words, models.back().config);
    } else if (kind == "tensor") {
      words >> name;
      std::vector<std::uint64_t> shape;
      for (std::uint64_t size = 0; words >> size;) shape.push_back(size);
      models.back().tensors.emplace_back(name, shape);
    } else {
      if (kind == "hidden") {
        words >> name;
        kind += ' ';
        kind += name;
      }
      for (double number = 0; words >> number;) models.back().numbers[kind].push_back(number);
    }
  }
  return models;
}

FormulaModel formula_model(const std::string& name) {
  for (FormulaModel& model : formula_models()) {
    if (model.name == name) return model;
  }
  FAIL("no model " << name);
  return {};
}
