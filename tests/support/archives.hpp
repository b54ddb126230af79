// .npz and safetensors files, made by hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

enum class Compression { stored, deflated };

/// A zip archive of (name, bytes).
std::string zip_file(const std::vector<std::pair<std::string, std::string>>& members, Compression compression);

/// Eight bytes of length, header, data.
std::string safetensors_file(const std::string& header, const std::string& data);
