#include <doctest/doctest.h>
#include <croquis/io/npy.hpp>
#include <croquis/io/npz.hpp>

#include "support/archives.hpp"
#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// Entry (h, i, j) of (2, 2, 3) is 100 h + 10 i + j.
const std::vector<float> kHeadsC = {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112};
const std::vector<double> kHeadsFortran = {0, 100, 10, 110, 1, 101, 11, 111, 2, 102, 12, 112};

std::string npy(const std::string& type, const char* order, const std::string& shape, const std::string& data) {
  return npy_file("{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }", data);
}

const std::string kC = npy("<f4", "False", "(2, 2, 3)", bytes_of(kHeadsC));
const std::string kFortran = npy("<f8", "True", "(2, 2, 3)", bytes_of(kHeadsFortran));
const std::string kMatrix = npy("<f8", "False", "(1, 2)", bytes_of(std::vector<double>{7, 8}));

void check_heads(const std::vector<arma::mat>& heads) {
  REQUIRE(heads.size() == 2);
  for (arma::uword h = 0; h < 2; ++h) {
    REQUIRE(heads[h].n_rows == 2);
    REQUIRE(heads[h].n_cols == 3);
    for (arma::uword i = 0; i < 2; ++i) {
      for (arma::uword j = 0; j < 3; ++j) CHECK(heads[h](i, j) == static_cast<double>(100 * h + 10 * i + j));
    }
  }
}

}  // namespace

TEST_CASE("npy: three dimensions are heads, in C and in Fortran order; two are one head") {
  check_heads(parse_npy(kC, "c"));
  check_heads(parse_npy(kFortran, "fortran"));
  CHECK(parse_npy(kMatrix, "one").size() == 1);
}

TEST_CASE("npy: a matrix is asked for and there are heads") {
  TemporaryFolder folder;
  const std::string path = (folder / "heads.npy").string();
  write_text(path, kC);
  check_heads(read_npy_heads(path));
  CHECK(contains(refusal([&] { read_npy(path); }), "3 dimensions, 2 heads"));
  CHECK(contains(refusal([&] { parse_npy(npy("<f8", "False", "(0, 2, 3)", ""), "x"); }), "x: has no numbers"));
  CHECK(contains(refusal([&] { parse_npy(npy("<f2", "False", "(99999, 1, 1)", std::string(199998, '\0')), "x"); }),
                 "99999 heads"));
}

TEST_CASE("npz: members stored and deflated, by either case of their name") {
  for (const Compression compression : {Compression::stored, Compression::deflated}) {
    const std::string file = zip_file({{"q.npy", kC}, {"K.npy", kFortran}, {"v.npy", kMatrix}}, compression);
    check_heads(parse_npz(file, "f.npz", "q"));
    check_heads(parse_npz(file, "f.npz", "k"));
    CHECK(parse_npz(file, "f.npz", "v").front()(0, 1) == 8);
  }
}

TEST_CASE("npz: what is no archive, or damaged, is refused in one line") {
  const std::string good = zip_file({{"q.npy", kC}}, Compression::deflated);
  const auto message = [](const std::string& bytes, const char* member = "q") {
    std::string text = refusal([&] { parse_npz(bytes, "f.npz", member); });
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.starts_with("f.npz: "));
    return text;
  };
  CHECK(contains(message(good, "v"), "has no member v.npy; it has q.npy"));
  for (const std::string& bytes :
       {std::string(), std::string("PK"), kC, good.substr(0, good.size() / 2), std::string(1000, '\0')}) {
    CHECK(contains(message(bytes), "is not an .npz file"));
  }
  std::string damaged = good;
  damaged[50] ^= 0x55;  // in the compressed data: the checksum no longer agrees
  CHECK(message(damaged).find("q.npy") != std::string::npos);
  CHECK(contains(message(zip_file({{"q.npy", "text"}}, Compression::stored)), "wrong magic"));
}
