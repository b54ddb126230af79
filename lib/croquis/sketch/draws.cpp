#include <croquis/sketch/draws.hpp>

namespace croquis {

void fill_words(const Stream& stream, std::uint64_t first, std::uint64_t count, std::uint64_t* out) {
  std::uint64_t i = 0;
  while (i < count) {
    const std::uint64_t k = first + i;
    const auto block = stream.block(k / 2);
    for (std::uint64_t half = k % 2; half < 2 && i < count; ++half) {
      out[i++] = block[2 * half] | static_cast<std::uint64_t>(block[2 * half + 1]) << 32;
    }
  }
}

}  // namespace croquis
