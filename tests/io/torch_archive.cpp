// Files of torch.save: what is read of them.
#include <doctest/doctest.h>
#include <croquis/io/array_file.hpp>
#include <croquis/io/torch_archive.hpp>

#include "support/archives.hpp"
#include "support/dense.hpp"
#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"
#include "support/torch_files.hpp"

using namespace croquis;

namespace {

using Strings = std::vector<std::string>;

const std::string kSixFloats32 = bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6});
const arma::mat kArchiveRows = {{1, 2, 3}, {4, 5, 6}};

TorchArchive archive_of(const std::string& value, const Strings& storages) {
  return TorchArchive(bytes_in_memory(torch_file(torch_pickle(value), storages), "f.pt"));
}

std::string of_key(const char* key) {
  return pickled(contiguous(key, {2, 3}, "FloatStorage"));
}

}  // namespace

TEST_CASE("torch: a tensor, three in a tuple or a list, and a dictionary with other entries") {
  // What Python's own pickler writes for a tensor of one storage, as torch.save calls it.
  using namespace std::string_literals;
  std::string by_python = "\x80\x02"s;
  by_python += "ctorch._utils\n_rebuild_tensor_v2\nq\0((X\x07\0\0\0storageq\x01"s;
  by_python += "ctorch\nFloatStorage\nq\x02X\x01\0\0\0\x30q\x03X\x03\0\0\0cpuq\x04K\x06tq\x05QK\0K\x02K\x03\x86q\x06"s;
  by_python += "K\x03K\x01\x86q\x07\x89"s;
  by_python += "ccollections\nOrderedDict\nq\x08)Rq\ttq\nRq\x0b."s;
  const TorchArchive python(bytes_in_memory(torch_file(by_python, {kSixFloats32}), "f.pt"));
  CHECK(python.names() == Strings{""});
  CHECK(identical(python.array("").matrix(), kArchiveRows));

  const std::string other = bytes_of(std::vector<float>{7, 8, 9, 10, 11, 12});
  for (const bool tuple : {true, false}) {
    const Strings three = {of_key("0"), of_key("1"), of_key("0")};
    const TorchArchive file = archive_of(tuple ? pickled_tuple(three) : pickled_list(three), {kSixFloats32, other});
    CHECK(file.names() == Strings{"q", "k", "v"});
    CHECK(identical(file.array("q").matrix(), kArchiveRows));
    CHECK(identical(file.array("k").matrix(), arma::mat{{7, 8, 9}, {10, 11, 12}}));
    CHECK(identical(file.array("v").matrix(), kArchiveRows));
  }
  const TorchArchive dictionary =
      archive_of(pickled_dictionary({pickled("k"s), of_key("1"), pickled("scale"s), "G\x3f\xe0\0\0\0\0\0\0"s,
                                     pickled("layers"s), pickled_list({pickled(1), pickled(300), pickled(70000)}),
                                     pickled(3), of_key("0"), pickled("q"s), of_key("0")}),
                 {kSixFloats32, other});
  CHECK(dictionary.names() == Strings{"k", "q"});
  CHECK(identical(dictionary.array("q").matrix(), kArchiveRows));
  CHECK(contains(refusal([&] { dictionary.array("v"); }), "f.pt: has no tensor 'v'"));
}

TEST_CASE("torch: metadata of a tensor that say nothing change nothing") {
  SavedTensor tensor = contiguous("0", {2, 3});
  for (const char* metadata : {"", "N", "}"}) {
    tensor.metadata = metadata;
    CHECK(identical(archive_of(pickled(tensor), {kSixFloats32}).array("").matrix(), kArchiveRows));
  }
}

