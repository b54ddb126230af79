// What every method of the registry obeys, those that will be added included.
#include <croquis/attention/method.hpp>

#include <set>
#include <sstream>

#include "support/approximations.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

template <typename T>
std::vector<Problem<T>> awkward_problems(const Stream& stream) {
  const arma::Mat<T> zero(9, 4, arma::fill::zeros), one(9, 4, arma::fill::ones);
  std::vector<Problem<T>> problems;
  problems.push_back(random_problem<T>(1, 4, 3, 1, stream));
  problems.push_back(random_problem<T>(37, 4, 3, 2, stream));
  problems.push_back(awkward_problem<T>(37, 4, 3, 3, stream));
  problems.push_back(random_problem<T>(37, 4, 3, 100, stream));
  problems.push_back({zero, zero, zero});
  problems.push_back({one, one, one});
  const Problem<T> whole = random_problem<T>(30, 4, 3, 2, stream.child("padded"));
  problems.push_back({whole.Q(), whole.K(), whole.V(), 23});
  return problems;
}

std::vector<std::string> choices_of(const std::string& values) {
  std::vector<std::string> choices;
  std::istringstream stream(values);
  for (std::string choice; std::getline(stream, choice, '|');) choices.push_back(choice);
  return choices;
}

}  // namespace

TEST_CASE_TEMPLATE("methods: finite output of the right size or an exception, on every kind of input, for every d", T,
                   float, double) {
  const Stream stream = Stream(test_seed()).child("awkward");
  for (const Method<T>& method : methods<T>()) {
    CAPTURE(method.name);
    for (const Problem<T>& problem : awkward_problems<T>(stream)) {
      const BoundMethod<T> bound = bind(method, problem);
      const arma::uword n = problem.n();
      for (const arma::uword d : {arma::uword{1}, arma::uword{8}, n / 2, n - 1, n}) {
        if (d < 1 || d > n) continue;
        CAPTURE(n);
        CAPTURE(d);
        CHECK(bound.flops(static_cast<double>(d)) > 0);
        try {
          const Approximation<T> approximation = bound.approximate(d, stream.child(d));
          CHECK(arma::size(approximation.output) == arma::size(problem.V()));
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

TEST_CASE_TEMPLATE(
    "methods: a draw depends on the stream alone, for 1 and 2 threads; random ones differ from trial to "
    "trial, others do not",
    T, float, double) {
  const Problem<T> problem = random_problem<T>(150, 8, 5, 3, Stream(test_seed()).child("threads"));
  for (const Method<T>& method : methods<T>()) {
    CAPTURE(method.name);
    const auto output = [&](int threads, std::uint64_t trial) {
      const ThreadCount count(threads);
      return bind(method, problem).approximate(20, Stream(7).child(trial)).output;
    };
    const arma::Mat<T> one = output(1, 1);
    CHECK(identical(one, output(2, 1)));
    CHECK(identical(one, output(1, 2)) != method.random({}));
  }
}

TEST_CASE("methods: names differ, every choice that an option lists is taken, another option or value is refused") {
  const Problem<double> tiny(arma::mat(1, 1, arma::fill::zeros), arma::mat(1, 1, arma::fill::zeros),
                             arma::mat(1, 1, arma::fill::zeros));
  std::set<std::string> names;
  for (const Method<double>& method : methods<double>()) {
    CAPTURE(method.name);
    CHECK(names.insert(method.name).second);
    CHECK_FALSE(method.summary.empty());
    CHECK_FALSE(method.source.empty());
    CHECK(contains(refusal([&] { method_on(tiny, method.name.c_str(), {{"nothing", "1"}}); }), "option = nothing"));
    for (const OptionInfo& option : method.options) {
      CAPTURE(option.name);
      const std::vector<std::string> choices = choices_of(option.values);
      if (choices.size() < 2) continue;
      CHECK(std::count(choices.begin(), choices.end(), option.fallback) == 1);
      for (const std::string& choice : choices) {
        if (choice == "given") continue;  // needs a list
        CHECK_NOTHROW(method_on(tiny, method.name.c_str(), {{option.name, choice}}));
      }
      CHECK(contains(refusal([&] {
                       method_on(tiny, method.name.c_str(), {{option.name, "frobnicate"}});
                     }),
                     option.name));
    }
  }
}

TEST_CASE("methods: more features than tokens are refused, with both numbers") {
  const Problem<double> problem = random_problem<double>(10, 4, 3, 1, Stream(1));
  for (const char* name : {"best-rank-d", "skyformer", "skyformer-softmax", "nystromformer", "linformer", "informer",
                           "skeinformer", "skeinformer-uniform", "skeinformer-no-norm", "skeinformer-simple-norm",
                           "skeinformer-no-reuse", "sampled-columns", "reformer", "bigbird", "longformer"}) {
    const std::string message = refusal([&] { method_on(problem, name).approximate(21, Stream(1)); });
    CAPTURE(name);
    CHECK(contains(message, "d = 21"));
    CHECK(contains(message, "n = 10"));
  }
}
