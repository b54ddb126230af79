#include "host/library_calls.hpp"

#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/claims/ledger.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/inputs/text.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/linalg/randomised_svd.hpp>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/linalg/trace_estimate.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/measure/gradient_errors.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/nystrom/nested.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/leverage.hpp>
#include <croquis/sampling/rp_cholesky.hpp>
#include <croquis/sketch/description.hpp>
#include <croquis/sketch/distributions.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>

using namespace croquis;

namespace {

using Results = std::map<std::string, arma::mat>;

// Large enough that OpenBLAS takes threads for its products, decompositions and inner products where it may.
constexpr arma::uword n = 320, d = 48;

template <typename T>
arma::mat doubles(const arma::Mat<T>& m) {
  return arma::conv_to<arma::mat>::from(m);
}

template <typename T>
arma::Mat<T> normals(arma::uword rows, arma::uword cols, const char* purpose) {
  arma::Mat<T> m(rows, cols);
  fill_normal(Key(7).child(purpose), 0, m.n_elem, m.memptr());
  return m;
}

template <typename T>
Problem<T> problem_of(RelativePosition<T> position = {}) {
  return {normals<T>(n, 32, "q"), normals<T>(n, 32, "k"), normals<T>(n, 32, "v"), {}, std::move(position)};
}

template <typename T>
void add_operator(Results& results, const std::string& name, const LinearOperator<T>& a) {
  results[name + " X"] = doubles(a.apply(normals<T>(a.cols, 24, "x")));
  results[name + "^T X"] = doubles(a.apply_transposed(normals<T>(a.rows, 24, "x")));
  results[name + " x"] = doubles(a.apply(normals<T>(a.cols, 1, "x")));
}

template <typename T>
void add_methods(Results& results, const std::string& type) {
  const Problem<T> full = problem_of<T>({normals<T>(2 * n - 1, 1, "bias"), false, 1}),
                   causal = problem_of<T>({normals<T>(2 * n - 1, 1, "bias"), true, 1});
  for (const Method<T>& method : methods<T>()) {
    const std::string name = type + method.name;
    const Problem<T>& problem = method.causal ? causal : full;
    const auto approximation = prepare(method, problem).approximate(d, Key(1));
    results[name] = doubles(approximation.output);
    if (approximation.scores) add_operator(results, name + " scores", *approximation.scores);
    // As a program has it that asks the record itself.
    results[name + " by its record"] = doubles(method.prepare(problem, {}).approximate(n, Key(2)).output);
  }
  for (const Target target :
       {Target::softmax, Target::kernelized, Target::normalized, Target::softmax_rpe, Target::normalized_rpe}) {
    const std::string name = type + "exact " + std::string(name_of(target));
    const Problem<T>& problem = has_position(target) ? causal : full;
    results[name] = doubles(exact_attention(problem, target).output);
    add_operator(results, name + " scores", exact_scores(problem, target));
  }
}

template <typename T>
void add_linear_algebra(Results& results, const std::string& type) {
  const arma::Mat<T> a = normals<T>(n, n / 2, "a"), psd = product_nt(a, a);
  const LinearOperator<T> op = as_operator(a);
  results[type + "spectral norm"] = {double(spectral_norm(a)), spectral_norm(op, Key(1)).value};
  const auto leading = leading_spectrum(op, 8, Key(1));
  results[type + "leading spectrum"] = leading.values;
  results[type + "leading right vectors"] = doubles(leading.right);
  results[type + "randomised svd"] = doubles(randomised_svd(op, 20, Key(1)).left);
  const auto square = [](double sigma) { return sigma * sigma; };
  results[type + "spectral sum"] = {
      spectral_sum(op, square, leading.values, leading.right, Key(1), {.probes = 4, .max_steps = 20}).value};
  results[type + "pseudo-inverse"] = doubles(pseudo_inverse(a, T(1e-4)).apply(normals<T>(n, 3, "b")));
  results[type + "pseudo-inverse psd"] = doubles(pseudo_inverse_psd(psd, T(1e-3)).apply(normals<T>(n, 3, "b")));
  arma::Mat<T> definite = psd / T(n);
  definite.diag() += T(1);
  results[type + "inverse root"] = doubles(*inverse_root_psd(definite, T(1e-4)));
  results[type + "iterative inverse"] = doubles(iterative_inverse(definite).inverse);
  const KernelMatrix<T> kernel = gaussian_kernel_matrix<T>(a / T(16));
  const RidgeLeverage<T> leverage(kernel);
  results[type + "leverage"] = doubles(arma::Mat<T>(leverage.scores(leverage.ridge_for(d))));
  results[type + "rp-cholesky"] = doubles(rp_cholesky(kernel, d, Key(1)).factor);
  results[type + "recursive leverage"] =
      arma::conv_to<arma::mat>::from(arma::umat(recursive_leverage_sample(kernel, d, Key(1))));
  const RelativePosition<T> position{normals<T>(2 * n - 1, 1, "bias"), false, 1};
  for (const ToeplitzPath path : {ToeplitzPath::fft, ToeplitzPath::direct}) {
    const std::string name = type + (path == ToeplitzPath::fft ? "toeplitz fft" : "toeplitz direct");
    add_operator(results, name, as_operator(ToeplitzOperator<T>(position, n, path)));
  }
}

template <typename T>
void add_sketches(Results& results, const std::string& type) {
  for (const auto& distribution : sketch_distributions<T>()) {
    const std::vector<double> weights(distribution.weighted ? n : 0, 1.0);
    const auto s = make_sketch<T>(describe_sketch(distribution.name, n, d, Key(3), {}, weights));
    const std::string name = type + "sketch " + distribution.name;
    results[name + " left"] = doubles(s.left(normals<T>(n, 64, "m")));
    results[name + " right"] = doubles(s.right(normals<T>(64, n, "m")));
    results[name + " expand"] = doubles(s.expand(normals<T>(d, 64, "m")));
  }
}

// Sums over parts of the keys, and products that are the host's own.
template <typename T>
void add_parts(Results& results, const std::string& type) {
  for (const FeatureMap map : {FeatureMap::prf, FeatureMap::trf}) {
    const std::string name = type + "features " + std::string(name_of(map));
    const FeaturePair<T> pair(normals<T>(n, 32, "q") / T(4), normals<T>(n, 32, "k") / T(4), 2 * d, {.map = map},
                              Key(1));
    const auto shifts = pair.shifts();
    const arma::Mat<T> sums = pair.key_sums(normals<T>(n, 24, "x"), shifts);
    results[name + " key sums"] = doubles(sums);
    results[name + " attend sums"] = doubles(pair.attend_sums(sums, shifts).output);
  }
  const arma::Mat<T> a = normals<T>(n, n / 2, "a");
  const auto product = [a](const arma::Mat<T>& x) -> arma::Mat<T> { return a.t() * (a * x); };
  results[type + "dense"] = doubles(LinearOperator<T>{n / 2, n / 2, product, {}}.dense());
}

void add_measurements(Results& results) {
  const Problem<double> problem = problem_of<double>();
  const arma::mat exact = exact_attention(problem, Target::kernelized).output;
  const auto approximation = skyformer(problem, d, Key(1));
  const OutputErrors errors = OutputReference(exact).compare(approximation.output);
  results["errors"] = {errors.spectral_rel, errors.frobenius_rel};
  const SampledErrors sampled = SampledReference(problem, Target::kernelized, 60, Key(1)).compare(approximation.output);
  results["sampled errors"] = {sampled.errors.spectral_rel, sampled.spectral_rel.lo, sampled.frobenius_rel.hi};
  const ScoreReference reference(problem, Target::kernelized, Key(1));
  results["score errors"] = {reference.compare(*approximation.scores, Key(2)).spectral_rel};
  results["singular values"] = singular_values(exact);
  NestedNystrom nested(LiftedPoints<double>(problem.Q() / 4, problem.K() / 4),
                       sample_with_replacement(2 * n, 2 * d, Key(1)), 1e-10);
  add_operator(results, "nested", nested.scores(2 * d));
  results["low rank input"] = low_rank_input(Key(1), {.n = n, .p = 32, .norm = 2}, {.rank = 8}).Q();
  results["initialised BERT"] = initialised_bert(split_words(sample_text().substr(0, 3000)), Key(1)).K();
}

// Gradients of more than 10000 entries, whose inner products OpenBLAS splits, and checks of claims.
void add_gradients_and_claims(Results& results) {
  for (const GradientRow& row :
       gradient_errors(problem_of<double>(), parse_methods("skeinformer"), {d}, 2, gradient_key(1, "host"))) {
    results["gradient errors " + std::to_string(row.trial)] = {row.q_rel, row.q_cosine, row.q_spread, row.qk_cosine};
  }
  const claims::Ledger ledger({.quick = true}, claims::ledger_key(1));
  for (const char* const id : {"sky.core/interlacing", "rpe.prop1/strict"}) {
    std::vector<double> numbers;
    for (const claims::Finding& finding : ledger.decide(claims::find_claim(id)).findings) {
      numbers.insert(numbers.end(), {finding.estimate, finding.observed, finding.bound, finding.tightness.hi});
    }
    results[id] = arma::vec(numbers);
  }
}

}  // namespace

std::map<std::string, arma::mat> library_results() {
  Results results;
  add_methods<float>(results, "float ");
  add_methods<double>(results, "double ");
  add_linear_algebra<float>(results, "float ");
  add_linear_algebra<double>(results, "double ");
  add_sketches<float>(results, "float ");
  add_sketches<double>(results, "double ");
  add_parts<float>(results, "float ");
  add_parts<double>(results, "double ");
  add_measurements(results);
  add_gradients_and_claims(results);
  return results;
}