TEST_CASE("torch: types of storages, offsets and strides, as of a transposed or a sliced tensor") {
  const auto one = [](const SavedTensor& tensor, const std::string& storage) {
    return archive_of(pickled(tensor), {storage}).array("");
  };
  CHECK(identical(one(contiguous("0", {1, 2}, "DoubleStorage"), bytes_of(std::vector<double>{0.1, 2})).matrix(),
                  arma::mat{{0.1, 2}}));
  const std::string halves = bytes_of(std::vector<std::uint16_t>{0x3c00, 0xc049});
  CHECK(one(contiguous("0", {1, 2}, "HalfStorage"), halves).matrix()(0) == 1);
  CHECK(one(contiguous("0", {1, 2}, "BFloat16Storage"), halves).matrix()(1) == -3.140625);
  CHECK(one({"BFloat16Storage", "0", 2, 1, {1, 1}, {1, 1}}, halves).matrix()(0) == -3.140625);
  CHECK(
      identical(one({"FloatStorage", "0", 6, 0, {3, 2}, {1, 3}}, kSixFloats32).matrix(), arma::mat(kArchiveRows.t())));
  CHECK(identical(one({"FloatStorage", "0", 6, 4, {1, 2}, {2, 1}}, kSixFloats32).matrix(), arma::mat{{5, 6}}));
  // Heads of (tokens, heads, width), which view(...).transpose(...) makes.
  const StoredArray heads = one({"FloatStorage", "0", 6, 0, {3, 2, 1}, {1, 3, 1}}, kSixFloats32);
  REQUIRE(heads.heads() == 3);
  CHECK(identical(heads.matrix(1), arma::mat(arma::vec{2, 5})));
  const StoredArray shared = one({"FloatStorage", "0", 6, 0, {4, 2, 3}, {0, 3, 1}}, kSixFloats32);  // expand of a head
  CHECK(identical(shared.matrix(3), kArchiveRows));
}

TEST_CASE("torch: sizes of one byte, of two and of more, and a memory of more than 256 values") {
  for (const std::uint64_t size : {127U, 128U, 255U, 256U, 32767U, 32768U, 65535U, 65536U}) {
    CAPTURE(size);
    const std::string storage(size * sizeof(float), '\0');
    CHECK(archive_of(pickled(contiguous("0", {1, size})), {storage}).array("").cols() == size);
    CHECK(archive_of(pickled(contiguous("0", {size, 1})), {storage}).array("").rows() == size);
  }
  // The text "q" is value 300 of the memory, and "x" value 44, which has the same last byte.
  using namespace std::string_literals;
  const std::string remembered = pickled_list({pickled("q"s) + "r\x2c\x01\0\0"s, pickled("x"s) + "q\x2c"s});
  const TorchArchive file = archive_of(
      pickled_dictionary({pickled("names"s), remembered, "j\x2c\x01\0\0"s, of_key("0"), "h\x2c"s, of_key("0")}),
      {kSixFloats32});
  CHECK(file.names() == Strings{"q", "x"});
}

TEST_CASE("array files: by the ending of their names, one array or the one of that name, in either case") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const std::string npy = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", kSixFloats32);
  write_text(folder / "a.npy", npy);
  write_text(folder / "a.npz", zip_file({{"Q.npy", npy}, {"k.npy", npy}}, Compression::deflated));
  write_text(folder / "one.npz",
             zip_file({{"notes.txt", "of the author"}, {"anything.npy", npy}}, Compression::stored));
  write_text(folder / "a.safetensors",
             safetensors_file(R"({"q":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", kSixFloats32));
  write_text(folder / "a.pt",
             torch_file(torch_pickle(pickled_list({of_key("0"), of_key("0"), of_key("0")})), {kSixFloats32}));
  write_text(folder / "one.PTH", torch_file(torch_pickle(of_key("0")), {kSixFloats32}));
  write_text(folder / "both.safetensors",
             safetensors_file(R"({"Q":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]},)"
                              R"("q":{"dtype":"F32","shape":[1,3],"data_offsets":[12,24]}})",
                              kSixFloats32));
  CHECK(identical(named_array(path("both.safetensors"), "q").matrix(), arma::mat{{4, 5, 6}}));
  for (const char* name : {"a.npz", "a.safetensors", "a.pt"}) {
    CHECK(identical(named_array(path(name), "q").matrix(), kArchiveRows));
    CHECK(identical(only_array(path(name), "q").matrix(), kArchiveRows));
  }
  for (const char* name : {"a.npy", "one.npz", "one.PTH"}) {
    CHECK(identical(only_array(path(name), "v").matrix(), kArchiveRows));
  }
  CHECK(refusal([&] { named_array(path("a.npz"), "v"); }) == path("a.npz") + ": has no array v; it has Q, k");
  CHECK(refusal([&] { only_array(path("a.npz"), "v"); }) == path("a.npz") + ": has no array v; it has Q, k");
  CHECK(contains(refusal([&] { named_array(path("one.PTH"), "q"); }), "it has a tensor without a name"));
  CHECK(contains(refusal([&] { named_array(path("a.npy"), "q"); }), "is not an .npz file"));
}
