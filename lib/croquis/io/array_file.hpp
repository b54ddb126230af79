// Arrays in files of any of the formats that are read, by the ending of the file's name.
#pragma once

#include <croquis/io/stored_array.hpp>
#include <string>

namespace croquis {

/// The array called "q", "k" or "v" (or "Q", ...) in a file with several: .npz, .safetensors, .pt and .pth; a file with
/// another ending is taken for an .npz.
/// Throws: std::invalid_argument, with one line that names the file, as their readers, and if the file has no such
///   array (the message lists those it has).
StoredArray named_array(const std::string& path, const std::string& name);

/// The array in a file with one, or the one called `name` as above; a file with another ending is taken for an .npy.
/// Throws as named_array().
StoredArray only_array(const std::string& path, const std::string& name);

}  // namespace croquis
