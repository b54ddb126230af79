// Work that is counted, in a plain implementation of each method, against what the method declares and against
// Skeinformer Table 5: leading terms, multiply-adds counted once, p = p_v. Methods that sample columns are in
// flops_of_columns.cpp, and those with factorisations and transforms in flops_of_factors.cpp.
#include <croquis/attention/bigbird.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/features/projections.hpp>
#include <croquis/random/draws.hpp>

#include "support/counted_work.hpp"

using namespace croquis;

namespace {

Dense means_of(const Dense& x) {  // of kFeatures segments; additions, no multiply-adds
  const arma::uword length = x.rows / kFeatures;
  Dense means(kFeatures, x.cols);
  for (arma::uword i = 0; i < x.rows; ++i) {
    for (arma::uword c = 0; c < x.cols; ++c) means(i / length, c) += x(i, c) / static_cast<long double>(length);
  }
  return means;
}

}  // namespace

TEST_CASE("flops: softmax attention takes 2 n^2 p") {
  const Problem<double> problem = random_problem<double>(200, kWidth, kWidth, 2, Key(4));
  Counter work;
  const Dense output = work.product(work.attention_weights(problem.Q(), problem.K()), problem.V());
  CHECK(distance(exact_attention(problem, Target::softmax).output, output) <= 1e-12);
  CHECK(work.multiply_adds == 2.0 * 200 * 200 * kWidth);
}

TEST_CASE("flops: Linformer takes 4 n d p") {
  const Problem<double> problem = problem_for_counting();
  const Key draw_key(1);
  const auto projection = [&](const char* name) -> Dense {
    arma::mat s(kCountedTokens, kFeatures);
    for (arma::uword j = 0; j < kFeatures; ++j) {
      fill_normal(draw_key.child(name).child(j), 0, kCountedTokens, s.colptr(j));
    }
    return 1 / std::sqrt(static_cast<long double>(kFeatures)) * transposed(Dense(s));
  };
  Counter work;
  const Dense weights = work.attention_weights(problem.Q(), work.product(projection("E"), problem.K()));
  check_work(work, work.product(weights, work.product(projection("F"), problem.V())), "linformer", {}, draw_key, 4,
             1e-9);
}

TEST_CASE("flops: Nystromformer takes 4 n d p") {
  const Problem<double> problem = problem_for_counting();
  Counter work;
  const Dense q = means_of(problem.Q()), k = means_of(problem.K());
  const Dense f = work.attention_weights(problem.Q(), k), a = work.attention_weights(q, k),
              g = work.attention_weights(q, problem.K());
  long double column = 0;
  for (arma::uword j = 0; j < a.cols; ++j) {
    long double sum = 0;
    for (arma::uword i = 0; i < a.rows; ++i) sum += a(i, j);
    column = std::max(column, sum);
  }
  Dense z = 1 / (column * static_cast<long double>(largest_row_sum(a))) * transposed(a);
  const Dense one = identity(kFeatures);
  for (int t = 0; t < 6; ++t) {
    const Dense az = work.product(a, z);
    z = 0.25L * work.product(z, 13.0L * one - work.product(az, 15.0L * one - work.product(az, 7.0L * one - az)));
  }
  const Dense output = work.product(f, work.product(z, work.product(g, problem.V())));
  // 6 x 4 d^3 are 6 % of 4 n d p at this size.
  check_work(work, output, "nystromformer", {}, Key(1), 4, 0.01);
}

