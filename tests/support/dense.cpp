#include "support/dense.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

Dense identity(arma::uword n) {
  Dense a(n, n);
  for (arma::uword i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}

Dense transposed(const Dense& a) {
  Dense b(a.cols, a.rows);
  for (arma::uword i = 0; i < a.rows; ++i) {
    for (arma::uword j = 0; j < a.cols; ++j) b(j, i) = a(i, j);
  }
  return b;
}

Dense operator*(const Dense& a, const Dense& b) {
  if (a.cols != b.rows) throw std::logic_error("the reference multiplies matrices whose sizes do not fit");
  Dense c(a.rows, b.cols);
  for (arma::uword i = 0; i < a.rows; ++i) {
    for (arma::uword k = 0; k < a.cols; ++k) {
      for (arma::uword j = 0; j < b.cols; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

Dense operator+(const Dense& a, const Dense& b) {
  Dense c = a;
  for (std::size_t i = 0; i < c.entries.size(); ++i) c.entries[i] += b.entries[i];
  return c;
}

Dense operator*(long double factor, const Dense& a) {
  Dense c = a;
  for (long double& x : c.entries) x *= factor;
  return c;
}

Dense operator-(const Dense& a, const Dense& b) {
  return a + -1.0L * b;
}

Dense inverted(Dense a) {
  const arma::uword n = a.rows;
  Dense b = identity(n);
  for (arma::uword k = 0; k < n; ++k) {
    arma::uword pivot = k;
    for (arma::uword i = k + 1; i < n; ++i) {
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    }
    for (arma::uword j = 0; j < n; ++j) {
      std::swap(a(k, j), a(pivot, j));
      std::swap(b(k, j), b(pivot, j));
    }
    const long double divisor = a(k, k);
    for (arma::uword j = 0; j < n; ++j) {
      a(k, j) /= divisor;
      b(k, j) /= divisor;
    }
    for (arma::uword i = 0; i < n; ++i) {
      if (i == k) continue;
      const long double factor = a(i, k);
      for (arma::uword j = 0; j < n; ++j) {
        a(i, j) -= factor * a(k, j);
        b(i, j) -= factor * b(k, j);
      }
    }
  }
  return b;
}

arma::mat in_double(const Dense& a) {
  arma::mat m(a.rows, a.cols);
  for (arma::uword i = 0; i < a.rows; ++i) {
    for (arma::uword j = 0; j < a.cols; ++j) m(i, j) = static_cast<double>(a(i, j));
  }
  return m;
}

long double frobenius(const Dense& a) {
  long double sum = 0;
  for (const long double x : a.entries) sum += x * x;
  return std::sqrt(sum);
}

void raise(double& most, long double x) {
  most = std::isnan(x) ? std::numeric_limits<double>::infinity() : std::max(most, static_cast<double>(x));
}

namespace {

// The larger one of the two; NaN if either is.
long double larger(long double a, long double b) {
  return std::isnan(b) ? b : std::max(a, b);
}

}  // namespace

long double largest_entry_of(const Dense& a) {
  long double largest = 0;
  for (const long double x : a.entries) largest = larger(largest, std::fabs(x));
  return largest;
}

double largest_row(const Dense& x) {
  long double largest = 0;
  for (arma::uword i = 0; i < x.rows; ++i) {
    long double squared = 0;
    for (arma::uword c = 0; c < x.cols; ++c) squared += x(i, c) * x(i, c);
    largest = larger(largest, squared);
  }
  return static_cast<double>(std::sqrt(largest));
}

double largest_row_sum(const Dense& a) {
  long double largest = 0;
  for (arma::uword i = 0; i < a.rows; ++i) {
    long double sum = 0;
    for (arma::uword j = 0; j < a.cols; ++j) sum += std::fabs(a(i, j));
    largest = larger(largest, sum);
  }
  return static_cast<double>(largest);
}

double distance(const Dense& a, const Dense& b) {
  if (a.rows != b.rows || a.cols != b.cols) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.entries.size(); ++i) raise(largest, std::fabs(a.entries[i] - b.entries[i]));
  return largest;
}
