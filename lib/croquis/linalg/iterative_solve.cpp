#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/iterative_solve.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/transpose.hpp>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace croquis {
namespace {

constexpr arma::uword kPart = 64;  // columns, as in product_symmetric

template <typename T>
arma::Mat<T> columns_of(arma::Mat<T>& m, arma::uword first, arma::uword count) {
  return arma::Mat<T>(m.colptr(first), m.n_rows, count, false, true);
}

// Rows 0 ... rows - 1 of some columns of M = [W X]: what one task computes. In a symmetric W the rows above the
// diagonal block are mirrored, and the rows below it come from other tasks.
struct ColumnPart {
  arma::uword first, count, rows;
  bool mirrored = false;
};

// All of M, in an order in which two halves of the tasks are about the same work.
std::vector<ColumnPart> parts_of(arma::uword d, arma::uword c, bool symmetric) {
  std::vector<ColumnPart> parts;
  const auto cut = [&](arma::uword from, arma::uword columns, arma::uword blocks, arma::uword begin, arma::uword end) {
    for (arma::uword b = begin; b < end; ++b) {
      const arma::uword first = b * columns / blocks, count = (b + 1) * columns / blocks - first;
      if (count > 0) parts.push_back({from + first, count, d, false});
    }
  };
  if (!symmetric) {
    const arma::uword blocks = 2 * blocks_of(d + c, 2 * kPart);
    cut(0, d + c, blocks, 0, blocks);
    return parts;
  }
  const arma::uword of_x = 2 * blocks_of(c, 2 * kPart), of_w = blocks_of(d, kPart);
  cut(d, c, of_x, 0, of_x / 2);
  for (arma::uword i = 0; i < of_w; ++i) {  // long and short ones in turns
    const arma::uword first = (i % 2 == 0 ? of_w - 1 - i / 2 : i / 2) * kPart, end = std::min(d, first + kPart);
    parts.push_back({first, end - first, end, true});
  }
  cut(d, c, of_x, of_x / 2, of_x);
  return parts;
}

template <typename T>
arma::Mat<T> last_column(const arma::Mat<T>& m) {
  return m.tail_cols(1);
}

// Where X has many columns, Z itself is as cheap.
bool by_inverse(double d, double c) {
  return 2 * c > d;
}

// C + A_r B for the first rows A_r of A, as many as C has; A is symmetric where these are not all.
template <typename T>
void add_rows(arma::Mat<T>& a, const arma::Mat<T>& b, arma::Mat<T>& c) {
  if (c.n_rows == a.n_rows) return add_product(a, 0, b, c);
  add_product_tn(columns_of(a, 0, c.n_rows), 0, b, c);
}

// The steps for M = [W X], d x (d + c).
template <typename T>
class JointIteration {
 public:
  JointIteration(const arma::Mat<T>& w, const arma::Mat<T>& x, bool symmetric)
      : m_(arma::join_rows(w, x)),
        wm_(arma::size(m_), arma::fill::none),
        next_(arma::size(m_), arma::fill::none),
        parts_(parts_of(w.n_rows, x.n_cols, symmetric)) {}

  // M <- (13 M - 15 W M + W^2 (7 M - W M)) / 4. A part is with the same thread in both loops. Returns the new
  // ||I - W||_F.
  double step() {
    arma::Mat<T> w = this->w(), square = columns_of(wm_, 0, m_.n_rows);
    for_parts([&](const ColumnPart& part, double&) {
      arma::Mat<T> wm(part.rows, part.count, arma::fill::zeros);
      add_rows(w, columns_of(m_, part.first, part.count), wm);
      put(wm, part, wm_);
    });
    const double squares = for_parts([&](const ColumnPart& part, double& sum) {
      const arma::Mat<T> m = columns_of(m_, part.first, part.count), wm = columns_of(wm_, part.first, part.count);
      arma::Mat<T> next = T(3.25) * m.head_rows(part.rows) - T(3.75) * wm.head_rows(part.rows);
      add_rows(square, arma::Mat<T>(T(1.75) * m - T(0.25) * wm), next);
      make_symmetric(next, part);
      put(next, part, next_);
      sum = residual_of(next, part);
    });
    m_.swap(next_);
    return std::sqrt(squares);
  }

  arma::Mat<T> w() { return columns_of(m_, 0, m_.n_rows); }  // in place
  arma::Mat<T> x() const { return m_.tail_cols(m_.n_cols - m_.n_rows); }

