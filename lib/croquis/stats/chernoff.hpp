// The constant of Chernoff's inequality for less than half of the mean.
#pragma once

namespace croquis {

/// 2 / (1 - log 2), rounded up. A sum of independent terms in [0, 1] with mean m is at most m / 2 with probability at
/// most exp(-m (1 - log 2) / 2). So it is with the smallest eigenvalue of a sum of independent p x p matrices with
/// eigenvalues in [0, 1], m that of its mean, and p times the probability. Hence m >= 6.52 log(p / delta) is enough for
/// more than half with probability 1 - delta: T9 of docs/claims/skyformer.md, T13b of docs/claims/skeinformer.md.
inline constexpr double kHalfOfMean = 6.52;

}  // namespace croquis
