// All methods of the registry with their options, for the tests that every method has to pass.
#pragma once

#include <doctest/doctest.h>

#include <croquis/attention/method.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/text.hpp"

inline croquis::OptionValues with(const std::string& name, const std::string& value) {
  return croquis::OptionValues(std::map<std::string, std::string>{{name, value}});
}

/// A method with some options.
template <typename T>
struct Case {
  const croquis::Method<T>* method;
  croquis::OptionValues options;
  std::string text;
};

/// Each method with its options' defaults and with each value of each choice.
template <typename T>
std::vector<Case<T>> all_cases() {
  std::vector<Case<T>> cases;
  for (const croquis::Method<T>& method : croquis::methods<T>()) {
    cases.push_back({&method, {}, method.name});
    for (const croquis::OptionInfo& option : method.options) {
      if (option.values.find('|') == std::string::npos) continue;
      std::string rest = option.values + "|";
      for (std::size_t bar = 0; (bar = rest.find('|')) != std::string::npos; rest = rest.substr(bar + 1)) {
        const std::string value = rest.substr(0, bar);
        if (value == "given") continue;  // takes a file
        cases.push_back({&method, with(option.name, value), method.name + " " + option.name + "=" + value});
      }
    }
  }
  return cases;
}

template <typename T>
croquis::Approximation<T> run(const Case<T>& c, const croquis::Problem<T>& problem, arma::uword d,
                              const croquis::Key& draw_key = croquis::Key(1)) {
  return croquis::prepare(*c.method, problem, c.options).approximate(d, draw_key);
}

/// The same where the method takes d: features come in pairs, some patterns need a few tokens. It says so by d.
template <typename T>
std::optional<croquis::Approximation<T>> run_if_taken(const Case<T>& c, const croquis::Problem<T>& problem,
                                                      arma::uword d, const croquis::Key& draw_key = croquis::Key(1)) {
  try {
    return run(c, problem, d, draw_key);
  } catch (const std::invalid_argument& refused) {
    CHECK_MESSAGE(contains(refused.what(), "d = " + std::to_string(d)), refused.what());
    return std::nullopt;
  }
}
