#include "options/heads_in_memory.hpp"

#include <croquis/core/threads.hpp>

void HeadsInMemory::begin(const Input& first) {
  // A matrix after another of one head does not read it again.
  std::erase_if(heads_, [&](const auto& head) { return head.first != &first; });
  heads_.try_emplace(&first);
}

bool HeadsInMemory::add(const Input& input) {
  if (heads_.contains(&input)) return true;
  if (heads_.size() >= static_cast<std::size_t>(croquis::threads())) return false;
  heads_.try_emplace(&input);
  return true;
}

void HeadsInMemory::load() {
  for (auto& [input, problem] : heads_) {
    if (!problem) problem.emplace(input->problem());
  }
}
