// A digest of bytes, to recognise whether two files or inputs are the same.
#pragma once

#include <armadillo>
#include <croquis/io/byte_source.hpp>
#include <string>
#include <string_view>

namespace croquis {

/// The 128-bit digest of a sequence of bytes (XXH3 of the xxHash library). It does not depend on how the bytes are
/// divided into pieces. Different bytes have the same digest with probability about 2^-128. It is not cryptographic:
/// equal digests can be constructed on purpose.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  Digest& add(std::string_view bytes);
  /// Adds the sizes and then the numbers of a matrix, column by column.
  template <typename T>
  Digest& add(const arma::Mat<T>& matrix);
  /// Adds all bytes of a source, which are not in memory at once.
  Digest& add(const ByteSource& source);
  /// 32 hexadecimal digits.
  std::string hex() const;

 private:
  void* state_;
};

/// The digest of one piece.
std::string digest_of(std::string_view bytes);

}  // namespace croquis
