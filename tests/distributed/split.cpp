// Heads divided over ranks: every test runs on all ranks of the program, which mpirun starts two or three of.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/distributed/split_methods.hpp>
#include <croquis/distributed/split_scores.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/sketch/rademacher.hpp>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr double u = std::numeric_limits<double>::epsilon() / 2;

Communicator& world() {
  return Communicator::world();
}

arma::mat normals(arma::uword rows, arma::uword cols, const char* purpose) {
  arma::mat m(rows, cols);
  fill_normal(Key(3).child(purpose), 0, m.n_elem, m.memptr());
  return m;
}

OptionValues options(std::map<std::string, std::string> values) {
  return OptionValues(std::move(values));
}

// The whole of a head on every rank, and this rank's part of it.
struct Whole {
  Problem<double> problem;
  SplitHead own;

  Whole(arma::uword n, arma::uword p, arma::uword p_v)
      : Whole(Problem<double>(normals(n, p, "q"), 1.5 * normals(n, p, "k"), normals(n, p_v, "v"))) {}

  explicit Whole(Problem<double> problem_) : problem(std::move(problem_)) {
    const arma::uword n = problem.n();
    const RowRange range = rows_of_rank(n, world().rank(), world().size());
    const auto part = [&](const arma::mat& m) -> arma::mat {
      return m.rows(range.first, range.first + range.count - 1);
    };
    own = {part(problem.Q()), part(problem.K()), part(problem.V()), range.first, n};
  }

  // A matrix of all tokens from the parts of the ranks.
  arma::mat gathered(const arma::mat& part) const {
    return gather_rows(part, own.first, arma::regspace<arma::uvec>(0, own.n - 1), world());
  }
};

// A row of exact attention and its log row sum, as they are defined.
struct ExactRow {
  std::vector<long double> output, absolute;  // sum_j a_ij v_j and sum_j a_ij |v_j|; of softmax over the row sum
  long double log_sum = 0;
};

ExactRow exact_row(const Problem<double>& problem, bool softmax, arma::uword i) {
  const Dense q = problem.Q(), k = problem.K(), v = problem.V();
  std::vector<long double> scores(k.rows, 0);
  for (arma::uword j = 0; j < k.rows; ++j) {
    for (arma::uword c = 0; c < q.cols; ++c) {
      const long double difference = q(i, c) - k(j, c);
      scores[j] += softmax ? q(i, c) * k(j, c) : -difference * difference / 2;
    }
    scores[j] /= std::sqrt(static_cast<long double>(q.cols));
  }
  const long double top = *std::max_element(scores.begin(), scores.end());
  long double sum = 0;
  for (const long double score : scores) sum += std::exp(score - top);
  ExactRow row{std::vector<long double>(v.cols, 0), std::vector<long double>(v.cols, 0), top + std::log(sum)};
  for (arma::uword j = 0; j < k.rows; ++j) {
    const long double entry = softmax ? std::exp(scores[j] - top) / sum : std::exp(scores[j]);
    for (arma::uword c = 0; c < v.cols; ++c) {
      row.output[c] += entry * v(j, c);
      row.absolute[c] += entry * std::abs(v(j, c));
    }
  }
  return row;
}

}  // namespace

TEST_CASE("rows_of_rank: consecutive parts of all rows, none more than a row longer than another") {
  for (const arma::uword n : {1, 2, 7, 8, 100}) {
    for (const int size : {1, 2, 3, 7}) {
      arma::uword next = 0, least = n, most = 0;
      for (int rank = 0; rank < size; ++rank) {
        const RowRange range = rows_of_rank(n, rank, size);
        CHECK(range.first == next);
        next += range.count;
        least = std::min(least, range.count);
        most = std::max(most, range.count);
      }
      CHECK(next == n);
      CHECK(most - least <= 1);
    }
  }
}

