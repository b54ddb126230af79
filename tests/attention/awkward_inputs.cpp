// Every method of the registry on inputs that break programs.
#include <croquis/attention/method.hpp>

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
