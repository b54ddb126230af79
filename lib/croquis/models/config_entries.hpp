// The entries of a config.json, each asked for by its name and its kind. Not installed.
#pragma once

#include <armadillo>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// An entry with the value null counts as missing. All members but token() throw std::invalid_argument, in one line
/// that names the file and the entry, for a value of another kind.
class ConfigEntries {
 public:
  /// Throws also unless the text is one JSON object.
  ConfigEntries(std::string_view bytes, std::string name);

  [[noreturn]] void refuse(const std::string& why) const;
  bool has(const char* key) const;
  bool is_null(const char* key) const;

  /// The entry, which must be present and a whole number >= 1.
  arma::uword size(const char* key) const;
  /// The same for an entry with two names. If both are present, they must be equal.
  arma::uword size(const char* key, const char* alias) const;
  arma::uword size_or(const char* key, arma::uword default_value) const { return has(key) ? size(key) : default_value; }
  /// A token id. Empty if the entry is missing or has another value; some models have -1.
  std::optional<std::uint32_t> token(const char* key) const;
  std::string text(const char* key, const char* default_value) const;
  std::vector<std::string> texts(const char* key) const;  ///< empty if the entry is missing
  double positive(const char* key, double default_value) const;
  bool is_true(const char* key, bool default_value = false) const;
  void refuse_unless(const char* key, bool wanted) const;
  /// The entries of a nested object; no entries if it is missing.
  ConfigEntries object(const char* key) const;
  std::vector<std::string> keys() const;

 private:
  ConfigEntries(std::string name, nlohmann::json values);

  std::string name_;
  nlohmann::json values_;
};

}  // namespace croquis
