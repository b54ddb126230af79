#include "support/archives.hpp"

#include <zip.h>

#include <stdexcept>

std::string zip_file(const std::vector<std::pair<std::string, std::string>>& members, Compression compression) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(target);
  zip_t* archive = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const auto index = zip_file_add(archive, name.c_str(), source, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                             compression == Compression::stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 0);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("zip_file: not written");
  zip_stat_t stat;
  zip_source_stat(target, &stat);
  std::string file(stat.size, '\0');
  zip_source_open(target);
  zip_source_read(target, file.data(), file.size());
  zip_source_close(target);
  zip_source_free(target);
  return file;
}

std::string safetensors_file(const std::string& header, const std::string& data) {
  std::string file(8, '\0');
  for (int byte = 0; byte < 8; ++byte)
    file[static_cast<std::size_t>(byte)] = static_cast<char>(header.size() >> (8 * byte) & 0xff);
  return file + header + data;
}
