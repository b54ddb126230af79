#include "files/saved_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <croquis/io/digest.hpp>
#include <croquis/io/npy.hpp>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "files/whole_file.hpp"

void SavedOutputs::make_folder(bool may_replace) const {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (!std::filesystem::is_directory(folder_, failure)) {
    throw std::invalid_argument(fmt::format("--save-output: {}: is no folder and cannot be made one", folder_));
  }
  if (!may_replace && !std::filesystem::is_empty(folder_, failure)) {
    throw std::invalid_argument(
        fmt::format("--save-output: {}: has files already, which only --resume or --overwrite of the result that they "
                    "are of may replace; give another folder",
                    folder_));
  }
  const WholeFile trial(path_of("trial"));  // throws where the folder cannot be written; leaves nothing
}

std::string SavedOutputs::file_name(const std::string& parts) {
  constexpr std::size_t longest = 160, digits = 8;
  std::string name;
  for (const char c : parts) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._=-").find(c) != std::string_view::npos;
    name += plain ? c : '-';
  }
  if (name.front() == '.') name.front() = '-';
  name.resize(std::min(name.size(), longest));
  if (name != parts) name += fmt::format("-{}", croquis::digest_of(parts).substr(0, digits));
  return name + ".npy";
}

std::string SavedOutputs::path_of(const std::string& parts) const {
  return (std::filesystem::path(folder_) / file_name(parts)).string();
}

void SavedOutputs::save(const std::string& parts, const arma::mat& output) const {
  write_whole(path_of(parts), croquis::npy_bytes(output));
}
