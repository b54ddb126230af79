#include <doctest/doctest.h>
#include <croquis/attention/options.hpp>
#include <croquis/io/npy.hpp>

#include <map>
#include <string>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

OptionValues values(const std::string& name, const std::string& value) {
  return OptionValues(std::map<std::string, std::string>{{name, value}});
}

struct Paint {
  enum class Colour { red, blue, green };
  struct Coat {
    double thickness = 0.25;
  };
  Colour colour = Colour::blue;
  bool glossy = false;
  arma::uword layers = 2;
  Coat coat;
  arma::uvec places;
};

Paint seven_layers() {
  Paint paint;
  paint.layers = 7;
  return paint;
}

Options<Paint> options_of_paint(const Paint& defaults = {}) {
  const Paint old = {.colour = Paint::Colour::red, .glossy = true, .layers = 5, .coat = {1}, .places = {}};
  return Options<Paint>(defaults)
      .preset("old: as it was", {{"new", defaults}, {"old", old}})
      .choice("colour", &Paint::colour, in_order<Paint::Colour>({"red", "blue", "green"}), "what it looks like")
      .flag("glossy", &Paint::glossy, "with varnish")
      .count("layers", &Paint::layers, 1, 1000000, "how often")
      .number(
          "thickness", [](auto& paint) -> auto& { return paint.coat.thickness; }, 0, 2.5, "of a coat")
      .indices("places", &Paint::places, "where");
}

}  // namespace

TEST_CASE("options: a choice is one of those there are, and the message has them") {
  CHECK(OptionValues().get_choice("colour", {"red", "blue"}, "blue") == "blue");
  CHECK(values("colour", "red").get_choice("colour", {"red", "blue"}, "blue") == "red");
  CHECK(values("other", "red").get_choice("colour", {"red", "blue"}, "blue") == "blue");
  CHECK(refusal([] {
          values("colour", "green").get_choice("colour", {"red", "blue"}, "blue");
        }) == "option: colour is one of red blue, got colour = green");
  for (const char* text : {"", "Red", "red ", " red"}) {
    CHECK(contains(refusal([&] {
                     values("colour", text).get_choice("colour", {"red", "blue"}, "blue");
                   }),
                   "one of red blue"));
  }
}

TEST_CASE("options: a number is read whole and within its range, and the message has both") {
  const auto take = [](const std::string& text) { return values("ridge", text).get_number("ridge", -1, 100, 7); };
  CHECK(OptionValues().get_number("ridge", -1, 100, 7) == 7);
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
  const auto take = [](const std::string& text) { return values("steps", text).get_count("steps", 0, 100, 6); };
  CHECK(OptionValues().get_count("steps", 0, 100, 6) == 6);
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
    return values("indices", (folder / "indices.npy").string()).get_indices("indices");
  };
  CHECK(OptionValues().get_indices("indices").is_empty());
  CHECK(identical(take(arma::rowvec{3, 0, 7}), arma::uvec{3, 0, 7}));
  CHECK(identical(take(arma::vec{3, 0, 7}), arma::uvec{3, 0, 7}));
  for (const char* shape : {"(3,)", "(1, 3)", "(3, 1)"}) {
    write_text(folder / "whole.npy", npy_integers(shape, {3, 0, 7}));
    CHECK(identical(values("indices", (folder / "whole.npy").string()).get_indices("indices"), arma::uvec{3, 0, 7}));
  }
  CHECK(refusal([&] { take(arma::rowvec{1, 2.5}); }) == "option: indices are whole numbers >= 0, got value = 2.5");
  CHECK(contains(refusal([&] { take(arma::rowvec{1, -2}); }), "value = -2"));
  CHECK(contains(refusal([&] { take(arma::rowvec{1, arma::datum::nan}); }), "value = nan"));
  CHECK(contains(refusal([&] { take(arma::rowvec{1, 1e300}); }), "value = 1e+300"));
  CHECK(
      contains(refusal([&] { values("indices", (folder / "none.npy").string()).get_indices("indices"); }), "none.npy"));
}

TEST_CASE("Options: what is listed comes from the declaration, and default values from the struct") {
  std::string text;
  for (const OptionInfo& o : options_of_paint().infos()) {
    text += o.name + " " + o.values + " [" + o.default_value + "] " + o.effect + "\n";
  }
  CHECK(text ==
        "preset new|old [new] old: as it was\ncolour red|blue|green [blue] what it looks like\n"
        "glossy yes|no [no] with varnish\nlayers 1 to 1000000 [2] how often\n"
        "thickness 0 to 2.5 [0.25] of a coat\nplaces FILE.npy [] where\n");
  CHECK(options_of_paint(seven_layers()).infos()[3].default_value == "7");
}

TEST_CASE("Options: values are read into their members, and what is not given has its default value") {
  const Paint none = options_of_paint().read({});
  CHECK(none.colour == Paint::Colour::blue);
  CHECK(none.layers == 2);
  CHECK(none.coat.thickness == 0.25);
  const Paint some = options_of_paint().read(
      OptionValues(std::map<std::string, std::string>{{"colour", "green"}, {"glossy", "yes"}, {"thickness", "2"}}));
  CHECK(some.colour == Paint::Colour::green);
  CHECK(some.glossy);
  CHECK(some.layers == 2);
  CHECK(some.coat.thickness == 2);
  CHECK(options_of_paint().read(values("layers", "3")).layers == 3);
  CHECK(options_of_paint(seven_layers()).read({}).layers == 7);
  for (const auto& [name, bad] : std::map<std::string, std::string>{
           {"preset", "older"}, {"colour", "pink"}, {"glossy", "1"}, {"layers", "0"}, {"thickness", "2.6"}}) {
    CAPTURE_BINDING(name);
    CHECK(contains(refusal([&name = name, &bad = bad] { options_of_paint().read(values(name, bad)); }), name));
  }
}

TEST_CASE("Options: a preset changes the default values, and the other options change the preset") {
  const Paint old = options_of_paint().read(values("preset", "old"));
  CHECK(old.colour == Paint::Colour::red);
  CHECK(old.layers == 5);
  const Paint changed =
      options_of_paint().read(OptionValues(std::map<std::string, std::string>{{"preset", "old"}, {"glossy", "no"}}));
  CHECK(changed.colour == Paint::Colour::red);
  CHECK_FALSE(changed.glossy);
  CHECK(changed.coat.thickness == 1);
}

TEST_CASE("Options: a default value that is none of the choices is a mistake in the declaration") {
  CHECK(
      contains(refusal([] { Options<Paint>().choice("colour", &Paint::colour, in_order<Paint::Colour>({"red"}), ""); }),
               "Options: a default value that is one of the choices"));
}
