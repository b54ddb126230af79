#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <croquis/models/regular_expression.hpp>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

constexpr std::uint32_t kMostSteps = 10'000'000, kMostKibibytes = 64 * 1024;

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

template <typename T, void (*release)(T*)>
struct Release {
  void operator()(T* x) const { release(x); }
};
template <typename T, void (*release)(T*)>
using Owned = std::unique_ptr<T, Release<T, release>>;

}  // namespace

struct RegularExpression::Compiled {
  Owned<pcre2_code, pcre2_code_free> code;
  Owned<pcre2_match_context, pcre2_match_context_free> limits;
};

RegularExpression::RegularExpression(const std::string& expression) {
  int error = 0;
  PCRE2_SIZE at = 0;
  auto compiled = std::make_shared<Compiled>();
  // No \C, which matches half a character.
  compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at, nullptr));
  if (!compiled->code) throw std::invalid_argument(fmt::format("{} at character {}", message_of(error), at + 1));
  compiled->limits.reset(pcre2_match_context_create(nullptr));
  if (!compiled->limits) throw std::bad_alloc();
  pcre2_set_match_limit(compiled->limits.get(), kMostSteps);
  pcre2_set_heap_limit(compiled->limits.get(), kMostKibibytes);
  compiled_ = std::move(compiled);
}

void RegularExpression::for_each_match(const std::string& text,
                                       const std::function<void(std::size_t, std::size_t)>& match) const {
  const Owned<pcre2_match_data, pcre2_match_data_free> found(
      pcre2_match_data_create_from_pattern(compiled_->code.get(), nullptr));
  if (!found) throw std::bad_alloc();
  std::uint32_t options = PCRE2_NOTEMPTY;
  for (std::size_t at = 0; at < text.size();) {
    const int result = pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                   options, found.get(), compiled_->limits.get());
    options |= PCRE2_NO_UTF_CHECK;  // the first match has checked all of the text
    if (result == PCRE2_ERROR_NOMATCH) return;
    if (result < 0) throw std::invalid_argument(message_of(result));
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(found.get());
    if (ends[1] <= ends[0] || ends[1] <= at) throw std::invalid_argument("a match that ends before it begins");
    match(ends[0], ends[1]);
    at = ends[1];
  }
}

}  // namespace croquis
