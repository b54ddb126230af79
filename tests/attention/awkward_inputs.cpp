// Every method of the registry on inputs that break programs.
#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/attention/method_choice.hpp>
#include <limits>

#include "support/approximations.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

template <typename T>
std::vector<Problem<T>> awkward_problems(const Key& draw_key) {
  const arma::Mat<T> zero(9, 4, arma::fill::zeros), one(9, 4, arma::fill::ones);
  std::vector<Problem<T>> problems;
  problems.push_back(random_problem<T>(1, 4, 3, 1, draw_key));
  problems.push_back(random_problem<T>(37, 4, 3, 2, draw_key));
  problems.push_back(awkward_problem<T>(37, 4, 3, 3, draw_key));
  problems.push_back(random_problem<T>(37, 4, 3, 100, draw_key));
  problems.push_back({zero, zero, zero});
  problems.push_back({one, one, one});
  const Problem<T> whole = random_problem<T>(30, 4, 3, 2, draw_key.child("padded"));
  problems.push_back({whole.Q(), whole.K(), whole.V(), 23});
  problems.push_back(random_rectangle<T>(1, 37, 4, 3, 2, draw_key));
  problems.push_back(random_rectangle<T>(37, 1, 4, 3, 2, draw_key));
  problems.push_back(random_rectangle<T>(11, 37, 4, 3, 100, draw_key));
  problems.push_back({one, whole.K(), whole.V(), 23});
  return problems;
}

}  // namespace

TEST_CASE_TEMPLATE("methods: finite output of the right size or an exception, on every kind of input, for every d", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("awkward");
  for (const Method<T>& method : methods<T>()) {
    CAPTURE(method.name);
    for (const Problem<T>& problem : awkward_problems<T>(draw_key)) {
      if (!problem.is_square() && !method.rectangular({})) continue;
      const PreparedMethod<T> prepared = prepare(method, problem);
      const arma::uword n_q = problem.n_q(), n_k = problem.n_k(), n = std::min(n_q, n_k);
      const arma::uword most = method.largest_d(problem.tokens(), {}).value_or(n);
      for (const arma::uword d : {arma::uword{1}, arma::uword{8}, n / 2, n - 1, n, most}) {
        if (d < 1 || d > most) continue;
        CAPTURE(n_q);
        CAPTURE(n_k);
        CAPTURE(d);
        CHECK(prepared.flops(static_cast<double>(d)) > 0);
        try {
          const Approximation<T> approximation = prepared.approximate(d, draw_key.child(d));
          CHECK(arma::size(approximation.output) == arma::SizeMat(n_q, problem.p_v()));
          // What the program does with an output that is not finite: a row with a status. No method gives one here.
          CHECK(approximation.output.is_finite());
        } catch (const std::invalid_argument& refused) {
          CHECK(contains(refused.what(), "d = "));  // too few for this method; says so
          CHECK(d < 8);
        } catch (const std::runtime_error& broken) {
          CHECK(std::string(broken.what()).size() > 10);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("methods: values of any size give outputs of that size, also where their squares vanish", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("sizes of values");
  const Problem<T> problem = random_problem<T>(64, 4, 3, 2, draw_key);
  std::vector<MethodChoice> choices = parse_methods("sampled-columns:p=exact");
  for (const Method<T>& method : methods<T>()) choices.push_back(parse_methods(method.name).front());
  for (const MethodChoice& choice : choices) {
    CAPTURE(choice.name);
    const auto output_of = [&](const Problem<T>& given) {
      return prepare(find_method<T>(choice.name), given, choice.options).approximate(16, draw_key).output;
    };
    const arma::Mat<T> output = output_of(problem);
    for (const int power : {-3, 1}) {
      const T factor = std::ldexp(T(1), power * std::numeric_limits<T>::max_exponent / 4);
      CAPTURE(factor);
      const arma::Mat<T> other = output_of({problem.Q(), problem.K(), factor * problem.V()}) / factor;
      CHECK(static_cast<double>(arma::abs(output - other).max()) <=
            1000 * unit<T>() * static_cast<double>(arma::abs(output).max()));
    }
  }
}
