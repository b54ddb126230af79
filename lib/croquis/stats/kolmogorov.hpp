// Distributions of the Kolmogorov-Smirnov statistics, in their upper tail.
#pragma once

#include <cstdint>

namespace croquis {

/// P(D_n >= d) for D_n = sup_x |F_n(x) - F(x)|, F continuous and F_n the distribution function of n draws from it.
///
/// Guarantees: where the bound of Massart is below 1e-4 or d >= 1/2, 2 P(D_n^+ >= d) by the sum of positive terms of
///   Birnbaum and Tingey (1951); it is above P(D_n >= d) by less than 1e-12 of it, by nothing for d >= 1/2, and
///   computed to 1e-10 of it for n <= 1e11. Elsewhere exact for n <= 2000 (Marsaglia, Tsang and Wang 2003); for larger
///   n the expansion of Pelz and Good (1976), to 0.05 / n^2, so to 1.3e-8 (measured against the exact method).
/// Cost: below 5 ms: O(min(n, 20000)) in the tail; elsewhere O(n^(3/2) log n) for n <= 2000, O(1) beyond.
/// Throws std::invalid_argument for n = 0 and d = NaN.
double kolmogorov_tail(std::uint64_t n, double d);

/// min(1, 2 exp(-2 n d^2)) >= P(D_n >= d), for every n and every distribution of the draws (Dvoretzky, Kiefer and
/// Wolfowitz 1956 with the constant of Massart 1990).
double dkwm_bound(std::uint64_t n, double d);

/// P(m n D >= distance) for D = sup_x |F_m(x) - G_n(x)| of two independent samples from one continuous distribution; m
/// n D is an integer.
///
/// Guarantees: exact, by the recursion over lattice paths of Hodges (1958) in the form of Viehmann (2021), which adds
///   positive terms alone. For m n > 1e8 the limit 2 sum_k (-1)^(k-1) exp(-2 k^2 x^2), x = D sqrt(m n / (m + n)).
/// Cost: O(m n), 0.3 s at most; O(1) for the limit.
/// Throws std::invalid_argument for m = 0 and n = 0.
double two_sample_kolmogorov_tail(std::uint64_t m, std::uint64_t n, std::uint64_t distance);

}  // namespace croquis
