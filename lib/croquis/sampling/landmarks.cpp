#include <croquis/core/choices.hpp>
#include <croquis/core/require.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <croquis/sampling/rp_cholesky.hpp>
#include <utility>

namespace croquis {

const std::vector<std::string>& landmark_policy_names() {
  static const std::vector<std::string> names = {"uniform",   "stratified", "leverage",
                                                 "recursive", "rpcholesky", "given"};  // in the order of the enum
  return names;
}

LandmarkPolicy landmark_policy(const std::string& name) {
  return static_cast<LandmarkPolicy>(index_of_name(name, landmark_policy_names(), "landmarks", "landmarks"));
}

double landmark_flops(LandmarkPolicy policy, double n, double p, double d) {
  const double entry = 2 * p + 1;
  switch (policy) {
    case LandmarkPolicy::leverage:
      return n * n * (9 * n + entry);
    case LandmarkPolicy::recursive_leverage:
      // Levels of n, n / 2, ... points, each with a sample of about d / 2.
      return n * d * (entry + d / 2);
    case LandmarkPolicy::rp_cholesky:
      return n * d * (entry + d);
    default:
      return 0;
  }
}

template <typename T>
LandmarkSampler<T>::LandmarkSampler(KernelMatrix<T> matrix, LandmarkPolicy policy, arma::uvec list,
                                    std::optional<arma::uword> first_stratum)
    : matrix_(std::move(matrix)),
      policy_(policy),
      list_(std::move(list)),
      first_stratum_(first_stratum.value_or(matrix_.n / 2)) {
  if (policy == LandmarkPolicy::leverage) leverage_ = std::make_shared<const RidgeLeverage<T>>(matrix_);
  if (policy == LandmarkPolicy::given) {
    require(!list_.is_empty(), "landmarks",
            "given takes a list of indices (option indices=FILE.npy), here there is none");
  } else {
    require(list_.is_empty(), "landmarks", "a list of indices goes with given alone",
            {{"landmarks", std::string_view(landmark_policy_names()[static_cast<std::size_t>(policy)])}});
  }
}

template <typename T>
arma::uvec LandmarkSampler<T>::draw(arma::uword d, const Key& draw_key) const {
  const arma::uword n = matrix_.n;
  require(d >= 1 && d <= n, "landmarks", "1 <= d <= number of points", {{"d", d}, {"points", n}});
  switch (policy_) {
    case LandmarkPolicy::uniform:
      return sample_with_replacement(n, d, draw_key);
    case LandmarkPolicy::stratified: {
      const arma::uword first = first_stratum_, from_first = d / 2;
      require(first >= 1 && first < n, "landmarks", "stratified: at least two points, one at least in each stratum",
              {{"points", n}, {"first stratum", first}});
      return arma::join_cols(sample_with_replacement(first, from_first, draw_key.child("queries")),
                             sample_with_replacement(n - first, d - from_first, draw_key.child("keys")) + first);
    }
    case LandmarkPolicy::leverage:
      return sample_weighted(leverage_->scores(leverage_->ridge_for(leverage_rank(d))), d, draw_key);
    case LandmarkPolicy::recursive_leverage:
      return recursive_leverage_sample(matrix_, d, draw_key);
    case LandmarkPolicy::rp_cholesky:
      return rp_cholesky(matrix_, d, draw_key).pivots;
    case LandmarkPolicy::given:
      require(d <= list_.n_elem, "landmarks", "given: as many indices as d at least",
              {{"d", d}, {"indices", list_.n_elem}});
      require(list_.max() < n, "landmarks", "given: indices below the number of points to choose from",
              {{"largest", list_.max()}, {"points", n}});
      return list_.head(d);
  }
  return {};
}

template class LandmarkSampler<float>;
template class LandmarkSampler<double>;

}  // namespace croquis
