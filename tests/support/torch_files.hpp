// The files of torch.save, made by hand: the bytes that Python's pickler writes for tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A tensor of a storage, as it stands in a file.
struct SavedTensor {
  std::string storage_type = "FloatStorage", key = "0";
  std::uint64_t numbers = 0;  ///< in the storage
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> shape, strides;
  std::string metadata = {};  ///< the opcodes of a last argument that PyTorch adds for some tensors
};

/// The opcodes of protocol 2 for values, put together to a pickle by torch_pickle().
std::string pickled(const SavedTensor& tensor);
std::string pickled(const std::string& text);
std::string pickled(std::uint64_t number);
std::string pickled_tuple(const std::vector<std::string>& values);
std::string pickled_list(const std::vector<std::string>& values);
/// Keys and values in turn.
std::string pickled_dictionary(const std::vector<std::string>& items);

/// A whole pickle of a value.
std::string torch_pickle(const std::string& value);

/// A .pt file with a pickle and the bytes of storages 0, 1, ...
std::string torch_file(const std::string& pickle, const std::vector<std::string>& storages,
                       const std::string& byte_order = "little");

/// Row by row.
SavedTensor contiguous(const std::string& key, const std::vector<std::uint64_t>& shape,
                       const std::string& storage_type = "FloatStorage");
