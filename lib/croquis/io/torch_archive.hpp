// Files of torch.save: tensors, in a tuple, a list or a dictionary.
#pragma once

#include <croquis/io/stored_array.hpp>
#include <string>
#include <vector>

namespace croquis {

/// A .pt file: a zip archive with a pickle, which describes the tensors, and a member for each storage, with its
/// numbers: float16, bfloat16, float32 or float64, little-endian, with any strides. Nothing in the file is executed:
/// the pickle is parsed by a reader that accepts only what tensors consist of.
class TorchArchive {
 public:
  /// Throws std::invalid_argument, with a message of one line that names the file and gives the line of Python that
  ///   converts it, for a file that is not such an archive (PyTorch before 1.6 wrote others), contains objects other
  ///   than tensors, text and numbers, or is damaged.
  explicit TorchArchive(const SharedBytes& source);

  /// The names of the tensors: "" for one that was saved by itself; "q", "k" and "v" for three in a tuple or list; the
  /// keys of a dictionary.
  std::vector<std::string> names() const;
  /// Throws std::invalid_argument for an unknown name, another type of numbers, a damaged storage, and as StoredArray.
  StoredArray array(const std::string& name) const;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

}  // namespace croquis
