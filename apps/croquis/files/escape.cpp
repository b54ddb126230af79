#include "files/escape.hpp"

#include <fmt/format.h>

#include <croquis/io/utf8.hpp>
#include <optional>

namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

// XML 1.0, Char.
bool is_xml(char32_t c) {
  return c == '\t' || c == '\n' || (c >= 0x20 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD) || c >= 0x10000;
}

}  // namespace

std::string html(std::string_view text) {
  std::string out;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t begin = place;
    const std::optional<char32_t> c = croquis::next_character(text, place);
    if (!c || !is_xml(*c)) {
      out += kReplacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += text.substr(begin, place - begin);
    }
  }
  return out;
}

std::string json_in_script(std::string_view json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool separator = json.substr(i, 3) == "\xE2\x80\xA8" || json.substr(i, 3) == "\xE2\x80\xA9";
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (separator) {
      out += json[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string base64_of_hex(std::string_view hexadecimal) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : hexadecimal) {
    const unsigned value = c <= '9' ? static_cast<unsigned>(c - '0') : static_cast<unsigned>((c | 32) - 'a') + 10;
    bits = bits << 4 | value;
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += digits[bits >> static_cast<unsigned>(count) & 63];
    bits &= (1U << static_cast<unsigned>(count)) - 1;
  }
  if (count > 0) out += digits[bits << static_cast<unsigned>(6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}
