// The library in a few lines: one head, one approximation, its error.
#include <fmt/format.h>

#include <croquis/inputs/synthetic.hpp>

#include <croquis/attention/exact.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/measure/errors.hpp>

int main() {
  const auto input = croquis::gaussian_input(croquis::Key(1), {.n = 512, .p = 32, .norm = 4});
  const arma::mat &Q = input.Q(), &K = input.K(), &V = input.V();

  const croquis::Problem<double> problem(Q, K, V);  // arma::mat, checked on entry
  const auto approximation = croquis::skyformer(problem, 128, croquis::Key(1));
  const croquis::OutputReference exact(croquis::exact_attention(problem, croquis::Target::kernelized).output);
  const croquis::OutputErrors errors = exact.compare(approximation.output);

  fmt::print("relative spectral error {:.4g}, Frobenius {:.4g}\n", errors.spectral_rel, errors.frobenius_rel);
}
