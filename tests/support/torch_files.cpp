#include "support/torch_files.hpp"

#include "support/archives.hpp"

namespace {

template <typename Number>
std::string little(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

std::string numbers(const std::vector<std::uint64_t>& values) {
  std::vector<std::string> all;
  for (const std::uint64_t value : values) all.push_back(pickled(value));
  return pickled_tuple(all);
}

}  // namespace

// As the pickler does: the shortest of BININT1, BININT2, BININT and LONG1.
std::string pickled(std::uint64_t number) {
  if (number < 0x100) return joined({"K", little(static_cast<std::uint8_t>(number))});
  if (number < 0x10000) return joined({"M", little(static_cast<std::uint16_t>(number))});
  if (number < 0x80000000) return joined({"J", little(static_cast<std::uint32_t>(number))});
  if (number >> 63 == 0) return joined({"\x8a\x08", little(number)});
  return joined({"\x8a\x09", little(number), std::string(1, '\0')});
}

std::string pickled(const std::string& text) {
  return joined({"X", little(static_cast<std::uint32_t>(text.size())), text});
}

std::string pickled_tuple(const std::vector<std::string>& values) {
  const std::string all = joined(values);
  if (values.empty()) return ")";
  if (values.size() == 1) return all + '\x85';
  if (values.size() == 2) return all + '\x86';
  if (values.size() == 3) return all + '\x87';
  return joined({"(", all, "t"});
}

std::string pickled_list(const std::vector<std::string>& values) {
  return joined({"](", joined(values), "e"});
}

std::string pickled_dictionary(const std::vector<std::string>& items) {
  return joined({"}(", joined(items), "u"});
}

// torch._utils._rebuild_tensor_v2(storage, offset, shape, strides, False, OrderedDict()), each name memoised as the
// pickler does it.
std::string pickled(const SavedTensor& t) {
  using namespace std::string_literals;
  const std::string storage = joined({"(", pickled("storage"s), "ctorch\n", t.storage_type, "\nq\x02", pickled(t.key),
                                      pickled("cpu"s), pickled(t.numbers), "tq\x05Q"});
  return joined({"ctorch._utils\n_rebuild_tensor_v2\nq\0("s, storage, pickled(t.offset), numbers(t.shape),
                 numbers(t.strides), "\x89", "ccollections\nOrderedDict\nq\x08)Rq\t", t.metadata, "tq\nRq\x0b"});
}

std::string torch_pickle(const std::string& value) {
  return joined({"\x80\x02", value, "."});
}

std::string torch_file(const std::string& pickle, const std::vector<std::string>& storages,
                       const std::string& byte_order) {
  std::vector<std::pair<std::string, std::string>> members = {{"head/data.pkl", pickle},
                                                              {"head/byteorder", byte_order}};
  for (std::size_t i = 0; i < storages.size(); ++i) {
    members.emplace_back("head/data/" + std::to_string(i), storages[i]);
  }
  members.emplace_back("head/version", "3\n");
  return zip_file(members, Compression::stored);
}

SavedTensor contiguous(const std::string& key, const std::vector<std::uint64_t>& shape,
                       const std::string& storage_type) {
  SavedTensor tensor{storage_type, key, 1, 0, shape, std::vector<std::uint64_t>(shape.size())};
  for (std::size_t k = shape.size(); k-- > 0;) {
    tensor.strides[k] = tensor.numbers;
    tensor.numbers *= shape[k];
  }
  return tensor;
}
