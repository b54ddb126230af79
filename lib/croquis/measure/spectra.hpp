// Singular values of the score matrices and outputs of a head: what `croquis spectrum` measures.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// How the spectrum of an n_q x n_k matrix is computed.
enum class SpectrumMethod {
  automatic,  ///< dense for n_q n_k <= 4096^2, where it takes up to minutes, lanczos beyond
  dense,      ///< all singular values, from the stored matrix
  lanczos,    ///< the largest singular values, without storing the matrix
};
/// The method for "auto", "dense" or "lanczos". Throws std::invalid_argument for any other name.
SpectrumMethod spectrum_method_named(const std::string& name);

struct SpectrumSettings {
  SpectrumMethod method = SpectrumMethod::automatic;
  arma::uword leading = 128;  ///< lanczos: the number of singular values, >= 1
  int probes = 16;            ///< lanczos: random vectors for the sum of the others, >= 2
};

/// One singular value of a matrix of a head. spectrum_columns() documents the members. NaN marks a number that does not
/// apply.
struct SpectrumRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, matrix;
  std::uint64_t n = 0, p = 0;
  std::string method;
  std::uint64_t index = 0;
  double singular_value = kUndefined, residual = kUndefined;
  double cumulative = kUndefined, cumulative_lo = kUndefined, cumulative_hi = kUndefined;
  double frobenius = kUndefined, log_scale = kUndefined;
  std::uint64_t seed = 0;
  std::string status = "ok";
  std::optional<std::uint64_t> sequence = {}, layer = {}, head = {};
  std::uint64_t n_q = 0;
};

const Columns<SpectrumRow>& spectrum_columns();

/// The random key of `croquis spectrum --seed` for inputs of that kind ("synthetic", "arrays", ...).
Key spectrum_key(std::uint64_t seed, const std::string& kind);

/// The matrices of a head whose spectra can be computed: "a", "b", "c", "bv", "cv".
const std::vector<std::string>& spectrum_matrices();
/// Whether the matrix is an output, bv or cv, and not a score matrix.
bool is_output(const std::string& matrix);

/// How matrix_spectrum() computes a matrix of a problem of these sizes.
struct SpectrumPlan {
  bool lanczos = false;
  arma::uword values = 0;  ///< the number of rows that it returns if it succeeds
};
/// The plan for a matrix of a problem. The outputs bv and cv, which have few columns, are always dense. Throws as
/// matrix_spectrum.
SpectrumPlan plan_spectrum(TokenAlignment tokens, arma::uword p_v, const std::string& matrix,
                           const SpectrumSettings& settings = {});
SpectrumPlan plan_spectrum(const Problem<double>& problem, const std::string& matrix,
                           const SpectrumSettings& settings = {});

/// The singular values of a matrix of a problem, in descending order, one in each row. If the computation fails, a
/// single row of index 1, without numbers, has the reason as its status. The caller sets input and seed.
/// Randomness: lanczos, children of key.child(matrix).
/// Cost: dense, 8/3 n^3 flops and 16 n^2 bytes for an n x n matrix (n_q x n_k likewise); lanczos, about 2 (leading +
///   probes) products with the matrix or more, each of the cost of exact attention.
/// Throws: std::invalid_argument for a matrix that is not in spectrum_matrices(), and for settings out of range.
std::vector<SpectrumRow> matrix_spectrum(const Problem<double>& problem, const std::string& matrix, const Key& key,
                                         const SpectrumSettings& settings = {});

/// The same for a given matrix (m x n): dense if its smaller side is at most 4096, otherwise by products with it over a
/// power of two, so that entries may be of any size. The caller sets matrix, input and seed.
/// Randomness: lanczos, children of `key`.
/// Throws: std::invalid_argument for an empty matrix and for settings out of range.
SpectrumPlan plan_spectrum(const arma::mat& matrix, const SpectrumSettings& settings = {});
std::vector<SpectrumRow> matrix_spectrum(const arma::mat& matrix, const Key& key,
                                         const SpectrumSettings& settings = {});

}  // namespace croquis
