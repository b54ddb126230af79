// Preset code of nystromformer: the start of the iteration, and exact attention for d = n.
#include <croquis/attention/nystromformer.hpp>

#include "support/approximations.hpp"

using namespace croquis;
using Inverse = NystromformerOptions::Inverse;

namespace {

Dense code_means_of(const Dense& x, arma::uword d) {
  Dense means(d, x.cols);
  arma::uword token = 0;
  for (arma::uword s = 0; s < d; ++s) {
    const arma::uword length = x.rows / d + (s < x.rows % d ? 1 : 0);
    for (arma::uword i = 0; i < length; ++i, ++token) {
      for (arma::uword c = 0; c < x.cols; ++c) means(s, c) += x(token, c) / static_cast<long double>(length);
    }
  }
  return means;
}

// Six steps from A^T / scale.
Dense iterated(const Dense& a, bool code) {
  long double column = 0, row = largest_row_sum(a);
  for (arma::uword j = 0; j < a.cols; ++j) {
    long double sum = 0;
    for (arma::uword i = 0; i < a.rows; ++i) sum += a(i, j);
    column = std::max(column, sum);
  }
  Dense z = 1 / (column * (code ? 1 : row)) * transposed(a);
  const Dense one = identity(a.rows);
  for (int t = 0; t < 6; ++t) {
    const Dense az = a * z;
    z = 0.25L * (z * (13.0L * one - az * (15.0L * one - az * (7.0L * one - az))));
  }
  return z;
}

}  // namespace

TEST_CASE_TEMPLATE("nystromformer: F Z G of segment means in every entry, both starts, any n", T, float, double) {
  const Key draw_key = Key(test_seed()).child("formula");
  for (const arma::uword n : {24U, 29U}) {
    for (const arma::uword d : {1U, 4U, 8U}) {
      const Problem<T> problem = awkward_problem<T>(n, 5, 3, 2, draw_key);
      const Dense q = code_means_of(problem.Q(), d), k = code_means_of(problem.K(), d);
      const Dense f = softmax_of(logits_of(problem.Q(), k)), g = softmax_of(logits_of(q, problem.K())),
                  a = softmax_of(logits_of(q, k));
      for (const bool code : {false, true}) {
        const Dense z = iterated(a, code);
        const Approximation<T> approximation =
            nystromformer(problem, d, draw_key, code ? NystromformerOptions::code() : NystromformerOptions());
        // F, A and G are off by e, entries at most 1; a step multiplies what A and Z are off by 13/4 at most while a
        // direction grows, so that six make 1,200 of it, times the size of Z between F and G.
        const double size = std::max(1.0, largest_row_sum(z)), e = entry_error(problem);
        check_scores(approximation, problem, f * z * g, 1200 * static_cast<double>(d) * size * e);
      }
    }
  }
}

TEST_CASE_TEMPLATE(
    "nystromformer: preset code is exact for d = n; the exact inverse is too, where A is well conditioned", T, float,
    double) {
  const Problem<T> problem = random_problem<T>(16, 6, 3, 4, Key(3));
  const Dense b = scores_of(problem.Q(), problem.K(), Target::softmax);
  check_scores(nystromformer(problem, 16, Key(1), NystromformerOptions::code()), problem, b, entry_error(problem));
  // ||B^+|| <= ||B^-1||_F; A is off by e in 16 x 16 entries on both sides of it.
  const double inverse = static_cast<double>(frobenius(inverted(b)));
  NystromformerOptions exact;
  exact.inverse = Inverse::pinv;
  const Approximation<T> pinv = nystromformer(problem, 16, Key(1), exact);
  CHECK(pinv.diagnostics.rank == 16);
  CHECK(distance(pinv.scores->dense(), b) <=
        4 * 16 * inverse * static_cast<double>(frobenius(b)) * (entry_error(problem) + 16 * unit<T>()));
}

TEST_CASE("nystromformer: options start and preset are those of the record") {
  const Problem<double> problem = random_problem<double>(30, 6, 3, 3, Key(test_seed()).child("preset"));
  const auto run = [&](std::map<std::string, std::string> options) {
    return method_on(problem, "nystromformer", std::move(options)).approximate(7, Key(3)).output;
  };
  CHECK(identical(run({}), nystromformer(problem, 7, Key(3)).output));
  CHECK(identical(run({{"preset", "code"}}), nystromformer(problem, 7, Key(3), NystromformerOptions::code()).output));
  CHECK(identical(run({{"preset", "code"}}), run({{"start", "one"}})));
  CHECK(identical(run({{"preset", "code"}, {"start", "both"}}), run({})));
}
