// A digest of bytes, to tell whether two files or inputs are the same.
#pragma once

#include <armadillo>
#include <cstddef>
#include <string>
#include <string_view>

namespace croquis {

/// 128-bit digest of a sequence of pieces (XXH3 of the xxHash library): the same for the same bytes in however many
/// pieces. Different bytes have the same digest with probability about 2^-128 unless somebody has made them to; it is
/// no signature.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  Digest& add(std::string_view bytes);
  /// The sizes and then the numbers of a matrix, column by column.
  template <typename T>
  Digest& add(const arma::Mat<T>& matrix);
  /// 32 hexadecimal digits.
  std::string hex() const;

 private:
  void* state_;
};

/// The digest of one piece.
std::string digest_of(std::string_view bytes);

}  // namespace croquis
