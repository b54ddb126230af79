#include "commands/sketch_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/kernel/point_kernels.hpp>
#include <croquis/kernel/semidefinite.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <limits>
#include <stdexcept>
#include <utility>

#include "options/common_options.hpp"
#include "options/own_matrix.hpp"

namespace {

using croquis::Problem;

constexpr arma::uword kDefaultRank = 64;

// Throws for what does not go together.
void check(const SketchSubjectOptions& options) {
  if (options.rank < 0) throw std::invalid_argument(fmt::format("--rank: {} is negative", options.rank));
  if (options.kernel.empty() != !options.bandwidth) {
    throw std::invalid_argument("--kernel, --bandwidth: a kernel of points needs both");
  }
  if (!options.kernel.empty()) croquis::point_kernel(options.kernel);
  if (options.bandwidth &&
      !(*options.bandwidth >= croquis::kSmallestBandwidth && *options.bandwidth <= croquis::kLargestBandwidth)) {
    throw std::invalid_argument(fmt::format("--bandwidth: {} is not from {} to {}", *options.bandwidth,
                                            croquis::kSmallestBandwidth, croquis::kLargestBandwidth));
  }
  if (is_matrix_file(options.matrix)) return;
  for (const auto& [name, value] : {std::pair{"--kernel", &options.kernel}, {"--product", &options.product}}) {
    if (value->empty()) continue;
    throw std::invalid_argument(
        fmt::format("{}: goes with a file as --matrix, not with {} of an input", name, options.matrix));
  }
}

void take_input(SketchSubject& subject, const std::string& matrix, const InputOptions& input_options,
                std::uint64_t seed) {
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
    if (const arma::uword n = std::max(p.n_q(), p.n_k()); n > kLargestDense) {
      throw std::invalid_argument(
          fmt::format("--matrix {}: n = {} is more than {}, it would be stored n x n", matrix, n, kLargestDense));
    }
    subject.matrix = exact_scores(p, matrix == "b" ? croquis::Target::softmax : croquis::Target::kernelized).dense();
  }
  if (subject.matrix.is_empty()) {
    throw std::invalid_argument(fmt::format("--matrix: '{}' is none of q, k, v, b, c, FILE.npy, FILE.mtx", matrix));
  }
}

// Replaces the points by their kernel, by blocks and, for operators, stored.
void take_kernel(SketchSubject& subject, const SketchSubjectOptions& options, bool operators) {
  const double bandwidth = options.bandwidth.value();
  subject.name = fmt::format("{}:bandwidth={}", options.kernel, bandwidth);
  const arma::uword n = subject.matrix.n_rows;
  if (croquis::frobenius_norm(subject.matrix) / bandwidth > croquis::largest_row_norm<double>(n)) {
    throw std::invalid_argument(fmt::format("--bandwidth: squares of the points over {} overflow", bandwidth));
  }
  if (operators && n > kLargestDense) {
    throw std::invalid_argument(
        fmt::format("--kernel: n = {} is more than {}, operators would need it stored n x n; give --sketches none", n,
                    kLargestDense));
  }
  subject.kernel = point_kernel_matrix(std::move(subject.matrix), croquis::point_kernel(options.kernel), bandwidth);
  subject.matrix.reset();
  if (operators) subject.matrix = subject.kernel->dense();
  subject.n = subject.cols = n;
}

void take_factor(SketchSubject& subject, const std::string& path) {
  subject.factor = load_own_matrix(path, "--product");
  if (subject.factor->n_rows != subject.n) {
    throw std::invalid_argument(
        fmt::format("--product: {} has {} rows, {} has {}", path, subject.factor->n_rows, subject.input, subject.n));
  }
  subject.input += fmt::format(";product={}", path);
  subject.identity["product"] = path;
  subject.identity["numbers of the product"] = digest_of_matrix(*subject.factor);
}

void take_file(SketchSubject& subject, const SketchSubjectOptions& options, bool operators, bool landmarks) {
  subject.input = subject.name = options.matrix;
  subject.matrix = load_own_matrix(options.matrix, "--matrix");
  subject.identity = {{"input", options.matrix}, {"numbers", digest_of_matrix(subject.matrix)}};
  subject.n = subject.matrix.n_rows;
  subject.cols = subject.matrix.n_cols;
  if (!options.kernel.empty()) {
    take_kernel(subject, options, operators);
  } else if (landmarks) {
    if (const std::string defect = croquis::semidefinite_defect(subject.matrix); !defect.empty()) {
      subject.no_landmarks = fmt::format("{}: {}", options.matrix, defect);
    } else {
      subject.kernel = croquis::semidefinite_kernel_matrix(subject.matrix);
    }
  }
  if (!options.product.empty()) take_factor(subject, options.product);
}

}  // namespace

SketchSubject load_sketch_subject(const SketchSubjectOptions& options, const InputOptions& input, std::uint64_t seed,
                                  bool operators, bool landmarks) {
  check(options);
  SketchSubject subject;
  if (is_matrix_file(options.matrix)) {
    take_file(subject, options, operators, landmarks);
  } else {
    take_input(subject, options.matrix, input, seed);
    subject.n = subject.matrix.n_rows;
    subject.cols = subject.matrix.n_cols;
  }
  if (operators) {
    subject.basis = croquis::leading_basis(subject.matrix,
                                           options.rank > 0 ? static_cast<arma::uword>(options.rank) : kDefaultRank);
    if (const arma::uword most = subject.basis.n_cols; options.rank > static_cast<long long>(most)) {
      throw std::invalid_argument(
          fmt::format("--rank: {} is more than the rank {} of the {} x {} matrix; give at most {}", options.rank, most,
                      subject.n, subject.cols, most));
    }
  }
  subject.identity["matrix"] = subject.name;
  subject.identity["--rank"] = std::to_string(subject.basis.n_cols);
  return subject;
}

void add_subject_options(CLI::App& app, SketchSubjectOptions& options) {
  app.add_option("--matrix", options.matrix, "q, k, v, b, c, or a matrix of your own: FILE.npy or FILE.mtx")
      ->capture_default_str();
  app.add_option(
         "--kernel", options.kernel,
         "take the kernel matrix of the rows x, y of FILE in place of it, r = ||x - y||_2 / H: gaussian exp(-r^2/2); "
         "laplace exp(-||x - y||_1 / H); matern32 (1 + sqrt(3) r) exp(-sqrt(3) r); matern52 (1 + sqrt(5) r + 5 r^2/3) "
         "exp(-sqrt(5) r)")
      ->check(CLI::IsMember(croquis::point_kernel_names()));
  app.add_option("--bandwidth", options.bandwidth, "H of --kernel");
  app.add_option("--product", options.product,
                 "FILE.npy or FILE.mtx, B: errors of A^T S S^T B against A^T B for the matrix A");
  app.add_option("--rank", options.rank, "dimension of the subspace to embed (default all columns, at most 64)")
      ->check(whole_number(0));
}
