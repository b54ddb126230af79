#include <doctest/doctest.h>
#include <croquis/sketch/accumulative.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/sketch/importance_sampling.hpp>
#include <croquis/sketch/rademacher.hpp>
#include <croquis/sketch/sjlt.hpp>
#include <croquis/sketch/sparse_stack.hpp>
#include <croquis/sketch/srct.hpp>
#include <croquis/sketch/srht.hpp>
#include <croquis/sketch/uniform_sampling.hpp>
#include <croquis/sketch/very_sparse.hpp>

#include <cmath>

#include "support/dense.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

// The first columns of the larger sketch are those of the smaller one, once the scales are out. A scale is a quotient
// and a root (3 u at most), and so is what takes it out: 12 u of the largest entry.
template <typename T, typename S>
bool begins_with(const S& larger, const S& smaller, double larger_scale, double smaller_scale) {
  const arma::mat a = arma::conv_to<arma::mat>::from(larger.template dense<T>()) / larger_scale,
                  b = arma::conv_to<arma::mat>::from(smaller.template dense<T>()) / smaller_scale;
  return distance(arma::mat(a.head_cols(b.n_cols)), b) <= 12 * unit<T>() * arma::abs(b).max();
}

// make(d, key) for 5 and 12 columns, whose distribution has the factor 1 / sqrt(d).
template <typename T, typename Make>
void check_columns(const Make& make) {
  const Key key = Key(test_seed()).child("columns");
  CHECK(begins_with<T>(make(12, key), make(5, key), 1 / std::sqrt(12.0), 1 / std::sqrt(5.0)));
  CHECK_FALSE(begins_with<T>(make(12, key.child(0)), make(5, key), 1 / std::sqrt(12.0), 1 / std::sqrt(5.0)));
}

// make(n, key): the first rows of the taller sketch are the lower one, bit for bit.
template <typename T, typename Make>
void check_rows(const Make& make) {
  const Key key = Key(test_seed()).child("rows");
  const arma::Mat<T> tall = make(2100, key).template dense<T>(), low = make(130, key).template dense<T>();
  CHECK(identical(arma::Mat<T>(tall.head_rows(130)), low));
  CHECK_FALSE(identical(arma::Mat<T>(make(2100, key.child(0)).template dense<T>().eval().head_rows(130)), low));
}

}  // namespace

TEST_CASE_TEMPLATE("Sketches with more columns on the same key begin with the smaller one, up to the scale", T, float,
                   double) {
  const arma::uword n = 40;
  const arma::vec weights = arma::regspace(1, n);
  check_columns<T>([](arma::uword d, const Key& s) { return GaussianSketch(n, d, s); });
  check_columns<T>([](arma::uword d, const Key& s) { return RademacherSketch(n, d, s); });
  check_columns<T>([](arma::uword d, const Key& s) { return SrhtSketch(n, d, s); });
  check_columns<T>([](arma::uword d, const Key& s) { return SrctSketch(n, d, s); });
  check_columns<T>([](arma::uword d, const Key& s) { return VerySparseSketch(n, d, s); });
  check_columns<T>([](arma::uword d, const Key& s) { return AccumulativeSketch(n, d, 3, s); });
  check_columns<T>([](arma::uword d, const Key& s) { return UniformSampling(n, d, s); });
  check_columns<T>([](arma::uword d, const Key& s) { return UniformSampling(n, d, s, SampleReplacement::without); });
  check_columns<T>([&](arma::uword d, const Key& s) { return ImportanceSampling(weights, d, s); });
}

TEST_CASE_TEMPLATE("SparseStack: more blocks of the same width begin with the fewer, up to the scale", T, float,
                   double) {
  const Key key = Key(test_seed()).child("blocks");
  const SparseStack two(40, 10, 2, key), five(40, 25, 5, key), other(40, 25, 5, key.child(0));
  CHECK(begins_with<T>(five, two, 1 / std::sqrt(5.0), 1 / std::sqrt(2.0)));
  CHECK_FALSE(begins_with<T>(other, two, 1 / std::sqrt(5.0), 1 / std::sqrt(2.0)));
}

TEST_CASE_TEMPLATE("Sketches with independent rows: a row depends on the key and its index, not on n", T, float,
                   double) {
  check_rows<T>([](arma::uword n, const Key& s) { return GaussianSketch(n, 6, s); });
  check_rows<T>([](arma::uword n, const Key& s) { return RademacherSketch(n, 6, s); });
  check_rows<T>([](arma::uword n, const Key& s) { return SjltSketch(n, 6, 3, s); });
  check_rows<T>([](arma::uword n, const Key& s) { return SparseStack(n, 6, 3, s); });
  check_rows<T>([](arma::uword n, const Key& s) { return VerySparseSketch(n, 6, 5, s); });
}

TEST_CASE("SrhtSketch: of two sizes with the same n' the smaller is the first rows") {
  const Key key = Key(test_seed()).child("srht");
  CHECK(identical(arma::mat(SrhtSketch(64, 5, key).dense<double>().eval().head_rows(40)),
                  SrhtSketch(40, 5, key).dense<double>()));
}

TEST_CASE("Sketches of signs and places are the same draw in float and double") {
  const Key key = Key(test_seed()).child("precision");
  const auto same = [](const auto& sketch) {
    const arma::mat s = sketch.template dense<double>();
    const arma::fmat f = sketch.template dense<float>();
    return distance(f, s) <= 12 * unit<float>() * arma::abs(s).max();
  };
  CHECK(same(RademacherSketch(200, 6, key)));
  CHECK(same(SrhtSketch(200, 6, key)));
  CHECK(same(SrctSketch(200, 6, key)));
  CHECK(same(SjltSketch(200, 6, 3, key)));
  CHECK(same(SparseStack(200, 6, 3, key)));
  CHECK(same(VerySparseSketch(200, 6, key)));
  CHECK(same(AccumulativeSketch(200, 6, 3, key)));
  CHECK(same(UniformSampling(200, 6, key)));
  CHECK(same(ImportanceSampling(arma::regspace(1, 200), 6, key)));
}
