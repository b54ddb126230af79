#include <algorithm>
#include <cmath>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/power_of_two.hpp>
#include <croquis/core/stopwatch.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/finite.hpp>
#include <croquis/measure/gradient_errors.hpp>
#include <croquis/measure/head_columns.hpp>
#include <croquis/measure/method_row.hpp>
#include <croquis/random/draws.hpp>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

namespace croquis {
namespace {

template <typename T>
Gradient<double> in_double(const Gradient<T>& g) {
  return {arma::conv_to<arma::mat>::from(g.q), arma::conv_to<arma::mat>::from(g.k), arma::conv_to<arma::mat>::from(g.v),
          arma::conv_to<arma::vec>::from(g.bias)};
}

Gradient<double> in_units(const GradientUnits& units, Gradient<double> g) {
  g.q /= units.qk;
  g.k /= units.qk;
  g.v /= units.v;
  g.bias /= units.bias;
  return g;
}

// The sums that errors and cosines are made of; those of two parts together are their sums.
struct Sums {
  double error = 0, inner = 0, approximate = 0, exact = 0;

  Sums& operator+=(const Sums& other) {
    error += other.error;
    inner += other.inner;
    approximate += other.approximate;
    exact += other.exact;
    return *this;
  }
};

double squared(const arma::mat& x) {
  return arma::accu(arma::square(x));
}

// All squares and products are summed in one way: a zero gradient has the error 1 to the last bit. arma::accu(g %
// exact) would call BLAS, that of a matrix does not.
Sums sums_of(const arma::mat& g, const arma::mat& exact) {
  return {squared(g - exact), arma::accu(arma::mat(g % exact)), squared(g), squared(exact)};
}

// What the exact derivatives may be off by, and how much coarser the method's numbers are than double.
struct Resolution {
  GradientRounding exact;
  double coarser = 1;
};

// Undefined where the exact derivative is not above its rounding, and the cosine where the method's is not above its
// own: this is bounded for the exact weights alone, and by far too much in float, so no more than a thousandth of the
// exact derivative counts as rounding.
void set_error(const Sums& s, double rounding, double coarser, double& rel, double& cosine) {
  const double exact = std::sqrt(s.exact), approximate = std::sqrt(s.approximate);
  if (!(exact > rounding)) return;
  rel = std::sqrt(s.error / s.exact);
  if (approximate > std::min(coarser * rounding, 1e-3 * exact)) cosine = s.inner / approximate / exact;
}

void set_errors(GradientRow& row, const Gradient<double>& g, const Gradient<double>& exact,
                const Resolution& resolution) {
  const GradientRounding& rounding = resolution.exact;
  const Sums q = sums_of(g.q, exact.q), k = sums_of(g.k, exact.k);
  Sums both = q;
  both += k;
  set_error(both, rounding.q + rounding.k, resolution.coarser, row.qk_rel, row.qk_cosine);
  set_error(q, rounding.q, resolution.coarser, row.q_rel, row.q_cosine);
  set_error(k, rounding.k, resolution.coarser, row.k_rel, row.k_cosine);
  set_error(sums_of(g.v, exact.v), 0, resolution.coarser, row.v_rel, row.v_cosine);
  set_error(sums_of(g.bias, exact.bias), rounding.bias, resolution.coarser, row.bias_rel, row.bias_cosine);
}

// The squares of the exact derivatives, or of what the draws' are off their mean.
struct Squares {
  double q = 0, k = 0, v = 0, bias = 0;
};

Squares squares_of(const Gradient<double>& g) {
  return {squared(g.q), squared(g.k), squared(g.v), squared(g.bias)};
}

// Defined where the error is. A method that is not random has one draw, which is the mean.
void set_spreads(GradientRow& row, const Squares& off, const Squares& exact, std::size_t trials, bool random) {
  if (random && trials < 2) return;
  const auto count = static_cast<double>(trials);
  const auto set = [&](double rel, double squares, double exact_squares, double& spread) {
    if (!std::isnan(rel)) spread = random ? std::sqrt(squares / exact_squares * count / (count - 1)) : 0;
  };
  set(row.qk_rel, off.q + off.k, exact.q + exact.k, row.qk_spread);
  set(row.q_rel, off.q, exact.q, row.q_spread);
  set(row.k_rel, off.k, exact.k, row.k_spread);
  set(row.v_rel, off.v, exact.v, row.v_spread);
  set(row.bias_rel, off.bias, exact.bias, row.bias_spread);
}

// A draw that is not finite would leave the mean of all draws, and so the spread of each, without a value.
void require_finite(const GradientRow& row, const Gradient<double>& g) {
  const std::string status = status_of({{"output_rel", row.output_rel, true},
                                        {"qk_rel", row.qk_rel, true},
                                        {"q_rel", row.q_rel, true},
                                        {"k_rel", row.k_rel, true},
                                        {"v_rel", row.v_rel, true},
                                        {"bias_rel", row.bias_rel, true},
                                        {"dQ", arma::accu(g.q)},
                                        {"dK", arma::accu(g.k)},
                                        {"dV", arma::accu(g.v)},
                                        {"db", arma::accu(g.bias)}});
  if (status != "ok") throw std::runtime_error(status);
}

GradientRow failed(GradientRow row, const std::string& status) {
  GradientRow nothing;
  for (double GradientRow::*member :
       {&GradientRow::output_rel, &GradientRow::qk_rel, &GradientRow::qk_cosine, &GradientRow::qk_spread,
        &GradientRow::q_rel, &GradientRow::q_cosine, &GradientRow::q_spread, &GradientRow::k_rel,
        &GradientRow::k_cosine, &GradientRow::k_spread, &GradientRow::v_rel, &GradientRow::v_cosine,
        &GradientRow::v_spread, &GradientRow::bias_rel, &GradientRow::bias_cosine, &GradientRow::bias_spread}) {
    row.*member = nothing.*member;
  }
  row.status = status;
  return row;
}

}  // namespace

const Columns<GradientRow>& gradient_columns() {
  static const Columns<GradientRow> columns = {
      {{"input", Role::key,
        "the kind of [input](inputs.md); the name of the file if there is one, and the layer and head if there are "
        "several"},
       &GradientRow::input},
      {{"method", Role::curve, "the method, one that has an [adjoint](adjoints.md)"}, &GradientRow::method},
      {{"preset", Role::curve, "the preset and other options, as in `croquis error`"}, &GradientRow::preset},
      {{"target", Role::subject,
        "what the method approximates, and whose exact gradient its gradient is compared with"},
       &GradientRow::target},
      {{"n", Role::subject, "number of tokens, without padding; of keys, where queries are others"}, &GradientRow::n},
      {{"n_q", Role::subject, "number of queries"}, &GradientRow::n_q},
      {{"p", Role::subject, "width of queries and keys"}, &GradientRow::p},
      {{"p_v", Role::subject, "width of values"}, &GradientRow::p_v},
      {{"features", Role::axis, "number of features d", "d"}, &GradientRow::features},
      {{"trial", Role::part,
        "the number of the draw, from 1. A method that is not random has one row for each d. All draws have the same "
        "cotangent G, the derivative of a loss by the output: independent N(0, 1) entries"},
       &GradientRow::trial},
      {{"seed", Role::note, "`--seed`"}, &GradientRow::seed},
      {{"precision", Role::note, "the precision in which the method computes; exact gradients are in double"},
       &GradientRow::precision},
      {{"output_rel", Role::metric, "‖O - O~‖_F / ‖O‖_F of the same draw: the forward error", "||O - O~||_F / ||O||_F"},
       &GradientRow::output_rel},
      {{"qk_rel", Role::metric,
        "relative error in the Frobenius norm of the derivatives by Q and K together, ‖(dQ~, dK~) - (dQ, dK)‖_F / "
        "‖(dQ, dK)‖_F; `NA` where the exact derivatives may be rounding alone",
        "error of (dQ, dK)"},
       &GradientRow::qk_rel},
      {{"qk_cosine", Role::metric,
        "the cosine of the angle between (dQ~, dK~) and (dQ, dK), as vectors; `NA` where either may be rounding alone",
        "cosine of (dQ, dK)"},
       &GradientRow::qk_cosine},
      {{"qk_spread", Role::metric,
        "‖g - m‖_F √(T / (T - 1)) / ‖(dQ, dK)‖_F for g = (dQ~, dK~) and its mean m over the T draws that did not fail. "
        "The mean of its square is the variance over the draws. 0 for a method that is not random, `NA` for one draw",
        "spread of (dQ, dK)"},
       &GradientRow::qk_spread},
      {{"q_rel", Role::metric, "the relative error of dQ alone", "error of dQ"}, &GradientRow::q_rel},
      {{"q_cosine", Role::metric, "its cosine", "cosine of dQ"}, &GradientRow::q_cosine},
      {{"q_spread", Role::metric, "its spread over the draws", "spread of dQ"}, &GradientRow::q_spread},
      {{"k_rel", Role::metric, "the relative error of dK alone", "error of dK"}, &GradientRow::k_rel},
      {{"k_cosine", Role::metric, "its cosine", "cosine of dK"}, &GradientRow::k_cosine},
      {{"k_spread", Role::metric, "its spread over the draws", "spread of dK"}, &GradientRow::k_spread},
      {{"v_rel", Role::metric, "the relative error of dV", "error of dV"}, &GradientRow::v_rel},
      {{"v_cosine", Role::metric, "its cosine", "cosine of dV"}, &GradientRow::v_cosine},
      {{"v_spread", Role::metric, "its spread over the draws", "spread of dV"}, &GradientRow::v_spread},
      {{"bias_rel", Role::metric,
        "the relative error of the derivatives by the bias; `NA` if the target takes none, or there is none",
        "error of db"},
       &GradientRow::bias_rel},
      {{"bias_cosine", Role::metric, "its cosine", "cosine of db"}, &GradientRow::bias_cosine},
      {{"bias_spread", Role::metric, "its spread over the draws", "spread of db"}, &GradientRow::bias_spread},
      {{"seconds", Role::number, "the time of the forward pass of this draw, on one thread while others run", "", "s"},
       &GradientRow::seconds},
      {{"seconds_adjoint", Role::number,
        "the time of its adjoint, in which parts of the forward pass are computed again", "", "s"},
       &GradientRow::seconds_adjoint},
      {{"status", Role::note, "`ok`, or the reason why the method failed, as in `croquis error`"},
       &GradientRow::status},
      {sequence_column(), &GradientRow::sequence},
      {layer_column(), &GradientRow::layer},
      {head_column(), &GradientRow::head}};
  return columns;
}

template <typename T>
GradientErrors<T>::GradientErrors(Problem<T> problem, const Key& key)
    : problem_(std::move(problem)), draws_(key.child("draws")) {
  arma::mat cotangent(problem_.n_q(), problem_.p_v());
  fill_normal(key.child("cotangent"), 0, cotangent.n_elem, cotangent.memptr());
  cotangent_ = arma::conv_to<arma::Mat<T>>::from(cotangent);
}

Key gradient_key(std::uint64_t seed, const std::string& kind) {
  return Key(seed).child("gradient").child(kind);
}

std::vector<MethodChoice> gradient_methods(const std::string& text, const std::vector<TokenAlignment>& shapes,
                                           PositionParts position, const std::string& where) {
  const std::vector<MethodChoice> methods = parse_methods(text, position, where, [&](const Method<double>& method) {
    return method.adjoint({}) &&
           std::all_of(shapes.begin(), shapes.end(), [&](TokenAlignment shape) { return takes(method, shape); });
  });
  for (const MethodChoice& choice : methods) require_adjoint(find_method<double>(choice.name), choice.options);
  for (const TokenAlignment shape : shapes) require_usable(methods, shape, position);
  return methods;
}

template <typename T>
const typename GradientErrors<T>::Reference& GradientErrors<T>::reference_of(Target target) {
  if (const auto found = references_.find(target); found != references_.end()) return found->second;
  const auto exact_problem = in_precision<double>(problem_);
  const auto exact = exact_attention(exact_problem, target);
  const auto cotangent = arma::conv_to<arma::mat>::from(cotangent_);
  auto gradient = exact_gradient(exact_problem, target, exact, cotangent);
  const GradientUnits units{.qk = power_of_two_below(std::max(largest_entry(gradient.q), largest_entry(gradient.k))),
                            .v = power_of_two_below(largest_entry(gradient.v)),
                            .bias = power_of_two_below(largest_entry(gradient.bias))};
  GradientRounding rounding = gradient_rounding(exact_problem, target, cotangent);
  rounding.q /= units.qk;
  rounding.k /= units.qk;
  rounding.bias /= units.bias;
  gradient = in_units(units, std::move(gradient));
  return references_.emplace(target, Reference{exact.output, units, std::move(gradient), rounding}).first->second;
}

template <typename T>
typename GradientErrors<T>::Prepared GradientErrors<T>::prepare(const MethodChoice& choice) {
  Prepared prepared;
  prepared.owner_ = this;
  prepared.method_ = &find_method<T>(choice.name);
  prepared.choice_ = choice;
  require_adjoint(*prepared.method_, choice.options);
  try {
    prepared.prepared_ = croquis::prepare(*prepared.method_, problem_, choice.options);
    reference_of(prepared.method_->target);
  } catch (const std::exception& reason) {
    prepared.failure_ = reason.what();
  }
  return prepared;
}

template <typename T>
std::vector<GradientRow> GradientErrors<T>::Prepared::rows(arma::uword d, std::uint64_t trials) const {
  const bool random = method_->random(choice_.options);
  constexpr double coarser = double{std::numeric_limits<T>::epsilon()} / std::numeric_limits<double>::epsilon();
  std::vector<GradientRow> rows;
  std::vector<std::optional<Gradient<double>>> gradients;
  for (std::uint64_t trial = 1; trial <= (random ? trials : 1); ++trial) {
    auto row = method_row<GradientRow>(choice_, method_->target, owner_->problem_, d, trial);
    gradients.emplace_back();
    try {
      if (!failure_.empty()) throw std::runtime_error(failure_);
      Stopwatch stopwatch;
      const Approximation<T> approximation =
          prepared_.approximate(d, owner_->draws_.child(method_->name).child(d).child(trial));
      row.seconds = stopwatch.seconds();
      stopwatch = {};
      Gradient<double> computed = in_double(approximation.adjoint(owner_->cotangent_));
      row.seconds_adjoint = stopwatch.seconds();
      const Reference& exact = owner_->references_.at(method_->target);
      gradients.back() = in_units(exact.units, std::move(computed));
      const auto output = arma::conv_to<arma::mat>::from(approximation.output);
      row.output_rel = frobenius_norm<double>(output - exact.output) / frobenius_norm(exact.output);
      const Gradient<double>& g = *gradients.back();
      set_errors(row, g, exact.gradient, {exact.rounding, coarser});
      require_finite(row, g);
    } catch (const std::exception& failure) {
      gradients.back().reset();
      row = failed(std::move(row), reason_of(failure));
    }
    rows.push_back(std::move(row));
  }
  std::optional<Gradient<double>> mean;
  std::size_t count = 0;
  for (const auto& g : gradients) {
    if (!g) continue;
    ++count;
    if (!mean) {
      mean = g;
    } else {
      mean->q += g->q;
      mean->k += g->k;
      mean->v += g->v;
      mean->bias += g->bias;
    }
  }
  if (!mean) return rows;
  const auto share = 1 / static_cast<double>(count);
  mean->q *= share;
  mean->k *= share;
  mean->v *= share;
  mean->bias *= share;
  const Gradient<double>& exact = owner_->references_.at(method_->target).gradient;
  const Squares squares = squares_of(exact);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!gradients[i]) continue;
    const Gradient<double>& g = *gradients[i];
    const Squares off = {squared(g.q - mean->q), squared(g.k - mean->k), squared(g.v - mean->v),
                         squared(g.bias - mean->bias)};
    set_spreads(rows[i], off, squares, count, random);
  }
  return rows;
}

template <typename T>
std::vector<GradientRow> gradient_errors(const Problem<T>& problem, const std::vector<MethodChoice>& methods,
                                         const std::vector<arma::uword>& features, std::uint64_t trials,
                                         const Key& key) {
  GradientErrors<T> errors(problem, key);
  std::vector<GradientRow> rows;
  for (const MethodChoice& choice : methods) {
    const auto prepared = errors.prepare(choice);
    for (const arma::uword d : features) {
      for (GradientRow& row : prepared.rows(d, trials)) rows.push_back(std::move(row));
    }
  }
  return rows;
}

template class GradientErrors<float>;
template class GradientErrors<double>;
template std::vector<GradientRow> gradient_errors(const Problem<float>&, const std::vector<MethodChoice>&,
                                                  const std::vector<arma::uword>&, std::uint64_t, const Key&);
template std::vector<GradientRow> gradient_errors(const Problem<double>&, const std::vector<MethodChoice>&,
                                                  const std::vector<arma::uword>&, std::uint64_t, const Key&);

}  // namespace croquis
