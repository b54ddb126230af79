#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/io/bytes.hpp>
#include <croquis/io/json.hpp>
#include <croquis/models/config_entries.hpp>
#include <limits>
#include <utility>

namespace croquis {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLargestSize = 1 << 24;

// In a damaged file a value may have megabytes.
std::string shown(const json& value) {
  return value.is_structured() ? value.type_name() : excerpt(value.dump(-1, ' ', true));
}

}  // namespace

ConfigEntries::ConfigEntries(std::string_view bytes, std::string name)
    : name_(std::move(name)), values_(parse_json_object(bytes, name_, "is no config.json")) {}

ConfigEntries::ConfigEntries(std::string name, json values) : name_(std::move(name)), values_(std::move(values)) {}

void ConfigEntries::refuse(const std::string& why) const {
  refuse_file(name_, why);
}

bool ConfigEntries::has(const char* key) const {
  return values_.contains(key) && !values_[key].is_null();
}

bool ConfigEntries::is_null(const char* key) const {
  return values_.contains(key) && values_[key].is_null();
}

arma::uword ConfigEntries::size(const char* key) const {
  if (!has(key)) {
    refuse(fmt::format("has no {}{}", key,
                       has("model_type") ? "" : "; it has no model_type either, and was taken as bert"));
  }
  const json& value = values_[key];
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > kLargestSize) {
    refuse(fmt::format("{} is {}; a whole number from 1 to {} is read", key, shown(value), kLargestSize));
  }
  return value.get<std::uint64_t>();
}

arma::uword ConfigEntries::size(const char* key, const char* alias) const {
  if (!has(alias)) return size(key);
  if (has(key) && size(key) != size(alias)) {
    refuse(fmt::format("{} is {} and {} is {}, which are two names of one entry", key, size(key), alias, size(alias)));
  }
  return size(alias);
}

std::optional<std::uint32_t> ConfigEntries::token(const char* key) const {
  if (!has(key) || !values_[key].is_number_unsigned()) return std::nullopt;
  const auto id = values_[key].get<std::uint64_t>();
  if (id > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(id);
}

std::string ConfigEntries::text(const char* key, const char* default_value) const {
  if (!has(key)) return default_value;
  if (!values_[key].is_string()) refuse(fmt::format("{} is {}; a string is read", key, shown(values_[key])));
  return values_[key].get<std::string>();
}

std::vector<std::string> ConfigEntries::texts(const char* key) const {
  if (!has(key)) return {};
  const json& value = values_[key];
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_string(); })) {
    refuse(fmt::format("{} is {}; an array of strings is read", key, shown(value)));
  }
  return value.get<std::vector<std::string>>();
}

double ConfigEntries::positive(const char* key, double default_value) const {
  if (!has(key)) return default_value;
  const json& value = values_[key];
  if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>())) {
    refuse(fmt::format("{} is {}; a positive number is read", key, shown(value)));
  }
  return value.get<double>();
}

bool ConfigEntries::is_true(const char* key, bool default_value) const {
  if (!has(key)) return default_value;
  if (!values_[key].is_boolean()) refuse(fmt::format("{} is {}; true or false is read", key, shown(values_[key])));
  return values_[key].get<bool>();
}

void ConfigEntries::refuse_unless(const char* key, bool wanted) const {
  if (is_true(key, wanted) != wanted) refuse(fmt::format("{} is {}; {} is read", key, !wanted, wanted));
}

ConfigEntries ConfigEntries::object(const char* key) const {
  if (!has(key)) return {name_, json::object()};
  if (!values_[key].is_object()) refuse(fmt::format("{} is {}; an object is read", key, shown(values_[key])));
  return {name_, values_[key]};
}

std::vector<std::string> ConfigEntries::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : values_.items()) names.push_back(key);
  return names;
}

}  // namespace croquis
