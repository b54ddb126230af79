// Arrays from files of all supported formats, by the extension of the file name.
#pragma once

#include <croquis/io/stored_array.hpp>
#include <string>

namespace croquis {

/// The array `name` ("q", "k" or "v"; "Q", ... is found too) of a file with several arrays: .npz, .safetensors, .pt or
/// .pth. Files with another extension are read as .npz.
/// Throws: std::invalid_argument as the readers, with a message of one line that names the file; also if the file has
///   no such array (the message lists those it has).
StoredArray named_array(const std::string& path, const std::string& name);

/// The array of a file with a single one, or the one called `name` as above. Files with another extension are read as
/// .npy. Throws as named_array().
StoredArray only_array(const std::string& path, const std::string& name);

}  // namespace croquis
