#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <croquis/core/require.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/utf8.hpp>
#include <croquis/models/wordpiece.hpp>

namespace croquis {
namespace {

constexpr std::size_t kLongestWord = 100;  // as BERT
constexpr std::array<std::string_view, 5> kSpecial = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

constexpr std::size_t kMostLines = 1 << 24;  // a line break takes a byte of the file and fifty of memory

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_space(char32_t c) {
  if (c == U' ' || c == U'\t' || c == U'\n' || c == U'\r') return true;
  const utf8proc_category_t of = category(c);
  return of == UTF8PROC_CATEGORY_ZS || of == UTF8PROC_CATEGORY_ZL || of == UTF8PROC_CATEGORY_ZP;
}

// Control and format characters, those of private use, and the replacement character, which marks unreadable bytes.
// Not unassigned ones: BERT's own code drops them, Hugging Face's fast tokenizer does not.
bool is_dropped(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
      return true;
    default:
      return c == 0xFFFD;
  }
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  switch (category(c)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return true;
    default:
      return false;
  }
}

// The blocks that BERT's code lists, but for the first 256 characters of Extension E (from U+2B820), which Hugging
// Face's fast tokenizer leaves out. Kana and Hangul are written with spaces or in words, and are not among them.
bool is_cjk(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

// Lower case without accents.
std::u32string folded(char32_t c) {
  std::array<utf8proc_int32_t, 32> parts{};  // the longest canonical decomposition has 4
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), parts.size(),
                                                         UTF8PROC_DECOMPOSE, &boundary);
  std::u32string kept;
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const utf8proc_int32_t part = parts[static_cast<std::size_t>(i)];
    if (utf8proc_category(part) != UTF8PROC_CATEGORY_MN) kept += static_cast<char32_t>(utf8proc_tolower(part));
  }
  return kept;
}

}  // namespace

WordPiece::WordPiece(const std::string& path, const WordPieceOptions& options)
    : WordPiece(read_bytes(path), path, options) {}

WordPiece::WordPiece(std::string_view bytes, const std::string& name, const WordPieceOptions& options)
    : name_(name), options_(options) {
  if (bytes.empty()) refuse_file(name, "is empty; a vocabulary has one entry a line");
  for (std::size_t place = 0; place < bytes.size();) {
    const std::size_t before = place;
    if (!next_character(bytes, place)) {
      refuse_file(name, fmt::format("is no vocabulary: byte {} is not UTF-8 text", before));
    }
  }
  // It would become part of the first entry, which would then be found in no text.
  if (bytes.starts_with("\xef\xbb\xbf")) refuse_file(name, "begins with a byte order mark; save it without one");
  const auto lines = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  if (lines > kMostLines) refuse_file(name, fmt::format("has {} lines; at most {} are read", lines, kMostLines));
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    std::string_view entry = bytes.substr(begin, end - begin);
    if (entry.ends_with('\r')) entry.remove_suffix(1);
    ids_[std::string(entry)] = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back(entry);
    begin = end + 1;
  }
  const auto unknown = id("[UNK]");
  if (!unknown) refuse_file(name, "is no WordPiece vocabulary: there is no line [UNK]");
  unknown_ = *unknown;
  for (const std::string_view entry : kSpecial) {
    if (const auto found = id(entry)) special_.emplace_back(entry, *found);
  }
}

std::optional<std::uint32_t> WordPiece::id(std::string_view entry) const {
  const auto found = ids_.find(entry);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

bool WordPiece::has_capitals() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const std::string& entry) {
    return !(entry.starts_with('[') && entry.ends_with(']')) && std::any_of(entry.begin(), entry.end(), is_capital);
  });
}

bool WordPiece::capitals_in(std::string_view text) const {
  for (std::size_t place = 0; place < text.size();) {
    const auto special = special_at(text.substr(place));
    if (special == special_.end() && is_capital(text[place])) return true;
    place += special == special_.end() ? 1 : special->first.size();
  }
  return false;
}

WordPiece::Special::const_iterator WordPiece::special_at(std::string_view text) const {
  return std::find_if(special_.begin(), special_.end(), [&](const auto& s) { return text.starts_with(s.first); });
}

TokenIds WordPiece::encode(std::string_view text) const {
  TokenIds ids;
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) append_word(word, ids);
    word.clear();
  };
  const auto add = [&](char32_t c, bool alone) {
    if (alone) end_word();
    word += c;
    if (alone) end_word();
  };
  for (std::size_t place = 0; place < text.size();) {
    const auto special = special_at(text.substr(place));
    if (special != special_.end()) {
      end_word();
      ids.push_back(special->second);
      place += special->first.size();
      continue;
    }
    const std::optional<char32_t> c = next_character(text, place);
    if (!c) continue;
    if (is_space(*c)) {
      end_word();
    } else if (!is_dropped(*c)) {
      const bool ideograph = is_cjk(*c);
      for (const char32_t part : options_.lower_case ? folded(*c) : std::u32string(1, *c)) {
        add(part, ideograph || is_punctuation(part));
      }
    }
  }
  end_word();
  return ids;
}

void WordPiece::append_word(const std::u32string& word, TokenIds& ids) const {
  if (word.size() > kLongestWord) return ids.push_back(unknown_);
  std::string bytes;
  std::vector<std::size_t> starts = {0};  // of the characters, and the end
  for (const char32_t c : word) {
    std::array<utf8proc_uint8_t, 4> buffer{};
    const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), buffer.data());
    bytes.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(size));
    starts.push_back(bytes.size());
  }
  const std::size_t before = ids.size();
  for (std::size_t first = 0; first < word.size();) {
    const std::string rest = (first == 0 ? "" : "##") + bytes.substr(starts[first]);
    std::size_t last = word.size();
    std::optional<std::uint32_t> found;
    for (; last > first && !found; --last) {
      found = id(std::string_view(rest).substr(0, rest.size() - (bytes.size() - starts[last])));
    }
    if (!found) {
      ids.resize(before);
      return ids.push_back(unknown_);
    }
    ids.push_back(*found);
    first = last + 1;
  }
}

std::vector<std::string> WordPiece::tokens(const TokenIds& ids) const {
  std::vector<std::string> tokens;
  for (const std::uint32_t id : ids) {
    require(id < entries_.size(), "WordPiece", "ids below the size of the vocabulary",
            {{"id", id}, {"size", entries_.size()}});
    tokens.push_back(entries_[id]);
  }
  return tokens;
}

TokenIds bert_sequence(const WordPiece& vocabulary, std::string_view text, std::size_t n, std::size_t piece) {
  require(n >= 1 && piece >= 3, "bert_sequence", "n >= 1, piece >= 3", {{"n", n}, {"piece", piece}});
  const auto id_of = [&](const char* entry) {
    const auto id = vocabulary.id(entry);
    if (!id) refuse_file(vocabulary.name(), fmt::format("has no line {}, which a BERT reads beside a text", entry));
    return *id;
  };
  const std::uint32_t first = id_of("[CLS]"), last = id_of("[SEP]");
  const TokenIds ids = vocabulary.encode(text);
  TokenIds sequence;
  std::size_t used = 0;
  do {
    const std::size_t room = std::min(piece, n - sequence.size());
    const std::size_t words = std::min(room < 2 ? 0 : room - 2, ids.size() - used);
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(used);
    sequence.push_back(first);
    sequence.insert(sequence.end(), begin, begin + static_cast<std::ptrdiff_t>(words));
    if (room >= 2) sequence.push_back(last);
    used += words;
  } while (sequence.size() < n && used < ids.size());
  return sequence;
}

}  // namespace croquis