TEST_CASE("communicator: sum, maximum, broadcast and gathered rows") {
  const int size = world().size(), rank = world().rank();
  arma::mat x(2, 3);
  x.fill(rank + 1);
  world().sum(x);
  CHECK(x(1, 2) == size * (size + 1) / 2);
  x.fill(rank);
  world().maximum(x);
  CHECK(x(0, 0) == size - 1);
  x.fill(rank == size - 1 ? 7 : 0);
  world().broadcast(x, size - 1);
  CHECK(x(1, 1) == 7);
  std::string text = rank == 0 ? std::string(100000, 'x') : "";
  world().broadcast(text);
  CHECK(text.size() == 100000);

  const Whole whole(37, 3, 2);
  const arma::uvec rows = {36, 0, 18, 18, 5};
  CHECK(arma::approx_equal(gather_rows(whole.own.q, whole.own.first, rows, world()),
                           arma::mat(whole.problem.Q().rows(rows)), "absdiff", 0.0));
}

TEST_CASE("read_split_head: the rows of this rank have the bits of the file") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("croquis-split-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const arma::mat q = normals(23, 4, "q"), k = normals(23, 4, "k"), v = normals(23, 3, "v");
  write_npy(file("q.npy"), q);
  write_npy(file("k.npy"), k);
  write_npy(file("v.npy"), v);
  const SplitHead head = read_split_head(file("q.npy"), file("k.npy"), file("v.npy"), world());
  CHECK(head.n == 23);
  CHECK(head.own() < 23);
  const arma::uword last = head.first + head.own() - 1;
  CHECK(arma::approx_equal(head.q, q.rows(head.first, last), "absdiff", 0.0));
  CHECK(arma::approx_equal(head.v, v.rows(head.first, last), "absdiff", 0.0));
  CHECK_THROWS_WITH_AS(read_split_head(file("q.npy"), file("v.npy"), file("v.npy"), world()),
                       doctest::Contains("K.cols = 3"), std::invalid_argument);
  arma::mat bad = q;
  bad(22, 1) = arma::datum::nan;  // of the last rank
  write_npy(file("q.npy"), bad);
  const auto read = [&] { read_split_head(file("q.npy"), file("k.npy"), file("v.npy"), world()); };
  if (world().rank() == world().size() - 1) {
    CHECK_THROWS_WITH_AS(read(), doctest::Contains("NaN or Inf in row 22"), std::invalid_argument);
  } else {
    CHECK_NOTHROW(read());
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("split_left: rows of S have the bits of the whole S, and S^T M is that of one rank to rounding") {
  const arma::uword n = 3001, d = 17;
  const Whole whole(n, 5, 4);
  const auto check = [&](const auto& sketch) {
    const arma::mat dense = sketch.template dense<double>();
    const arma::mat rows = sketch.template rows_of<double>(whole.own.first, whole.own.own());
    CHECK(arma::approx_equal(rows, dense.rows(whole.own.first, whole.own.first + whole.own.own() - 1), "absdiff", 0.0));
    const arma::mat product = split_left(sketch, whole.own.v, whole.own.first, world());
    const arma::mat bound = 2 * static_cast<double>(n) * u * (arma::abs(dense).t() * arma::abs(whole.problem.V()));
    CHECK(arma::all(arma::vectorise(arma::abs(product - dense.t() * whole.problem.V()) <= bound)));
  };
  check(GaussianSketch(n, d, Key(5)));
  check(RademacherSketch(n, d, Key(6)));
}

// How far split_exact_rows may be off where the scores of softmax are exact. Those of kernelized are off by
// `in_exponent`: relatively, for entries of C.
void check_exact_rows(const Whole& whole, Target target, double in_exponent) {
  const auto n = static_cast<double>(whole.own.n), ranks = static_cast<double>(world().size());
  const bool softmax = target == Target::softmax;
  const arma::uvec rows = arma::join_cols(arma::regspace<arma::uvec>(whole.own.n - 1, -1, 0), arma::uvec{7, 7});
  const auto split = split_exact_rows(whole.own, target, rows, world());
  REQUIRE(arma::size(split.output) == arma::SizeMat(rows.n_elem, whole.problem.p_v()));
  for (arma::uword r = 0; r < rows.n_elem; ++r) {
    const ExactRow exact = exact_row(whole.problem, softmax, rows(r));
    const double size = static_cast<double>(std::abs(exact.log_sum)), log_n = std::log(n);
    // exact_attention: entries to 4 u and the exponent's error, numerator and row sum of n terms, a division; a
    // logarithm to 4 u, which is added to the largest score.
    const double entry = 4 * u + in_exponent, own = softmax ? entry + (2 * n + 4) * u : entry + (n + 1) * u;
    const double own_log = entry + (n + 4 * log_n + size) * u;
    for (arma::uword c = 0; c < split.output.n_cols; ++c) {
      const double added = softmax ? (4 * ranks + 8) * u : (ranks - 1) * u;
      const double scale = softmax ? arma::abs(whole.problem.V()).max() : static_cast<double>(exact.absolute[c]);
      CHECK(std::abs(split.output(r, c) - exact.output[c]) <= 1.001 * (own + added) * scale);
    }
    const double added_log = (2 * size + 4 * log_n + 4 * ranks + 4) * u;
    CHECK(std::abs(split.log_row_sums(r) - exact.log_sum) <= 1.001 * (own_log + added_log));
  }
}

TEST_CASE("split_exact_rows: the exact rows, more of them than a rank has keys, in any order") {
  // Multiples of 1/8, p = 16: q.k / 4 is exact, and so are q and k over the fourth root of p.
  const auto eighths = [](arma::uword cols, const char* purpose) -> arma::mat {
    return arma::round(8 * normals(101, cols, purpose)) / 8;
  };
  arma::mat q = eighths(16, "q"), k = 1.5 * eighths(16, "k");
  const arma::mat v = normals(101, 4, "v");
  check_exact_rows(Whole(Problem<double>(q, k, v)), Target::softmax, 0);
  q.col(0).fill(64);
  for (const double score : {1000., -1000.}) {  // and some more or less
    k.col(0).fill(score / 16);
    check_exact_rows(Whole(Problem<double>(q, k, v)), Target::softmax, 0);
  }
  // Kernelized scores are of points moved by their mean: with rows of norm at most l over the fourth root of p, of 2 l
  // then, -||q - k||^2 / 2 is off by less than (p + 8) u (2 l + 2 l)^2 = 384 u l^2.
  q = eighths(16, "q") / 16;
  k = eighths(16, "k") / 16;
  const double l = std::max(largest_row(q), largest_row(k)) / 2;
  check_exact_rows(Whole(Problem<double>(q, k, v)), Target::kernelized, 384 * u * l * l);
}

TEST_CASE(
    "split_exact_rows and SplitScores: equal keys count by their number on a rank, however large their scores are") {
  const Whole whole(Problem<double>(arma::mat(101, 1, arma::fill::value(0x1p40)),
                                    arma::mat(101, 1, arma::fill::value(0x1p40)), normals(101, 2, "v")));
  const arma::mat output = split_exact_rows(whole.own, Target::softmax, {0, 50}, world()).output;
  const arma::rowvec mean = arma::mean(whole.problem.V(), 0);
  for (const arma::uword row : {0, 1}) CHECK(arma::abs(output.row(row) - mean).max() <= 1e-13);
  // B^T 1 is 1 for equal queries and keys.
  const SplitScores scores(whole.own, Target::softmax, world());
  const arma::mat ones(whole.own.k.n_rows, 1, arma::fill::ones);
  CHECK(arma::abs(scores.apply_transposed(ones) - ones).max() <= 1e-13);
}

TEST_CASE("require_split_head, split_exact_rows and SplitScores: all ranks refuse what is wrong on one") {
  const Whole whole(37, 4, 2);
  const int last = world().size() - 1;
  const auto check = [&](const auto& spoil, const std::string& says) {
    CAPTURE(says);
    SplitHead head = whole.own;
    if (world().rank() == last) spoil(head);
    const std::string expected = world().rank() == last ? says : fmt::format("wrong on rank = {}", last);
    CHECK(contains(refusal([&] { require_split_head(head, world()); }), expected));
    CHECK(contains(refusal([&] { split_exact_rows(head, Target::softmax, {0}, world()); }), expected));
    CHECK(contains(refusal([&] { SplitScores(head, Target::softmax, world()); }), expected));
  };
  const auto nothing = [](SplitHead& head) {
    for (arma::mat* m : {&head.q, &head.k, &head.v}) m->set_size(0, m->n_cols);
  };
  check(nothing, "Q.rows = 0");
  check([](SplitHead& head) { head.k.shed_row(0); }, "a row or more on every rank");
  check([](SplitHead& head) { head.v.shed_row(0); }, "a row or more on every rank");
  check([](SplitHead& head) { head.q.shed_col(0); }, "Q.cols = 3");
  check([](SplitHead& head) { ++head.first; }, "below n");
  check([](SplitHead& head) { head.v.tail_rows(1).fill(arma::datum::nan); }, "matrix = V, row = 36");
  check([](SplitHead& head) { head.k(0, 1) = arma::datum::inf; }, fmt::format("matrix = K, row = {}", whole.own.first));
  check([](SplitHead& head) { head.q.tail_rows(1).fill(1e153); }, "matrix = Q, row = 36");
  SplitHead wide = whole.own;
  if (world().rank() == last) wide.v = arma::join_rows(wide.v, wide.v);
  CHECK(contains(refusal([&] { require_split_head(wide, world()); }), "alike on all ranks"));
  CHECK_NOTHROW(require_split_head(whole.own, world()));
}

TEST_CASE("require_split_head: a row that is on no rank or on two is refused on all ranks, and parts go in any order") {
  const Whole whole(37, 4, 2);
  const int rank = world().rank(), last = world().size() - 1;
  const auto part = [&](arma::uword first, arma::uword end) -> SplitHead {
    const auto of = [&](const arma::mat& m) -> arma::mat { return m.rows(first, end - 1); };
    return {of(whole.problem.Q()), of(whole.problem.K()), of(whole.problem.V()), first, 37};
  };
  const auto message = [&](const SplitHead& head) { return refusal([&] { require_split_head(head, world()); }); };
  const arma::uword first = whole.own.first, end = first + whole.own.own();
  CHECK(contains(message(rank == last ? part(first, end - 1) : whole.own), "rows = 36, n = 37"));  // none has the last
  CHECK(contains(message(rank == 0 ? part(1, end) : whole.own), "rows before = 0, a part begins at = 1"));
  SplitHead longer = whole.own;
  longer.n = 38;
  CHECK(contains(message(longer), "rows = 37, n = 38"));
  if (last > 0) {
    CHECK(contains(message(rank == 0 ? part(0, end + 1) : whole.own), "every row on one rank"));  // row `end` twice
    CHECK(contains(message(rank == 0 ? part(0, end - 1) : whole.own), "every row on one rank"));
    CHECK(contains(message(rank == last ? part(0, end - first) : whole.own), "every row on one rank"));
  }
  const RowRange mirrored = rows_of_rank(37, last - rank, last + 1);
  Whole reversed = whole;
  reversed.own = part(mirrored.first, mirrored.first + mirrored.count);
  CHECK_NOTHROW(require_split_head(reversed.own, world()));
  // A score, of 4 products and a factor 1/2, is off by 4 u |q||k| / 2, and by |q||k| u once the largest is subtracted;
  // this is in the numerator and in the row sum.
  const double score = 6 * u * largest_row(whole.problem.Q()) * largest_row(whole.problem.K());
  check_exact_rows(reversed, Target::softmax, score);
}

TEST_CASE("SplitScores: products with B, C and their transposes, and their norm") {
  const Whole whole(90, 5, 3);
  const arma::mat& x = whole.problem.V();
  for (const Target target : {Target::softmax, Target::kernelized}) {
    const LinearOperator<double> exact = exact_scores(whole.problem, target);
    const SplitScores split(whole.own, target, world());
    const double bound = 500 * u * 90 * arma::abs(x).max();
    CHECK(distance(whole.gathered(split.apply(whole.own.v)), exact.apply(x)) <= bound);
    CHECK(distance(whole.gathered(split.apply_transposed(whole.own.v)), exact.apply_transposed(x)) <= bound);
    // On every rank alike, so that none waits.
    const arma::mat fewer = whole.own.v.head_rows(whole.own.own() - 1);
    CHECK(contains(refusal([&] { split.apply(fewer); }), "an X with as many rows"));
    CHECK(contains(refusal([&] { split.apply_transposed(fewer); }), "an X with as many rows"));
    const double norm = arma::norm(exact.dense(), 2);
    const double value = split_spectral_norm({[&](const arma::mat& m) { return split.apply(m); },
                                              [&](const arma::mat& m) { return split.apply_transposed(m); }},
                                             {whole.own.first, whole.own.own()}, Key(2), 60, world());
    CHECK(value <= norm * (1 + 1e-12));
    CHECK(value >=
          norm * 0.95);  // missed with probability 0.824 sqrt(90) 0.9025^58.5 = 0.02 at most; the seed is fixed
  }
}

TEST_CASE("split_spectral_norm: a step from the normals of the whole, wherever the ranks divide them") {
  const Whole whole(90, 5, 3);
  const SplitScores split(whole.own, Target::softmax, world());
  arma::vec start(90);
  fill_normal(Key(2), 0, 90, start.memptr());
  const double one = split_spectral_norm({[&](const arma::mat& m) { return split.apply(m); },
                                          [&](const arma::mat& m) { return split.apply_transposed(m); }},
                                         {whole.own.first, whole.own.own()}, Key(2), 1, world());
  const arma::mat b = exact_scores(whole.problem, Target::softmax).dense();
  CHECK(one == doctest::Approx(arma::norm(b * start) / arma::norm(start)).epsilon(1e-12));
}

TEST_CASE("split methods: the output and denominators of the method of that name, on the same draws") {
  const Whole whole(203, 6, 4);
  const Key draw_key = Key(9).child("draw");
  struct Case {
    std::string name;
    OptionValues chosen;
    double tolerance;  // a core of Gaussian kernels is ill-conditioned: its cut-off leaves 1e-8 at worst
  };
  for (const Case& c : {Case{"v-mean", {}, 1e-13}, Case{"linformer", {}, 1e-10}, Case{"skyformer", {}, 1e-8},
                        Case{"skyformer-softmax", {}, 1e-7}, Case{"performer", {}, 1e-11},
                        Case{"performer", options({{"map", "trf"}, {"projection", "iid"}}), 1e-8},
                        Case{"performer", options({{"epsilon", "0.0001"}}), 1e-10},
                        Case{"performer", options({{"map", "hyperbolic"}}), 1e-11}}) {
    CAPTURE(c.name);
    const auto exact = prepare(find_method<double>(c.name), whole.problem, c.chosen).approximate(24, draw_key);
    const auto split = split_method(c.name, c.chosen)(whole.own, 24, draw_key, world());
    const arma::mat output = whole.gathered(split.output);
    CHECK(distance(output, exact.output) <= c.tolerance * (1 + arma::abs(exact.output).max()));
    CHECK(split.denominators.has_value() == exact.denominators.has_value());
    if (!split.denominators) continue;
    const arma::mat sums = whole.gathered(split.denominators->values % arma::exp(split.denominators->log_scale));
    const arma::vec expected = exact.denominators->values % arma::exp(exact.denominators->log_scale);
    CHECK(distance(sums, expected) <= c.tolerance * arma::abs(expected).max());
  }
  CHECK_THROWS_WITH_AS(split_method("informer", {}), doctest::Contains("not divided by rows"), std::invalid_argument);
  CHECK_THROWS_AS(split_method("skyformer", options({{"ridge", "1"}})), std::invalid_argument);
  CHECK_THROWS_AS(split_method("performer", options({{"map", "oprf"}})), std::invalid_argument);
  CHECK_THROWS_AS(split_method("performer", options({{"preset", "code"}})), std::invalid_argument);
}

TEST_CASE("split methods: keys of one rank far larger than those of the others overflow nothing") {
  Whole whole(60, 4, 2);
  arma::mat k = whole.problem.K();
  k.head_rows(5) *= 25;
  const Problem<double> problem(whole.problem.Q(), k, whole.problem.V());
  SplitHead own = whole.own;
  own.k = k.rows(own.first, own.first + own.own() - 1);
  const auto exact = prepare(find_method<double>("performer"), problem).approximate(16, Key(4));
  const auto split = split_method("performer", {})(own, 16, Key(4), world());
  CHECK(distance(whole.gathered(split.output), exact.output) <= 1e-9);
}
