#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/sketch/accumulative.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/sketch/importance_sampling.hpp>
#include <croquis/sketch/laws.hpp>
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
std::vector<SketchLaw<T>> all_laws() {
  return {
      {"gaussian",
       "Skeinformer Def. 3.2",
       "independent N(0, 1/d) entries",
       {},
       false,
       [](const SketchDescription& s, const Stream& stream) { return GaussianSketch(s.rows, s.cols, stream); }},
      {"rademacher",
       "Achlioptas 2003",
       "independent +-1/sqrt(d)",
       {},
       false,
       [](const SketchDescription& s, const Stream& stream) { return RademacherSketch(s.rows, s.cols, stream); }},
      {"uniform",
       "Skeinformer Def. 3.1",
       "sqrt(n/d) e_i, i uniform",
       {{"replacement", "0 or 1", "1", "1: with replacement; 0: d <= n different indices",
         [](arma::uword, arma::uword) {
           return ParameterLimits{0, 1, 1};
         }}},
       false,
       [](const SketchDescription& s, const Stream& stream) {
         return UniformSampling(s.rows, s.cols, stream,
                                count(s, "replacement") == 1 ? Replacement::with : Replacement::without);
       }},
      {"importance",
       "Skeinformer Def. 3.1",
       "e_i/sqrt(d p_i), i ~ p from n weights",
       {},
       true,
       [](const SketchDescription& s, const Stream& stream) {
         return ImportanceSampling(arma::vec(s.weights), s.cols, stream);
       }},
      {"srht",
       "Ailon & Chazelle 2009",
       "signs, Hadamard transform, d of its n' rows; d <= n', the next power of two",
       {},
       false,
       [](const SketchDescription& s, const Stream& stream) { return SrhtSketch(s.rows, s.cols, stream); }},
      {"srct",
       "Avron et al. 2010",
       "signs, cosine transform, d of its n rows; d <= n",
       {},
       false,
       [](const SketchDescription& s, const Stream& stream) { return SrctSketch(s.rows, s.cols, stream); }},
      {"countsketch",
       "Charikar et al. 2002",
       "one +-1 a row",
       {},
       false,
       [](const SketchDescription& s, const Stream& stream) { return SjltSketch(s.rows, s.cols, 1, stream); }},
      {"sjlt",
       "Kane & Nelson 2014",
       "s entries +-1/sqrt(s) a row, at different columns",
       {{"s", "1 ... d", "min(8, d)", "nonzeros a row",
         [](arma::uword, arma::uword d) {
           const auto most = static_cast<double>(d);
           return ParameterLimits{1, most, std::min(8.0, most)};
         }}},
       false,
       [](const SketchDescription& s, const Stream& stream) {
         return SjltSketch(s.rows, s.cols, count(s, "s"), stream);
       }},
      {"sparse-stack",
       "Camano et al. 2025",
       "zeta CountSketches of d/zeta columns side by side, over sqrt(zeta)",
       {{"zeta", "1 ... d, divides d", "min(4, d)", "nonzeros a row",
         [](arma::uword, arma::uword d) {
           const auto most = static_cast<double>(d);
           return ParameterLimits{1, most, std::min(4.0, most)};
         }}},
       false,
       [](const SketchDescription& s, const Stream& stream) {
         return SparseStack(s.rows, s.cols, count(s, "zeta"), stream);
       }},
      {"very-sparse",
       "Li, Hastie & Church 2006",
       "independent sqrt(q/d) {+1, 0, -1} with probabilities 1/2q, 1 - 1/q, 1/2q",
       {{"q", ">= 1", "sqrt(n)", "one entry in q is not zero",
         [](arma::uword n, arma::uword) {
           return ParameterLimits{1, kMostSparsity, std::sqrt(static_cast<double>(n)), false};
         }}},
       false,
       [](const SketchDescription& s, const Stream& stream) {
         return VerySparseSketch(s.rows, s.cols, s.parameters.at("q"), stream);
       }},
      {"accumulative",
       "Chen & Yang 2021",
       "sum of m signed uniform samplings, over sqrt(m)",
       {{"m", "1 ... 10^6", "4", "addends",
         [](arma::uword, arma::uword) {
           return ParameterLimits{1, kMostAddends, 4};
         }}},
       false,
       [](const SketchDescription& s, const Stream& stream) {
         return AccumulativeSketch(s.rows, s.cols, count(s, "m"), stream);
       }},
  };
}

}  // namespace

template <typename T>
const std::vector<SketchLaw<T>>& sketch_laws() {
  static const std::vector<SketchLaw<T>> all = all_laws<T>();
  return all;
}

template <typename T>
const SketchLaw<T>& find_sketch_law(std::string_view name) {
  const std::vector<SketchLaw<T>>& all = sketch_laws<T>();
  const auto found = std::find_if(all.begin(), all.end(), [&](const SketchLaw<T>& law) { return law.name == name; });
  if (found != all.end()) return *found;
  std::string names;
  for (const SketchLaw<T>& law : all) names += (names.empty() ? "" : ", ") + law.name;
  require(false, "find_sketch_law", "one of " + names, {{"law", name}});
  return all.front();
}

template const std::vector<SketchLaw<float>>& sketch_laws();
template const std::vector<SketchLaw<double>>& sketch_laws();
template const SketchLaw<float>& find_sketch_law(std::string_view);
template const SketchLaw<double>& find_sketch_law(std::string_view);

}  // namespace croquis
