// Checks of arguments.
#pragma once

#include <concepts>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

namespace croquis {

/// A named argument value, for the message of `require`.
struct Got {
  std::string_view name;
  std::variant<long long, double, std::string_view> value;

  Got(std::string_view name_, std::integral auto v) : name(name_), value(whole(v)) {}
  Got(std::string_view name_, std::floating_point auto v) : name(name_), value(static_cast<double>(v)) {}
  Got(std::string_view name_, std::string_view v) : name(name_), value(v) {}

 private:
  using Value = decltype(value);
  // A number that long long does not hold is shown by its first digits, and not as a negative one.
  static Value whole(std::integral auto v) {
    if constexpr (std::unsigned_integral<decltype(v)> && sizeof(v) == sizeof(long long)) {
      if (v > static_cast<unsigned long long>(std::numeric_limits<long long>::max())) return static_cast<double>(v);
    }
    return static_cast<long long>(v);
  }
};

/// The text with its control characters as question marks, so that a name from a file cannot break a message.
std::string as_one_line(std::string text);

/// Always on, also in release builds: throws std::invalid_argument "where: rule, got name = value, ..." unless `ok`, in
/// one line.
void require(bool ok, std::string_view where, std::string_view rule, std::initializer_list<Got> got = {});

}  // namespace croquis
