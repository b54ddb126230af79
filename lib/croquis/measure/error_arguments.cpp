#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/method.hpp>
#include <croquis/core/counted.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/groups.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <limits>
#include <stdexcept>

namespace croquis {

std::vector<MethodChoice> error_methods(const std::string& text, const std::vector<TokenAlignment>& shapes,
                                        PositionParts position, bool some_rows, const std::string& where) {
  std::vector<MethodChoice> methods = parse_methods(text, position, where, [&](const Method<double>& method) {
    return !(some_rows && method.quadratic({})) &&
           std::all_of(shapes.begin(), shapes.end(), [&](TokenAlignment shape) { return takes(method, shape); });
  });
  for (const MethodChoice& choice : methods) {
    if (!some_rows || !find_method<double>(choice.name).quadratic(choice.options)) continue;
    throw std::invalid_argument(
        fmt::format("{}: {} computes all scores, which errors from some rows are to avoid; leave it out", where,
                    curve_label({choice.name, choice.preset})));
  }
  for (const TokenAlignment shape : shapes) require_usable(methods, shape, position);
  return methods;
}

arma::uword largest_features(const std::vector<MethodChoice>& methods, const std::vector<TokenAlignment>& shapes) {
  arma::uword largest = std::numeric_limits<arma::uword>::max();
  for (const TokenAlignment shape : shapes) {
    largest = std::min(largest, shape.n_k);
    for (const MethodChoice& choice : methods) {
      const auto limit = find_method<double>(choice.name).largest_d(shape, choice.options);
      if (limit) largest = std::min(largest, *limit);
    }
  }
  return largest;
}

void require_features(const std::vector<arma::uword>& features, const std::vector<MethodChoice>& methods,
                      TokenAlignment shape, std::size_t bytes, const std::string& where) {
  if (features.empty()) throw std::invalid_argument(fmt::format("{}: there are none", where));
  const auto [least, most] = std::minmax_element(features.begin(), features.end());
  if (*least < 1) throw std::invalid_argument(fmt::format("{}: {} is not positive", where, *least));
  for (const MethodChoice& choice : methods) {
    const auto limit = find_method<double>(choice.name).largest_d(shape, choice.options);
    if (!limit || *most <= *limit) continue;
    if (*limit == shape.n_k) {
      throw std::invalid_argument(fmt::format("{}: {} is more than the n = {}; give at most n, or leave out {}", where,
                                              *most, counted(*limit, "token"), choice.name));
    }
    throw std::invalid_argument(
        fmt::format("{}: {} is more than the {} that {} takes here; give at most {}, or leave out {}", where, *most,
                    *limit, choice.name, *limit, choice.name));
  }
  require_memory(static_cast<double>(shape.n_k) * static_cast<double>(*most) * static_cast<double>(bytes),
                 fmt::format("{}: the n x d numbers of a method", where), {{"n", shape.n_k}, {"d", *most}});
}

void require_sampled_rows(arma::uword rows, arma::uword n_q, const std::string& where) {
  constexpr arma::uword least = SampledReference::kFewestRows;
  if (rows >= least && rows <= n_q) return;
  if (n_q < least) {
    throw std::invalid_argument(
        fmt::format("{}: a sample has at least {} rows, and there are n = {}; measure all rows, "
                    "or take a longer input",
                    where, least, n_q));
  }
  throw std::invalid_argument(fmt::format("{}: {} is none of {} to n = {}", where, rows, least, n_q));
}

}  // namespace croquis
