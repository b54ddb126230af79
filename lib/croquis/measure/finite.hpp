// The status of rows whose numbers overflowed.
#pragma once

#include <initializer_list>
#include <string>

namespace croquis {

/// A number of a row, with the name of its column.
struct RowNumber {
  const char* name;
  double value;
  bool may_be_undefined = false;  ///< NaN (NA in the results) is no error
};

/// "ok", or "not finite: column = value" for the first number that is infinite, or NaN if that is an error.
std::string status_of(std::initializer_list<RowNumber> numbers);

}  // namespace croquis
