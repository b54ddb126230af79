#include "forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/method_choice.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/measure/method_errors.hpp>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "calls.hpp"

namespace {

template <typename T>
arma::uword features_of(const ForwardRequest& request, const croquis::Method<T>& method,
                        const croquis::OptionValues& options, croquis::TokenAlignment shape) {
  constexpr arma::uword usual = 128;
  const auto most = method.largest_d(shape, options);
  return request.features.value_or(std::min({usual, shape.n_k, most.value_or(usual)}));
}

// work(), or std::invalid_argument where there is no memory for so many features.
template <typename Work>
auto within_memory(const std::string& where, arma::uword features, arma::uword n, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw std::invalid_argument(fmt::format("{}: there is not enough memory for d = {}, n = {}", where, features, n));
  }
}

// The draw; its derivatives say as it does where there is no memory.
template <typename T>
croquis::Approximation<T> draw(const croquis::PreparedMethod<T>& prepared, const croquis::Method<T>& method,
                               const croquis::OptionValues& options, const croquis::Problem<T>& problem,
                               arma::uword features, const croquis::Key& key) {
  const std::string where = fmt::format("features: {}", method.name);
  // A method that takes any d has numbers for each feature and width of a value, unless it looks at d no more.
  const auto d = static_cast<double>(features), width = static_cast<double>(problem.p_v());
  if (!method.largest_d(problem.tokens(), options) && prepared.flops(d) >= 2 * prepared.flops(d / 4)) {
    croquis::require_memory(d * width * sizeof(T), where, {{"d", features}, {"p_v", problem.p_v()}});
  }
  const arma::uword n = problem.n_k();
  auto approximation = within_memory(where, features, n, [&] { return prepared.approximate(features, key); });
  if (const auto adjoint = approximation.adjoint) {
    approximation.adjoint = [=](const arma::Mat<T>& g) {
      return within_memory(where, features, n, [&] { return adjoint(g); });
    };
  }
  return approximation;
}

// As an output that is not finite: overflow on the way, which the caller would find late or never.
template <typename T>
void require_finite(const croquis::Gradient<T>& gradient) {
  std::vector<std::string_view> lost;
  if (!gradient.q.is_finite()) lost.emplace_back("dQ");
  if (!gradient.k.is_finite()) lost.emplace_back("dK");
  if (!gradient.v.is_finite()) lost.emplace_back("dV");
  if (!gradient.bias.is_finite()) lost.emplace_back("dbias");
  if (lost.empty()) return;
  throw std::runtime_error(fmt::format("{} {} not finite; give {}smaller numbers", fmt::join(lost, ", "),
                                       lost.size() == 1 ? "is" : "are",
                                       std::is_same_v<T, float> ? "float64, or " : ""));
}

}  // namespace

template <typename T>
Forward::Pass<T> Forward::run(const croquis::Problem<T>& problem, const ForwardRequest& request, bool differentiable) {
  const bool has_bias = !problem.position().bias.is_empty();
  if (!request.method) {
    const croquis::Target target = croquis::target_named(request.target.value_or("softmax"));
    if (has_bias) croquis::require_takes_bias(target, fmt::format("target {}", name_of(target)));
    const auto exact = std::make_shared<const croquis::ExactAttention<T>>(exact_attention(problem, target));
    return {problem.padded(exact->output),
            [=](const arma::Mat<T>& g) { return exact_gradient(problem, target, *exact, g); }, problem.n_q()};
  }
  // Refuses a name that there is not, as elsewhere. Draws and options are those of the name alone.
  const auto named = croquis::parse_methods(*request.method, {}, "method");
  if (named.size() != 1 || !named.front().options.all().empty()) {
    throw std::invalid_argument(
        fmt::format("method: '{}' is no single name; options of a method are arguments of their own", *request.method));
  }
  const croquis::OptionValues options(request.options, *request.method);
  const auto& method = croquis::find_method<T>(*request.method);
  if (request.target && croquis::target_named(*request.target) != method.target) {
    throw std::invalid_argument(
        fmt::format("target: {} approximates {}, this is {}; leave it out, or give method='exact'", method.name,
                    name_of(method.target), *request.target));
  }
  if (has_bias) croquis::require_takes_bias(method.target, method.name);
  if (differentiable) require_adjoint(method, options);
  const auto prepared = prepare(method, problem, options);
  const arma::uword features = features_of(request, method, options, problem.tokens());
  const croquis::Key key = croquis::error_keys(request.seed, "arrays").draw(*request.method, features, request.trial);
  auto approximation = draw(prepared, method, options, problem, features, key);
  return {problem.padded(std::move(approximation.output)), std::move(approximation.adjoint), problem.n_q()};
}

Forward::Forward(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
                 const ForwardRequest& request, bool differentiable)
    : head_(q, k, v, head_options), with_bias_(!head_options["bias"].is_none()) {
  visit_problem(head_, [&]<typename T>(const croquis::Problem<T>& problem) {
    pass_ = call([&](Signals&) {
      Pass<T> pass = run(problem, request, differentiable);
      if (!pass.output.is_finite()) throw std::runtime_error("the output is not finite");
      return pass;
    });
  });
}

py::array Forward::output() const {
  if (const auto* pass = std::get_if<Pass<float>>(&pass_)) return array_of<float>(pass->output, head_.is_fortran());
  return array_of<double>(std::get<Pass<double>>(pass_).output, head_.is_fortran());
}

py::tuple Forward::vjp(const py::object& cotangent) const {
  const py::array g = matrix_argument(cotangent, "G");
  const auto of_pass = [&]<typename T>(const Pass<T>& pass) -> py::tuple {
    arma::Mat<T> matrix = matrix_of<T>(g);
    if (matrix.n_rows != pass.output.n_rows || matrix.n_cols != pass.output.n_cols) {
      throw std::invalid_argument(fmt::format("G: its shape is {}; give that of the output, ({}, {})", shape_of(g),
                                              pass.output.n_rows, pass.output.n_cols));
    }
    // As it is given: what is beyond float is infinite in the matrix.
    const bool is_finite =
        matrix.head_rows(pass.queries).is_finite() || matrix_of<double>(g).head_rows(pass.queries).is_finite();
    auto gradient = call([&](Signals&) {
      if (pass.queries < matrix.n_rows) matrix.resize(pass.queries, matrix.n_cols);
      auto found = with_padding(pass.adjoint(matrix), head_.n_q(), head_.n_k());
      if (is_finite) require_finite(found);
      return found;
    });
    const bool fortran = head_.is_fortran();
    py::array dq = array_of(std::move(gradient.q), fortran), dk = array_of(std::move(gradient.k), fortran),
              dv = array_of(std::move(gradient.v), fortran);
    if (!with_bias_) return py::make_tuple(dq, dk, dv);
    const auto count = static_cast<py::ssize_t>(gradient.bias.n_elem);
    return py::make_tuple(dq, dk, dv, py::array_t<T>(count, gradient.bias.memptr()));
  };
  if (const auto* pass = std::get_if<Pass<float>>(&pass_)) return of_pass(*pass);
  return of_pass(std::get<Pass<double>>(pass_));
}
