// .pt files that are something else: each is refused with one line that names the file; nothing in them is run.
#include <doctest/doctest.h>
#include <croquis/io/torch_archive.hpp>

#include <algorithm>

#include "support/archives.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"
#include "support/torch_files.hpp"

using namespace croquis;
using namespace std::string_literals;

namespace {

const std::string kSixFloats = bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6});
const std::string kPython = "numpy.savez(";

std::string tensor() {
  return pickled(contiguous("0", {2, 3}));
}
std::string of(const SavedTensor& saved) {
  return torch_file(torch_pickle(pickled(saved)), {kSixFloats});
}
SavedTensor with_metadata(const std::string& opcodes) {
  SavedTensor saved = contiguous("0", {2, 3});
  saved.metadata = opcodes;
  return saved;
}
std::string with(const std::string& pickle) {
  return torch_file(pickle, {kSixFloats});
}

struct HostileTorch {
  const char* name;
  std::string bytes, message;
};

std::vector<HostileTorch> hostile_torch_files() {
  const std::string good = torch_pickle(tensor());
  const std::string call = "cposix\nsystem\nq\0X\x04\0\0\0echoq\x01\x85q\x02Rq\x03"s;
  std::string deep(100'000, ']');
  return {
      {"empty", "", "it is empty"},
      {"a pickle alone, as before PyTorch 1.6", good, kPython},
      {"no pickle", zip_file({{"head/version", "3\n"}}, Compression::stored), "it has no data.pkl"},
      {"an .npz", zip_file({{"q.npy", "x"}}, Compression::stored), kPython},
      {"a big-endian machine", torch_file(good, {kSixFloats}, "big"), "big-endian"},
      {"a call of the system", with("\x80\x02" + call + "."), "has a 'posix.system', which is no tensor"},
      {"a call beside a tensor", with(torch_pickle(pickled_tuple({tensor(), call}))), kPython},
      {"eval by an old opcode", with("\x80\x02(S'x'\nibuiltins\neval\n."), "opcode 0x53"},
      {"a name from the stack", with("\x80\x02\x8c\x05posix\x8c\x06system\x93."), "opcode 0x8c"},
      {"an object that is built", with(torch_pickle(tensor() + "}b")), "opcode 0x62"},
      {"an object of a class",
       with("\x80\x02"
            "ctorch._utils\n_rebuild_tensor_v2\n)\x81."),
       "opcode 0x81"},
      {"another function of torch",
       with("\x80\x02"
            "ctorch\nload\n)R."),
       "'torch.load', which is no tensor"},
      {"a storage that is called",
       with("\x80\x02"
            "ctorch\nFloatStorage\n)R."),
       "damaged"},
      {"a parameter",
       with("\x80\x02"
            "ctorch._utils\n_rebuild_parameter\n."),
       "_rebuild_parameter"},
      {"a name that writes from right to left",
       with("\x80\x02"
            "cx\n\u202e\x1b[2J\n."),
       "'x.???"},
      {"protocol 4", with("\x80\x04\x95\0\0\0\0\0\0\0\0N."s), "protocol 2"},
      {"protocol 0", with("(lp0\n."), "protocol 2"},
      {"no end", with("\x80\x02" + tensor()), "damaged"},
      {"something after the end", with(good + "N."), "after its end"},
      {"two values", with("\x80\x02NN."), "at its end"},
      {"no value", with("\x80\x02."), "at its end"},
      {"an open mark", with("\x80\x02N(."), "at its end"},
      {"a mark that is none", with("\x80\x02t."), "damaged"},
      {"a tuple from an empty stack", with("\x80\x02\x87."), "damaged"},
      {"a value below a mark", with("\x80\x02N(a."), "damaged"},
      {"two values below a mark", with("\x80\x02NN(\x86t."), "damaged"},
      {"a storage of another module",
       with("\x80\x02"
            "cother\nFloatStorage\n."),
       "has a 'other.FloatStorage', which is no tensor"},
      {"an item to a number", with("\x80\x02K\x01Na."), "damaged"},
      {"half an item of a dictionary", with("\x80\x02}(Nu."), "damaged"},
      {"a memory that is empty", with("\x80\x02h\x07."), "damaged"},
      {"a text of 4 GB", with("\x80\x02X\xff\xff\xff\xff."), "damaged"},
      {"a number of 255 bytes", with("\x80\x02\x8a\xff."), "damaged"},
      {"lists in lists", with("\x80\x02" + deep + std::string(99'999, 'a') + "."), "neither a tensor"},
      {"a list that has itself", with("\x80\x02]q\0h\0a."s), "neither a tensor"},
      {"two million bytes", with(std::string(2'000'000, 'N')), "at most 1048576 are read"},
      {"a number", with("\x80\x02K\x01."), "neither a tensor"},
      {"two tensors", with(torch_pickle(pickled_tuple({tensor(), tensor()}))), "neither a tensor"},
      {"four tensors", with(torch_pickle(pickled_tuple({tensor(), tensor(), tensor(), tensor()}))), "neither a tensor"},
      {"three things", with(torch_pickle(pickled_list({tensor(), tensor(), "N"}))), "neither a tensor"},
      {"integers", of(contiguous("0", {2, 3}, "LongStorage")), "in a LongStorage"},
      {"no storage", torch_file(good, {}), "has no member head/data/0"},
      {"a storage elsewhere", of(contiguous("../version", {2, 3})), "has no member head/data/../version"},
      {"a storage that is too short", torch_file(good, {kSixFloats.substr(4)}), "20 bytes where 6 numbers"},
      {"a storage of other bytes", torch_file(good, {kSixFloats + "x"}), "25 bytes where 6 numbers"},
      {"more than the storage", of({"FloatStorage", "0", 6, 0, {2, 4}, {4, 1}}), "fewer numbers"},
      {"an offset beyond it", of({"FloatStorage", "0", 6, 6, {2, 3}, {3, 1}}), "fewer numbers"},
      {"an offset of 2^62", of({"FloatStorage", "0", 6, std::uint64_t{1} << 62, {2, 3}, {3, 1}}), "damaged|after"},
      {"strides that wrap", of({"FloatStorage", "0", 6, 0, {3, 3}, {0x7fffffffffffffff, 1}}), "damaged|fewer"},
      {"a row a billion times", of({"FloatStorage", "0", 6, 0, {1'000'000'000, 6}, {0, 1}}), "strides of 0"},
      {"five dimensions", of(contiguous("0", {1, 1, 1, 2, 3})), "5 dimensions"},
      {"a vector", of(contiguous("0", {6})), "1 dimension;"},
      {"no number", of({"FloatStorage", "0", 6, 0, {0, 2, 3}, {6, 3, 1}}), "no numbers"},
      {"a tensor to be negated", of(with_metadata(pickled_dictionary({pickled("neg"s), "\x88"}))), ".resolve_neg()"},
      {"a tensor to be conjugated", of(with_metadata(pickled_dictionary({pickled("conj"s), "\x88"}))),
       ".resolve_conj()"},
      {"metadata that are a number", of(with_metadata("K\x01")), "damaged"},
      {"fewer strides", of({"FloatStorage", "0", 6, 0, {2, 3}, {1}}), "damaged"},
  };
}

std::string message_of(const std::string& bytes) {
  return refusal([&] {
    const TorchArchive file(bytes_in_memory(bytes, "f.pt"));
    for (const std::string& name : file.names()) file.array(name).matrix();
  });
}

}  // namespace

TEST_CASE("torch: hostile files are refused in one line with their name") {
  REQUIRE(message_of(torch_file(torch_pickle(tensor()), {kSixFloats})) == "nothing was thrown");
  for (const HostileTorch& file : hostile_torch_files()) {
    CAPTURE(std::string(file.name));
    const std::string message = message_of(file.bytes);
    CHECK(message.starts_with("f.pt: "));
    const std::size_t bar = file.message.find('|');
    const bool found = contains(message, file.message.substr(0, bar)) ||
                       (bar != std::string::npos && contains(message, file.message.substr(bar + 1)));
    CHECK_MESSAGE(found, message);
    CHECK(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  }
}

TEST_CASE("torch: a pickle that cannot be read ends with the line of Python that converts the file") {
  for (const std::string& pickle : {"\x80\x02"
                                    "cposix\nsystem\n."s,
                                    "\x80\x02]."s, "junk"s}) {
    CHECK(contains(message_of(torch_file(pickle, {kSixFloats})), kPython));
  }
}

TEST_CASE("torch: a pickle cut after any byte is refused") {
  const std::string good = torch_pickle(pickled_tuple({tensor(), tensor(), tensor()}));
  REQUIRE(message_of(torch_file(good, {kSixFloats})) == "nothing was thrown");
  for (std::size_t size = 0; size < good.size(); ++size) {
    REQUIRE(message_of(torch_file(good.substr(0, size), {kSixFloats})).starts_with("f.pt: "));
  }
}
