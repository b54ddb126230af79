#include <croquis/sketch/draws.hpp>

namespace croquis {
namespace {
constexpr std::uint64_t kBitsPerBlock = 128, kBitsPerWord = 32;
}

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

template <typename T>
void fill_signs(const Stream& stream, std::uint64_t first, std::uint64_t count, T magnitude, T* out) {
  const T values[2] = {magnitude, -magnitude};
  std::uint64_t i = 0;
  while (i < count) {
    const std::uint64_t k = first + i;
    const auto block = stream.block(k / kBitsPerBlock);
    for (std::uint64_t bit = k % kBitsPerBlock; bit < kBitsPerBlock && i < count; ++bit) {
      out[i++] = values[block[bit / kBitsPerWord] >> (bit % kBitsPerWord) & 1];
    }
  }
}

template void fill_signs(const Stream&, std::uint64_t, std::uint64_t, float, float*);
template void fill_signs(const Stream&, std::uint64_t, std::uint64_t, double, double*);

}  // namespace croquis
