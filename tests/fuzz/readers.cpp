// What a fuzzer calls with bytes that a file might have. A reader may refuse them with std::invalid_argument; anything
// else, a crash and a large allocation included, is a defect.
#include <croquis/io/npy.hpp>
#include <croquis/io/npz.hpp>
#include <croquis/io/safetensors.hpp>
#include <stdexcept>
#include <string>

#include "fuzz/readers.hpp"

void read_as_npy(const std::string& bytes) {
  try {
    croquis::parse_npy(bytes, "fuzz.npy");
  } catch (const std::invalid_argument&) {
  }
}

void read_as_npz(const std::string& bytes) {
  try {
    croquis::parse_npz(bytes, "fuzz.npz", "q");
  } catch (const std::invalid_argument&) {
  }
}

void read_as_safetensors(const std::string& bytes) {
  try {
    const croquis::SafeTensors file(bytes, "fuzz.safetensors");
    for (const std::string& name : file.names()) {
      try {
        file.matrix(name);
      } catch (const std::invalid_argument&) {
      }
    }
  } catch (const std::invalid_argument&) {
  }
}
