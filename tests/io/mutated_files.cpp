// Right files with random damage: a short run of what tests/fuzz does for hours with libFuzzer.
#include <doctest/doctest.h>
#include <croquis/io/npz.hpp>
#include <croquis/io/torch_archive.hpp>
#include <croquis/random/key.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "fuzz/readers.hpp"
#include "support/archives.hpp"
#include "support/npy_files.hpp"
#include "support/seed.hpp"
#include "support/torch_files.hpp"

namespace {

// Some of: bits flipped, bytes set to an extreme, a piece cut out, doubled, or the end cut off.
std::string damaged(std::string bytes, croquis::Engine& engine) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : engine() % n; };
  for (std::size_t times = 1 + below(4); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = below(bytes.size()), length = std::min<std::size_t>(1 + below(16), bytes.size() - at);
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = "\x00\xff\x7f\x80,({9-"[below(9)];
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        bytes.resize(at);
        break;
      default:
        for (std::size_t i = at; i < at + length; ++i) bytes[i] = static_cast<char>(engine());
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("mutated files: every reader reads them or refuses them, never worse") {
  for (const FuzzedReader& reader : library_readers()) {
    CAPTURE(reader.name);
    for (const std::string& right : reader.right) {
      CHECK_NOTHROW(reader.read(right));
      croquis::Engine engine =
          croquis::Key(test_seed()).child(reader.name).child(&right - reader.right.data()).engine();
      const int times = 40'000 / (1 + static_cast<int>(right.size() / 500 + reader.right.size()));
      for (int i = 0; i < times; ++i) CHECK_NOTHROW(reader.read(damaged(right, engine)));
    }
  }
}

TEST_CASE("mutated files: a tensor of torch.save has numbers of its storage, or is refused") {
  const std::string numbers = bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::string pickle = torch_pickle(pickled(contiguous("0", {2, 3})));
  croquis::Engine engine = croquis::Key(test_seed()).child("numbers of a tensor").engine();
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    try {
      const std::string file = torch_file(damaged(pickle, engine), {numbers});
      const croquis::TorchArchive archive(croquis::bytes_in_memory(std::string_view(file), "m.pt"));
      for (const std::string& name : archive.names()) {
        const arma::mat found = archive.array(name).matrix();
        REQUIRE(found.n_elem <= 6);
        for (const double number : found) REQUIRE((number >= 1 && number <= 6 && number == std::round(number)));
        ++read;
      }
    } catch (const std::invalid_argument&) {
    }
  }
  CHECK(read > 0);
}

TEST_CASE("mutated files: an .npz has the numbers that were saved, or is refused") {
  const arma::mat saved = {{1, 2, 3}, {4, 5, 6}};
  const std::string npy = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                                   bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}));
  for (const Compression compression : {Compression::stored, Compression::deflated}) {
    const std::string file = zip_file({{"q.npy", npy}}, compression);
    croquis::Engine engine = croquis::Key(test_seed()).child("numbers of an npz").engine();
    for (int i = 0; i < 20'000; ++i) {
      try {
        const arma::mat read = croquis::parse_npz(damaged(file, engine), "m.npz", "q").front();
        REQUIRE(arma::size(read) == arma::size(saved));
        REQUIRE(arma::all(arma::vectorise(read == saved)));
      } catch (const std::invalid_argument&) {
      }
    }
  }
}
