// Refusals of the library, said of the option that was given.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

/// What `call` returns. An argument that it refuses, "where: rule", is one of this option: "option: rule".
template <typename Call>
auto said_of(const std::string& option, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::invalid_argument& refused) {
    const std::string why = refused.what();
    const std::size_t colon = why.find(": ");
    throw std::invalid_argument(option + (colon == std::string::npos ? ": " + why : why.substr(colon)));
  }
}
