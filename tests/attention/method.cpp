#include <doctest/doctest.h>
#include <croquis/attention/method.hpp>
#include <croquis/io/npy.hpp>

#include "support/attention.hpp"
#include "support/files.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

OptionValues values(const std::string& name, const std::string& value) {
  return OptionValues(std::map<std::string, std::string>{{name, value}});
}

}  // namespace

TEST_CASE_TEMPLATE("from_scores: the output is the product with the values, and the scores stay", T, float, double) {
  const Problem<T> problem = random_problem<T>(6, 2, 3, 1, Key(test_seed()));
  const arma::Mat<T> b = random_matrix<T>(6, 6, Key(test_seed()).child("b"));
  const Approximation<T> approximation = from_scores(as_operator(b), problem);
  CHECK(identical(approximation.output, arma::Mat<T>(b * problem.V())));
  CHECK(identical(approximation.scores->dense(), b));
  CHECK_FALSE(approximation.denominators.has_value());
  CHECK(std::isnan(approximation.diagnostics.residual));
}

TEST_CASE("options: a choice is one of those there are, and the message has them") {
  CHECK(OptionValues().take_choice("colour", {"red", "blue"}, "blue") == "blue");
  CHECK(values("colour", "red").take_choice("colour", {"red", "blue"}, "blue") == "red");
  CHECK(values("other", "red").take_choice("colour", {"red", "blue"}, "blue") == "blue");
  CHECK(refusal([] {
          values("colour", "green").take_choice("colour", {"red", "blue"}, "blue");
        }) == "option: colour is one of red blue, got colour = green");
  for (const char* text : {"", "Red", "red ", " red"}) {
    CHECK(contains(refusal([&] {
                     values("colour", text).take_choice("colour", {"red", "blue"}, "blue");
                   }),
                   "one of red blue"));
  }
}

TEST_CASE("options: a number is read whole and within its range, and the message has both") {
  const auto take = [](const std::string& text) { return values("ridge", text).take_number("ridge", -1, 100, 7); };
  CHECK(OptionValues().take_number("ridge", -1, 100, 7) == 7);
  CHECK(take("0.25") == 0.25);
  CHECK(take("1e2") == 100);
  CHECK(take("-1") == -1);
  CHECK(take("1e-3") == 1e-3);
  CHECK(refusal([&] { take("101"); }) == "option: ridge is a number from -1 to 100, got ridge = 101");
  for (const char* text :
       {"", " ", "abc", "1x", "1,5", "0x10", "1 2", " 1", "1 ", "nan", "inf", "-inf", "1e999", "-1.001", "--1", "1e"}) {
    CAPTURE(text);
    CHECK(contains(refusal([&] { take(text); }), "ridge is a number from -1 to 100, got ridge = " + std::string(text)));
  }
}

TEST_CASE("options: a count is a whole number in its range") {
  const auto take = [](const std::string& text) { return values("steps", text).take_count("steps", 0, 100, 6); };
  CHECK(OptionValues().take_count("steps", 0, 100, 6) == 6);
  CHECK(take("0") == 0);
  CHECK(take("100") == 100);
  CHECK(take("1e1") == 10);
  CHECK(refusal([&] { take("2.5"); }) == "option: steps is a whole number, got steps = 2.5");
  for (const char* text : {"-1", "101", "many", "99999999999999999999"}) {
    CHECK(contains(refusal([&] { take(text); }), "steps is a number from 0 to 100"));
  }
}

TEST_CASE("options: indices are the whole numbers of a file, in its order") {
  const TemporaryFolder folder;
  const auto take = [&](const arma::mat& numbers) {
    write_npy((folder / "indices.npy").string(), numbers);
    return values("indices", (folder / "indices.npy").string()).take_indices("indices");
  };
  CHECK(OptionValues().take_indices("indices").is_empty());
  CHECK(identical(take(arma::rowvec{3, 0, 7}), arma::uvec{3, 0, 7}));
  CHECK(identical(take(arma::vec{3, 0, 7}), arma::uvec{3, 0, 7}));
  CHECK(refusal([&] { take(arma::rowvec{1, 2.5}); }) == "indices: whole numbers >= 0, got value = 2.5");
  CHECK(contains(refusal([&] { take(arma::rowvec{1, -2}); }), "value = -2"));
  CHECK(contains(refusal([&] { take(arma::rowvec{1, arma::datum::nan}); }), "value = nan"));
  CHECK(contains(refusal([&] { take(arma::rowvec{1, 1e300}); }), "value = 1e+300"));
  CHECK(contains(refusal([&] { values("indices", (folder / "none.npy").string()).take_indices("indices"); }),
                 "none.npy"));
}
