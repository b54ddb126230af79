// libFuzzer's entry. CROQUIS_FUZZ_READER names the reader; its right files are written to the folder
// CROQUIS_FUZZ_RIGHT.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/readers.hpp"
#include "support/files.hpp"

namespace {

FuzzedReader chosen;

const char* setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static doctest::Context context;  // for what the right files are made with
  context.setAsDefaultForAssertsOutOfTestCases();
  std::vector<FuzzedReader> readers = library_readers();
  for (const FuzzedReader& reader : program_readers()) readers.push_back(reader);
  for (const FuzzedReader& reader : readers) {
    if (reader.name == setting("CROQUIS_FUZZ_READER")) chosen = reader;
  }
  if (chosen.read == nullptr) {
    fmt::print(stderr, "fuzz: the readers are:");
    for (const FuzzedReader& reader : readers) fmt::print(stderr, " {}", reader.name);
    fmt::print(stderr, "\n");
    std::exit(2);
  }
  const std::filesystem::path folder = setting("CROQUIS_FUZZ_RIGHT");
  for (std::size_t i = 0; i < chosen.right.size(); ++i) {
    write_text(folder / fmt::format("right-{}", i), chosen.right[i]);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen.read(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
