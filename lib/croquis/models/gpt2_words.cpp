#include <utf8proc.h>

#include <croquis/models/byte_pairs.hpp>

namespace croquis {
namespace {

enum class Kind { letter, digit, space, other };

struct Character {
  Kind kind;
  std::size_t begin;
  bool blank;  ///< U+0020
};

Kind kind_of(utf8proc_int32_t c) {
  if (c == 0x85 || (c >= '\t' && c <= '\r')) return Kind::space;
  const utf8proc_category_t category = utf8proc_category(c);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return Kind::letter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return Kind::digit;
  if (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP) return Kind::space;
  return Kind::other;
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> all;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t c = -1;
    const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                                   static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    all.push_back({size > 0 ? kind_of(c) : Kind::other, at, c == ' '});
    at += size > 0 ? static_cast<std::size_t>(size) : 1;
  }
  return all;
}

// Bytes of a contraction at the beginning of the text: 's 't 're 've 'm 'll 'd.
std::size_t contraction(std::string_view text) {
  for (const std::string_view suffix : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(suffix)) return suffix.size();
  }
  return 0;
}

}  // namespace

std::vector<std::string> gpt2_words(std::string_view text) {
  const std::vector<Character> all = characters_of(text);
  const std::size_t count = all.size();
  const auto begin = [&](std::size_t i) { return i < count ? all[i].begin : text.size(); };
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count;) {
    std::size_t end = i;
    if (const std::size_t size = contraction(text.substr(begin(i))); size > 0) {
      end = i + size;  // of ASCII
    } else {
      const std::size_t first = all[i].blank && i + 1 < count && all[i + 1].kind != Kind::space ? i + 1 : i;
      end = first + 1;
      while (end < count && all[end].kind == all[first].kind) ++end;
      // White space leaves its last character to the word behind it.
      if (all[first].kind == Kind::space && end < count && end - i > 1) --end;
    }
    words.emplace_back(text.substr(begin(i), begin(end) - begin(i)));
    i = end;
  }
  return words;
}

}  // namespace croquis
