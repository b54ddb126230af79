// The adjoints of exact attention and of all methods that have one: against differences of the forward pass, in float
// against double, for any number of threads, and on inputs that are not generic.
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/nystromformer.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/attention/skyformer.hpp>

#include "support/adjoints.hpp"
#include "support/approximations.hpp"
#include "support/capture.hpp"
#include "support/methods.hpp"
#include "support/relative.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr Target kTargets[] = {Target::softmax, Target::kernelized, Target::normalized, Target::softmax_rpe,
                               Target::normalized_rpe};

Problem<double> problem_of(arma::uword n_q, arma::uword n_k, RelativePosition<double> position, const Key& key) {
  return random_rectangle<double>(n_q, n_k, 4, 3, 2.5, key, std::move(position));
}

}  // namespace

TEST_CASE("adjoints: exact attention of every target, with bias, mask, image and other numbers of queries") {
  const Key key = Key(41);
  for (const Target target : kTargets) {
    CAPTURE(std::string(name_of(target)));
    const Forward forward = [&](const Problem<double>& p) { return exact_attention(p, target).output; };
    const auto check = [&](const Problem<double>& problem) {
      check_against_differences(problem, forward, exact_adjoint(problem, target), key.child("directions"));
    };
    check(problem_of(30, 30, {}, key));
    check(problem_of(20, 33, random_position<double>(33, 1, true, 1, key.child("bias")), key));
    check(problem_of(24, 24, random_position<double>(24, 4, false, 1, key.child("image")), key));
    check(problem_of(33, 20, random_position<double>(33, 1, false, 1, key.child("wide"), false), key));
    check(problem_of(1, 1, {}, key));
  }
}

TEST_CASE("adjoints: exact attention over several blocks and groups of them") {
  const Key key = Key(42);
  for (const Target target : {Target::softmax_rpe, Target::kernelized}) {
    CAPTURE(std::string(name_of(target)));
    // Several blocks of both; more blocks of columns, and more quads of blocks of rows, than there are groups.
    for (const TokenAlignment shape : {TokenAlignment{1200, 1100}, {700, 1100}, {30, 4700}, {2400, 40}}) {
      const RelativePosition<double> position =
          random_position<double>(shape.n(), 1, shape.n_q <= shape.n_k, 0.5, key.child("bias"), false);
      const Problem<double> problem = problem_of(shape.n_q, shape.n_k, position, key);
      check_against_differences(
          problem, [&](const Problem<double>& p) { return exact_attention(p, target).output; },
          exact_adjoint(problem, target), key.child("directions"));
    }
  }
}

TEST_CASE("adjoints: attention by features over several blocks of tokens and groups of them") {
  const Key key = Key(44);
  for (const TokenAlignment shape : {TokenAlignment{300, 2400}, {2400, 300}}) {
    const Problem<double> problem = problem_of(shape.n_q, shape.n_k, {}, key);
    const auto attend = [&](const Problem<double>& p) { return performer(p, 8, key.child("draw")); };
    check_against_differences(
        problem, [&](const Problem<double>& p) { return attend(p).output; }, attend(problem).adjoint,
        key.child("directions"));
  }
}

TEST_CASE("adjoints: every method that has one, against differences of its output with the same draw") {
  const Key key = Key(43);
  for (const Case<double>& c : all_cases<double>()) {
    CAPTURE(c.text);
    if (!c.method->adjoint(c.options)) {
      CHECK_FALSE(run(c, random_problem<double>(24, 4, 3, 1.5, key), 8).adjoint);
      continue;
    }
    for (const TokenAlignment shape : {TokenAlignment{24, 24}, {13, 29}, {29, 13}}) {
      if (shape.n_q != shape.n_k && !c.method->rectangular(c.options)) continue;
      CAPTURE(shape.n_q);
      for (const bool causal : {false, true}) {
        if (causal && (!c.method->causal || shape.n_q > shape.n_k)) continue;
        CAPTURE(causal);
        RelativePosition<double> position;
        if (has_position(c.method->target)) {
          position = random_position<double>(shape.n(), 1, causal, 0.5, key.child("bias"));
          if (shape.n_q > shape.n_k) position.bias.replace(-std::numeric_limits<double>::infinity(), 0.0);
        }
        position.causal = causal;
        const Problem<double> problem = problem_of(shape.n_q, shape.n_k, position, key);
        check_against_differences(
            problem, [&](const Problem<double>& p) { return run(c, p, 8, key.child("draw")).output; },
            run(c, problem, 8, key.child("draw")).adjoint, key.child("directions"));
      }
    }
  }
}

