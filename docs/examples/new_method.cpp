// A method of one's own, measured beside one of the library.
#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/core/require.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/method_errors.hpp>
#include <croquis/random/indices.hpp>

using namespace croquis;

/// O~ = softmax(t Q K_J^T / sqrt(p)) V_J for d different uniform tokens J, the same for all queries.
/// Randomness: J is sample_without_replacement(n, d, draw_key).
/// Cost: 2 n d (p + p_v) flops, n d exponentials; n d numbers of memory.
Approximation<double> random_keys(const Problem<double>& problem, arma::uword d, const Key& draw_key,
                                  double sharpness) {
  const arma::uword n = problem.n();
  require(d >= 1 && d <= n, "random_keys", "1 <= d <= n", {{"d", d}, {"n", n}});
  const arma::uvec keys = sample_without_replacement(n, d, draw_key);
  arma::mat weights = sharpness * problem.Q() * problem.K().rows(keys).t() / std::sqrt(double(problem.p()));
  weights.each_col() -= arma::max(weights, 1);
  weights = arma::exp(weights);
  weights.each_col() /= arma::sum(weights, 1);

  // The score matrix B~ as X -> B~ X and X -> B~^T X: from it come the output B~ V and every diagnostic.
  const auto apply = [=](const arma::mat& x) -> arma::mat { return weights * x.rows(keys); };
  const auto apply_transposed = [=](const arma::mat& x) -> arma::mat {
    arma::mat product(n, x.n_cols, arma::fill::zeros);
    product.rows(keys) = weights.t() * x;
    return product;
  };
  return from_scores<double>({n, n, apply, apply_transposed}, problem);
}

struct RandomKeysOptions {
  double sharpness = 1;
};

/// Name, source, options and what binds the function to a problem: what registry.cpp has of every method.
Method<double> random_keys_method() {
  Method<double> method;
  method.name = "random-keys";
  method.summary = "softmax over d uniform keys, the same for all queries";
  method.source = "docs/extending.md";
  using O = RandomKeysOptions;
  const auto options = Options<O>().number("sharpness", &O::sharpness, 0, 10, "t, a factor on the scores");
  method.options = options.infos();
  method.rows_sum_to_one = always(true);  // facts, which the tests over all methods check
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [options](const Problem<double>& problem, const OptionValues& values) -> PreparedMethod<double> {
    const double sharpness = options.read(values).sharpness;
    const auto n = double(problem.n()), width = double(problem.p() + problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return random_keys(problem, d, draw_key, sharpness); },
            [=](double d) { return n * d * (2 * width + 1); }};
  };
  return method;
}

int main() {
  const Problem<double> problem = gaussian_input(Key(1), {.n = 512, .p = 32, .norm = 4});
  const Method<double> own = random_keys_method();
  MethodErrors<double> errors(problem, {}, {Key(1), Key(2)});
  fmt::print("{:<14}{:>10}{:>10}{:>10}\n", "", "d = 32", "d = 128", "d = 512");
  for (const auto& measured : {errors.prepare(own), errors.prepare(find_method<double>("skeinformer"))}) {
    fmt::print("{:<14}", measured.row(32, 1).method);
    for (const arma::uword d : {32, 128, 512}) {
      double mean = 0;
      for (std::uint64_t trial = 1; trial <= 20; ++trial) mean += measured.row(d, trial).spectral_rel / 20;
      fmt::print("{:>10.3g}", mean < 1e-12 ? 0 : mean);
    }
    fmt::print("\n");
  }
}
