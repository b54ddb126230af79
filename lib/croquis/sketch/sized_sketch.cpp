#include <croquis/core/memory.hpp>
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

void require_nonzeros(std::string_view sketch, arma::uword count, arma::uword each, std::size_t bytes) {
  require_memory(static_cast<double>(bytes) * static_cast<double>(count) * static_cast<double>(each), sketch,
                 {{"count", count}, {"nonzeros of each", each}});
}

}  // namespace croquis
