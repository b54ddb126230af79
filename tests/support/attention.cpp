#include "support/attention.hpp"

#include <cmath>

Dense logits_of(const Dense& q, const Dense& k) {
  Dense s(q.rows, k.rows);
  for (arma::uword i = 0; i < q.rows; ++i) {
    for (arma::uword j = 0; j < k.rows; ++j) {
      for (arma::uword c = 0; c < q.cols; ++c) s(i, j) += q(i, c) * k(j, c);
      s(i, j) /= std::sqrt(static_cast<long double>(q.cols));
    }
  }
  return s;
}

std::vector<long double> log_sums_of(const Dense& logits) {
  std::vector<long double> sums(logits.rows);
  for (arma::uword i = 0; i < logits.rows; ++i) {
    long double top = logits(i, 0), sum = 0;
    for (arma::uword j = 0; j < logits.cols; ++j) top = std::max(top, logits(i, j));
    for (arma::uword j = 0; j < logits.cols; ++j) sum += std::exp(logits(i, j) - top);
    sums[i] = top + std::log(sum);
  }
  return sums;
}

Dense softmax_of(const Dense& logits) {
  const std::vector<long double> log_sums = log_sums_of(logits);
  Dense b(logits.rows, logits.cols);
  for (arma::uword i = 0; i < b.rows; ++i) {
    for (arma::uword j = 0; j < b.cols; ++j) b(i, j) = std::exp(logits(i, j) - log_sums[i]);
  }
  return b;
}

Dense gaussian_of(const Dense& x, const Dense& y) {
  Dense kernel(x.rows, y.rows);
  for (arma::uword i = 0; i < x.rows; ++i) {
    for (arma::uword j = 0; j < y.rows; ++j) {
      long double squared = 0;
      for (arma::uword c = 0; c < x.cols; ++c) squared += (x(i, c) - y(j, c)) * (x(i, c) - y(j, c));
      kernel(i, j) = std::exp(-squared / 2);
    }
  }
  return kernel;
}

Dense scores_of(const Dense& q, const Dense& k, croquis::Target target) {
  if (target == croquis::Target::softmax) return softmax_of(logits_of(q, k));
  const long double scale = std::pow(static_cast<long double>(q.cols), -0.25L);
  return gaussian_of(scale * q, scale * k);
}

Dense rows_of(const Dense& a, const arma::uvec& indices) {
  Dense b(indices.n_elem, a.cols);
  for (arma::uword i = 0; i < b.rows; ++i) {
    for (arma::uword j = 0; j < b.cols; ++j) b(i, j) = a(indices(i), j);
  }
  return b;
}
