#include <algorithm>
#include <cmath>
#include <croquis/attention/bigbird.hpp>
#include <croquis/attention/linformer.hpp>
#include <croquis/claims/skeinformer/counted_methods.hpp>
#include <croquis/claims/unit.hpp>
#include <croquis/features/projections.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/nystrom/segment_means.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <numeric>

namespace croquis::claims {
namespace {

class Counter {
 public:
  double multiply_adds = 0;

  arma::mat product(const arma::mat& a, const arma::mat& b) {
    multiply_adds += static_cast<double>(a.n_rows) * static_cast<double>(a.n_cols) * static_cast<double>(b.n_cols);
    return a * b;
  }
  arma::mat scores(const arma::mat& q, const arma::mat& k) {
    return product(q, k.t()) / std::sqrt(static_cast<double>(q.n_cols));
  }
  arma::mat softmax(const arma::mat& q, const arma::mat& k) {
    arma::mat s = scores(q, k);
    s.each_col() -= arma::max(s, 1);
    s = arma::exp(s);
    s.each_col() /= arma::sum(s, 1);
    return s;
  }
};

double longest_row(const arma::mat& x) {
  return std::sqrt(arma::max(arma::sum(arma::square(x), 1)));
}

// A weight exp(s) / sum has the absolute error of s, (p + 2) u |q| |k| / sqrt(p), as its relative error, and again from
// the row sum; sums over n keys add n u. Twice that, for the two computations that are compared.
double softmax_rounding(const arma::mat& q, const arma::mat& k, const arma::mat& v) {
  const auto p = static_cast<double>(q.n_cols), n = static_cast<double>(std::max(q.n_rows, k.n_rows));
  return 4 * kUnit * ((p + 2) * longest_row(q) * longest_row(k) / std::sqrt(p) + n + 8) * longest_row(v);
}

}  // namespace

CountedOutput counted_exact(const Problem<double>& problem) {
  Counter work;
  const arma::mat output = work.product(work.softmax(problem.Q(), problem.K()), problem.V());
  return {output, work.multiply_adds, softmax_rounding(problem.Q(), problem.K(), problem.V())};
}

CountedOutput counted_linformer(const Problem<double>& problem, arma::uword d, const Key& draw_key) {
  const auto projection = [&](const char* name) {
    return linformer_projection<double>({}, problem.n(), d, draw_key.child(name)).dense();
  };
  Counter work;
  const arma::mat e = projection("E"), f = projection("F");
  const arma::mat keys = work.product(e, problem.K()), values = work.product(f, problem.V());
  const arma::mat output = work.product(work.softmax(problem.Q(), keys), values);
  // Entries of E K have the rounding of |E| |K|, and those of F V of |F| |V|.
  const arma::mat all_keys = arma::abs(e) * arma::abs(problem.K()), all_values = arma::abs(f) * arma::abs(problem.V());
  const auto n = static_cast<double>(problem.n());
  return {output, work.multiply_adds, (1 + n) * softmax_rounding(problem.Q(), all_keys, all_values)};
}

CountedOutput counted_nystromformer(const Problem<double>& problem, arma::uword d, bool as_written) {
  Counter work;
  const arma::mat q = segment_means(problem.Q(), d), k = segment_means(problem.K(), d);
  const arma::mat f = work.softmax(problem.Q(), k), a = work.softmax(q, k), g = work.softmax(q, problem.K());
  arma::mat z = a.t() / (arma::norm(a, 1) * arma::norm(a, "inf"));
  const arma::mat one = arma::eye(d, d);
  for (int t = 0; t < 6; ++t) {
    const arma::mat az = work.product(a, z);
    z = work.product(z, 13 * one - work.product(az, 15 * one - work.product(az, 7 * one - az))) / 4;
  }
  const arma::mat right = work.product(g, problem.V());
  const arma::mat output =
      as_written ? work.product(work.product(f, z), right) : work.product(f, work.product(z, right));
  // Six steps of products of factors with norms s = ||A||_F ||Z||_F and 1 + s, the error of A entering each.
  const double s = frobenius_norm(a) * frobenius_norm(z);
  const double growth = 6 * 36 * std::pow(1 + s, 4) * frobenius_norm(z);
  return {output, work.multiply_adds,
          static_cast<double>(d) * growth * softmax_rounding(problem.Q(), problem.K(), problem.V())};
}

CountedOutput counted_informer(const Problem<double>& problem, arma::uword d, const Key& draw_key) {
  const arma::uword n = problem.n();
  Counter work;
  std::vector<double> measure(n);
  for (arma::uword i = 0; i < n; ++i) {
    std::vector<std::uint64_t> words(d);
    fill_words(draw_key.child("keys").child(i), 0, d, words.data());
    arma::uvec keys(d);
    for (arma::uword s = 0; s < d; ++s) keys(s) = place_of(words[s], n);
    const arma::mat scores = work.product(problem.Q().row(i), arma::mat(problem.K().rows(keys)).t());
    measure[i] = scores.max() - arma::mean(arma::vectorise(scores));
  }
  std::vector<arma::uword> order(n);
  std::iota(order.begin(), order.end(), arma::uword{0});
  std::stable_sort(order.begin(), order.end(), [&](arma::uword a, arma::uword b) { return measure[a] > measure[b]; });
  order.resize(d);
  const arma::uvec top(order);
  arma::mat output = arma::repmat(arma::mean(problem.V(), 0), n, 1);
  output.rows(top) = work.product(work.softmax(problem.Q().rows(top), problem.K()), problem.V());
  return {output, work.multiply_adds, softmax_rounding(problem.Q(), problem.K(), problem.V())};
}

CountedOutput counted_performer(const Problem<double>& problem, arma::uword d, FeatureMap map, const Key& draw_key) {
  const bool pairs = map == FeatureMap::trf;
  const arma::uword directions = pairs ? d / 2 : d;
  const arma::mat w =
      Projection<double>(ProjectionDistribution::haar, directions, problem.p(), draw_key.child("features")).dense();
  Counter work;
  double largest = 0;
  const auto features_of = [&](const arma::mat& points) {
    const arma::mat x = points / std::pow(static_cast<double>(problem.p()), 0.25);
    const arma::mat u = work.product(x, w.t());
    const arma::vec heights = arma::sum(arma::square(x), 1) / 2;
    largest = std::max({largest, longest_row(x) * longest_row(w), heights.max()});
    arma::mat features = arma::exp(u);
    if (pairs) features = arma::join_rows(arma::sin(u), arma::cos(u));
    features.each_col() %= arma::exp(pairs ? heights : arma::vec(-heights));
    return features;
  };
  const arma::mat queries = features_of(problem.Q()), keys = features_of(problem.K());
  const arma::vec sums = queries * arma::sum(keys, 0).t();  // n d, a lower term
  arma::mat output = work.product(queries, work.product(keys.t(), problem.V()));
  output.each_col() /= sums;
  // Relative errors of features (of size, for sines) times what the sums cancel.
  const arma::vec sizes = arma::abs(queries) * arma::sum(arma::abs(keys), 0).t();
  const auto p = static_cast<double>(problem.p()), n = static_cast<double>(problem.n());
  const double cancelled = arma::max(sizes / arma::abs(sums));
  return {
      output, work.multiply_adds,
      8 * kUnit * ((p + 2) * largest + n + static_cast<double>(d)) * std::pow(cancelled, 2) * longest_row(problem.V())};
}

CountedOutput counted_skeinformer(const Problem<double>& problem, arma::uword d, bool exact_norms,
                                  const Key& draw_key) {
  const arma::uword n = problem.n();
  Counter work;
  const arma::uvec rows = sample_with_replacement(n, d, draw_key.child("pilot"));
  const arma::mat pilot = work.softmax(problem.Q().rows(rows), problem.K());
  const arma::mat seen = exact_norms ? work.softmax(problem.Q(), problem.K()) : pilot;
  const arma::vec weights = arma::sqrt(arma::sum(arma::square(seen), 0).t() % arma::sum(arma::square(problem.V()), 1));
  const arma::uvec columns = sample_weighted_without_replacement(weights, d, draw_key.child("columns"));
  arma::mat logits = work.scores(problem.Q(), problem.K().rows(columns));
  logits.each_col() -= arma::max(logits, 1);  // which divides `scores` and `others` of a row by the same number
  const arma::mat scores = arma::exp(logits);
  const arma::vec others = arma::exp(arma::mean(logits, 1));  // the geometric mean
  const arma::rowvec rest = arma::sum(problem.V(), 0) - arma::sum(problem.V().rows(columns), 0);
  arma::mat output = work.product(scores, problem.V().rows(columns)) + others * rest;  // n p, a lower term
  output.each_col() /= arma::sum(scores, 1) + static_cast<double>(n - d) * others;
  output.rows(rows) = work.product(pilot, problem.V());
  // The sum over the columns left out is a difference of sums: n roundings more of all values.
  return {output, work.multiply_adds, static_cast<double>(n) * softmax_rounding(problem.Q(), problem.K(), problem.V())};
}

CountedOutput counted_bigbird(const Problem<double>& problem, arma::uword d, arma::uword block, const Key& draw_key) {
  const auto approximation = bigbird(problem, d, draw_key, {.block = block});
  const arma::mat b = approximation.scores->dense();
  const auto visits = static_cast<double>(arma::accu(b != 0));
  return {b * problem.V(), visits * static_cast<double>(problem.p() + problem.p_v()),
          softmax_rounding(problem.Q(), problem.K(), problem.V())};
}

}  // namespace croquis::claims