TEST_CASE("adjoints: a key far away, or all tokens, take no digits from derivatives of the kernelized target") {
  // All are multiples of 2^-10 and at most 2^42, so that those moved are exact too. The key that is far away has the
  // weight 0 wherever it is. So derivatives differ by rounding alone: of 13 points of norm about 2, by less than 1e4 u,
  // and by the pseudo-inverse of a core, with an offset in its diagonal, times at most 1 / .1 twice.
  const Key key = Key(55);
  const auto points = [&](const char* name) -> arma::mat {
    return arma::round(1024 * random_matrix(12, 6, key.child(name))) / 1024;
  };
  const arma::mat q = points("q"), k = points("k"), v = random_matrix(12, 3, key.child("v"));
  const arma::mat g = random_matrix(12, 3, key.child("g"));
  SkyformerOptions some;
  some.landmarks = LandmarkPolicy::given;
  some.given = {0, 1, 2, 13, 14};  // key 0, token 12, is not among them
  some.ridge = 0.1;
  const auto derivatives = [&](double far, double offset) {
    arma::mat keys = k + offset;
    keys.row(0).fill(offset + far);
    const Problem<double> problem(q + offset, keys, v);
    return std::vector<Gradient<double>>{exact_adjoint(problem, Target::kernelized)(g),
                                         skyformer(problem, 5, key, some).adjoint(g)};
  };
  const std::vector<Gradient<double>> expected = derivatives(0x1p10, 0);
  for (const auto& [far, offset] : {std::pair{0x1p42, 0.0}, {0x1p10, 0x1p40}, {-0x1p42, 0x1p30}}) {
    CAPTURE_BINDING(far);
    CAPTURE_BINDING(offset);
    const std::vector<Gradient<double>> found = derivatives(far, offset);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      CHECK(arma::norm(found[i].q - expected[i].q, "fro") <= 1e-10 * arma::norm(expected[i].q, "fro"));
      CHECK(arma::norm(found[i].k - expected[i].k, "fro") <= 1e-10 * arma::norm(expected[i].k, "fro"));
    }
  }
}

TEST_CASE("adjoints: where a pseudo-inverse is exact its gradient is that of exact attention, however short the rows") {
  // Cores of small norms have eigenvalues of all sizes down to the cut-off, d u of the largest. A rounding error u that
  // is divided by one of them is at most 1/d; one that is divided by two is of any size.
  constexpr arma::uword n = 20;
  SkyformerOptions all_points;
  all_points.landmarks = LandmarkPolicy::given;
  all_points.given = arma::regspace<arma::uvec>(0, 2 * n - 1);
  NystromformerOptions pinv;
  pinv.inverse = NystromformerOptions::Inverse::pinv;
  for (const arma::uword p : {2, 4}) {
    for (const double norm : {1e-3, 1e-2, 0.1}) {
      CAPTURE(p);
      CAPTURE(norm);
      const Key key = Key(54).child(p);
      const Problem<double> problem(norm * random_matrix(n, p, key.child("q")),
                                    norm * random_matrix(n, p, key.child("k")), random_matrix(n, 2, key.child("v")));
      const arma::mat g = random_matrix(n, 2, key.child("cotangent"));
      const auto check = [&](const Approximation<double>& approximation, Target target) {
        CAPTURE(std::string(name_of(target)));
        const Gradient<double> found = approximation.adjoint(g), exact = exact_adjoint(problem, target)(g);
        CHECK(arma::norm(found.q - exact.q, "fro") <= arma::norm(exact.q, "fro") / (2 * n));
        CHECK(arma::norm(found.k - exact.k, "fro") <= arma::norm(exact.k, "fro") / (2 * n));
        CHECK(arma::norm(found.v - exact.v, "fro") <= 1e-6 * arma::norm(exact.v, "fro"));
      };
      check(skyformer(problem, 2 * n, key, all_points), Target::kernelized);
      check(skyformer_softmax(problem, 2 * n, key, all_points), Target::softmax);
      check(nystromformer(problem, n, key, pinv), Target::softmax);
    }
  }
}

