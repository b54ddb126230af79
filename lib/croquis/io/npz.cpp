#include <fmt/format.h>
#include <zip.h>

#include <croquis/core/memory.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/npz.hpp>
#include <memory>

namespace croquis {
namespace {

constexpr std::uint64_t kDeflateRatio = 1032;  // the largest compression ratio of deflate
constexpr std::uint64_t kMostListed = 20;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::string text_of(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

std::unique_ptr<zip_t, Discard> open_archive(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) refuse_file(name, "is not an .npz file (it is empty)");  // libzip: an archive without members
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) refuse_file(name, text_of(error));
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    refuse_file(name, fmt::format("is not an .npz file ({}); write one with numpy.savez", text_of(error)));
  }
  zip_error_fini(&error);
  return std::unique_ptr<zip_t, Discard>(archive);
}

std::string members_of(zip_t* archive) {
  std::string names;
  const auto count = static_cast<std::uint64_t>(zip_get_num_entries(archive, 0));
  for (std::uint64_t i = 0; i < std::min(count, kMostListed); ++i) {
    const char* name = zip_get_name(archive, i, 0);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name == nullptr ? "?" : name);
  }
  return count > kMostListed ? names + ", ..." : names;
}

// The description of a member in the archive, checked for plausibility in a file of `there` bytes.
std::uint64_t size_of(zip_t* archive, zip_uint64_t index, std::uint64_t there, const std::string& label) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_CRC;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & needed) != needed) {
    refuse_file(label, "has no size or no checksum");
  }
  // Decoders of other methods may need gigabytes, or produce any number of bytes from a few.
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    refuse_file(label, fmt::format("is compressed by method {}; write it with numpy.savez or numpy.savez_compressed",
                                   stat.comp_method));
  }
  if (stat.comp_size > there || stat.size / kDeflateRatio > stat.comp_size) {
    refuse_file(label, fmt::format("claims {} bytes, compressed into {}", stat.size, stat.comp_size));
  }
  return stat.size;
}

std::string content_of(zip_t* archive, zip_uint64_t index, std::uint64_t there, const std::string& label) {
  const std::uint64_t size = size_of(archive, index, there, label);
  const std::unique_ptr<zip_file_t, Discard> file(zip_fopen_index(archive, index, 0));
  if (!file) refuse_file(label, fmt::format("cannot be read: {}", zip_strerror(archive)));
  require_memory(static_cast<double>(size), label, {});
  std::string content(size, '\0');
  const zip_int64_t read = zip_fread(file.get(), content.data(), size);
  // libzip compares the checksum and the size when it is asked to read beyond the end.
  char more = 0;
  const zip_int64_t after = read < 0 ? -1 : zip_fread(file.get(), &more, 1);
  if (after < 0) refuse_file(label, fmt::format("is damaged: {}", zip_file_strerror(file.get())));
  if (after > 0) refuse_file(label, fmt::format("is damaged: more than the {} bytes that the archive states", size));
  if (static_cast<std::uint64_t>(read) != size) {
    refuse_file(label, fmt::format("is damaged: {} bytes where the archive states {}", read, size));
  }
  return content;
}

}  // namespace

std::vector<arma::mat> parse_npz(std::string_view bytes, const std::string& name, const std::string& member) {
  const auto archive = open_archive(bytes, name);
  const std::string file_name = member + ".npy";
  zip_int64_t index = zip_name_locate(archive.get(), file_name.c_str(), 0);
  if (index < 0) index = zip_name_locate(archive.get(), file_name.c_str(), ZIP_FL_NOCASE);
  if (index < 0) {
    refuse_file(name, fmt::format("has no member {}; it has {}", file_name, members_of(archive.get())));
  }
  const std::string label = fmt::format("{}: {}", name, file_name);
  return parse_npy(content_of(archive.get(), static_cast<zip_uint64_t>(index), bytes.size(), label), label);
}

std::vector<arma::mat> read_npz(const std::string& path, const std::string& member) {
  return parse_npz(read_bytes(path), path, member);
}

}  // namespace croquis
