// What a fuzzer calls with bytes that a file might have. A reader may refuse them with std::invalid_argument; anything
// else, a crash and a large allocation included, is a defect.
#pragma once

#include <string>
#include <vector>

struct FuzzedReader {
  std::string name;
  void (*read)(const std::string& bytes);
  std::vector<std::string> right;  ///< files that it reads, to be damaged
};

/// Those of the library.
std::vector<FuzzedReader> library_readers();
/// Those of the program, for which right files are results that it makes.
std::vector<FuzzedReader> program_readers();
