// What a refusal says.
#pragma once

#include <stdexcept>
#include <string>

/// The message of the E that `action` throws; what happened instead when it does not.
template <typename E = std::invalid_argument, typename Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "nothing was thrown";
}
