// Outputs and gradients against PyTorch's autograd, which is not needed for this: adjoint_reference.py has made
// adjoint_reference.txt once.
#include <fmt/format.h>

#include <fstream>

#include "attention/adjoint_cases.hpp"

#include "support/dense.hpp"

using namespace croquis;

namespace {

void print(const std::string& name, const arma::mat& m) {
  fmt::print("matrix {} {} {}\n", name, m.n_rows, m.n_cols);
  for (arma::uword i = 0; i < m.n_rows; ++i) {
    for (arma::uword j = 0; j < m.n_cols; ++j) fmt::print("{} ", m(i, j));
    fmt::print("\n");
  }
}

// The matrices of every case.
std::map<std::string, Arrays> read_reference() {
  std::ifstream file(CROQUIS_ADJOINT_REFERENCE);
  REQUIRE(file.good());
  std::map<std::string, Arrays> reference;
  std::string word, name;
  Arrays* current = nullptr;
  while (file >> word) {
    if (word == "case") {
      file >> name;
      current = &reference[name];
      continue;
    }
    REQUIRE(word == "matrix");
    arma::uword rows = 0, cols = 0;
    file >> name >> rows >> cols;
    arma::mat m(cols, rows);
    for (double& x : m) file >> x;
    (*current)[name] = m.t();
  }
  return reference;
}

struct Computed {
  arma::mat output;
  Gradient<double> gradient;
};

Computed compute(const ReferenceCase& c) {
  const Problem<double> problem = reference_problem(c);
  const arma::mat cotangent = reference_cotangent();
  if (c.method == "exact") {
    for (const Target target :
         {Target::softmax, Target::kernelized, Target::normalized, Target::softmax_rpe, Target::normalized_rpe}) {
      if (name_of(target) != c.name) continue;
      return {exact_attention(problem, target).output, exact_adjoint(problem, target)(cotangent)};
    }
  }
  if (c.method == "kriged-coreset") {
    const Approximation<double> coreset = reference_coreset(coreset_problem());
    CHECK(coreset.diagnostics.fallen_rows == 0);  // which the dense form does not have
    CHECK(std::isfinite(coreset.diagnostics.ridge));
    Gradient<double> gradient = coreset.adjoint(cotangent);
    gradient.q *= kCoresetScale;
    gradient.k *= kCoresetScale;
    return {coreset.output, gradient};
  }
  const Method<double>& method = find_method<double>(c.method);
  const Approximation<double> approximation =
      prepare(method, problem, OptionValues(c.options)).approximate(c.d, kReferenceKey.child("draw"));
  return {approximation.output, approximation.adjoint(cotangent)};
}

}  // namespace

TEST_CASE("adjoints: the inputs of adjoint_reference.py" * doctest::skip()) {
  ReferenceCase with_bias;
  with_bias.bias = true;
  const Problem<double> problem = reference_problem(with_bias);
  print("Q", problem.Q());
  print("K", problem.K());
  print("V", problem.V());
  print("b", problem.position().bias);
  print("G", reference_cotangent());
  for (const ReferenceCase& c : reference_cases()) {
    fmt::print("case {} {} {}\n", c.name, c.method, c.causal ? "causal" : "-");
    if (c.bias) print("bias", arma::mat(1, 1, arma::fill::ones));
    for (const auto& [name, m] : c.drawn) print(name, m);
  }
}

TEST_CASE("adjoints: outputs and gradients are those of PyTorch's autograd") {
  const std::map<std::string, Arrays> reference = read_reference();
  const std::vector<ReferenceCase> cases = reference_cases();
  CHECK(reference.size() == cases.size());
  for (const ReferenceCase& c : cases) {
    CAPTURE(c.name);
    REQUIRE(reference.contains(c.name));
    const Arrays& expected = reference.at(c.name);
    // What was drawn then is what is drawn now, but for the roundings of another processor's QR decomposition.
    for (const auto& [name, m] : c.drawn) CHECK(arma::approx_equal(expected.at(name), m, "absdiff", 1e-14));
    const Computed computed = compute(c);
    // 1e-9 of the largest entry: 1e7 roundings, for conditions of a thousand and sums of tens of terms.
    const auto check = [&](const arma::mat& m, const char* name) {
      CAPTURE(std::string(name));
      CHECK(distance(m, expected.at(name)) <= 1e-9 * std::max(1.0, arma::abs(expected.at(name)).max()));
    };
    check(computed.output, "output");
    check(computed.gradient.q, "dQ");
    check(computed.gradient.k, "dK");
    check(computed.gradient.v, "dV");
    if (c.bias) check(computed.gradient.bias, "db");
  }
}
