#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <croquis/io/utf8.hpp>
#include <croquis/models/regular_expression.hpp>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string_view>

namespace croquis {
namespace {

constexpr std::uint32_t kMostSteps = 10'000'000, kMostKibibytes = 64 * 1024;
constexpr std::uint32_t kDeepestSyntax = 1000;  // PCRE2 compiles 250 groups within each other

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

using OwnedLimits = Owned<pcre2_match_context, pcre2_match_context_free>;

OwnedLimits new_limits() {
  OwnedLimits made(pcre2_match_context_create(nullptr));
  if (!made) throw std::bad_alloc();
  pcre2_set_match_limit(made.get(), kMostSteps);
  pcre2_set_heap_limit(made.get(), kMostKibibytes);
  return made;
}

OwnedCode compiled(std::string_view expression, std::uint32_t options) {
  int error = 0;
  PCRE2_SIZE at = 0;
  OwnedCode code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                               PCRE2_UTF | PCRE2_UCP | options, &error, &at, nullptr));
  if (!code) throw std::invalid_argument(fmt::format("{} at character {}", message_of(error), at + 1));
  return code;
}

// What means the same in Oniguruma's syntax of Ruby: not ^, $, \w, \b, \h, \v, flags but i, names of groups,
// references, classes within classes and their intersections, {,n}, and a possessive or lazy {m,n}. There {m,n} of a
// group ends with the first time that is empty, and a look-behind in a look-behind may be taken for one that never
// holds. In (?i: a property is folded too, and one character may stand for several, which of ASCII are ss, st, ff, fi
// and fl: what is read are literals of ASCII, classes of its letters and |, and none of these letters beside each
// other.
constexpr std::string_view kCommonSyntax = R"re(
  (?(DEFINE)
    (?<escape> \\ (?: [rntfsSdD\x20[:punct:]] | [pP] \{ \^? [LMNPSZC] [a-z]? \} | x \{ [0-9a-fA-F]+ \} ) )
    (?<class> \[ \^? (?: (?&escape) | & (?!&) | [^\\\[\]&] )++ \] )
    (?<no_behind> (?: (?&escape) | (?&class) | [^\\\[()] | \( (?! \?< ) (?&no_behind) \) )*+ )
    (?<s> [sS] | \[ [a-zA-Z]*? [sS] [a-zA-Z]* \] )
    (?<st> [sStT] | \[ [a-zA-Z]*? [sStT] [a-zA-Z]* \] )
    (?<f> [fF] | \[ [a-zA-Z]*? [fF] [a-zA-Z]* \] )
    (?<fil> [fFiIlL] | \[ [a-zA-Z]*? [fFiIlL] [a-zA-Z]* \] )
    (?<folded> (?! (?&s) (?&st) | (?&f) (?&fil) ) (?: \[ [a-zA-Z]++ \] | (?! [\\\[()*+?{.^$] ) [\x20-\x7e] ) )
  )
  (?: (?&escape)
    | (?&class)
    | \( (?: \? (?: [:=!>] | <[=!] (?= (?&no_behind) \) ) | i: (?&folded)*+ (?= \) ) ) | (?![?*]) )
    | \) (?! \{ )
    | [*+?] [+?]? (?![*+?{])
    | \{ [0-9]+ (?: , [0-9]* )? \} (?![*+?{])
    | [^\\\[()*+?{^$]
  )*+
)re";

void require_common_syntax(const std::string& expression) {
  static const OwnedCode syntax = compiled(kCommonSyntax, PCRE2_ANCHORED | PCRE2_EXTENDED);
  const Owned<pcre2_match_data, pcre2_match_data_free> found(
      pcre2_match_data_create_from_pattern(syntax.get(), nullptr));
  if (!found) throw std::bad_alloc();
  const OwnedLimits limits = new_limits();
  pcre2_set_depth_limit(limits.get(), kDeepestSyntax);
  const int result = pcre2_match(syntax.get(), reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), 0, 0,
                                 found.get(), limits.get());
  if (result < 0) throw std::invalid_argument(message_of(result));
  const PCRE2_SIZE end = pcre2_get_ovector_pointer(found.get())[1];
  if (end == expression.size()) return;
  throw std::invalid_argument(
      fmt::format("what begins at character {} may mean something else in Oniguruma, whose syntax it has", end + 1));
}

}  // namespace

struct RegularExpression::Compiled {
  OwnedCode code;
  OwnedLimits limits;
};

RegularExpression::RegularExpression(const std::string& expression) {
  require_common_syntax(expression);
  // Some versions of PCRE2, as 10.42, take \P{L} and \P{N} for disjoint: \P{L}+ before \P{N} gives nothing back.
  compiled_ = std::make_shared<const Compiled>(Compiled{compiled(expression, PCRE2_NO_AUTO_POSSESS), new_limits()});
}

// As find_iter of the crate onig, by which Hugging Face's library cuts: of an empty match where the last match ended,
// the search goes on one character further, though a longer match might begin with that character.
void RegularExpression::for_each_match(const std::string& text,
                                       const std::function<void(std::size_t, std::size_t)>& match) const {
  const Owned<pcre2_match_data, pcre2_match_data_free> found(
      pcre2_match_data_create_from_pattern(compiled_->code.get(), nullptr));
  if (!found) throw std::bad_alloc();
  std::uint32_t options = 0;
  std::size_t at = 0, last_end = std::string::npos;
  for (;;) {
    const int result = pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                   options, found.get(), compiled_->limits.get());
    options = PCRE2_NO_UTF_CHECK;  // the first match has checked all of the text
    if (result == PCRE2_ERROR_NOMATCH) return;
    if (result < 0) throw std::invalid_argument(message_of(result));
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(found.get());
    if (ends[0] < at || ends[1] < ends[0]) throw std::invalid_argument("a match that ends before it begins");
    if (ends[1] == last_end) {
      if (at == text.size()) return;
      next_character(text, at);
    } else {
      match(ends[0], ends[1]);
      at = last_end = ends[1];
    }
  }
}

}  // namespace croquis
