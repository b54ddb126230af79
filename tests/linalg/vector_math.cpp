#include <doctest/doctest.h>
#include <croquis/linalg/vector_math.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/ulps.hpp"

using namespace croquis;

namespace {

constexpr std::size_t kLongest = 70;  // more than twice the 32 lanes of the widest vectors in float, and odd tails

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
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      raise(worst, ulps(y[i], std::exp(static_cast<long double>(argument[i]))));
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

TEST_CASE_TEMPLATE("largest_size: of either sign, at every place of every length", T, float, double) {
  const T infinity = std::numeric_limits<T>::infinity(), undefined = std::numeric_limits<T>::quiet_NaN();
  CHECK(largest_size(static_cast<const T*>(nullptr), 0) == 0);
  for (std::size_t count = 1; count <= kLongest; ++count) {
    for (std::size_t at = 0; at < count; ++at) {
      std::vector<T> x(count + 1, T(-7));
      x[count] = T(100);  // beyond the end
      for (const T size : {T(7.5), infinity, std::numeric_limits<T>::max()}) {
        for (const T entry : {size, -size}) {
          x[at] = entry;
          REQUIRE(largest_size(x.data(), count) == size);
        }
      }
      x[count - 1 - at] = infinity;
      for (const T entry : {undefined, -undefined}) {
        x[at] = entry;
        REQUIRE(std::isnan(largest_size(x.data(), count)));
      }
    }
  }
  const T tiny[] = {T(-0.0), -std::numeric_limits<T>::denorm_min(), T(0)};
  CHECK(largest_size(tiny, 3) == std::numeric_limits<T>::denorm_min());
}

TEST_CASE_TEMPLATE("logarithm: within 2 ulp from the smallest number to the largest, and near 1", T, float, double) {
  std::vector<T> x = {std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min() / 3,
                      std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(1)};
  for (int e = std::numeric_limits<T>::min_exponent - 20; e < std::numeric_limits<T>::max_exponent; ++e) {
    for (const double factor : {1.0, 1.1, 1.4142, 1.4143, 1.9}) x.push_back(static_cast<T>(std::ldexp(factor, e)));
  }
  for (int i = 0; i < 100000; ++i) x.push_back(T(0.5) + T(i) / T(60000));
  for (int e = 1; e < std::numeric_limits<T>::digits; ++e) {
    x.push_back(1 + std::ldexp(T(1), -e));
    x.push_back(1 - std::ldexp(T(1), -e));
  }
  std::vector<T> y = x;
  logarithm(y.data(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    const long double exact = std::log(static_cast<long double>(x[i]));
    REQUIRE((exact == 0 ? y[i] == 0 : ulps(y[i], exact) <= 2));
  }
}

TEST_CASE_TEMPLATE("logarithm: of 0 is -infinity, in a vector and in a tail", T, float, double) {
  std::vector<T> x(kLongest, T(1));
  x[5] = x[kLongest - 1] = T(0);
  logarithm(x.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(x[i] == (i == 5 || i == kLongest - 1 ? -std::numeric_limits<T>::infinity() : T(0)));
  }
}

TEST_CASE_TEMPLATE("sine_cosine: within 2 ulp near 0, near multiples of pi/2 and far out", T, float, double) {
  const long double half_pi = std::acos(0.0L);
  std::vector<T> x = {T(0),  std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(), T(1e6), T(1.1e6),
                      T(1e9)};
  for (int e = 20; e < 60; ++e) x.push_back(std::ldexp(T(1.3), e));
  for (int e = -60; e < 20; ++e) x.push_back(std::ldexp(T(1.3), e));
  for (int k = 1; k < 60000; k += 7) {
    const T nearest = static_cast<T>(k * half_pi);  // where one of the two is tiny and has to be right all the same
    x.insert(x.end(), {nearest, std::nextafter(nearest, T(0)), nearest / 2, nearest * T(0.71)});
  }
  const std::size_t positive = x.size();
  for (std::size_t i = 0; i < positive; ++i) x.push_back(-x[i]);
  std::vector<T> s(x.size()), c(x.size());
  sine_cosine(x.data(), x.size(), s.data(), c.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    // Reference: glibc's functions of long double, whose reduction is exact.
    const long double sine = std::sin(static_cast<long double>(x[i])),
                      cosine = std::cos(static_cast<long double>(x[i]));
    REQUIRE((sine == 0 ? s[i] == 0 : ulps(s[i], sine) <= 2));
    REQUIRE(ulps(c[i], cosine) <= 2);
  }
}

TEST_CASE_TEMPLATE("logarithm, sine_cosine: an element has the same bits at any place, and nothing beyond is touched",
                   T, float, double) {
  const T x = T(2.75), beyond = T(-9);
  T log_alone = x, sine_alone, cosine_alone;
  logarithm(&log_alone, 1);
  sine_cosine(&x, 1, &sine_alone, &cosine_alone);
  for (std::size_t count = 0; count <= kLongest; ++count) {
    std::vector<T> all(count, x), l(count + 1, x), s(count + 1, beyond), c(count + 1, beyond);
    logarithm(l.data(), count);
    sine_cosine(all.data(), count, s.data(), c.data());
    const auto is = [count](const std::vector<T>& v, T value) {
      return std::all_of(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(count), [=](T y) { return y == value; });
    };
    REQUIRE((is(l, log_alone) && is(s, sine_alone) && is(c, cosine_alone)));
    REQUIRE((l[count] == x && s[count] == beyond && c[count] == beyond));
  }
}

TEST_CASE_TEMPLATE("sine_cosine: what is not finite gives NaN and leaves its neighbours alone", T, float, double) {
  std::vector<T> x(kLongest, T(1)), s(kLongest), c(kLongest);
  x[3] = std::numeric_limits<T>::infinity();
  x[20] = std::numeric_limits<T>::quiet_NaN();
  sine_cosine(x.data(), x.size(), s.data(), c.data());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::isnan(s[i]) == (i == 3 || i == 20));
  CHECK(ulps(s[4], std::sin(1.0L)) <= 2);
}

TEST_CASE("vector_instructions: the instruction set has a name") {
  CHECK_FALSE(std::string(vector_instructions()).empty());
}
