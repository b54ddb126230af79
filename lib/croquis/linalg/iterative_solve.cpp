#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/iterative_solve.hpp>
#include <croquis/linalg/products.hpp>
#include <stdexcept>

namespace croquis {
namespace {

template <typename T>
arma::Mat<T> columns_of(arma::Mat<T>& m, arma::uword first, arma::uword count) {
  return arma::Mat<T>(m.colptr(first), m.n_rows, count, false, true);
}

// body(first, count) for blocks of columns: an even number of blocks, as wide to within one, which two threads share
// evenly.
template <typename Body>
void by_blocks(arma::uword columns, std::size_t work, const Body& body) {
  const arma::uword blocks = std::min(columns, 2 * blocks_of<arma::uword>(columns, 128));
  parallel_for(blocks, work / blocks, [&](std::size_t b) {
    const arma::uword first = b * columns / blocks;
    body(first, (b + 1) * columns / blocks - first);
  });
}

// Where X has many columns, and for half products, Z itself is as cheap.
bool by_inverse(double d, double c, const InverseIteration& options) {
  return 2 * c > d || options.symmetric;
}

// M = [W X], d x (d + c), and room for what a step computes.
template <typename T>
struct Joint {
  arma::Mat<T> m, wm, next;
};

// The sum of (I - W)_ij^2 over some columns of M.
template <typename T>
double residual_of(arma::Mat<T>& m, arma::uword first, arma::uword count) {
  double sum = 0;
  for (arma::uword j = first; j < std::min(first + count, m.n_rows); ++j) {
    arma::Col<T> column(m.colptr(j), m.n_rows, false, true);
    const T diagonal = column[j];
    column[j] -= T(1);
    sum += static_cast<double>(arma::dot(column, column));
    column[j] = diagonal;
  }
  return sum;
}

// M <- (13 M - 15 W M + W^2 (7 M - W M)) / 4. A block of columns is with the same thread in both loops. Returns the new
// ||I - W||_F.
template <typename T>
double step(Joint<T>& joint) {
  const arma::uword d = joint.m.n_rows, all = joint.m.n_cols;
  const std::size_t work = 2 * d * d * all;
  const arma::Mat<T> w = columns_of(joint.m, 0, d), square = columns_of(joint.wm, 0, d);
  by_blocks(all, work, [&](arma::uword first, arma::uword count) {
    arma::Mat<T> wm = columns_of(joint.wm, first, count);
    wm.zeros();
    add_product(w, 0, columns_of(joint.m, first, count), wm);
  });
  arma::vec squares(all, arma::fill::zeros);
  by_blocks(all, work, [&](arma::uword first, arma::uword count) {
    const arma::Mat<T> m = columns_of(joint.m, first, count), wm = columns_of(joint.wm, first, count);
    arma::Mat<T> next = columns_of(joint.next, first, count);
    next = T(3.25) * m - T(3.75) * wm;
    add_product(square, 0, arma::Mat<T>(T(1.75) * m - T(0.25) * wm), next);
    squares[first] = residual_of(joint.next, first, count);
  });
  joint.m.swap(joint.next);
  return std::sqrt(arma::accu(squares));
}

}  // namespace

template <typename T>
IterativeSolution<T> iterative_solve(const arma::Mat<T>& n, const arma::Mat<T>& x, const InverseIteration& options) {
  const arma::uword d = n.n_rows;
  require(x.n_rows == d, "iterative_solve", "an X with as many rows as N", {{"N.rows", d}, {"X.rows", x.n_rows}});
  if (by_inverse(static_cast<double>(d), static_cast<double>(x.n_cols), options) || !n.is_square()) {
    const IterativeInverse<T> z = iterative_inverse(n, options);
    return {product(z.inverse, x), z.residual, z.iterations};
  }
  require(options.iterations >= 0 && options.tolerance >= 0, "iterative_solve", "iterations >= 0, tolerance >= 0",
          {{"iterations", options.iterations}, {"tolerance", options.tolerance}});
  const arma::Mat<T> start = inverse_start(n, options.start);
  Joint<T> joint{arma::join_rows(product(n, start), x), {}, {}};
  joint.wm.set_size(arma::size(joint.m));
  joint.next.set_size(arma::size(joint.m));
  IterativeSolution<T> result{{}, std::sqrt(residual_of(joint.m, 0, d)), 0};
  while (result.iterations < options.iterations && result.residual > options.tolerance) {
    result.residual = step(joint);
    ++result.iterations;
    if (!std::isfinite(result.residual))
      throw std::runtime_error("iterative_solve: diverged; the start does not suit the matrix");
  }
  result.solution = product<T>(start, joint.m.tail_cols(x.n_cols));
  return result;
}

double iterative_solve_flops(double d, double c, const InverseIteration& options) {
  if (by_inverse(d, c, options)) return (options.symmetric ? 4 : 8) * options.iterations * d * d * d + 2 * d * d * c;
  return (4 * options.iterations + 2) * d * d * (d + c);
}

template IterativeSolution<float> iterative_solve(const arma::Mat<float>&, const arma::Mat<float>&,
                                                  const InverseIteration&);
template IterativeSolution<double> iterative_solve(const arma::Mat<double>&, const arma::Mat<double>&,
                                                   const InverseIteration&);

}  // namespace croquis
