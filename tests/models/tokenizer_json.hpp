// Files tokenizer.json with few words, and their tokenizers.
#pragma once

#include <fmt/format.h>

#include <croquis/models/byte_pairs.hpp>
#include <string>
#include <vector>

/// A tokenizer.json with these entries; ids of the vocabulary in the order given.
inline std::string file_of(const std::vector<std::string>& vocabulary, const std::vector<std::string>& merges,
                           const std::string& rest, const std::string& model = "") {
  const auto quoted = [](const std::string& text) {
    std::string all = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') all += '\\';
      all += c;
    }
    all += '"';
    return all;
  };
  std::string ids, pairs;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    if (i > 0) ids += ',';
    ids += fmt::format("{}:{}", quoted(vocabulary[i]), i);
  }
  for (const std::string& merge : merges) {
    if (!pairs.empty()) pairs += ',';
    pairs += quoted(merge);
  }
  return fmt::format(R"({{"model":{{"type":"BPE","vocab":{{{}}},"merges":[{}]{}}}{}}})", ids, pairs, model, rest);
}

inline croquis::BytePairTokenizer tokenizer_of(const std::string& bytes) {
  return {bytes, "tokenizer.json"};
}