TEST_CASE("flops: Informer takes 3 n d p") {
  const Problem<double> problem = problem_for_counting();
  const Key draw_key(1);
  Counter work;
  std::vector<std::pair<long double, arma::uword>> measure;
  for (arma::uword i = 0; i < kCountedTokens; ++i) {
    std::vector<std::uint64_t> words(kFeatures);
    fill_words(draw_key.child("keys").child(i), 0, kFeatures, words.data());
    arma::uvec keys(kFeatures);
    for (arma::uword s = 0; s < kFeatures; ++s) keys(s) = place_of(words[s], kCountedTokens);
    const Dense scores = work.product(rows_of(problem.Q(), arma::uvec{i}), transposed(rows_of(problem.K(), keys)));
    long double top = scores(0, 0), sum = 0;
    for (const long double x : scores.entries) {
      top = std::max(top, x);
      sum += x;
    }
    measure.emplace_back(sum / kFeatures - top, i);
  }
  std::sort(measure.begin(), measure.end());
  arma::uvec top(kFeatures);
  for (arma::uword i = 0; i < kFeatures; ++i) top(i) = measure[i].second;
  const Dense exact = work.product(work.attention_weights(rows_of(problem.Q(), top), problem.K()), problem.V());
  Dense output(kCountedTokens, kWidth);
  for (arma::uword c = 0; c < kWidth; ++c) {
    long double mean = 0;
    for (arma::uword j = 0; j < kCountedTokens; ++j)
      mean += static_cast<long double>(problem.V()(j, c)) / kCountedTokens;
    for (arma::uword i = 0; i < kCountedTokens; ++i) output(i, c) = mean;
    for (arma::uword i = 0; i < kFeatures; ++i) output(top(i), c) = exact(i, c);
  }
  check_work(work, output, "informer", {}, draw_key, 3, 1e-9);
}

TEST_CASE("flops: Performer takes 4 n d p: features of Q and of K, phi(K)^T V and phi(Q) times it") {
  // Skeinformer Table 5 has 3 n d p for it.
  const Problem<double> problem = problem_for_counting();
  const Key draw_key(1);
  const Dense w =
      Projection<double>(ProjectionDistribution::haar, kFeatures, kWidth, draw_key.child("features")).dense();
  Counter work;
  const auto features = [&](const Dense& rows) {
    const Dense x = std::pow(static_cast<long double>(kWidth), -0.25L) * rows;
    Dense phi = work.product(x, transposed(w));
    for (arma::uword i = 0; i < x.rows; ++i) {
      long double height = 0;
      for (arma::uword c = 0; c < x.cols; ++c) height += x(i, c) * x(i, c) / 2;
      for (arma::uword r = 0; r < phi.cols; ++r) phi(i, r) = std::exp(phi(i, r) - height);
    }
    work.exponentials += static_cast<double>(phi.entries.size());
    return phi;
  };
  const arma::mat ones(kCountedTokens, 1, arma::fill::ones);
  const Dense sums = work.product(transposed(features(problem.K())), Dense(arma::join_rows(problem.V(), ones)));
  const Dense quotient = work.product(features(problem.Q()), sums);
  Dense output(kCountedTokens, kWidth);
  for (arma::uword i = 0; i < kCountedTokens; ++i) {
    for (arma::uword c = 0; c < kWidth; ++c) output(i, c) = quotient(i, c) / quotient(i, kWidth);
  }
  check_work(work, output, "performer", {}, draw_key, 4, 1e-9);
}

TEST_CASE("flops: BigBird takes 5 n d p where it visits 2.5 d keys a query, as in Skeinformer Sec. 6.2") {
  // Their blocks: 2 global, 3 window and 3 random ones, of a quarter of d = 16 tokens; 40 keys a query on average.
  const Problem<double> problem = problem_for_counting();
  const Approximation<double> approximation = bigbird(problem, 40, Key(1), {.block = 4});
  double visits = 0;
  for (const double b : approximation.scores->dense()) visits += b != 0 ? 1 : 0;
  const double multiply_adds = 2 * visits * kWidth;  // a product with a key and one with a value each
  CHECK(visits <= 40.0 * kCountedTokens);
  CHECK(visits / (40.0 * kCountedTokens) == doctest::Approx(1).epsilon(0.03));  // windows end at the ends
  CHECK(multiply_adds / kUnitOfWork == doctest::Approx(5).epsilon(0.03));
  CHECK(method_on(problem, "bigbird", {{"block", "4"}}).flops(40) ==
        doctest::Approx(2 * multiply_adds + visits).epsilon(0.03));
}

