#include <Random123/threefry.h>
#include <fmt/format.h>

#include <charconv>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/random/key.hpp>

namespace croquis {
namespace {

constexpr std::uint32_t kSeedDomain = 1, kNameDomain = 2, kIndexDomain = 3;

std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}
std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

// FNV-1a: names are few and short. Two that collide under one key would share their draws.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 14695981039346656037ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

}  // namespace

Key::Key(std::uint64_t seed) : words_{} {
  *this = derive(seed, kSeedDomain);
}

Key Key::derive(std::uint64_t tag, std::uint32_t domain) const {
  const r123::Threefry4x32::ctr_type counter = {{low(tag), high(tag), domain, 0}};
  const r123::Threefry4x32::key_type parent = {{words_[0], words_[1], words_[2], words_[3]}};
  const auto out = r123::Threefry4x32{}(counter, parent);
  return Key(Words{out[0], out[1], out[2], out[3]});
}

Key Key::child(std::string_view purpose) const {
  return derive(hash(purpose), kNameDomain);
}
Key Key::child(std::uint64_t index) const {
  return derive(index, kIndexDomain);
}

std::vector<Key> Key::children(std::uint64_t count) const {
  require_memory(static_cast<double>(sizeof(Key)) * static_cast<double>(count), "Key::children", {{"count", count}});
  std::vector<Key> all;
  all.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(child(i));
  return all;
}

std::string Key::name() const {
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", words_[0], words_[1], words_[2], words_[3]);
}

Key Key::from_name(std::string_view hexadecimal) {
  constexpr std::size_t digits = 8;
  Words words{};
  bool good = hexadecimal.size() == words.size() * digits;
  for (std::size_t i = 0; good && i < words.size(); ++i) {
    const std::string_view word = hexadecimal.substr(i * digits, digits);
    const auto [end, error] = std::from_chars(word.data(), word.data() + digits, words[i], 16);
    good = error == std::errc{} && end == word.data() + digits;
  }
  require(good, "Key::from_name", "32 hexadecimal digits", {{"name", hexadecimal}});
  return Key(words);
}

std::array<std::uint32_t, 4> Key::block(std::uint64_t k) const {
  const r123::Philox4x32::ctr_type counter = {{low(k), high(k), words_[2], words_[3]}};
  const r123::Philox4x32::key_type first_words = {{words_[0], words_[1]}};
  const auto out = r123::Philox4x32{}(counter, first_words);
  return {out[0], out[1], out[2], out[3]};
}

Engine Key::engine() const {
  Engine engine(r123::Philox4x32::key_type{{words_[0], words_[1]}});
  // Random123's engine increments the counter before it draws.
  engine.setcounter({{0, 0, words_[2], words_[3]}}, 0);
  return engine;
}

}  // namespace croquis
