// Keys that a query attends to one by one, found among all by parts of their scores.
#pragma once

#include <croquis/attention/kriged/input.hpp>
#include <croquis/attention/kriged/sizes.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// Finds keys with large scores q.k = sum_t q_t k_t by the terms that are largest for the query: those with the largest
/// |q_t| s_t, where s_t is the standard deviation of coordinate t of the keys.
/// Source: SparQ attention (Ribar, Chelombiev, Hudlass-Galley, Blake, Luschi, Orr 2024), here in two stages.
/// Cost: 2 first n_k + 2 (terms - first) candidates + 2 (p - terms) kept flops a query, and a search for the largest of
///   n_k numbers.
template <typename T>
class KeyScreen {
 public:
  KeyScreen(const KrigedInput<T>& input, const ScreenSizes& sizes);

  /// Appends sizes.kept keys, ascending, and their whole scores. Candidates are the sizes.candidates keys with the
  /// largest sums of sizes.first terms; of these the keys with the largest sums of sizes.terms terms are appended, of
  /// equal sums the first. Keys that are in `keys` already or in `without` are left out. Returns the smallest sum of
  /// sizes.terms terms of a key that was appended, or infinity if there is none.
  T choose(const T* query, const std::vector<std::uint32_t>* without, std::vector<std::uint32_t>& keys,
           std::vector<T>& scores) const;

 private:
  const arma::Mat<T>&rows_, &columns_;  // of the centred keys
  const arma::Col<T>& deviations_;
  ScreenSizes sizes_;
};

}  // namespace croquis
