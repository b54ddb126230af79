// MatrixMarket (.mtx) files.
#pragma once

#include <armadillo>
#include <string>
#include <string_view>

namespace croquis {

/// The matrix in a MatrixMarket file: coordinate or array; real, integer or pattern; general, symmetric or
/// skew-symmetric. A sparse matrix is stored dense. The entries of a pattern are 1.
/// Throws: std::invalid_argument, with the file and the number of the line, for other kinds of files; an index out of
///   range, above the diagonal of a symmetric matrix or given twice; a number that is not finite or not a double; more
///   or fewer entries than announced; and a file that does not end in a line break, because it may be truncated. Memory
///   is allocated only for a file that is long enough for its entries, and after require_memory() for the dense matrix.
/// Cost: memory for rows cols numbers and the bytes of the file.
arma::mat read_matrix_market(const std::string& path);

/// The same from the bytes of a file. `name` is used in messages.
arma::mat parse_matrix_market(std::string_view bytes, const std::string& name);

/// The sizes of the matrix, read from the first lines. Throws as read_matrix_market for these lines.
struct MatrixMarketSize {
  arma::uword rows = 0, cols = 0;
};
MatrixMarketSize matrix_market_size(std::string_view bytes, const std::string& name);

}  // namespace croquis
