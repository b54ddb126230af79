#include "commands/sketch_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/kernel/point_kernels.hpp>
#include <croquis/kernel/semidefinite.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "files/environment.hpp"
#include "files/progress.hpp"
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
  if (!std::set<std::string>{"q", "k", "v", "b", "c"}.contains(options.matrix)) {
    throw std::invalid_argument(
        fmt::format("--matrix: '{}' is none of q, k, v, b, c, FILE.npy, FILE.mtx", options.matrix));
  }
  for (const auto& [name, value] : {std::pair{"--kernel", &options.kernel}, {"--product", &options.product}}) {
    if (value->empty()) continue;
    throw std::invalid_argument(
        fmt::format("{}: goes with a file as --matrix, not with {} of an input", name, options.matrix));
  }
}

bool is_scores(const std::string& matrix) {
  return matrix == "b" || matrix == "c";
}

arma::mat matrix_of(const Problem<double>& p, const std::string& matrix) {
  if (matrix == "q") return p.Q();
  if (matrix == "k") return p.K();
  if (matrix == "v") return p.V();
  return exact_scores(p, matrix == "b" ? croquis::Target::softmax : croquis::Target::kernelized).dense();
}

// Of the matrix of a subject, which has its other members.
arma::mat basis_of(const SketchSubject& subject, long long rank) {
  const std::string name = subject.problem ? fmt::format("{} of {}", subject.name, subject.input) : subject.name;
  if (subject.matrix.is_zero()) throw std::invalid_argument(fmt::format("--matrix {}: it is zero", name));
  arma::mat basis = croquis::leading_basis(subject.matrix, rank > 0 ? static_cast<arma::uword>(rank) : kDefaultRank);
  if (const arma::uword most = basis.n_cols; rank > static_cast<long long>(most)) {
    throw std::invalid_argument(
        fmt::format("--rank: {} is more than the rank {} of the {} x {} matrix {}; give at most {}", rank, most,
                    subject.n, subject.cols, name, most));
  }
  return basis;
}

SketchSubject subject_of(const Input& head, const std::string& matrix) {
  SketchSubject subject;
  subject.input = head.name;
  subject.sequence = head.sequence;
  subject.layer = head.layer;
  subject.head = head.head;
  subject.name = matrix;
  subject.problem = head.problem();
  subject.matrix = matrix_of(*subject.problem, matrix);
  subject.n = subject.matrix.n_rows;
  subject.cols = subject.matrix.n_cols;
  return subject;
}

PendingSketchSubject pending(const Input& head, const SketchSubjectOptions& options, bool operators) {
  const std::string& matrix = options.matrix;
  if (const arma::uword n = std::max(head.n_q, head.n_k); is_scores(matrix) && n > kLargestDense) {
    throw std::invalid_argument(fmt::format("--matrix {}: n = {} of {} is more than {}, it would be stored n x n",
                                            matrix, n, head.name, kLargestDense));
  }
  return {.input = head.name,
          .n = matrix == "k" || matrix == "v" ? head.n_k : head.n_q,
          .cols = is_scores(matrix) ? head.n_k
                  : matrix == "v"   ? head.p_v
                                    : head.p,
          .head = head,
          .load = [=] {
            const ReturnedMemory returned;
            SketchSubject subject = subject_of(head, options.matrix);
            if (operators) subject.basis = basis_of(subject, options.rank);
            return std::make_shared<const SketchSubject>(std::move(subject));
          }};
}

// Refuses what has no basis. The singular values are computed where --rank may be more than there are.
void check_heads(const std::vector<Input>& heads, const SketchSubjectOptions& options, bool quiet) {
  Progress progress(heads.size(), quiet);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    progress.show(i, "heads checked");
    const ReturnedMemory returned;
    const SketchSubject subject = subject_of(heads[i], options.matrix);
    if (options.rank > 0 || subject.matrix.is_zero()) basis_of(subject, options.rank);
  }
}

SketchSubjects of_input(const SketchSubjectOptions& options, const InputOptions& input, const RunOptions& run,
                        bool operators) {
  const std::vector<Input> heads = load_inputs(input, run);
  SketchSubjects subjects;
  for (const Input& head : heads) subjects.all.push_back(pending(head, options, operators));
  subjects.identity = identity_of(heads);
  subjects.identity["matrix"] = options.matrix;
  if (heads.size() > 1 && operators) check_heads(heads, options, run.quiet);
  if (heads.size() == 1) subjects.all.front().load = [only = subjects.all.front().load()] { return only; };
  return subjects;
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

void take_factor(SketchSubject& subject, const std::string& path, std::map<std::string, std::string>& identity) {
  subject.factor = load_own_matrix(path, "--product");
  if (subject.factor->n_rows != subject.n) {
    throw std::invalid_argument(
        fmt::format("--product: {} has {} rows, {} has {}", path, subject.factor->n_rows, subject.input, subject.n));
  }
  subject.input += fmt::format(";product={}", path);
  identity["product"] = path;
  identity["numbers of the product"] = digest_of_matrix(*subject.factor);
}

SketchSubjects of_file(const SketchSubjectOptions& options, bool operators, bool landmarks) {
  SketchSubjects subjects;
  SketchSubject subject;
  subject.input = subject.name = options.matrix;
  subject.matrix = load_own_matrix(options.matrix, "--matrix");
  subjects.identity = {{"input", options.matrix}, {"numbers", digest_of_matrix(subject.matrix)}};
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
  if (!options.product.empty()) take_factor(subject, options.product, subjects.identity);
  if (operators) subject.basis = basis_of(subject, options.rank);
  subjects.identity["matrix"] = subject.name;
  const auto only = std::make_shared<const SketchSubject>(std::move(subject));
  subjects.all.push_back({only->input, only->n, only->cols, {}, [only] { return only; }});
  return subjects;
}

}  // namespace

SketchSubjects sketch_subjects(const SketchSubjectOptions& options, const InputOptions& input, const RunOptions& run,
                               bool operators, bool landmarks) {
  check(options);
  SketchSubjects subjects = is_matrix_file(options.matrix) ? of_file(options, operators, landmarks)
                                                           : of_input(options, input, run, operators);
  subjects.identity["--rank"] = !operators ? "none" : options.rank > 0 ? std::to_string(options.rank) : "default";
  return subjects;
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