TEST_CASE("adjoints: features with a position over several chunks, in an image, and with some rows computed directly") {
  const Key key = Key(50);
  const auto check = [&](const Problem<double>& problem, const char* product, arma::uword direct_rows) {
    CAPTURE(std::string(product));
    const auto approximate = [&](const Problem<double>& p) {
      return prepare(find_method<double>("nprf-rpe"), p, with("product", product)).approximate(8, key);
    };
    CHECK(approximate(problem).diagnostics.direct_rows == direct_rows);
    check_against_differences(
        problem, [&](const Problem<double>& p) { return approximate(p).output; }, approximate(problem).adjoint,
        key.child("directions"));
  };
  check(problem_of(200, 300, {{}, true, 1}, key), "auto", 0);  // prefix sums
  check(problem_of(24, 24, random_position<double>(24, 4, false, 0.5, key.child("image")), key), "fft", 0);
  // One pair of tokens has nearly all of the bias's weight: sums of rows that do not have it are lost by fft.
  RelativePosition<double> wide = random_position<double>(300, 1, false, 0.5, key.child("bias"), false);
  wide.bias(598) = 45;
  check(problem_of(300, 300, wide, key), "fft", 299);
  check(problem_of(300, 300, wide, key), "direct", 300);
}

TEST_CASE_TEMPLATE("adjoints: balanced features have the derivatives of Q / a and K a that those of Q and K give", T,
                   float, double) {
  const Problem<T> problem = random_problem<T>(40, 8, 3, 1.5, Key(51));
  const arma::Mat<T> g = random_matrix<T>(40, 3, Key(52));
  const auto gradient = [&](const Problem<T>& p) {
    return prepare(find_method<T>("performer"), p, with("map", "saderf")).approximate(16, Key(53)).adjoint(g);
  };
  const Gradient<T> plain = gradient(problem);
  const T a = 0x1p30F;
  const Gradient<T> other = gradient(Problem<T>(problem.Q() / a, problem.K() * a, problem.V()));
  const double tolerance = 1e4 * unit<T>();
  CHECK(arma::norm(other.q / a - plain.q, "fro") <= tolerance * arma::norm(plain.q, "fro"));
  CHECK(arma::norm(other.k * a - plain.k, "fro") <= tolerance * arma::norm(plain.k, "fro"));
}

TEST_CASE("adjoints: float has what double has of the same numbers") {
  const Key key = Key(44);
  const auto check = [&](const Gradient<float>& low, const Gradient<double>& high) {
    // Moderate norms: sums of at most 40 terms, conditions of hundreds.
    const auto gap = [](const auto& a, const auto& b) {
      return arma::norm(arma::conv_to<arma::mat>::from(a) - arma::mat(b), "fro") / (1e-3 + arma::norm(b, "fro"));
    };
    CHECK(gap(low.q, high.q) <= 2e-3);
    CHECK(gap(low.k, high.k) <= 2e-3);
    CHECK(gap(low.v, high.v) <= 2e-3);
  };
  const Problem<float> low = random_problem<float>(40, 8, 3, 1.5, key);
  const Problem<double> high(arma::conv_to<arma::mat>::from(low.Q()), arma::conv_to<arma::mat>::from(low.K()),
                             arma::conv_to<arma::mat>::from(low.V()));
  const arma::fmat cotangent = random_matrix<float>(40, 3, key.child("cotangent"));
  const arma::mat same = arma::conv_to<arma::mat>::from(cotangent);
  for (const Target target : kTargets) {
    CAPTURE(std::string(name_of(target)));
    check(exact_adjoint(low, target)(cotangent), exact_adjoint(high, target)(same));
  }
  int compared = 0;
  const std::vector<Case<float>> cases = all_cases<float>();
  const std::vector<Case<double>> doubles = all_cases<double>();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(cases[i].text);
    REQUIRE(cases[i].method->adjoint(cases[i].options) == doubles[i].method->adjoint(doubles[i].options));
    if (!cases[i].method->adjoint(cases[i].options)) continue;
    const Approximation<float> a = run(cases[i], low, 8);
    const Approximation<double> b = run(doubles[i], high, 8);
    // Sketches have draws of their own in float.
    if (distance(a.output, b.output) > 0.01) continue;
    ++compared;
    check(a.adjoint(cotangent), b.adjoint(same));
  }
  CHECK(compared >= 20);
}

