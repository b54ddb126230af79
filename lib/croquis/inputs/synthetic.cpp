#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/inputs/synthetic.hpp>

namespace croquis {

Problem<double> gaussian_input(const Stream& stream, const GaussianInput& options) {
  require(options.n >= 1 && options.p >= 1, "gaussian_input", "n, p >= 1", {{"n", options.n}, {"p", options.p}});
  require(options.norm >= 0 && std::isfinite(options.norm), "gaussian_input", "norm >= 0", {{"norm", options.norm}});
  const auto draw = [&](const char* name, double deviation) {
    arma::mat m(options.n, options.p);
    fill_normal(stream.child(name), 0, m.n_elem, m.memptr());
    return arma::mat(deviation * m);
  };
  const double deviation = options.norm / std::sqrt(static_cast<double>(options.p));
  return {draw("query", deviation), draw("key", deviation), draw("value", 1.0)};
}

}  // namespace croquis
