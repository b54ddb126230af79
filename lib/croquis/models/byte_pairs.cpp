#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <croquis/io/bytes.hpp>
#include <croquis/models/byte_pairs.hpp>
#include <croquis/models/regular_expression.hpp>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

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
std::vector<std::string> utf8_characters_of(const std::string& word) {
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
  for (const auto* ids : {&added_ids_, &ids_}) {
    if (const auto found = ids->find(token); found != ids->end()) return found->second;
  }
  return std::nullopt;
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

std::string BytePairTokenizer::normalised(std::string text) const {
  for (const Normalizer& step : normalizers_) {
    if (step.replaced.empty()) {
      if (!text.empty()) text = step.by + text;
      continue;
    }
    std::string changed;
    std::size_t at = 0;
    for (std::size_t found = 0; (found = text.find(step.replaced, at)) != std::string::npos;) {
      changed.append(text, at, found - at).append(step.by);
      at = found + step.replaced.size();
    }
    text = changed.append(text, at, std::string::npos);
  }
  return text;
}

// What merges begin with.
BytePairTokenizer::Pieces BytePairTokenizer::symbols_of(const std::string& word) const {
  Pieces symbols;
  if (byte_level_) {
    for (const char c : word) symbols.push_back(alphabet()[static_cast<unsigned char>(c)]);
    return symbols;
  }
  for (std::string& character : utf8_characters_of(word)) {
    if (byte_fallback_ && !ids_.contains(character)) {
      for (const char c : character) symbols.push_back(fmt::format("<0x{:02X}>", static_cast<unsigned char>(c)));
    } else {
      symbols.push_back(std::move(character));
    }
  }
  return symbols;
}

// Llama 2 has whole texts for words: pairs wait in a heap, and those that are there no more are passed over.
BytePairTokenizer::Pieces BytePairTokenizer::merged(Pieces symbols) const {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  struct Pair {
    std::size_t rank, left, right, bytes;
    bool operator>(const Pair& other) const { return std::tie(rank, left) > std::tie(other.rank, other.left); }
  };
  std::vector<std::size_t> before(symbols.size()), behind(symbols.size());
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> pairs;
  const auto add = [&](std::size_t left, std::size_t right) {
    if (left == none || right == none) return;
    const auto rank = ranks_.find(pair_key(symbols[left], symbols[right]));
    if (rank == ranks_.end()) return;
    pairs.push({rank->second, left, right, symbols[left].size() + symbols[right].size()});
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    before[i] = i > 0 ? i - 1 : none;
    behind[i] = i + 1 < symbols.size() ? i + 1 : none;
    add(i, behind[i]);
  }
  while (!pairs.empty()) {
    const Pair pair = pairs.top();
    pairs.pop();
    std::string &left = symbols[pair.left], &right = symbols[pair.right];
    // A symbol that was merged away is empty, and one that has grown is longer.
    if (left.empty() || right.empty() || left.size() + right.size() != pair.bytes) continue;
    left += right;
    right.clear();
    behind[pair.left] = behind[pair.right];
    if (behind[pair.left] != none) before[behind[pair.left]] = pair.left;
    add(before[pair.left], pair.left);
    add(pair.left, behind[pair.left]);
  }
  std::erase_if(symbols, [](const std::string& symbol) { return symbol.empty(); });
  return symbols;
}

void BytePairTokenizer::append_word(const std::string& word, TokenIds& ids) const {
  Pieces symbols = symbols_of(word);
  if (whole_words_) {
    std::string whole;
    for (const std::string& symbol : symbols) whole += symbol;
    if (const auto found = ids_.find(byte_level_ ? whole : word); found != ids_.end()) {
      ids.push_back(found->second);
      return;
    }
  }
  bool was_known = true;
  for (const std::string& symbol : merged(std::move(symbols))) {
    const auto found = ids_.find(symbol);
    const bool known = found != ids_.end();
    if (!known && !unknown_) {
      refuse_file(name_, fmt::format("has no token for '{}' of the text, and no unk_token", excerpt(symbol)));
    }
    if (known) {
      ids.push_back(found->second);
    } else if (was_known || !fuse_unknown_) {
      ids.push_back(*unknown_);
    }
    was_known = known;
  }
}

namespace {

// take(id) of the added tokens in a text and between(piece) of what is between them, in order.
template <typename Added, typename Take, typename Between>
void for_each_part(const Added& added, std::string_view text, const Take& take, const Between& between) {
  std::string piece;
  const auto end_piece = [&] {
    if (!piece.empty()) between(piece);
    piece.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::find_if(added.begin(), added.end(),
                                    [&](const auto& token) { return text.substr(at).starts_with(token.first); });
    if (found == added.end()) {
      piece += text[at++];
      continue;
    }
    end_piece();
    take(found->second);
    at += found->first.size();
  }
  end_piece();
}

}  // namespace

TokenIds BytePairTokenizer::encode(std::string_view text) const {
  TokenIds ids;
  const auto take = [&](std::uint32_t id) { ids.push_back(id); };
  for_each_part(added_, text, take, [&](const std::string& piece) {
    for_each_part(normalised_added_, normalised(piece), take, [&](const std::string& plain) {
      for (const std::string& word : divided(plain)) append_word(word, ids);
    });
  });
  return ids;
}

}  // namespace croquis
