#include "options/name_part.hpp"

#include <algorithm>

std::string as_name_part(std::string name) {
  std::replace(name.begin(), name.end(), ';', '_');
  return name;
}
