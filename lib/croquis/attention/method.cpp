#include <croquis/attention/method.hpp>
#include <croquis/core/choices.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <utility>

namespace croquis {

template <typename T>
Approximation<T> from_scores(LinearOperator<T> scores, const Problem<T>& problem) {
  const SerialBlas serial;
  Approximation<T> approximation;
  approximation.output = scores.apply(problem.V());
  approximation.scores = std::move(scores);
  return approximation;
}

template <typename T>
const Method<T>& find_method(std::string_view name) {
  std::vector<std::string> names;
  for (const Method<T>& method : methods<T>()) names.push_back(method.name);
  return methods<T>()[index_of_name(name, names, "method")];
}

void require_square(TokenAlignment tokens, std::string_view name) {
  if (tokens.n_q == tokens.n_k) return;
  std::string others;
  bool by_default = false;  // the method itself takes them, without these options
  for (const Method<double>& method : methods<double>()) {
    if (!method.rectangular({})) continue;
    others += " " + method.name;
    by_default = by_default || method.name == name;
  }
  require(false, name,
          by_default
              ? "as many queries as keys with these options; with its default ones it takes other numbers of them"
              : "as many queries as keys; methods that take other numbers of them are" + others,
          {{"n_q", tokens.n_q}, {"n_k", tokens.n_k}});
}

template <typename T>
void require_square(const Problem<T>& problem, std::string_view name) {
  require_square(problem.tokens(), name);
}

template <typename T>
void require_not_causal(const Problem<T>& problem, std::string_view name) {
  if (!problem.is_causal()) return;
  std::string others;
  for (const Method<T>& method : methods<T>()) {
    if (method.causal && method.name != name) others += " " + method.name;
  }
  require(false, name, "has no causal form; methods that have one are" + others, {});
}

template <typename T>
void require_adjoint(const Method<T>& method, const OptionValues& options) {
  if (method.adjoint(options)) return;
  std::string others;
  for (const Method<T>& other : methods<T>()) {
    if (other.adjoint({}) && other.name != method.name) others += " " + other.name;
  }
  const std::string which = method.adjoint({}) ? " with these options" : "";
  require(false, method.name, "has no adjoint" + which + "; methods that have one are" + others, {});
}

namespace {

// The same, but another number of rows throws, with the name of the method. Its own products may look, or not.
template <typename T>
LinearOperator<T> with_checked_sizes(LinearOperator<T> scores, const std::string& name) {
  const auto checked = [name](arma::uword rows, typename LinearOperator<T>::Product product) {
    return [=](const arma::Mat<T>& x) {
      require_rows(x.n_rows, rows, name);
      return product(x);
    };
  };
  scores.apply = checked(scores.cols, std::move(scores.apply));
  scores.apply_transposed = checked(scores.rows, std::move(scores.apply_transposed));
  return scores;
}

}  // namespace

template <typename T>
PreparedMethod<T> prepare(const Method<T>& method, const Problem<T>& problem, const OptionValues& options) {
  std::vector<std::string> known;
  for (const OptionInfo& info : method.options) known.push_back(info.name);
  for (const auto& [name, value] : options.all()) require_option(name, method.name, known);
  if (!method.rectangular(options)) require_square(problem, method.name);
  if (!method.causal) require_not_causal(problem, method.name);
  const SerialBlas serial;
  PreparedMethod<T> prepared = method.prepare(problem, options);
  // So that a method that does not think of BLAS, as one of a user may not, has the same bits for any number of
  // threads.
  prepared.approximate = [approximate = std::move(prepared.approximate), name = method.name](arma::uword d,
                                                                                             const Key& draw_key) {
    const SerialBlas within;
    Approximation<T> approximation = approximate(d, draw_key);
    if (approximation.scores) {
      approximation.scores = with_checked_sizes(std::move(*approximation.scores), name);
    }
    return approximation;
  };
  return prepared;
}

template Approximation<float> from_scores(LinearOperator<float>, const Problem<float>&);
template Approximation<double> from_scores(LinearOperator<double>, const Problem<double>&);
template const Method<float>& find_method(std::string_view);
template const Method<double>& find_method(std::string_view);
template void require_square(const Problem<float>&, std::string_view);
template void require_square(const Problem<double>&, std::string_view);
template void require_not_causal(const Problem<float>&, std::string_view);
template void require_not_causal(const Problem<double>&, std::string_view);
template void require_adjoint(const Method<float>&, const OptionValues&);
template void require_adjoint(const Method<double>&, const OptionValues&);
template PreparedMethod<float> prepare(const Method<float>&, const Problem<float>&, const OptionValues&);
template PreparedMethod<double> prepare(const Method<double>&, const Problem<double>&, const OptionValues&);

}  // namespace croquis
