// What models are often stored as, given in the place of a safetensors file.
#include <doctest/doctest.h>
#include <croquis/io/safetensors.hpp>

#include <string>
#include <utility>

#include "support/refusal.hpp"

using namespace croquis;

TEST_CASE("safetensors: files of other formats are refused with what they are and what to do") {
  using namespace std::string_literals;
  const std::pair<std::string, std::string> others[] = {
      {"PK\x03\x04\0\0\x08\x08"s, "is a zip archive, as torch.save writes; convert it to safetensors"},
      {"\x80\x02\x8a\nl\xfc\x9c\x46"s,
       "is a pickle, as torch.save wrote before PyTorch 1.6; convert it to safetensors"},
      {"GGUF\x03\0\0\0"s, "is a GGUF file; convert it to safetensors"},
      {"\x89HDF\r\n\x1a\n"s, "is an HDF5 file; convert it to safetensors"},
      {"version https://git-lfs.github.com/spec/v1\n"s,
       "is the pointer that Git LFS puts in a file's place; fetch the file"}};
  for (const auto& [begin, said] : others) {
    CHECK(refusal([&, &b = begin] { SafeTensors(b + std::string(100, '\0'), "m.bin"); }) == "m.bin: " + said);
  }
}
