#include <doctest/doctest.h>
#include <croquis/toeplitz/relative_position.hpp>

#include <limits>
#include <vector>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE(
    "RelativeGrid: the entry of a pair depends on the difference of cells alone, and no two differences share one") {
  for (const auto& [n, height] : {std::pair<arma::uword, arma::uword>{1, 1}, {7, 1}, {7, 7}, {12, 3}, {12, 4}}) {
    const RelativeGrid grid(n, height);
    const arma::uword w = n / height;
    CHECK(grid.n() == n);
    CHECK(grid.width() == w);
    CHECK(grid.size() == (2 * height - 1) * (2 * w - 1));
    for (arma::uword i = 0; i < n; ++i) {
      for (arma::uword j = 0; j < n; ++j) {
        const arma::uword expected = (j / w + height - 1 - i / w) * (2 * w - 1) + (j % w + w - 1 - i % w);
        CHECK(grid.centre() + grid.place(j) - grid.place(i) == expected);
        CHECK((expected > grid.centre()) == (j > i));
      }
    }
  }
  CHECK(contains(refusal([] { RelativeGrid(7, 2); }), "height >= 1 divides n >= 1, got n = 7, height = 2"));
  CHECK(contains(refusal([] { RelativeGrid(0, 1); }), "n = 0"));
  CHECK(contains(refusal([] { RelativeGrid(3, 0); }), "height = 0"));
}

TEST_CASE_TEMPLATE("RelativePosition: cut keeps b_t of the distances that are left", T, float, double) {
  RelativePosition<T> position;
  position.bias = {T(-3), T(-2), T(-1), T(0), T(1), T(2), T(3)};  // b_t = t, n = 4
  position.causal = true;
  const RelativePosition<T> shorter = truncated(position, 4, 2);
  CHECK(identical(arma::Mat<T>(shorter.bias), arma::Mat<T>(arma::Col<T>{T(-1), T(0), T(1)})));
  CHECK(shorter.causal);
  CHECK(truncated(position, 4, 1).bias.n_elem == 1);
  CHECK(truncated(position, 4, 4).bias.n_elem == 7);
  CHECK(truncated(RelativePosition<T>{{}, true, 1}, 4, 2).bias.is_empty());
  CHECK(contains(refusal([] { truncated(RelativePosition<T>{{}, false, 2}, 4, 2); }), "an image without padding"));
}

TEST_CASE("RelativePosition: entries that no query and key have are left out, and mask nothing") {
  const double none = -std::numeric_limits<double>::infinity();
  for (const auto& shape : {std::pair<TokenAlignment, arma::uword>{{3, 7}, 1},
                            {{7, 3}, 1},
                            {{1, 5}, 1},
                            {{12, 12}, 3},
                            {{5, 12}, 3},
                            {{12, 6}, 4},
                            {{12, 2}, 3}}) {
    const auto [tokens, height] = shape;
    CAPTURE(shape.first.n_q);
    CAPTURE(shape.first.n_k);
    const RelativeGrid grid(tokens.n(), height);
    std::vector<bool> used(grid.size());
    for (arma::uword i = 0; i < tokens.n_q; ++i) {
      for (arma::uword j = 0; j < tokens.n_k; ++j) {
        used[grid.centre() + grid.place(tokens.key(j)) - grid.place(tokens.query(i))] = true;
      }
    }
    RelativePosition<double> position{arma::vec(grid.size(), arma::fill::ones), false, height};
    const arma::vec alone = used_alone(position, tokens).bias;
    for (arma::uword t = 0; t < grid.size(); ++t) {
      CHECK(alone(t) == (used[t] ? 1 : none));
      if (t == grid.centre()) continue;
      position.bias(t) = none;
      CHECK(has_mask(position, tokens) == used[t]);
      position.bias(t) = 1;
    }
    CHECK_FALSE(has_mask(position, tokens));
    CHECK(has_mask(RelativePosition<double>{{}, true, height}, tokens));
  }
}

TEST_CASE_TEMPLATE("RelativePosition: log_weights writes causality and the absence of a bias out", T, float, double) {
  const T none = -std::numeric_limits<T>::infinity();
  const RelativeGrid grid(3, 1);
  CHECK(identical(arma::Mat<T>(log_weights(RelativePosition<T>{}, grid)), arma::Mat<T>(5, 1, arma::fill::zeros)));
  const RelativePosition<T> position{{T(1), none, T(3), T(4), T(5)}, true, 1};
  CHECK(identical(arma::Mat<T>(log_weights(position, grid)), arma::Mat<T>(arma::Col<T>{T(1), none, T(3), none, none})));
  CHECK(log_weights(RelativePosition<T>{{}, true, 1}, RelativeGrid(1, 1)).n_elem == 1);
}

TEST_CASE_TEMPLATE("RelativePosition: a bias that does not fit is refused by entry", T, float, double) {
  const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const auto refused = [](arma::Col<T> bias, arma::uword n, arma::uword height = 1) {
    return refusal([&] { require_valid(RelativePosition<T>{bias, false, height}, n); });
  };
  CHECK(refused({T(1), -infinity, T(0), T(2), -infinity}, 3) == "nothing was thrown");
  CHECK(refused({}, 3) == "nothing was thrown");
  CHECK(refused({T(1), T(2)}, 1) == "bias: 2n - 1 = 1 entries for n = 1 token, got entries = 2");
  CHECK(contains(refused({T(1), nan, T(1)}, 2), "finite entries or -inf, b_0 finite, got entry = 1, value = nan"));
  CHECK(contains(refused({infinity, T(0), T(1)}, 2), "entry = 0, value = inf"));
  CHECK(contains(refused({T(0), -infinity, T(1)}, 2), "entry = 1, value = -inf"));
  // Logits and other biases are added to it: there is room for them up to a 64th of the largest number.
  const T most = std::numeric_limits<T>::max() / 64;
  CHECK(refused({T(1), most, -most}, 2) == "nothing was thrown");
  for (const T large : {std::nextafter(most, infinity), -2 * most}) {
    CHECK(contains(refused({T(1), T(0), large}, 2), "up to a 64th of the largest number, got entry = 2"));
  }
  CHECK(refused(arma::Col<T>(7, arma::fill::ones), 6, 2) ==
        "bias: (2h - 1)(2w - 1) = 15 entries for 2 x 3 tokens, got entries = 7");
  CHECK(contains(refused(arma::Col<T>(9, arma::fill::ones), 4, 3), "height >= 1 divides n"));
}
