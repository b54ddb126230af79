#include <doctest/doctest.h>
#include <croquis/models/token_sequences.hpp>

#include <optional>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"

using namespace croquis;

namespace {

struct Folder : TemporaryFolder {
  Folder() {
    write_text(path() / "ids.npy", npy_integers("(2, 4)", {3, 1, 4, 1, 5, 9, 2, 6}));
    write_text(path() / "labels.npy", npy_integers("(2, 4)", {-100, 7, -100, 8, 0, -100, 99, 99}));
    write_text(path() / "lengths.npy", npy_integers("(2,)", {4, 2}));
    write_text(path() / "column.npy", npy_integers("(2, 1)", {3, 2}));
  }
  std::string file(const std::string& name) const { return name.empty() ? "" : (path() / name).string(); }
  TokenSequences read(const std::string& lengths, const std::string& labels, bool next) const {
    return {{file("ids.npy"), file(lengths), file(labels)}, next};
  }
};

using Labels = std::vector<std::optional<std::uint32_t>>;

}  // namespace

TEST_CASE("token sequences: ids as long as their lengths, labels that do not count left out") {
  const Folder folder;
  const TokenSequences sequences =
      folder.read("lengths.npy", "labels.npy", true);  // labels count more than next tokens
  CHECK(sequences.count() == 2);
  CHECK(sequences.length(1) == 2);
  CHECK(sequences.labelled(0, 10).ids == TokenIds{3, 1, 4, 1});
  CHECK(sequences.labelled(0, 10).labels == Labels{{}, 7, {}, 8});
  CHECK(sequences.labelled(1, 10).ids == TokenIds{5, 9});
  CHECK(sequences.labelled(1, 10).labels == Labels{0, {}});  // what is beyond the length is not read
  CHECK(folder.read("column.npy", "", false).length(0) == 3);
  CHECK(folder.read("", "", false).labelled(0, 10).labels == Labels(4));
}

TEST_CASE("token sequences: a decoder's labels are the next tokens, the last token has none") {
  const Folder folder;
  const TokenSequences sequences = folder.read("column.npy", "", true);
  CHECK(sequences.length(0) == 2);
  CHECK(sequences.labelled(0, 10).ids == TokenIds{3, 1});
  CHECK(sequences.labelled(0, 10).labels == Labels{1, 4});
  CHECK(sequences.labelled(1, 10).ids == TokenIds{5});
  CHECK(sequences.labelled(1, 10).labels == Labels{9});
}

TEST_CASE("token sequences: joined ones are windows") {
  const Folder folder;
  const TokenWindows windows = folder.read("lengths.npy", "", false).joined({1, 0, 1}, 10);
  CHECK(windows.ids == TokenIds{5, 9, 3, 1, 4, 1, 5, 9});
  CHECK(windows.ends == std::vector<arma::uword>{2, 6, 8});
  CHECK(windows.positions() == std::vector<arma::uword>{0, 1, 0, 1, 2, 3, 0, 1});
}

TEST_CASE("token sequences: what is wrong is refused in one line that names file and place") {
  const Folder folder;
  write_text(folder / "short.npy", npy_integers("(2, 3)", {1, 2, 3, 4, 5, 6}));
  write_text(folder / "zero.npy", npy_integers("(2,)", {4, 0}));
  write_text(folder / "five.npy", npy_integers("(2,)", {5, 1}));
  write_text(folder / "three.npy", npy_integers("(3,)", {1, 1, 1}));
  write_text(folder / "one.npy", npy_integers("(2,)", {4, 1}));
  const auto said = [&](auto use, const std::string& what) {
    CAPTURE(what);
    const std::string message = refusal(use);
    CHECK_MESSAGE(message.find(what) != std::string::npos, message);
    CHECK(message.find('\n') == std::string::npos);
  };
  said([&] { folder.read("", "short.npy", false); }, "short.npy: has shape (2, 3) where");
  said([&] { folder.read("zero.npy", "", false); }, "zero.npy: length 0 of sequence 1; 1 to 4 are read");
  said([&] { folder.read("five.npy", "", false); }, "five.npy: length 5 of sequence 0");
  said([&] { folder.read("three.npy", "", false); }, "three.npy: has 3 lengths where");
  said([&] { folder.read("one.npy", "", true); }, "one.npy: length 1 of sequence 1; 2 to 4 are read");
  said([&] { folder.read("", "", false).ids(1, 9); }, "ids.npy: has id 9 of sequence 1 at position 1; the model has");
  said([&] { folder.read("", "labels.npy", false).labelled(1, 50); }, "has label 99 of sequence 1 at position 2");
  write_text(folder / "hundred.npy", npy_integers("(1, 3)", {1, 2, -100}));  // it means something in labels alone
  said(
      [&] {
        TokenSequences({folder.file("hundred.npy"), "", ""}, true).labelled(0, 10);
      },
      "hundred.npy: has id -100 of sequence 0 at position 2");
  said([&] { folder.read("", "", false).ids(2, 10); }, "sequence = 2");
}
