// Archives that say something else than they have: each is refused in one line that names the file and the member.
#include <doctest/doctest.h>
#include <croquis/io/npz.hpp>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <cstring>

#include "support/archives.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr std::size_t kRows = 12, kCols = 5;

std::string random_npy(const char* purpose) {
  std::vector<double> numbers(kRows * kCols);
  fill_normal(Key(test_seed()).child(purpose), 0, numbers.size(), numbers.data());
  return npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (12, 5), }", bytes_of(numbers));
}

// Where things are in a zip archive of one member that libzip wrote: PKWARE's APPNOTE, 4.3.7 and 4.3.12.
constexpr std::size_t kLocal = 0, kLocalLength = 30, kName = 5;
std::size_t central(const std::string& file) {
  return file.find("PK\x01\x02");
}
std::size_t central(const std::string& file, std::size_t after) {
  return file.find("PK\x01\x02", after);
}

template <typename Number>
Number number_at(const std::string& file, std::size_t place) {
  Number number;
  std::memcpy(&number, file.data() + place, sizeof number);
  return number;
}
template <typename Number>
void set_number(std::string& file, std::size_t place, Number number) {
  std::memcpy(file.data() + place, &number, sizeof number);
}

// Both records of the member, so that they agree.
void set_size(std::string& file, std::uint32_t size) {
  set_number(file, kLocal + 22, size);
  set_number(file, central(file) + 24, size);
}
void set_compressed_size(std::string& file, std::uint32_t size) {
  set_number(file, kLocal + 18, size);
  set_number(file, central(file) + 20, size);
}
void set_method(std::string& file, std::uint16_t method) {
  set_number(file, kLocal + 8, method);
  set_number(file, central(file) + 10, method);
}

bool reads_as(const std::string& file, const arma::mat& saved) {
  try {
    return arma::approx_equal(parse_npz(file, "f.npz", "q").front(), saved, "absdiff", 0);
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::string damage_message(const std::string& file) {
  const std::string text = refusal([&] { parse_npz(file, "f.npz", "q"); });
  CHECK_MESSAGE(text.starts_with("f.npz: "), text);
  CHECK(std::none_of(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }));
  return text;
}

std::string member_message_of(const std::string& file) {
  const std::string text = damage_message(file);
  CHECK_MESSAGE(text.starts_with("f.npz: q.npy: "), text);
  return text;
}

}  // namespace

TEST_CASE("npz: any bit flipped in the data of a member, stored or deflated, is refused") {
  // Bits of deflate without which the same numbers are read: the mark of the last block, and what fills the last byte.
  constexpr int idle = 1 + 7;
  for (const Compression compression : {Compression::stored, Compression::deflated}) {
    const std::string good = zip_file({{"q.npy", random_npy("bits")}}, compression);
    const arma::mat saved = parse_npz(good, "f.npz", "q").front();
    REQUIRE(saved.n_rows == kRows);
    const std::size_t begin = kLocalLength + kName + number_at<std::uint16_t>(good, kLocal + 28),
                      end = begin + number_at<std::uint32_t>(good, central(good) + 20);
    REQUIRE(end == central(good));
    int unread = 0;
    for (std::size_t at = begin; at < end; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = good;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        if (compression == Compression::deflated && reads_as(damaged, saved)) {
          ++unread;
        } else {
          REQUIRE(contains(member_message_of(damaged), "is damaged: "));
        }
      }
    }
    CHECK(unread <= idle);
  }
}

TEST_CASE("npz: another checksum in the archive is refused") {
  for (const Compression compression : {Compression::stored, Compression::deflated}) {
    std::string file = zip_file({{"q.npy", random_npy("checksum")}}, compression);
    const auto checksum = number_at<std::uint32_t>(file, kLocal + 14);
    set_number(file, kLocal + 14, checksum + 1);
    set_number(file, central(file) + 16, checksum + 1);
    CHECK(contains(member_message_of(file), "CRC"));
  }
}

TEST_CASE("npz: a size in the archive that is not the member's is refused, too small or too large") {
  for (const Compression compression : {Compression::stored, Compression::deflated}) {
    const std::string good = zip_file({{"q.npy", random_npy("sizes")}}, compression);
    const auto size = number_at<std::uint32_t>(good, central(good) + 24);
    for (const std::uint32_t stated : {0U, 1U, size - 8, size - 1, size + 1, size + 8, 2 * size}) {
      CAPTURE(stated);
      std::string file = good;
      set_size(file, stated);
      CHECK(contains(member_message_of(file), "is damaged: "));
      if (compression == Compression::deflated) continue;
      set_compressed_size(file, stated);
      damage_message(file);
    }
  }
}

TEST_CASE("npz: members that are encrypted, or neither stored nor deflated, are refused") {
  const std::string good = zip_file({{"q.npy", random_npy("methods")}}, Compression::deflated);
  for (const std::uint16_t method : {1, 9, 12, 14, 93, 95, 98, 65535}) {
    CAPTURE(method);
    std::string file = good;
    set_method(file, method);
    CHECK(contains(member_message_of(file), "is compressed by method"));
  }
  std::string encrypted = good;
  encrypted[kLocal + 6] = static_cast<char>(encrypted[kLocal + 6] | 1);
  encrypted[central(good) + 8] = static_cast<char>(encrypted[central(good) + 8] | 1);
  member_message_of(encrypted);
}

TEST_CASE("npz: two members of one name are refused") {
  const std::string q = random_npy("first"), other = random_npy("second");
  std::string file = zip_file({{"q.npy", q}, {"r.npy", other}}, Compression::stored);
  const std::size_t first = central(file), second = central(file, first + 1), local = file.find("PK\x03\x04", 4);
  REQUIRE(file[local + 30] == 'r');
  REQUIRE(file[second + 46] == 'r');
  file[local + 30] = file[second + 46] = 'q';
  damage_message(file);
}
