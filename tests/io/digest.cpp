#include <doctest/doctest.h>
#include <armadillo>
#include <croquis/io/digest.hpp>

#include <set>
#include <string>
#include <string_view>

using namespace croquis;

TEST_CASE("digest: that of XXH3-128 in the library's documentation and its command, xxhsum -H128") {
  CHECK(digest_of("") == "99aa06d3014798d86001c324468d497f");
  CHECK(digest_of("abc") == "06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("digest: pieces add up to the whole") {
  std::string text(1000, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i);
  for (const std::size_t at : {0, 1, 7, 240, 999, 1000}) {
    CHECK(Digest().add(text.substr(0, at)).add(text.substr(at)).hex() == digest_of(text));
  }
}

TEST_CASE("digest: the bytes of a source, of many pieces, are those of a text") {
  std::string text((1 << 21) + 7, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i % 251);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, text.size()}) {
    CHECK(Digest().add(*bytes_in_memory(std::string_view(text).substr(0, size), "x")).hex() ==
          digest_of(text.substr(0, size)));
  }
}

TEST_CASE("digest: matrices that differ in signs, places or sizes alone have different digests") {
  const arma::mat v(arma::reshape(arma::regspace(1, 64), 8, 8));
  arma::mat two_signs = v;
  two_signs(0, 0) *= -1;
  two_signs(5, 3) *= -1;
  arma::mat swapped = v;
  swapped.swap_rows(2, 3);
  arma::mat last = v;
  last(7, 7) = 0;
  std::set<std::string> digests;
  for (const arma::mat& m : {v, arma::mat(-v), two_signs, swapped, last, arma::mat(v.t()),
                             arma::mat(arma::reshape(v, 4, 16)), arma::mat(), arma::mat(1, 1, arma::fill::zeros)}) {
    digests.insert(Digest().add(m).hex());
  }
  CHECK(digests.size() == 9);
  CHECK(Digest().add(v).hex() == Digest().add(arma::mat(v)).hex());
  CHECK(Digest().add(v).hex() != Digest().add(arma::conv_to<arma::fmat>::from(v)).hex());
}
