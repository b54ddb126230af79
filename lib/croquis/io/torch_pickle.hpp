// The pickle in PyTorch's archives: a reader of the few things that tensors in lists and dictionaries are made of. Not
// installed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace croquis {

/// A tensor as the pickle describes it: numbers of a storage, which is a member of the archive.
struct TorchTensor {
  std::string type;           ///< of the storage: "FloatStorage"
  std::string storage;        ///< its key: "0"
  std::uint64_t numbers = 0;  ///< in the storage
  std::uint64_t offset = 0;   ///< of the first number
  std::vector<std::uint64_t> shape, strides;
};

/// What was saved: tensors by name, where they had names, and in order.
struct TorchContent {
  enum class Kind { tensor, sequence, dictionary, other };
  Kind kind = Kind::other;
  /// One without a name; those of a sequence, without names; those of a dictionary. Other entries are left out.
  std::vector<std::pair<std::string, TorchTensor>> tensors;
};

/// Reads the pickle that torch.save writes (protocol 2). It knows the opcodes of such files and the names
/// torch._utils._rebuild_tensor_v2, torch.*Storage and collections.OrderedDict; nothing is imported or called.
/// Throws: std::invalid_argument with one line that begins with `name` for anything else, with `advice` at its end.
TorchContent parse_torch_pickle(std::string_view pickle, const std::string& name, const std::string& advice);

}  // namespace croquis
