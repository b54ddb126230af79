// The files of torch.save: tensors, in a tuple, a list or a dictionary.
#pragma once

#include <croquis/io/stored_array.hpp>
#include <map>
#include <string>
#include <vector>

namespace croquis {

/// A .pt file: a zip archive with a pickle, which describes the tensors, and a member a storage with the numbers:
/// float16, bfloat16, float32 or float64, little-endian, in any strides. Nothing in the file is run: the pickle is read
/// by a reader that knows what tensors are made of and refuses everything else.
class TorchArchive {
 public:
  /// Throws std::invalid_argument with one line that names the file and the line of Python that converts it, for a file
  /// that is no such archive (PyTorch before 1.6 wrote others), has other objects than tensors, text and numbers, or is
  /// damaged.
  explicit TorchArchive(const SharedBytes& source);

  /// Of the tensors: "" of one that was saved by itself; "q", "k" and "v" of three in a tuple or list; the keys of a
  /// dictionary.
  std::vector<std::string> names() const;
  /// Throws std::invalid_argument for a name that is not there, another type of numbers, a damaged storage, and as
  /// StoredArray.
  StoredArray array(const std::string& name) const;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

}  // namespace croquis
