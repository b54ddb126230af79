// Vectorised elementwise functions on contiguous arrays, dispatched at run time to the widest instructions there are.
#pragma once

#include <cstddef>

namespace croquis {

/// x[i] <- exp(x[i] - shift); returns the sum of the results. Arguments after the shift: at most 700 (double) or
/// 88 (float); a result below the smallest normal number is 0. Within 2 ulp of the exponential.
template <typename T>
T exp_shifted(T* x, std::size_t count, T shift);

/// Largest of x[0], ..., x[count - 1]; count >= 1, no NaN.
template <typename T>
T maximum(const T* x, std::size_t count);

/// Row maxima of X (rows x cols, by columns) where they are larger: top[i] <- max(top[i], x_i1, x_i2, ...); no NaN.
template <typename T>
void raise_to_row_maxima(const T* x, std::size_t rows, std::size_t cols, T* top);

/// x_ij <- exp(min(x_ij - shift[i], 0)) for X by columns, as exp_shifted; sum[i] <- sum[i] + (x_i1 + x_i2 + ...).
template <typename T>
void exp_shifted_rows(T* x, std::size_t rows, std::size_t cols, const T* shift, T* sum);

/// y_ij <- f[i] x_ij + g[i] r[j] for X (rows x cols) by columns without gaps, Y by columns y_stride apart; Y may be X.
/// g and r may be nullptr: without the second term.
template <typename T>
void scale_rows(const T* x, std::size_t rows, std::size_t cols, const T* f, const T* g, const T* r, T* y,
                std::size_t y_stride);

/// x[i] <- log(x[i]); x[i] >= 0, denormal numbers included, -infinity at 0. Within 2 ulp.
template <typename T>
void logarithm(T* x, std::size_t count);

/// sine[i] <- sin(x[i]), cosine[i] <- cos(x[i]); places of their own. Within 2 ulp; beyond |x| = 10^6 the standard
/// library's, which is slower.
template <typename T>
void sine_cosine(const T* x, std::size_t count, T* sine, T* cosine);

/// Name of the instruction set in use, for metadata: "AVX3", "AVX2", ...
const char* vector_instructions();

}  // namespace croquis
