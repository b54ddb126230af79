#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/sketch/accumulative.hpp>
#include <croquis/sketch/distributions.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/sketch/importance_sampling.hpp>
#include <croquis/sketch/rademacher.hpp>
#include <croquis/sketch/sjlt.hpp>
#include <croquis/sketch/sparse_stack.hpp>
#include <croquis/sketch/srct.hpp>
#include <croquis/sketch/srht.hpp>
#include <croquis/sketch/uniform_sampling.hpp>
#include <croquis/sketch/very_sparse.hpp>

namespace croquis {
namespace {

constexpr double kMostAddends = 1e6, kMostSparsity = 1e15;

arma::uword count(const SketchDescription& s, const char* name) {
  return static_cast<arma::uword>(s.parameters.at(name));
}

template <typename T>
std::vector<SketchDistribution<T>> all_distributions() {
  return {
      {"gaussian",
       "Skeinformer Sec. 3.3, after Def. 3.2",
       "independent N(0, 1/d) entries",
       {},
       false,
       [](const SketchDescription& s, const Key& key) { return GaussianSketch(s.rows, s.cols, key); }},
      {"rademacher",
       "Achlioptas 2003",
       "independent +-1/sqrt(d)",
       {},
       false,
       [](const SketchDescription& s, const Key& key) { return RademacherSketch(s.rows, s.cols, key); }},
      {"uniform",
       "Skeinformer Def. 3.1",
       "sqrt(n/d) e_i, i uniform",
       {{"replacement", "0 or 1", "1", "1: with replacement; 0: d <= n different indices",
         [](arma::uword, arma::uword) {
           return ParameterLimits{0, 1, 1};
         }}},
       false,
       [](const SketchDescription& s, const Key& key) {
         return UniformSampling(s.rows, s.cols, key,
                                count(s, "replacement") == 1 ? SampleReplacement::with : SampleReplacement::without);
       }},
      {"importance",
       "Skeinformer Def. 3.1",
       "e_i/sqrt(d p_i), i ~ p from n weights",
       {},
       true,
       [](const SketchDescription& s, const Key& key) {
         return ImportanceSampling(arma::vec(s.weights), s.cols, key);
       }},
      {"srht",
       "Ailon & Chazelle 2009",
       "signs, Hadamard transform, d of its n' rows; d <= n', the next power of two",
       {},
       false,
       [](const SketchDescription& s, const Key& key) { return SrhtSketch(s.rows, s.cols, key); }},
      {"srct",
       "Avron et al. 2010",
       "signs, cosine transform, d of its n rows; d <= n",
       {},
       false,
       [](const SketchDescription& s, const Key& key) { return SrctSketch(s.rows, s.cols, key); }},
      {"countsketch",
       "Charikar et al. 2002",
       "one +-1 a row",
       {},
       false,
       [](const SketchDescription& s, const Key& key) { return SjltSketch(s.rows, s.cols, 1, key); }},
      {"sjlt",
       "Kane & Nelson 2014",
       "s entries +-1/sqrt(s) a row, at different columns",
       {{"s", "1 ... d", "min(8, d)", "nonzeros a row",
         [](arma::uword, arma::uword d) {
           const auto most = static_cast<double>(d);
           return ParameterLimits{1, most, std::min(8.0, most)};
         }}},
       false,
       [](const SketchDescription& s, const Key& key) { return SjltSketch(s.rows, s.cols, count(s, "s"), key); }},
      {"sparse-stack",
       "Camano et al. 2025",
       "zeta CountSketches of d/zeta columns side by side, over sqrt(zeta)",
       {{"zeta", "1 ... d, divides d", "largest divisor of d up to 4", "nonzeros a row",
         [](arma::uword, arma::uword d) {
           const double divisor = d % 4 == 0 ? 4 : d % 3 == 0 ? 3 : d % 2 == 0 ? 2 : 1;
           return ParameterLimits{1, static_cast<double>(d), divisor};
         }}},
       false,
       [](const SketchDescription& s, const Key& key) { return SparseStack(s.rows, s.cols, count(s, "zeta"), key); }},
      {"very-sparse",
       "Li, Hastie & Church 2006",
       "independent sqrt(q/d) {+1, 0, -1} with probabilities 1/2q, 1 - 1/q, 1/2q",
       {{"q", "1 ... 10^15", "sqrt(n)", "one entry in q is not zero",
         [](arma::uword n, arma::uword) {
           return ParameterLimits{1, kMostSparsity, std::sqrt(static_cast<double>(n)), false};
         }}},
       false,
       [](const SketchDescription& s, const Key& key) {
         return VerySparseSketch(s.rows, s.cols, s.parameters.at("q"), key);
       }},
      {"accumulative",
       "Chen & Yang 2021",
       "sum of m signed uniform samplings, over sqrt(m)",
       {{"m", "1 ... 10^6", "4", "addends",
         [](arma::uword, arma::uword) {
           return ParameterLimits{1, kMostAddends, 4};
         }}},
       false,
       [](const SketchDescription& s, const Key& key) {
         return AccumulativeSketch(s.rows, s.cols, count(s, "m"), key);
       }},
  };
}

}  // namespace

template <typename T>
const std::vector<SketchDistribution<T>>& sketch_distributions() {
  static const std::vector<SketchDistribution<T>> all = all_distributions<T>();
  return all;
}

template <typename T>
const SketchDistribution<T>& find_sketch_distribution(std::string_view name) {
  const std::vector<SketchDistribution<T>>& all = sketch_distributions<T>();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const SketchDistribution<T>& distribution) { return distribution.name == name; });
  if (found != all.end()) return *found;
  std::string names;
  for (const SketchDistribution<T>& distribution : all) names += (names.empty() ? "" : ", ") + distribution.name;
  require(false, "find_sketch_distribution", "one of " + names, {{"distribution", name}});
  return all.front();
}

template const std::vector<SketchDistribution<float>>& sketch_distributions();
template const std::vector<SketchDistribution<double>>& sketch_distributions();
template const SketchDistribution<float>& find_sketch_distribution(std::string_view);
template const SketchDistribution<double>& find_sketch_distribution(std::string_view);

}  // namespace croquis
