// Regular expressions from tokenizer.json files, which may be malicious. Not installed.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace croquis {

/// A regular expression over UTF-8 in the syntax of Oniguruma, which Hugging Face's tokenizers use, with the properties
/// of Unicode in \s, \d and \p. PCRE2 runs it. An expression that Oniguruma and PCRE2 may read in different ways is
/// refused; those of GPT-2, GPT-4o, Llama 3 and Qwen are accepted. One difference is left: U+180E is white space in
/// PCRE2. Copies share the compiled expression. Thread-safe.
class RegularExpression {
 public:
  /// Throws std::invalid_argument with the error, or what may be read in two ways, and its position, without the
  /// expression itself.
  explicit RegularExpression(const std::string& expression);

  /// Calls match(begin, end) for each match in the text, from the left, without overlaps. Empty matches are included,
  /// except at the place where the match before ended.
  /// Cost: at most 64 MB of memory, and 10^7 steps for each match.
  /// Throws: std::invalid_argument for an expression that needs more on this text, and for a text that is not UTF-8.
  void for_each_match(const std::string& text, const std::function<void(std::size_t, std::size_t)>& match) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace croquis
