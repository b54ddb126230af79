#include <doctest/doctest.h>
#include <croquis/linalg/vector_math.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/dense.hpp"

using namespace croquis;

namespace {

constexpr std::size_t kLongest = 70;  // more than twice the 32 lanes of the widest vectors in float, and odd tails

// |y - exact| in units of the last place of T at the exact value.
template <typename T>
long double ulps(T y, long double exact) {
  const int exponent = std::max(std::ilogb(exact), std::numeric_limits<T>::min_exponent - 1);
  return std::fabs(static_cast<long double>(y) - exact) /
         std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
}

// The interval in which the results are normal numbers.
template <typename T>
constexpr T kLowest = std::is_same_v<T, float> ? T(-87) : T(-708);
template <typename T>
constexpr T kHighest = std::is_same_v<T, float> ? T(88) : T(700);

}  // namespace

TEST_CASE_TEMPLATE("exp_shifted: within 2 ulp of the exponential over the whole range", T, float, double) {
  constexpr int count = 200000;
  std::vector<T> x(count);
  for (int i = 0; i < count; ++i) x[i] = kLowest<T> + (kHighest<T> - kLowest<T>)*T(i) / T(count - 1);
  for (const T shift : {T(0), T(3.7), T(-2.3)}) {
    std::vector<T> y(count), argument(count);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = x[i] + shift;
      argument[i] = y[i] - shift;  // rounded, as in the function: what is left is the exponential
    }
    exp_shifted(y.data(), y.size(), shift);
    long double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      worst = std::max(worst, ulps(y[i], std::exp(static_cast<long double>(argument[i]))));
    }
    CAPTURE(shift);
    CHECK(worst <= 2);
  }
}

TEST_CASE_TEMPLATE("exp_shifted: near 0, where softmax has its largest weights, within 2 ulp", T, float, double) {
  std::vector<T> x = {T(0),
                      T(-0.0),
                      T(1),
                      T(-1),
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::denorm_min(),
                      -std::numeric_limits<T>::min()};
  for (int e = 1; e < 60; ++e) {
    x.push_back(std::ldexp(T(1), -e));
    x.push_back(-std::ldexp(T(1), -e));
  }
  std::vector<T> y = x;
  exp_shifted(y.data(), y.size(), T(0));
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(ulps(y[i], std::exp(static_cast<long double>(x[i]))) <= 2);
}

TEST_CASE_TEMPLATE("exp_shifted: far below the range the result is 0 or denormal, never negative, never NaN", T, float,
                   double) {
  const T infinity = std::numeric_limits<T>::infinity(), largest = std::numeric_limits<T>::max();
  const T edge = std::is_same_v<T, float> ? T(-87.5) : T(-708.5);  // exp(edge) is below the smallest normal number
  for (const T argument : {-infinity, -largest, -largest / 2, T(-1e30), T(-1e10), T(-1e5), T(-1001), T(-999), T(-750),
                           2 * edge, edge - 20, edge - 10, edge}) {
    // In the middle of vectors and in a tail.
    std::vector<T> y(kLongest, T(0));
    y[3] = y[kLongest - 1] = argument;
    const T sum = exp_shifted(y.data(), y.size(), T(0));
    CAPTURE(argument);
    for (const T result : {y[3], y[kLongest - 1]}) {
      CHECK(result >= 0);
      CHECK(result < std::numeric_limits<T>::min());
    }
    CHECK(std::abs(sum - T(kLongest - 2)) <= T(kLongest) * 4 * static_cast<T>(unit<T>()) * T(kLongest));
  }
}

TEST_CASE_TEMPLATE("exp_shifted: an element has the same bits at any place, and nothing beyond the end is touched", T,
                   float, double) {
  T alone = T(-1.25);
  exp_shifted(&alone, 1, T(0.5));
  for (std::size_t count = 0; count <= kLongest; ++count) {
    std::vector<T> y(count + 1, T(-1.25));
    const T sum = exp_shifted(y.data(), count, T(0.5));
    REQUIRE(std::all_of(y.begin(), y.end() - 1, [&](T value) { return value == alone; }));
    REQUIRE(y[count] == T(-1.25));
    // count equal terms in any order: at most count - 1 additions, u each.
    const T exact = static_cast<T>(count) * alone;
    REQUIRE(std::abs(sum - exact) <= static_cast<T>(static_cast<double>(count) * unit<T>()) * exact);
  }
}

TEST_CASE_TEMPLATE("exp_shifted: returns the sum of what it writes", T, float, double) {
  for (std::size_t count : {1U, 5U, 16U, 33U, 1000U}) {
    std::vector<T> y(count);
    for (std::size_t i = 0; i < count; ++i) y[i] = static_cast<T>(std::sin(static_cast<double>(i * i)));
    const T sum = exp_shifted(y.data(), count, T(0.1));
    long double exact = 0;
    for (const T value : y) exact += value;
    // Positive terms: count additions at u each.
    CHECK(static_cast<double>(std::fabs(sum - exact)) <= static_cast<double>(count * exact) * unit<T>());
  }
}

TEST_CASE_TEMPLATE("maximum: finds the largest at every place of every length", T, float, double) {
  for (std::size_t count = 1; count <= kLongest; ++count) {
    for (std::size_t at = 0; at < count; ++at) {
      std::vector<T> x(count + 1, T(-7));
      x[count] = T(100);  // beyond the end
      x[at] = T(-3);
      REQUIRE(maximum(x.data(), count) == T(-3));
    }
  }
}

TEST_CASE_TEMPLATE("maximum: of extreme values", T, float, double) {
  const T infinity = std::numeric_limits<T>::infinity(), largest = std::numeric_limits<T>::max();
  std::vector<T> x(kLongest, -infinity);
  CHECK(maximum(x.data(), x.size()) == -infinity);
  x[kLongest - 2] = -largest;
  CHECK(maximum(x.data(), x.size()) == -largest);
  x[17] = largest;
  CHECK(maximum(x.data(), x.size()) == largest);
  const T one[] = {std::numeric_limits<T>::denorm_min()};
  CHECK(maximum(one, 1) == std::numeric_limits<T>::denorm_min());
}

TEST_CASE("vector_instructions: the instruction set has a name") {
  CHECK_FALSE(std::string(vector_instructions()).empty());
}