 private:
  // body(part, sum) for all parts, each with a sum of its own that is zero; returns the sum of these in their order.
  template <typename Body>
  double for_parts(const Body& body) const {
    std::vector<double> sums(parts_.size());
    parallel_for(parts_.size(), 2 * m_.n_rows * m_.n_elem / parts_.size(),
                 [&](std::size_t i) { body(parts_[i], sums[i]); });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  // W is read by rows and by columns: in blocks on the diagonal, whose halves are not mirrored, a difference between
  // them by rounding would become five times as large in each step.
  static void make_symmetric(arma::Mat<T>& rows, const ColumnPart& part) {
    if (!part.mirrored) return;
    for (arma::uword c = 0; c < part.count; ++c) {
      for (arma::uword r = c + 1; r < part.count; ++r) rows(part.first + r, c) = rows(part.first + c, r);
    }
  }

  static void put(const arma::Mat<T>& rows, const ColumnPart& part, arma::Mat<T>& into) {
    into.submat(0, part.first, arma::size(rows)) = rows;
    if (part.mirrored && part.first > 0)
      transpose_block(rows.memptr(), rows.n_rows, part.first, part.count, into.colptr(0) + part.first, into.n_rows);
  }

  // The squares of I - W in a part, each as often as its entry stands in W.
  double residual_of(const arma::Mat<T>& rows, const ColumnPart& part) const {
    double sum = 0;
    for (arma::uword c = 0; c < rows.n_cols && part.first + c < m_.n_rows; ++c) {
      const arma::Col<T> above = rows.col(c).head(part.first);
      arma::Col<T> rest = rows.col(c).tail(rows.n_rows - part.first);
      rest[c] -= T(1);
      sum += (part.mirrored ? 2 : 1) * static_cast<double>(arma::dot(above, above)) +
             static_cast<double>(arma::dot(rest, rest));
    }
    return sum;
  }

  arma::Mat<T> m_, wm_, next_;
  std::vector<ColumnPart> parts_;
};

}  // namespace

template <typename T>
IterativeSolution<T> iterative_solve(const arma::Mat<T>& n, const arma::Mat<T>& x, const InverseIteration& options) {
  const arma::uword d = n.n_rows;
  require(x.n_rows == d, "iterative_solve", "an X with as many rows as N", {{"N.rows", d}, {"X.rows", x.n_rows}});
  if (by_inverse(static_cast<double>(d), static_cast<double>(x.n_cols)) || !n.is_square() || n.is_empty()) {
    const IterativeInverse<T> z = iterative_inverse(n, options);
    arma::Mat<T> solution = product(z.inverse, x);
    arma::Mat<T> rounding;
    if (!x.is_empty()) {
      const arma::Mat<T> start = inverse_start(n, options.start), before = product(start, last_column(x));
      rounding = product(z.inverse, product(n, before)) - product(start, product(n, last_column(solution)));
    }
    return {std::move(solution), arma::Col<T>(rounding), z.residual, z.iterations};
  }
  require(options.iterations >= 0, "iterative_solve", "iterations >= 0", {{"iterations", options.iterations}});
  const arma::Mat<T> start = inverse_start(n, options.start);
  const arma::Mat<T> w = options.symmetric ? product_symmetric(n, start) : product(n, start);
  JointIteration<T> joint(w, x, options.symmetric);
  IterativeSolution<T> result{{}, {}, static_cast<double>(frobenius_norm<T>(arma::eye<arma::Mat<T>>(d, d) - w)), 0};
  if (!std::isfinite(result.residual))
    throw std::runtime_error("iterative_solve: the entries are not finite, or their products are not");
  while (result.iterations < options.iterations && result.residual > 0) {
    const double before = result.residual;
    result.residual = joint.step();
    require_no_growth("iterative_solve", ++result.iterations, before, result.residual, options);
  }
  const arma::Mat<T> stepped = joint.x();
  result.solution = product(start, stepped);
  if (!x.is_empty()) {
    const arma::Mat<T> apart = product(joint.w(), last_column(x)) - product(w, last_column(stepped));
    result.rounding = arma::Col<T>(product(start, apart));
  }
  return result;
}

double iterative_solve_flops(double d, double c, const InverseIteration& options) {
  const double share = options.symmetric ? std::min(1.0, (d + kPart) / (2 * d)) : 1, steps = options.iterations;
  if (by_inverse(d, c)) return 8 * steps * d * d * d + 2 * d * d * c;
  return (4 * steps + 2) * d * d * (share * d + c);
}

template IterativeSolution<float> iterative_solve(const arma::Mat<float>&, const arma::Mat<float>&,
                                                  const InverseIteration&);
template IterativeSolution<double> iterative_solve(const arma::Mat<double>&, const arma::Mat<double>&,
                                                   const InverseIteration&);

}  // namespace croquis
