#include <fmt/format.h>

#include <cmath>
#include <croquis/measure/finite.hpp>

namespace croquis {

std::string status_of(std::initializer_list<RowNumber> numbers) {
  for (const RowNumber& number : numbers) {
    if (std::isinf(number.value) || (std::isnan(number.value) && !number.may_be_undefined)) {
      return fmt::format("not finite: {} = {}", number.name, number.value);
    }
  }
  return "ok";
}

}  // namespace croquis
