// libFuzzer's entry; CROQUIS_FUZZ_READER is the function under test.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  CROQUIS_FUZZ_READER(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
