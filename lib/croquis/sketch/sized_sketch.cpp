#include <croquis/core/require.hpp>
#include <croquis/sketch/sized_sketch.hpp>
#include <string>

namespace croquis {

void require_left_factor(std::string_view sketch, arma::uword rows, arma::uword n) {
  if (rows == n) return;  // before any text for a message is formatted
  require(false, std::string(sketch) + "::left", "a matrix with n rows", {{"rows", rows}, {"n", n}});
}

void require_right_factor(std::string_view sketch, arma::uword cols, arma::uword n) {
  if (cols == n) return;
  require(false, std::string(sketch) + "::right", "a matrix with n columns", {{"cols", cols}, {"n", n}});
}

void require_expand_factor(std::string_view sketch, arma::uword rows, arma::uword d) {
  if (rows == d) return;
  require(false, std::string(sketch) + "::expand", "a matrix with d rows", {{"rows", rows}, {"d", d}});
}

}  // namespace croquis
