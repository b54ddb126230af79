#include "options/own_matrix.hpp"

#include <fmt/format.h>

#include <croquis/attention/problem.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/io/matrix_market.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/linalg/norms.hpp>
#include <stdexcept>

#include "options/finite.hpp"

bool is_matrix_file(const std::string& text) {
  return text.ends_with(".npy") || text.ends_with(".mtx");
}

arma::mat load_own_matrix(const std::string& path, const std::string& option) {
  if (!is_matrix_file(path)) {
    throw std::invalid_argument(fmt::format("{}: '{}' is neither FILE.npy nor FILE.mtx", option, path));
  }
  arma::mat matrix = path.ends_with(".mtx") ? croquis::read_matrix_market(path) : croquis::read_npy(path);
  if (matrix.is_empty()) {
    throw std::invalid_argument(
        fmt::format("{}: is empty, it has {} x {} numbers", path, matrix.n_rows, matrix.n_cols));
  }
  require_finite_numbers(matrix, path + ": ");
  const double norm = croquis::frobenius_norm(matrix), most = 0.99 * croquis::largest_row_norm<double>(matrix.n_rows);
  if (norm > most) {
    throw std::invalid_argument(fmt::format(
        "{}: its Frobenius norm {:.3g} is more than {:.3g}, and squares of sketches overflow; divide it by a number",
        path, norm, most));
  }
  return matrix;
}

void require_no_input(const std::string& given) {
  if (given.empty()) return;
  throw std::invalid_argument(fmt::format("--matrix: a file takes the place of an input; leave out {}", given));
}

std::string digest_of_matrix(const arma::mat& matrix) {
  return croquis::Digest().add(matrix).hex();
}
