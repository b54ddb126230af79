#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <croquis/models/regular_expression.hpp>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string_view>
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

using OwnedCode = Owned<pcre2_code, pcre2_code_free>;

OwnedCode compiled(std::string_view expression, std::uint32_t options) {
  int error = 0;
  PCRE2_SIZE at = 0;
  OwnedCode code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                               PCRE2_UTF | PCRE2_UCP | options, &error, &at, nullptr));
  if (!code) throw std::invalid_argument(fmt::format("{} at character {}", message_of(error), at + 1));
  return code;
}

// What means the same in Oniguruma's syntax of Ruby: not ^, $, \w, \b, \h, \v, flags but i, names of groups,
// references, classes within classes and their intersections, {,n}, and a possessive or lazy {m,n}.
constexpr std::string_view kCommonSyntax = R"re(
  (?(DEFINE) (?<escape> \\ (?: [rntfsSdD\x20[:punct:]] | [pP] \{ \^? [LMNPSZC] [a-z]? \} | x \{ [0-9a-fA-F]+ \} ) ))
  (?: (?&escape)
    | \[ \^? (?: (?&escape) | & (?!&) | [^\\\[\]&] )++ \]
    | \( (?: \? (?: [:=!>] | <[=!] | i: ) | (?![?*]) )
    | [*+?] [+?]? (?![*+?{])
    | \{ [0-9]+ (?: , [0-9]* )? \} (?![*+?{])
    | [^\\\[(*+?{^$]
  )*+
)re";

void require_common_syntax(const std::string& expression) {
  static const OwnedCode syntax = compiled(kCommonSyntax, PCRE2_ANCHORED | PCRE2_EXTENDED);
  const Owned<pcre2_match_data, pcre2_match_data_free> found(
      pcre2_match_data_create_from_pattern(syntax.get(), nullptr));
  if (!found) throw std::bad_alloc();
  const int result = pcre2_match(syntax.get(), reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), 0, 0,
                                 found.get(), nullptr);
  if (result < 0) throw std::invalid_argument(message_of(result));
  const PCRE2_SIZE end = pcre2_get_ovector_pointer(found.get())[1];
  if (end == expression.size()) return;
  throw std::invalid_argument(
      fmt::format("what begins at character {} may mean something else in Oniguruma, whose syntax it has", end + 1));
}

}  // namespace

struct RegularExpression::Compiled {
  OwnedCode code;
  Owned<pcre2_match_context, pcre2_match_context_free> limits;
};

RegularExpression::RegularExpression(const std::string& expression) {
  auto made = std::make_shared<Compiled>();
  require_common_syntax(expression);
  made->code = compiled(expression, 0);
  made->limits.reset(pcre2_match_context_create(nullptr));
  if (!made->limits) throw std::bad_alloc();
  pcre2_set_match_limit(made->limits.get(), kMostSteps);
  pcre2_set_heap_limit(made->limits.get(), kMostKibibytes);
  compiled_ = std::move(made);
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
