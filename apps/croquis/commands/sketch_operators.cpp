#include "commands/sketch_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/sketch/distributions.hpp>
#include <stdexcept>

#include "files/number.hpp"
#include "files/progress.hpp"
#include "options/said_of.hpp"

using croquis::Choice;

namespace {

// Throws std::invalid_argument where the distribution does not take its parameters or these sizes.
void make_once(const Choice& choice, arma::uword n, arma::uword d) {
  const bool weighted = croquis::find_sketch_distribution<double>(choice.name).weighted;
  croquis::make_sketch<double>(croquis::describe_sketch(choice.name, n, d, croquis::Key(1), parameters_of(choice),
                                                        std::vector<double>(weighted ? n : 0, 1.0)));
}

// Why the largest of these sizes is refused, "NAME: rule", where all of them are; empty if one is taken.
std::string refusal_of_all(const Choice& choice, const std::set<arma::uword>& rows,
                           const std::vector<arma::uword>& features) {
  std::string why;
  for (auto n = rows.rbegin(); n != rows.rend(); ++n) {
    for (auto d = features.rbegin(); d != features.rend(); ++d) {
      try {
        said_of(choice.name, [&] { make_once(choice, *n, *d); });
        return "";
      } catch (const std::invalid_argument& refused) {
        if (why.empty()) why = refused.what();
      }
    }
  }
  return why;
}

}  // namespace

std::vector<Choice> parse_sketches(const std::string& text) {
  if (text == "none") return {};
  std::vector<std::string> known;
  for (const auto& distribution : croquis::sketch_distributions<double>()) known.push_back(distribution.name);
  std::vector<Choice> choices = croquis::parse_choices(text, "--sketches", known);
  for (const Choice& choice : choices) {
    for (const auto& [name, value] : choice.options) {
      if (parse_number(value)) continue;
      throw std::invalid_argument(
          fmt::format("--sketches: {} of {} is a number, got {} = {}", name, choice.name, name, value));
    }
  }
  return choices;
}

std::map<std::string, double> parameters_of(const Choice& choice) {
  std::map<std::string, double> parameters;
  for (const auto& [name, value] : choice.options) parameters[name] = parse_number(value).value();
  return parameters;
}

std::vector<Choice> usable_sketches(const std::vector<Choice>& sketches, const std::string& text,
                                    const std::set<arma::uword>& rows, const std::vector<arma::uword>& features) {
  const std::vector<std::string> items = croquis::split_list(text, "--sketches");
  const bool all = std::find(items.begin(), items.end(), "all") != items.end();
  std::vector<Choice> usable;
  for (const Choice& choice : sketches) {
    const std::string why = refusal_of_all(choice, rows, features);
    const bool named = !all || !choice.options.empty();
    if (!why.empty() && named) {
      said_of(fmt::format("--sketches {}", choice.label), [&] { throw std::invalid_argument(why); });
    }
    if (!why.empty()) {
      say_once(fmt::format("croquis sketch: {} is left out, it takes none of --features: {}\n", choice.name, why));
    }
    if (why.empty()) usable.push_back(choice);
  }
  return usable;
}
