#include "claims/nprf/biases.hpp"

#include <cmath>
#include <croquis/inputs/biases.hpp>
#include <limits>

std::vector<NamedPosition> finite_biases(arma::uword n, const croquis::Key& draw_key) {
  return {{"alibi:0.01", {croquis::alibi_bias(n, 0.01)}},
          {"alibi:1", {croquis::alibi_bias(n, 1)}},
          {"t5", {croquis::t5_bias(n, {}, draw_key.child("t5"))}},
          {"random:3", {croquis::random_bias(n, 3, draw_key.child("random"))}}};
}

std::vector<NamedPosition> all_biases(arma::uword n, const croquis::Key& draw_key) {
  std::vector<NamedPosition> all = finite_biases(n, draw_key);
  croquis::RelativePosition<double> causal{croquis::random_bias(n, 1, draw_key.child("causal"))};
  causal.causal = true;
  all.push_back({"causal", causal});
  constexpr int reach = 8;
  arma::vec window(2 * n - 1);
  for (arma::uword e = 0; e < window.n_elem; ++e) {
    const int t = static_cast<int>(e) - static_cast<int>(n) + 1;
    window(e) = std::abs(t) <= reach ? -0.1 * t * t : -std::numeric_limits<double>::infinity();
  }
  all.push_back({"window", {window}});
  if (n % 4 == 0) {
    croquis::RelativePosition<double> image;
    image.height = 4;
    const arma::uword size = croquis::RelativeGrid(n, image.height).size();
    image.bias = croquis::random_bias((size + 1) / 2, 1, draw_key.child("image"));
    all.push_back({"image", image});
  }
  return all;
}

arma::mat dense_weights(const croquis::RelativePosition<double>& position, arma::uword n) {
  const croquis::RelativeGrid grid(n, position.height);
  const arma::vec b = croquis::log_weights(position, grid);
  arma::mat weights(n, n);
  for (arma::uword j = 0; j < n; ++j) {
    for (arma::uword i = 0; i < n; ++i) {
      weights(i, j) = std::exp(b(grid.centre() + grid.place(j) - grid.place(i)) - b.max());
    }
  }
  return weights;
}
