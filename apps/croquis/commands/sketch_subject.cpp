#include "commands/sketch_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <limits>
#include <stdexcept>

namespace {

using croquis::Problem;

constexpr arma::uword kDefaultRank = 64;

}  // namespace

SketchSubject load_sketch_subject(const std::string& matrix, const InputOptions& input_options, long long rank,
                                  std::uint64_t seed) {
  SketchSubject subject;
  if (matrix.ends_with(".npy")) {
    subject.input = subject.name = matrix;
    subject.matrix = croquis::read_npy(matrix);
    if (subject.matrix.is_empty() || !subject.matrix.is_finite()) {
      throw std::invalid_argument(fmt::format("{}: is empty or has NaN or Inf", matrix));
    }
    const double norm = croquis::frobenius_norm(subject.matrix),
                 most = 0.99 * croquis::largest_row_norm<double>(subject.matrix.n_rows);
    if (norm > most) {
      throw std::invalid_argument(fmt::format(
          "{}: its Frobenius norm {:.3g} is more than {:.3g}, and squares of sketches overflow; divide it by a number",
          matrix, norm, most));
    }
    subject.identity = {{"input", matrix}, {"numbers", croquis::Digest().add(subject.matrix).hex()}};
  } else {
    const Input input = load_input(input_options, seed);
    subject.input = input.name;
    subject.name = matrix;
    subject.identity = identity_of(input);
    subject.problem = input.problem();
    const Problem<double>& p = *subject.problem;
    if (matrix == "q") subject.matrix = p.Q();
    if (matrix == "k") subject.matrix = p.K();
    if (matrix == "v") subject.matrix = p.V();
    if (matrix == "b" || matrix == "c") {
      if (std::max(p.n_q(), p.n_k()) > kLargestDense) {
        throw std::invalid_argument(fmt::format("--matrix {}: n = {} is more than {}, it would be stored n x n", matrix,
                                                std::max(p.n_q(), p.n_k()), kLargestDense));
      }
      subject.matrix = exact_scores(p, matrix == "b" ? croquis::Target::softmax : croquis::Target::kernelized).dense();
    }
    if (subject.matrix.is_empty()) {
      throw std::invalid_argument(fmt::format("--matrix: '{}' is none of q, k, v, b, c, FILE.npy", matrix));
    }
  }
  if (rank < 0) throw std::invalid_argument(fmt::format("--rank: {} is negative", rank));
  subject.basis = croquis::leading_basis(subject.matrix, rank > 0 ? static_cast<arma::uword>(rank) : kDefaultRank);
  subject.identity["matrix"] = subject.name;
  subject.identity["--rank"] = std::to_string(subject.basis.n_cols);
  return subject;
}
