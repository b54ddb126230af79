// Numbers of a row that overflowed: they make a status, and are not written beside "ok".
#pragma once

#include <initializer_list>
#include <string>

namespace croquis {

/// A number of a row under the name of its column.
struct RowNumber {
  const char* name;
  double value;
  bool may_be_undefined = false;  ///< NaN, NA in the results, says nothing wrong
};

/// "ok", or "not finite: column = value" for the first number that is infinite, or NaN where it may not be.
std::string status_of(std::initializer_list<RowNumber> numbers);

}  // namespace croquis
