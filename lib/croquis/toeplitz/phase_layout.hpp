// The tokens of a sequence, or of an image, as phases of which each is transformed by itself.
#pragma once

#include <croquis/toeplitz/paired_fft.hpp>
#include <croquis/toeplitz/relative_position.hpp>

namespace croquis {

/// Token r phase_step + s position_step is entry s of phase r, for r < phases and s < positions, and the bias between
/// entries of phases r and r' that are t apart is entry centre() + (r' - r) bias_phase_step + t bias_position_step of
/// the grid. So a Toeplitz matrix is a block matrix of phases x phases Toeplitz blocks, and the block (r, r') depends
/// on r' - r alone.
///
/// A sequence, or an image of one column, has every phases-th token in one phase (its polyphase decomposition); places
/// after the last token are empty. Other images have a row, or if they have more rows than columns a column, in each
/// phase.
struct PhaseLayout {
  arma::uword phases, positions;
  arma::uword length;  ///< of the transforms: >= 2 positions - 1
  arma::uword phase_step, position_step, bias_phase_step, bias_position_step;

  /// A sequence has up to 32 phases, as many as make products at each frequency and transforms about equally long.
  explicit PhaseLayout(const RelativeGrid& grid);

  /// The flops of the product with one column: two transforms and the products of the spectra.
  double flops() const;

  /// Places of a vector in the order of phases: pair after pair of phases, and in a pair entry s of the first phase at
  /// 2s, and entry s of the second one at 2s + 1.
  arma::uword places() const { return (phases + phases % 2) * positions; }
  arma::uword place(arma::uword r, arma::uword s) const { return (r / 2 * positions + s) * 2 + r % 2; }
  /// in_phases() puts the rows of the last rows.n_rows of n tokens at their places; other places are zero. in_tokens()
  /// returns the rows of the last `rows` of n tokens from their places.
  template <typename T>
  arma::Mat<T> in_phases(const arma::Mat<T>& rows, arma::uword n) const;
  template <typename T>
  arma::Mat<T> in_tokens(const arma::Mat<T>& places, arma::uword n, arma::uword rows) const;

  /// Calls use(r' - r + phases - 1, t modulo length, entry of the grid) with each bias.
  template <typename Use>
  void for_each_bias(const RelativeGrid& grid, const Use& use) const {
    for (arma::uword kernel = 0; kernel < 2 * phases - 1; ++kernel) {
      for (arma::uword place = 0; place < 2 * positions - 1; ++place) {
        // Entries before the first one are beyond the last one as well, of unsigned numbers.
        const arma::uword entry = grid.centre() + kernel * bias_phase_step + place * bias_position_step -
                                  (phases - 1) * bias_phase_step - (positions - 1) * bias_position_step;
        if (entry < grid.size()) use(kernel, (place + length - (positions - 1)) % length, entry);
      }
    }
  }

 private:
  template <typename Use>
  void for_each_token(arma::uword n, const Use& use) const;  // use(place, token)
};

}  // namespace croquis
