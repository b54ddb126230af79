// Attention approximated with a sketch, and how far off it is: one call of each part of the library that links more.
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/core/version.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/io/npz.hpp>
#include <croquis/linalg/norms.hpp>
#include <cstdio>
#include <stdexcept>

int main() {
  const croquis::Key draw_key(1);
  const croquis::Problem<double> problem = croquis::gaussian_input(draw_key, {.n = 64, .p = 8, .norm = 2});
  const arma::mat exact = croquis::exact_attention(problem, croquis::Target::softmax).output;
  const auto method = croquis::prepare(croquis::find_method<double>("best-rank-d"), problem);
  const auto error = [&](arma::uword d) {
    return croquis::largest_entry<double>(method.approximate(d, draw_key).output - exact);
  };
  const double coarse = error(1), all = error(64);
  try {
    croquis::read_npz("no such file", "q");
    return 1;
  } catch (const std::invalid_argument& refused) {
    std::printf("croquis %s: error %.1e at d = 1, %s\n", CROQUIS_VERSION, coarse, refused.what());
  }
  return coarse > 1e-3 && all < 1e-12 ? 0 : 1;
}
