// What options say when they cannot be done.
#pragma once

#include <stdexcept>
#include <string>

[[noreturn]] inline void refuse(const std::string& why) {
  throw std::invalid_argument(why);
}
