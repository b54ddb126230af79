// Whole numbers in NumPy's .npy files: token ids, labels, lengths.
#pragma once

#include <armadillo>
#include <croquis/io/byte_source.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace croquis {

/// An .npy file of integers of one dimension (a single row) or of two: little-endian int8 to int64 or uint8 to uint64,
/// C order; numbers below 2^63. Only the header is read; rows are read on request. Copies share the file, which stays
/// open. Thread-safe.
class IntegerRows {
 public:
  /// Throws std::invalid_argument, with a message of one line that names the file, for a file that is not an .npy file,
  ///   another type, order or number of dimensions, no numbers, a truncated file and trailing bytes.
  explicit IntegerRows(const std::string& path);
  explicit IntegerRows(SharedBytes source);

  const std::string& name() const { return source_->name(); }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t cols() const { return cols_; }
  /// Throws std::invalid_argument for a row that the file does not have, for one with a number from 2^63 on, and if the
  /// file has become shorter.
  std::vector<std::int64_t> row(std::uint64_t row) const;

 private:
  SharedBytes source_;
  std::uint64_t start_ = 0, rows_ = 1, cols_ = 0, bytes_ = 8;
  bool is_signed_ = true;
};

/// A list of numbers: those of an .npy file of integers, as IntegerRows reads it, or of floats, as read_npy_or_vector
/// reads it; of two dimensions row by row. A list of whole numbers may have been saved as either. Floats are returned
/// as they are. Throws as IntegerRows and read_npy_or_vector.
arma::vec read_npy_list(const std::string& path);

}  // namespace croquis
