// Zip archives, whose members are read like files. Not installed.
#pragma once

#include <croquis/io/byte_source.hpp>
#include <memory>
#include <string>
#include <vector>

namespace croquis {

class ZipArchive {
 public:
  /// Throws std::invalid_argument "name: is not `what` (why); `advice`" for a file that is not a valid archive.
  ZipArchive(SharedBytes source, const std::string& what, const std::string& advice);

  const std::string& name() const;
  std::vector<std::string> names() const;
  bool has(const std::string& member) const;
  /// The names, separated by commas, for messages.
  std::string listed() const;

  /// A member, stored or deflated, whose name is "archive: member". It has been read once completely, to check its size
  /// and checksum. Reading continues from where the last read ended, and starts again for an earlier position.
  /// Throws: std::invalid_argument for a member that the archive does not have, that has another compression, or that
  ///   is damaged: its checksum or size differs from that in the archive, or it claims more bytes than deflate could
  ///   have compressed into its size.
  SharedBytes member(const std::string& member) const;

 private:
  class Handle;
  class Member;
  std::shared_ptr<Handle> handle_;
};

}  // namespace croquis
