#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <croquis/io/digest.hpp>
#include <cstdint>
#include <new>

namespace croquis {

Digest::Digest() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_));
}

Digest::~Digest() {
  XXH3_freeState(static_cast<XXH3_state_t*>(state_));
}

Digest& Digest::add(std::string_view bytes) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size());
  return *this;
}

template <typename T>
Digest& Digest::add(const arma::Mat<T>& matrix) {
  const std::uint64_t sizes[] = {matrix.n_rows, matrix.n_cols};
  add({reinterpret_cast<const char*>(sizes), sizeof sizes});
  return add({reinterpret_cast<const char*>(matrix.memptr()), matrix.n_elem * sizeof(T)});
}

Digest& Digest::add(const ByteSource& source) {
  constexpr std::uint64_t piece = 1 << 20;
  std::string bytes(std::min(piece, source.size()), '\0');
  for (std::uint64_t at = 0; at < source.size(); at += piece) {
    bytes.resize(std::min(piece, source.size() - at));
    source.read(at, bytes.size(), bytes.data());
    add(bytes);
  }
  return *this;
}

std::string Digest::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string digest_of(std::string_view bytes) {
  return Digest().add(bytes).hex();
}

template Digest& Digest::add(const arma::Mat<float>&);
template Digest& Digest::add(const arma::Mat<double>&);

}  // namespace croquis
