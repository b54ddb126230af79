// The gradient of a method beside that of what it approximates.
#include <fmt/format.h>

#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/random/draws.hpp>

int main() {
  const croquis::Problem<double> problem = gaussian_input(croquis::Key(1), {.n = 512, .p = 32, .norm = 4});
  arma::mat G(512, 32);  // the derivative of a loss by the output
  croquis::fill_normal(croquis::Key(2), 0, G.n_elem, G.memptr());

  const auto exact = croquis::exact_attention(problem, croquis::Target::kernelized);
  const croquis::Gradient<double> expected = croquis::exact_gradient(problem, croquis::Target::kernelized, exact, G);

  const auto approximation = croquis::skyformer(problem, 128, croquis::Key(1));
  const croquis::Gradient<double> gradient = approximation.adjoint(G);  // .q .k .v .bias, with the inputs' shapes

  const auto error = [](const arma::mat& a, const arma::mat& b) {
    return arma::norm(a - b, "fro") / arma::norm(b, "fro");
  };
  fmt::print("relative Frobenius error: output {:.3f}, dQ {:.3f}, dK {:.3f}, dV {:.3f}\n",
             error(approximation.output, exact.output), error(gradient.q, expected.q), error(gradient.k, expected.k),
             error(gradient.v, expected.v));
}
