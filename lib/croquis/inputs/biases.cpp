#include <algorithm>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/inputs/biases.hpp>
#include <croquis/random/draws.hpp>
#include <functional>

namespace croquis {
namespace {

// f(|t|, t > 0) for t = -(n-1) ... n-1.
arma::vec by_distance(arma::uword n, const std::function<double(arma::uword distance, bool after)>& f) {
  require(n >= 1, "bias", "n >= 1", {{"n", n}});
  require_memory(2.0 * sizeof(double) * static_cast<double>(n), "bias", {{"n", n}});
  arma::vec b(2 * n - 1);
  for (arma::uword t = 0; t < b.n_elem; ++t) b(t) = t >= n ? f(t - n + 1, true) : f(n - 1 - t, false);
  return b;
}

void require_deviation(double deviation) {
  require(deviation >= 0 && std::isfinite(deviation), "bias", "sigma >= 0 and finite", {{"sigma", deviation}});
}

}  // namespace

arma::vec alibi_bias(arma::uword n, double slope) {
  require(std::isfinite(slope * (static_cast<double>(n) - 1)), "alibi_bias", "a finite slope, also n - 1 times it",
          {{"slope", slope}, {"n", n}});
  return by_distance(n, [&](arma::uword distance, bool) { return -slope * static_cast<double>(distance); });
}

arma::vec t5_bias(arma::uword n, const T5Bias& options, const Key& draw_key) {
  constexpr int least = 4;
  require(options.buckets >= least && options.buckets % 2 == 0 && options.max_distance > options.buckets / 4, "t5_bias",
          "an even number of buckets >= 4, max_distance > buckets / 4",
          {{"buckets", options.buckets}, {"max_distance", options.max_distance}});
  require_deviation(options.deviation);
  require_memory(sizeof(double) * static_cast<double>(options.buckets), "t5_bias", {{"buckets", options.buckets}});
  arma::vec values(static_cast<arma::uword>(options.buckets));
  fill_normal(draw_key, 0, values.n_elem, values.memptr());
  const int half = options.buckets / 2, exact = half / 2;
  const double range = std::log(static_cast<double>(options.max_distance) / exact);
  return by_distance(n, [&](arma::uword distance, bool after) {
    const auto t = static_cast<double>(distance);
    int bucket = half - 1;
    if (t < exact) {
      bucket = static_cast<int>(distance);
    } else if (t < options.max_distance) {
      bucket = std::min(bucket, exact + static_cast<int>((half - exact) * std::log(t / exact) / range));
    }
    return options.deviation * values(static_cast<arma::uword>(bucket) + static_cast<arma::uword>(after ? half : 0));
  });
}

arma::vec random_bias(arma::uword n, double deviation, const Key& draw_key) {
  require_deviation(deviation);
  return by_distance(n, [&](arma::uword distance, bool after) {
    double z = 0;
    fill_normal(draw_key, 2 * distance - (after ? 1 : 0), 1, &z);
    return deviation * z;
  });
}

}  // namespace croquis
