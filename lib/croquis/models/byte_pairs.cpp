#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <croquis/io/bytes.hpp>
#include <croquis/models/byte_pairs.hpp>
#include <croquis/models/regular_expression.hpp>
#include <limits>

namespace croquis {
namespace {

std::string utf8(unsigned code) {  // below 0x800
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

// GPT-2's alphabet: printing characters of Latin 1 are themselves, the other bytes are U+0100 and those after it.
const std::array<std::string, 256>& alphabet() {
  static const std::array<std::string, 256> letters = [] {
    std::array<std::string, 256> made;
    unsigned next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printing = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      made[byte] = utf8(printing ? byte : next++);
    }
    return made;
  }();
  return letters;
}

// Characters of UTF-8; a byte that begins none is one by itself.
std::vector<std::string> characters_of(const std::string& word) {
  std::vector<std::string> characters;
  for (std::size_t i = 0; i < word.size();) {
    std::size_t end = i + 1;
    while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xc0U) == 0x80U) ++end;
    characters.push_back(word.substr(i, end - i));
    i = end;
  }
  return characters;
}

}  // namespace

std::optional<std::uint32_t> BytePairTokenizer::id(const std::string& token) const {
  for (const auto& [content, id] : added_) {
    if (content == token) return id;
  }
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

BytePairTokenizer::Pieces BytePairTokenizer::divided(const Split& split, const std::string& text) {
  if (split.kind == Split::Kind::byte_level) {
    const std::string spaced = split.prefix_space && !text.starts_with(' ') ? ' ' + text : text;
    return split.words ? gpt2_words(spaced) : Pieces{spaced};
  }
  Pieces pieces;
  const auto add = [&](std::size_t begin, std::size_t end, bool is_match) {
    if (end > begin && !(split.removed && is_match != split.inverted))
      pieces.push_back(text.substr(begin, end - begin));
  };
  std::size_t at = 0;
  if (split.kind == Split::Kind::string) {
    for (std::size_t found = 0; (found = text.find(split.text, at)) != std::string::npos;) {
      add(at, found, false);
      add(found, found + split.text.size(), true);
      at = found + split.text.size();
    }
  } else {
    split.expression->for_each_match(text, [&](std::size_t begin, std::size_t end) {
      add(at, begin, false);
      add(begin, end, true);
      at = end;
    });
  }
  add(at, text.size(), false);
  return pieces;
}

BytePairTokenizer::Pieces BytePairTokenizer::divided(const std::string& text) const {
  Pieces pieces = {text};
  for (const Split& split : splits_) {
    Pieces smaller;
    for (const std::string& piece : pieces) {
      try {
        for (std::string& part : divided(split, piece)) smaller.push_back(std::move(part));
      } catch (const std::invalid_argument& why) {
        throw std::invalid_argument(
            fmt::format("{}: the pattern of Split cannot be applied to this text: {}", name_, why.what()));
      }
    }
    pieces = std::move(smaller);
  }
  return pieces;
}

void BytePairTokenizer::append_word(const std::string& word, TokenIds& ids) const {
  std::vector<std::string> symbols;
  std::string whole;
  if (byte_level_) {
    for (const char c : word) symbols.push_back(alphabet()[static_cast<unsigned char>(c)]);
    for (const std::string& symbol : symbols) whole += symbol;
  } else {
    symbols = characters_of(word);
    whole = word;
  }
  if (const auto found = ids_.find(whole); whole_words_ && found != ids_.end()) {
    ids.push_back(found->second);
    return;
  }
  while (symbols.size() > 1) {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t best = none, place = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto rank = ranks_.find(symbols[i] + ' ' + symbols[i + 1]);
      if (rank == ranks_.end() || rank->second >= best) continue;
      best = rank->second;
      place = i;
    }
    if (best == none) break;
    symbols[place] += symbols[place + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  for (const std::string& symbol : symbols) {
    const auto found = ids_.find(symbol);
    if (found == ids_.end() && !unknown_) {
      refuse_file(name_, fmt::format("has no token for '{}' of the text, and no unk_token", excerpt(symbol)));
    }
    ids.push_back(found == ids_.end() ? *unknown_ : found->second);
  }
}

TokenIds BytePairTokenizer::encode(std::string_view text) const {
  TokenIds ids;
  std::string plain;
  const auto end_plain = [&] {
    if (plain.empty()) return;
    for (const std::string& word : divided(plain)) append_word(word, ids);
    plain.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto added = std::find_if(added_.begin(), added_.end(),
                                    [&](const auto& token) { return text.substr(at).starts_with(token.first); });
    if (added == added_.end()) {
      plain += text[at++];
      continue;
    }
    end_plain();
    ids.push_back(added->second);
    at += added->first.size();
  }
  end_plain();
  return ids;
}

}  // namespace croquis
