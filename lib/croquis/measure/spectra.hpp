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

/// How the spectrum of an n_q x n_k matrix is found.
enum class SpectrumMethod {
  automatic,  ///< dense up to a size at which it takes minutes, lanczos beyond
  dense,      ///< all of it, from the stored matrix
  lanczos,    ///< its largest part, without storing the matrix
};
/// Of "auto", "dense" and "lanczos". Throws std::invalid_argument for another name.
SpectrumMethod spectrum_method_named(const std::string& name);

struct SpectrumSettings {
  SpectrumMethod method = SpectrumMethod::automatic;
  arma::uword leading = 128;  ///< lanczos: singular values that are computed, >= 1
  int probes = 16;            ///< lanczos: random vectors for the sum of the others, >= 2
};

/// One singular value of a matrix of a head; the columns say what each member is. NaN is what there is nothing to say
/// about.
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

/// The random key of `croquis spectrum --seed` for the input of that name.
Key spectrum_key(std::uint64_t seed, const std::string& input);

/// The matrices of a head that have a spectrum here: "a", "b", "c", "bv", "cv".
const std::vector<std::string>& spectrum_matrices();
/// bv or cv: an output, not scores.
bool is_output(const std::string& matrix);

/// What matrix_spectrum() does with a matrix of a problem of these sizes.
struct SpectrumPlan {
  bool lanczos = false;
  arma::uword values = 0;  ///< rows that it returns when it succeeds
};
/// The outputs bv and cv, which have few columns, are always dense. Throws as matrix_spectrum.
SpectrumPlan plan_spectrum(TokenAlignment tokens, arma::uword p_v, const std::string& matrix,
                           const SpectrumSettings& settings = {});
SpectrumPlan plan_spectrum(const Problem<double>& problem, const std::string& matrix,
                           const SpectrumSettings& settings = {});

/// The singular values of a matrix of a problem, descending, one a row; where the computation fails, one row of index 1
/// with the reason as its status and no numbers. input and seed are the caller's.
/// Randomness (lanczos): children of key.child(matrix). Cost: dense, 8/3 n^3 flops and 16 n^2 bytes for an n x n
/// matrix (n_q x n_k likewise); lanczos, about 2 (leading + probes) products with the matrix or more, each of the cost
/// of exact attention. Throws std::invalid_argument for a matrix that is none of spectrum_matrices() and settings out
/// of range.
std::vector<SpectrumRow> matrix_spectrum(const Problem<double>& problem, const std::string& matrix, const Key& key,
                                         const SpectrumSettings& settings = {});

/// The same of a matrix (m x n) that is given: dense up to a smaller side of 4096, or matrix-free by its products.
/// Randomness (lanczos): children of `key`. matrix, input and seed are the caller's. Throws std::invalid_argument for
/// an empty matrix and settings out of range.
SpectrumPlan plan_spectrum(const arma::mat& matrix, const SpectrumSettings& settings = {});
std::vector<SpectrumRow> matrix_spectrum(const arma::mat& matrix, const Key& key,
                                         const SpectrumSettings& settings = {});

}  // namespace croquis
