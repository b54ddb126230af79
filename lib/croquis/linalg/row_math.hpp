// Vectorised functions of the rows of a block that is stored by columns; dispatched as in vector_math.hpp.
#pragma once

#include <cstddef>

namespace croquis {

/// Updates row maxima by those of X (rows x cols, stored by columns): top[i] <- max(top[i], x_i1, x_i2, ...). X must
/// not contain NaN.
void raise_to_row_maxima(const float* x, std::size_t rows, std::size_t cols, float* top);
void raise_to_row_maxima(const double* x, std::size_t rows, std::size_t cols, double* top);

/// x_ij <- exp(min(x_ij - shift[i], 0)) for X stored by columns, as exp_shifted does. sum[i] <- sum[i] + (x_i1 + x_i2 +
/// ...), the sum of the new values.
void exp_shifted_rows(float* x, std::size_t rows, std::size_t cols, const float* shift, float* sum);
void exp_shifted_rows(double* x, std::size_t rows, std::size_t cols, const double* shift, double* sum);

/// y_ij <- f[i] x_ij + g[i] r[j] for X (rows x cols), stored by columns without gaps. The columns of Y begin y_stride
/// entries apart. Y may be X. If g and r are nullptr there is no second term.
void scale_rows(const float* x, std::size_t rows, std::size_t cols, const float* f, const float* g, const float* r,
                float* y, std::size_t y_stride);
void scale_rows(const double* x, std::size_t rows, std::size_t cols, const double* f, const double* g, const double* r,
                double* y, std::size_t y_stride);

/// sum[i] <- (x_i1 - y[0])^2 + (x_i2 - y[1])^2 + ... for X (rows x cols) by columns without gaps.
void squared_distances(const float* x, std::size_t rows, std::size_t cols, const float* y, float* sum);
void squared_distances(const double* x, std::size_t rows, std::size_t cols, const double* y, double* sum);

}  // namespace croquis