TEST_CASE_TEMPLATE("adjoints: the same bits for any number of threads", T, float, double) {
  const Key key = Key(45);
  const Problem<T> problem = random_problem<T>(700, 8, 5, 1.5, key);
  const arma::Mat<T> cotangent = random_matrix<T>(700, 5, key.child("cotangent"));
  const auto with_threads = [&](int count, const std::function<Gradient<T>()>& make) {
    const ThreadCount threads(count);
    return make();
  };
  const auto check = [&](const std::function<Gradient<T>()>& make) {
    const Gradient<T> one = with_threads(1, make), three = with_threads(3, make);
    CHECK(identical(one.q, three.q));
    CHECK(identical(one.k, three.k));
    CHECK(identical(one.v, three.v));
  };
  for (const Target target : {Target::softmax, Target::kernelized}) {
    check([&] { return exact_adjoint(problem, target)(cotangent); });
  }
  for (const Method<T>& method : methods<T>()) {
    if (!method.adjoint({})) continue;
    CAPTURE(method.name);
    check([&] { return prepare(method, problem).approximate(16, key).adjoint(cotangent); });
  }
}

TEST_CASE_TEMPLATE("adjoints: no NaN from duplicate keys, zero rows and one token", T, float, double) {
  for (const double norm : {3.0, 30.0}) {
    const Problem<T> problem = awkward_problem<T>(40, 8, 3, norm, Key(46));
    const arma::Mat<T> cotangent = random_matrix<T>(40, 3, Key(47));
    const auto is_finite = [](const Gradient<T>& g) { return g.q.is_finite() && g.k.is_finite() && g.v.is_finite(); };
    for (const Target target : kTargets) CHECK(is_finite(exact_adjoint(problem, target)(cotangent)));
    for (const Case<T>& c : all_cases<T>()) {
      if (!c.method->adjoint(c.options)) continue;
      CAPTURE(c.text);
      CAPTURE(norm);
      Gradient<T> gradient;
      try {
        gradient = run(c, problem, 8).adjoint(cotangent);
      } catch (const std::runtime_error&) {
        CHECK(norm > 10);  // row sums that underflow: there is no output either
      }
      CHECK(is_finite(gradient));
    }
  }
}

TEST_CASE("adjoints: padding is zeros below, and beside the bias") {
  const Key key = Key(48);
  const Problem<double> whole = problem_of(20, 20, random_position<double>(20, 1, false, 1, key, false), key);
  const Problem<double> padded(whole.Q(), whole.K(), whole.V(), 14, whole.position());
  const arma::mat cotangent = random_matrix(14, 3, key);
  const Gradient<double> gradient = with_padding(exact_adjoint(padded, Target::softmax_rpe)(cotangent), 20, 20);
  // The same by what padding is: keys and queries that nobody attends to.
  const Forward forward = [&](const Problem<double>& p) {
    return exact_attention(Problem<double>(p.Q(), p.K(), p.V(), 14, p.position()), Target::softmax_rpe).output;
  };
  for (const std::string kind : {"q", "k", "v", "bias"}) {
    const Gradient<double> u = direction_of(whole, kind, key.child(kind));
    const Derivative expected =
        derivative([&](double step) { return arma::dot(cotangent, forward(moved(whole, u, step))); }, 0x1p-12);
    CHECK(std::abs(inner(gradient, u) - expected.value) <= 1e-8);
  }
  CHECK(arma::norm(gradient.q.tail_rows(6), "fro") + arma::norm(gradient.k.tail_rows(6), "fro") == 0);
}

TEST_CASE("adjoints: a cotangent of another shape and a method without one are refused") {
  const Problem<double> problem = random_problem<double>(10, 4, 3, 1, Key(49));
  CHECK(contains(refusal([&] { exact_adjoint(problem, Target::softmax)(arma::mat(10, 4, arma::fill::zeros)); }),
                 "n_q x p_v"));
  CHECK(contains(refusal([&] { require_adjoint(find_method<double>("reformer"), {}); }), "linformer"));
  CHECK_NOTHROW(require_adjoint(find_method<double>("v-mean"), {}));
}
