// Keys that a query attends to one by one, found among all by parts of their scores.
#pragma once

#include <croquis/attention/kriged/input.hpp>
#include <croquis/attention/kriged/sizes.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// Finds keys with large scores q.k = sum_t q_t k_t by the terms that are largest for the query: those with the largest
/// |q_t| s_t, where s_t is the standard deviation of coordinate t of the keys.
/// Source: SparQ attention (Ribar, Chelombiev, Hudlass-Galley, Blake, Luschi, Orr 2024), here in rounds.
/// Cost: 2 terms flops for every key of every round and the other terms of those that are kept, a query, and in every
///   round a search for the largest of its sums.
template <typename T>
class KeyScreen {
 public:
  KeyScreen(const KrigedInput<T>& input, const ScreenSizes& sizes);

  /// Appends sizes.kept keys, ascending, and their whole scores. Each round adds the next sizes.terms terms to the sums
  /// of its keys; those with the largest sums, of equal ones the first, are the keys of the next round, and after the
  /// last one they are appended. Keys that are in `keys` already or in `without` are left out. Returns the smallest sum
  /// of all rounds' terms of a key that was appended, or infinity if there is none.
  T choose(const T* query, const std::vector<std::uint32_t>* without, std::vector<std::uint32_t>& keys,
           std::vector<T>& scores) const;

 private:
  const arma::Mat<T>&rows_, &columns_;  // of the centred keys
  const arma::Col<T>& deviations_;
  ScreenSizes sizes_;
};

}  // namespace croquis
