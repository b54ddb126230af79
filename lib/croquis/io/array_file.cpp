#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/array_file.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/npz.hpp>
#include <croquis/io/safetensors.hpp>
#include <croquis/io/torch_archive.hpp>
#include <functional>
#include <vector>

namespace croquis {
namespace {

// A file with names.
struct Arrays {
  std::vector<std::string> names;
  std::function<StoredArray(const std::string&)> array;
};

bool has_ending(const std::string& path, const std::string& ending) {
  std::string end = path.substr(path.size() - std::min(path.size(), ending.size()));
  for (char& c : end) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return end == ending;
}

Arrays arrays_in(const std::string& path) {
  const SharedBytes bytes = bytes_of_file(path);
  if (has_ending(path, ".safetensors")) {
    const SafeTensors file(bytes);
    return {file.names(), [file](const std::string& name) { return file.array(name); }};
  }
  if (has_ending(path, ".pt") || has_ending(path, ".pth")) {
    const TorchArchive file(bytes);
    return {file.names(), [file](const std::string& name) { return file.array(name); }};
  }
  return {npz_names(bytes), [bytes](const std::string& name) { return npz_array(bytes, name); }};
}

bool is_one_of_several(const std::string& path) {
  return has_ending(path, ".safetensors") || has_ending(path, ".pt") || has_ending(path, ".pth") ||
         has_ending(path, ".npz");
}

// The name as it is in the file, in lower case or in capitals. Empty where there is none.
std::string found_name(const std::vector<std::string>& names, const std::string& name) {
  std::string capital = name;
  for (char& c : capital) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const std::string& wanted : {name, capital}) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return wanted;
  }
  return {};
}

[[noreturn]] void refuse_name(const std::string& path, const Arrays& file, const std::string& name) {
  constexpr std::size_t most = 20;
  std::vector<std::string> some(file.names.begin(),
                                file.names.begin() + static_cast<std::ptrdiff_t>(std::min(most, file.names.size())));
  for (std::string& one : some) one = one.empty() ? "a tensor without a name" : excerpt(one);
  if (file.names.size() > most) some.emplace_back("...");
  refuse_file(path, fmt::format("has no array {}; it has {}", name,
                                some.empty() ? "none" : fmt::format("{}", fmt::join(some, ", "))));
}

}  // namespace

StoredArray named_array(const std::string& path, const std::string& name) {
  const Arrays file = arrays_in(path);
  const std::string found = found_name(file.names, name);
  if (found.empty()) refuse_name(path, file, name);
  return file.array(found);
}

StoredArray only_array(const std::string& path, const std::string& name) {
  if (!is_one_of_several(path)) return npy_array(bytes_of_file(path));
  const Arrays file = arrays_in(path);
  if (file.names.size() == 1) return file.array(file.names.front());
  return named_array(path, name);
}

}  // namespace croquis