TEST_CASE("flops: longformer and reformer declare what they visit") {
  const Problem<double> problem = problem_for_counting();
  for (const char* name : {"longformer", "reformer"}) {
    const bool hashed = std::string(name) == "reformer";
    const PreparedMethod<double> method =
        hashed ? method_on(problem, name, {{"across", "yes"}}) : method_on(problem, name);
    double visits = 0;
    for (const double b : method.approximate(40, Key(1)).scores->dense()) visits += b != 0 ? 1 : 0;
    const double attention = visits * (4.0 * kWidth + 1);
    // Reformer hashes too, n p (n r / d) twice for two rounds, and visits fewer keys where rounds overlap.
    const double hashes = hashed ? 2.0 * kCountedTokens * kWidth * kCountedTokens * 4 / 40 : 0;
    CHECK(method.flops(40) >= attention + hashes);
    CHECK(method.flops(40) <= 1.3 * attention + hashes);
  }
}

TEST_CASE("flops: wildcat takes 4 n d p, n d p for the kernel of the pivots and n d^2 / 2 for their factor") {
  const Problem<double> problem = problem_for_counting();
  const PreparedMethod<double> method = method_on(problem, "wildcat");
  constexpr double n = kCountedTokens, d = kFeatures, p = kWidth;
  double multiply_adds = 0, exponentials = 0;
  for (arma::uword j = 0; j < kFeatures; ++j) {  // a column of the kernel, less the columns before it
    multiply_adds += n * p + n * static_cast<double>(j);
    exponentials += n;
  }
  multiply_adds += d * n * (p + 1) + d * (d + 1) / 2 * (p + 1);  // F^T [V 1], the triangle
  multiply_adds += n * d * p + n * d * (p + 1);                  // logits and values of the queries
  exponentials += n * d;
  CHECK(method.approximate(kFeatures, Key(1)).diagnostics.rank == kFeatures);
  CHECK(method.flops(d) == doctest::Approx(2 * multiply_adds + exponentials).epsilon(0.01));
}

TEST_CASE("flops: hyperattention, kdeformer and clustered declare what they visit") {
  const Problem<double> problem = problem_for_counting();
  constexpr double n = kCountedTokens, pair = 4.0 * kWidth + 1, hash = 2 * 7 * kWidth * 2 * n;
  for (const char* name : {"hyperattention", "kdeformer"}) {
    const PreparedMethod<double> method = method_on(problem, name, {{"preset", "code"}});
    double visits = 0;
    for (const double b : method.approximate(40, Key(1)).scores->dense()) visits += b != 0 ? 1 : 0;
    // Keys that are sampled twice, or in the query's block, are one entry of the matrix: few of 40 of 768.
    CHECK(visits <= 40 * n);
    CHECK(visits >= 0.95 * 40 * n);
    // kdeformer's norm of (V, 1): its Gram matrix, and the eigenvalues of that.
    const double c = kWidth + 1, norm = std::string(name) == "kdeformer" ? n * c * c + 4 * c * c * c / 3 : 0;
    CHECK(method.flops(40) == doctest::Approx(40 * n * pair + hash + norm).epsilon(1e-9));
  }
  const double clusters = 2 * n * (kWidth + 1) * 63 + 2 * n * 16 * 11 + n * 63 * 10;
  CHECK(method_on(problem, "clustered").flops(16) == doctest::Approx(16 * n * pair + clusters));
  const PreparedMethod<double> improved = method_on(problem, "improved-clustered");
  CHECK(improved.flops(16) == doctest::Approx((16 + 32) * n * pair + clusters));
  // More keys than there are count as all.
  const PreparedMethod<double> all = method_on(problem, "improved-clustered", {{"top", "1000000"}});
  CHECK(all.flops(16) == doctest::Approx((16 + n) * n * pair + clusters));
}
