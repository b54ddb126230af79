// Vectorised functions of a block's rows, which is stored by columns; dispatched as vector_math.hpp.
#pragma once

#include <cstddef>

namespace croquis {

/// Row maxima of X (rows x cols, by columns) where they are larger: top[i] <- max(top[i], x_i1, x_i2, ...); no NaN.
void raise_to_row_maxima(const float* x, std::size_t rows, std::size_t cols, float* top);
void raise_to_row_maxima(const double* x, std::size_t rows, std::size_t cols, double* top);

/// x_ij <- exp(min(x_ij - shift[i], 0)) for X by columns, as exp_shifted; sum[i] <- sum[i] + (x_i1 + x_i2 + ...).
void exp_shifted_rows(float* x, std::size_t rows, std::size_t cols, const float* shift, float* sum);
void exp_shifted_rows(double* x, std::size_t rows, std::size_t cols, const double* shift, double* sum);

/// y_ij <- f[i] x_ij + g[i] r[j] for X (rows x cols) by columns without gaps, Y by columns y_stride apart; Y may be X.
/// g and r may be nullptr: without the second term.
void scale_rows(const float* x, std::size_t rows, std::size_t cols, const float* f, const float* g, const float* r,
                float* y, std::size_t y_stride);
void scale_rows(const double* x, std::size_t rows, std::size_t cols, const double* f, const double* g, const double* r,
                double* y, std::size_t y_stride);

/// sum[i] <- (x_i1 - y[0])^2 + (x_i2 - y[1])^2 + ... for X (rows x cols) by columns without gaps.
void squared_distances(const float* x, std::size_t rows, std::size_t cols, const float* y, float* sum);
void squared_distances(const double* x, std::size_t rows, std::size_t cols, const double* y, double* sum);

}  // namespace croquis
