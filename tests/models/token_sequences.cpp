#include <doctest/doctest.h>
#include <croquis/models/token_sequences.hpp>

#include <optional>
#include <string>
#include <vector>

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

TEST_CASE("token sequences: padding at either end, and other tokens beyond the length") {
  const TemporaryFolder folder;
  write_text(folder / "ids.npy", npy_integers("(4, 4)", {0, 0, 3, 0, 1, 2, 0, 0, 1, 2, 3, 4, 0, 1, 2, 3}));
  write_text(folder / "lengths.npy", npy_integers("(4,)", {2, 2, 3, 4}));
  const auto numbers = [&](const std::string& lengths, const std::vector<arma::uword>& sequences) {
    const TokenSequences file({(folder / "ids.npy").string(), lengths, ""}, false);
    const TokenSequences::Padding padding = file.padding(0, sequences);
    return std::vector<arma::uword>{padding.ending, padding.beginning, padding.beyond};
  };
  const std::string lengths = (folder / "lengths.npy").string();
  CHECK(numbers(lengths, {0, 1, 2, 3}) == std::vector<arma::uword>{1, 2, 2});
  CHECK(numbers("", {0, 1, 2, 3}) == std::vector<arma::uword>{2, 2, 0});
  CHECK(numbers(lengths, {1}) == std::vector<arma::uword>{0, 0, 0});
}

TEST_CASE("token sequences: labels that repeat the ids are told from the next tokens") {
  const TemporaryFolder folder;
  write_text(folder / "lengths.npy", npy_integers("(2,)", {4, 3}));
  const auto are_ids = [&](const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& labels,
                           const std::vector<arma::uword>& sequences = {0, 1}) {
    write_text(folder / "ids.npy", npy_integers("(2, 4)", ids));
    write_text(folder / "labels.npy", npy_integers("(2, 4)", labels));
    return TokenSequences({(folder / "ids.npy").string(), (folder / "lengths.npy").string(),
                           labels.empty() ? "" : (folder / "labels.npy").string()},
                          true)
        .labels_are_ids(sequences);
  };
  const std::vector<std::int64_t> ids = {3, 1, 4, 1, 5, 9, 2, 0};
  CHECK(are_ids(ids, ids));
  CHECK(are_ids(ids, {-100, -100, 4, 1, -100, 9, 2, -100}));
  CHECK(are_ids(ids, {3, 1, 4, 1, 5, 9, 2, 7}));  // what is beyond the length is not read
  CHECK_FALSE(are_ids(ids, {1, 4, 1, -100, 9, 2, -100, -100}));
  CHECK_FALSE(are_ids(ids, {3, 1, 4, 1, 5, 9, 7, 0}));  // one other
  CHECK(are_ids(ids, {3, 1, 4, 1, 5, 9, 7, 0}, {0}));
  CHECK_FALSE(are_ids(ids, {-100, -100, -100, 1, -100, -100, 2, -100}));           // what follows is not known
  CHECK_FALSE(are_ids({6, 6, 6, 6, 6, 6, 6, 0}, {6, 6, 6, 6, 6, 6, 6, -100}));     // the next tokens as well
  CHECK(are_ids({6, 6, 6, 5, 6, 6, 6, 0}, {6, 6, 6, 5, -100, -100, -100, -100}));  // the third one is not
  const TokenSequences without({(folder / "ids.npy").string(), "", ""}, true);
  CHECK_FALSE(without.labels_are_ids({0, 1}));
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
