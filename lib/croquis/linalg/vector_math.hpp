// Vectorised elementwise functions on contiguous arrays, dispatched at run time to the widest instructions there are.
#pragma once

#include <cstddef>

namespace croquis {

/// x[i] <- exp(x[i] - shift); returns the sum of the results. Arguments after the shift: at most 700 (double) or
/// 88 (float); a result below the smallest normal number is 0. Within 2 ulp of the exponential.
float exp_shifted(float* x, std::size_t count, float shift);
double exp_shifted(double* x, std::size_t count, double shift);

/// Largest of x[0], ..., x[count - 1]; count >= 1, no NaN.
float maximum(const float* x, std::size_t count);
double maximum(const double* x, std::size_t count);

/// x[i] <- log(x[i]); x[i] >= 0, denormal numbers included, -infinity at 0. Within 2 ulp.
void logarithm(float* x, std::size_t count);
void logarithm(double* x, std::size_t count);

/// sine[i] <- sin(x[i]), cosine[i] <- cos(x[i]); places of their own. Within 2 ulp; beyond |x| = 10^6 the standard
/// library's, which is slower.
void sine_cosine(const float* x, std::size_t count, float* sine, float* cosine);
void sine_cosine(const double* x, std::size_t count, double* sine, double* cosine);

/// Name of the instruction set in use, for metadata: "AVX3", "AVX2", ...
const char* vector_instructions();

}  // namespace croquis
