#include <croquis/io/bytes.hpp>
#include <croquis/io/npz.hpp>
#include <croquis/io/zip_archive.hpp>

namespace croquis {
namespace {

// In the case of the letter as it is in the archive.
std::string file_of(const ZipArchive& archive, const std::string& member) {
  const std::string wanted = member + ".npy";
  if (archive.has(wanted)) return wanted;
  const auto lower = [](std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
  };
  for (const std::string& name : archive.names()) {
    if (lower(name) == lower(wanted)) return name;
  }
  return wanted;
}

ZipArchive archive_in(const SharedBytes& source) {
  return {source, "an .npz file", "write one with numpy.savez"};
}

}  // namespace

StoredArray npz_array(const SharedBytes& source, const std::string& member) {
  const ZipArchive archive = archive_in(source);
  return npy_array(archive.member(file_of(archive, member)));
}

std::vector<std::string> npz_names(const SharedBytes& source) {
  std::vector<std::string> names;
  for (const std::string& name : archive_in(source).names()) {
    if (name.ends_with(".npy")) names.push_back(name.substr(0, name.size() - 4));
  }
  return names;
}

std::vector<arma::mat> parse_npz(std::string_view bytes, const std::string& name, const std::string& member) {
  return npz_array(bytes_in_memory(bytes, name), member).matrices();
}

std::vector<arma::mat> read_npz(const std::string& path, const std::string& member) {
  return npz_array(bytes_of_file(path), member).matrices();
}

}  // namespace croquis
