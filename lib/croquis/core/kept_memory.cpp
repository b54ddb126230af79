#include <malloc.h>
#include <unistd.h>

#include <croquis/core/kept_memory.hpp>
#include <string_view>

namespace croquis {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kept = 256 << 20, largest_block = 64 << 20;
  for (char** setting = environ; setting && *setting; ++setting) {
    const std::string_view text = *setting;
    if (text.starts_with("MALLOC_") || text.starts_with("GLIBC_TUNABLES=")) return;
  }
  ::mallopt(M_TRIM_THRESHOLD, kept);
  ::mallopt(M_MMAP_THRESHOLD, largest_block);
#endif
}

}  // namespace croquis
