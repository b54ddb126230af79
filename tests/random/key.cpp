#include <doctest/doctest.h>
#include <croquis/random/key.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

using Words = std::array<std::uint32_t, 4>;

}  // namespace

TEST_CASE("Philox: the known answers of Random123 for all bits zero, all bits one and pi") {
  const auto philox = [](const Words& c, std::uint32_t key0, std::uint32_t key1) {
    const auto out = r123::Philox4x32{}({{c[0], c[1], c[2], c[3]}}, {{key0, key1}});
    return Words{out[0], out[1], out[2], out[3]};
  };
  const std::uint32_t ones = 0xffffffff;
  CHECK(philox({0, 0, 0, 0}, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({ones, ones, ones, ones}, ones, ones) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("Key: seeds, names and indices lead to different keys, also where they look alike") {
  // 128-bit blocks: two of 2,012 keys agree by chance with probability below 2012^2 / 2^129 = 1e-32.
  const Key root(test_seed());
  std::vector<Key> keys = {root};
  for (std::uint64_t i = 0; i < 1000; ++i) keys.push_back(root.child(i));
  for (std::uint64_t i = 0; i < 1000; ++i) keys.emplace_back(test_seed() + 1 + i);
  for (const char* name : {"a", "b", "ab", "ba", "", "0", "a name of some length", "a name of some lengths"})
    keys.push_back(root.child(name));
  keys.push_back(root.child("a").child("b"));
  keys.push_back(root.child("b").child("a"));
  if (test_seed() >= 1000) keys.push_back(root.child(test_seed()));
  keys.push_back(root.child(0xaf63dc4c8601ec8cULL));  // FNV-1a of "a"
  std::set<Words> blocks;
  for (const Key& key : keys) blocks.insert(key.block(0));
  CHECK(blocks.size() == keys.size());
}

TEST_CASE("Key: high and low words of a seed, of an index and of a block number all matter") {
  const std::uint64_t high = std::uint64_t{1} << 32;
  CHECK(Key(7).block(0) != Key(7 + high).block(0));
  const Key root(test_seed());
  CHECK(root.child(7).block(0) != root.child(7 + high).block(0));
  CHECK(root.block(7) != root.block(7 + high));
  CHECK(root.block(7) != root.block(8));
}

TEST_CASE("Key: the same path gives the same key, in any order of asking") {
  const Key first = Key(test_seed()).child("trial").child(3);
  const Key root(test_seed());
  const Key other = root.child("trial").child(4);
  const Key second = root.child("trial").child(3);
  for (const std::uint64_t k : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    CHECK(first.block(k) == second.block(k));
    CHECK(first.block(k) != other.block(k));
  }
}

TEST_CASE("Key: its children are child(0), child(1), ...") {
  const Key key = Key(test_seed()).child("children");
  const std::vector<Key> children = key.children(3);
  REQUIRE(children.size() == 3);
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(children[i].words() == key.child(i).words());
  CHECK(key.children(0).empty());
}

TEST_CASE("Key: a name is 32 hexadecimal digits that give the key back") {
  const Key key = Key(test_seed()).child("written").child(7);
  CHECK(key.name().size() == 32);
  CHECK(key.name().find_first_not_of("0123456789abcdef") == std::string::npos);
  const Key again = Key::from_name(key.name());
  CHECK(again.name() == key.name());
  CHECK(again.block(5) == key.block(5));
  CHECK(again.child("x").block(0) == key.child("x").block(0));
  CHECK(key.child(0).name() != key.name());
  const std::string zeros = "00000001000000000000000000000000";
  CHECK(Key::from_name(zeros).name() == zeros);
  for (const std::string bad :
       {"", "0000000000000000000000000000000", "000000000000000000000000000000000", "0000000000000000000000000000000g",
        "0000000000000000000000000000000 ", "-0000000000000000000000000000000", "+0000000000000000000000000000000",
        "0x000000000000000000000000000000"}) {
    CHECK(refusal([&] { Key::from_name(bad); }) ==
          std::string("Key::from_name: 32 hexadecimal digits, got name = ").append(bad));
  }
}

TEST_CASE("Key::engine: draws the words of blocks 1, 2, ... of its key, each once") {
  const Key key = Key(test_seed()).child("engine");
  Engine engine = key.engine();
  for (std::uint64_t k = 1; k <= 3; ++k) {
    Words drawn{}, block = key.block(k);
    for (std::uint32_t& word : drawn) word = engine();
    std::sort(drawn.begin(), drawn.end());
    std::sort(block.begin(), block.end());
    CHECK(drawn == block);
  }
  Engine again = key.engine(), other = key.child(0).engine();
  const std::uint32_t word = again();
  CHECK(word == key.engine()());
  CHECK(word != other());
}
