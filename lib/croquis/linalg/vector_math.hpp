// Vectorised elementwise functions on contiguous arrays, dispatched at run time to the widest instruction set that the
// processor has.
#pragma once

#include <cstddef>

namespace croquis {

/// x[i] <- exp(x[i] - shift); returns the sum of the results. x[i] - shift must be at most 700 (double) or 88 (float).
/// A result below about 1.01 times the smallest normal number is 0. Accurate to 2 ulp.
float exp_shifted(float* x, std::size_t count, float shift);
double exp_shifted(double* x, std::size_t count, double shift);

/// The largest of x[0], ..., x[count - 1], for count >= 1 and no NaN.
float maximum(const float* x, std::size_t count);
double maximum(const double* x, std::size_t count);

/// The largest of |x[0]|, ..., |x[count - 1]|; NaN if there is one, 0 for count = 0.
float largest_size(const float* x, std::size_t count);
double largest_size(const double* x, std::size_t count);

/// x[i] <- log(x[i]) for finite x[i] >= 0, including denormal numbers; -infinity at 0. Accurate to 2 ulp.
void logarithm(float* x, std::size_t count);
void logarithm(double* x, std::size_t count);

/// sine[i] <- sin(x[i]) and cosine[i] <- cos(x[i]). The arrays must not overlap. Accurate to 2 ulp. For |x| > 10^6 the
/// functions of the standard library are used, which are slower.
void sine_cosine(const float* x, std::size_t count, float* sine, float* cosine);
void sine_cosine(const double* x, std::size_t count, double* sine, double* cosine);

/// The name of the instruction set in use, for metadata: "AVX3", "AVX2", ...
const char* vector_instructions();

}  // namespace croquis
