#include <cmath>
#include <croquis/claims/nprf/biases.hpp>
#include <croquis/inputs/biases.hpp>
#include <limits>

namespace croquis::claims {

std::vector<NamedPosition> finite_biases(arma::uword n, const Key& draw_key) {
  return {{"alibi:0.01", {alibi_bias(n, 0.01)}},
          {"alibi:1", {alibi_bias(n, 1)}},
          {"t5", {t5_bias(n, {}, draw_key.child("t5"))}},
          {"random:3", {random_bias(n, 3, draw_key.child("random"))}}};
}

std::vector<NamedPosition> all_biases(arma::uword n, const Key& draw_key) {
  std::vector<NamedPosition> all = finite_biases(n, draw_key);
  RelativePosition<double> causal{random_bias(n, 1, draw_key.child("causal"))};
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
    RelativePosition<double> image;
    image.height = 4;
    const arma::uword size = RelativeGrid(n, image.height).size();
    image.bias = random_bias((size + 1) / 2, 1, draw_key.child("image"));
    all.push_back({"image", image});
  }
  return all;
}

arma::mat dense_weights(const RelativePosition<double>& position, arma::uword n) {
  const RelativeGrid grid(n, position.height);
  const arma::vec b = log_weights(position, grid);
  arma::mat weights(n, n);
  for (arma::uword j = 0; j < n; ++j) {
    for (arma::uword i = 0; i < n; ++i) {
      weights(i, j) = std::exp(b(grid.centre() + grid.place(j) - grid.place(i)) - b.max());
    }
  }
  return weights;
}

}  // namespace croquis::claims
