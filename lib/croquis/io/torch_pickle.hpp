// A parser of the pickles in PyTorch's archives, restricted to tensors in lists and dictionaries. Not installed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace croquis {

/// A tensor as the pickle describes it: part of a storage, which is a member of the archive.
struct TorchTensor {
  std::string type;           ///< type of the storage: "FloatStorage"
  std::string storage;        ///< key of the storage: "0"
  std::uint64_t numbers = 0;  ///< size of the storage, in numbers
  std::uint64_t offset = 0;   ///< index of the first number
  std::vector<std::uint64_t> shape, strides;
};

/// The saved object: its tensors in order, with their names if they have names.
struct TorchContent {
  enum class Kind { tensor, sequence, dictionary, other };
  Kind kind = Kind::other;
  /// A single tensor without a name, the tensors of a sequence without names, or those of a dictionary with their keys.
  /// Other entries are left out.
  std::vector<std::pair<std::string, TorchTensor>> tensors;
};

/// Parses the pickle that torch.save writes (protocol 2). It knows the opcodes of such files and the names
/// torch._utils._rebuild_tensor_v2, torch.*Storage and collections.OrderedDict. Nothing is imported or called.
/// Throws: std::invalid_argument, with a message of one line that begins with `name` and ends with `advice`, for
///   anything else.
TorchContent parse_torch_pickle(std::string_view pickle, const std::string& name, const std::string& advice);

}  // namespace croquis
