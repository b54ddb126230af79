#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <croquis/io/torch_archive.hpp>
#include <croquis/io/torch_pickle.hpp>
#include <croquis/io/zip_archive.hpp>
#include <optional>
#include <utility>

namespace croquis {
namespace {

constexpr std::uint64_t kLongestPickle = 1 << 20;

const std::string kAdvice =
    "in Python, numpy.savez('qkv.npz', q=q.detach().cpu().float().numpy(), k=k.detach().cpu().float().numpy(), "
    "v=v.detach().cpu().float().numpy()) writes what is read";

std::optional<NumberType> type_of(const std::string& storage) {
  if (storage == "HalfStorage") return NumberType::float16;
  if (storage == "BFloat16Storage") return NumberType::bfloat16;
  if (storage == "FloatStorage") return NumberType::float32;
  if (storage == "DoubleStorage") return NumberType::float64;
  return std::nullopt;
}

// All members are in one folder.
std::string folder_of(const ZipArchive& archive) {
  const std::string pickle = "/data.pkl";
  for (const std::string& name : archive.names()) {
    if (name.ends_with(pickle)) return name.substr(0, name.size() - pickle.size() + 1);
  }
  refuse_file(archive.name(), fmt::format("is not a file of torch.save (it has no data.pkl); {}", kAdvice));
}

std::string content_of(const ByteSource& member) {
  if (member.size() > kLongestPickle) {
    refuse_file(member.name(),
                fmt::format("has {} bytes; at most {} are read; {}", member.size(), kLongestPickle, kAdvice));
  }
  return read_some(member, 0, member.size());
}

}  // namespace

struct TorchArchive::Content {
  ZipArchive archive;
  std::string folder;
  std::vector<std::pair<std::string, TorchTensor>> tensors;
};

TorchArchive::TorchArchive(const SharedBytes& source) {
  Content content{{source, "a file of torch.save, of PyTorch 1.6 or later", kAdvice}, {}, {}};
  const ZipArchive& archive = content.archive;
  content.folder = folder_of(archive);
  const std::string order = content.folder + "byteorder";
  if (archive.has(order) && content_of(*archive.member(order)) != "little") {
    refuse_file(archive.name(), fmt::format("is of a big-endian machine; {}", kAdvice));
  }
  TorchContent saved =
      parse_torch_pickle(content_of(*archive.member(content.folder + "data.pkl")), archive.name(), kAdvice);
  using Kind = TorchContent::Kind;
  if (saved.kind == Kind::other || (saved.kind == Kind::sequence && saved.tensors.size() != 3)) {
    refuse_file(archive.name(),
                fmt::format("has neither a tensor nor three in a tuple, a list or a dictionary; {}", kAdvice));
  }
  if (saved.kind == Kind::sequence) {
    for (std::size_t i = 0; i < 3; ++i) saved.tensors[i].first = std::string(1, "qkv"[i]);
  }
  content.tensors = std::move(saved.tensors);
  content_ = std::make_shared<const Content>(std::move(content));
}

std::vector<std::string> TorchArchive::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : content_->tensors) names.push_back(name);
  return names;
}

StoredArray TorchArchive::array(const std::string& name) const {
  const ZipArchive& archive = content_->archive;
  const auto found = std::find_if(content_->tensors.begin(), content_->tensors.end(),
                                  [&](const auto& tensor) { return tensor.first == name; });
  if (found == content_->tensors.end()) refuse_file(archive.name(), fmt::format("has no tensor '{}'", name));
  const TorchTensor& tensor = found->second;
  const std::string label = name.empty() ? archive.name() : fmt::format("{}: {}", archive.name(), excerpt(name));
  const auto type = type_of(tensor.type);
  if (!type) refuse_file(label, fmt::format("is a tensor in a {}; {}", excerpt(tensor.type), kAdvice));
  const SharedBytes storage = archive.member(fmt::format("{}data/{}", content_->folder, tensor.storage));
  if (storage->size() / size_of(*type) != tensor.numbers || storage->size() % size_of(*type) != 0) {
    refuse_file(storage->name(), fmt::format("has {} bytes where {} numbers in a {} are described", storage->size(),
                                             tensor.numbers, tensor.type));
  }
  if (tensor.offset > tensor.numbers) refuse_file(label, "begins after the end of its storage");
  StoredArray array(storage, label, {*type, tensor.offset * size_of(*type), tensor.shape, tensor.strides});
  if (array.cols() > 0 && array.rows() > tensor.numbers / array.cols()) {
    refuse_file(label, "repeats its rows or columns by strides of 0; save its contiguous()");
  }
  return array;
}

}  // namespace croquis
