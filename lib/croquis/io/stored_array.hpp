// The heads of an array in a file, each read on request.
#pragma once

#include <armadillo>
#include <croquis/io/byte_source.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// The supported types of numbers; all become double.
enum class NumberType { float16, bfloat16, float32, float64 };
/// The bytes of a number.
std::uint64_t size_of(NumberType type);

/// The layout of an array in a file: the number with indices i begins at byte first + size_of(type) sum_k i_k
/// strides_k.
struct ArrayLayout {
  NumberType type = NumberType::float64;
  std::uint64_t first = 0;
  std::vector<std::uint64_t> shape, strides;

  /// The layout of numbers without gaps, row by row (the last index fastest), or with `fortran` column by column (the
  /// first index fastest).
  static ArrayLayout of(NumberType type, std::uint64_t first, std::vector<std::uint64_t> shape, bool fortran = false);
};

/// An array of two dimensions (tokens, width), of three (heads, tokens, width) or of four (batch, heads, tokens,
/// width). Heads are numbered across the batch: head h of batch b is batch_heads() b + h. Copies share the file, which
/// stays open. Thread-safe.
class StoredArray {
 public:
  /// Throws std::invalid_argument, with a message that begins with `name`, for another number of dimensions, for no
  ///   head or an implausible number of heads, and for numbers beyond the end of the source.
  StoredArray(SharedBytes source, std::string name, ArrayLayout layout);

  const std::string& name() const { return name_; }  ///< the file and the array in it, as in messages
  NumberType type() const { return layout_.type; }
  std::size_t dimensions() const { return layout_.shape.size(); }
  arma::uword heads() const { return heads_; }              ///< of all batches
  arma::uword batch_heads() const { return batch_heads_; }  ///< of one batch
  arma::uword rows() const { return layout_.shape[dimensions() - 2]; }
  arma::uword cols() const { return layout_.shape[dimensions() - 1]; }

  /// One head (rows x cols). Memory: the head, and a few MB whatever the order of the numbers in the file is. If the
  /// numbers of a head are not contiguous, those between them are read too.
  /// Throws: std::invalid_argument if the file has become shorter.
  arma::mat matrix(arma::uword head = 0) const;
  /// Rows first ... first + count - 1 of a head.
  arma::mat rows(arma::uword head, arma::uword first, arma::uword count) const;
  /// All heads, for few or small ones.
  std::vector<arma::mat> matrices() const;

 private:
  SharedBytes source_;
  std::string name_;
  ArrayLayout layout_;
  arma::uword heads_ = 1, batch_heads_ = 1;
};

}  // namespace croquis
