#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/matrix_market.hpp>
#include <cstdint>
#include <limits>
#include <system_error>
#include <vector>

namespace croquis {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::uint64_t kLargestSize = std::numeric_limits<std::int32_t>::max();  // the indices of LAPACK

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

enum class Symmetry { general, symmetric, skew };

struct Header {
  bool coordinate = false, pattern = false, integer = false;
  Symmetry symmetry = Symmetry::general;
  std::uint64_t rows = 0, cols = 0, entries = 0;  // those in the file
};

class MarketReader {
 public:
  MarketReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Header header() {
    Header h = banner();
    do {
      if (!next_line()) refuse("ends before its sizes");
    } while (line_.starts_with('%') || words_.empty());
    sizes(h);
    return h;
  }

  arma::mat matrix() {
    const Header h = header();
    // An entry takes at least its indices or its number, and a line break.
    const std::uint64_t least = h.coordinate ? (h.pattern ? 4 : 6) : 2, left = bytes_.size() - at_;
    if (h.entries > left / least) {
      refuse(fmt::format("announces {} entries; the {} bytes after it are too few", h.entries, left));
    }
    require_memory(sizeof(double) * static_cast<double>(h.rows) * static_cast<double>(h.cols), name_,
                   {{"rows", h.rows}, {"cols", h.cols}});
    // What has not been set is NaN, which no entry is.
    arma::mat m(h.rows, h.cols);
    m.fill(std::numeric_limits<double>::quiet_NaN());
    if (h.coordinate) {
      coordinates(h, m);
    } else {
      columns(h, m);
    }
    while (next_line()) {
      if (!words_.empty()) refuse(fmt::format("has more than the {} entries that it announces", h.entries));
    }
    m.replace(std::numeric_limits<double>::quiet_NaN(), 0.0);
    return m;
  }

 private:
  // About the line that was read last.
  [[noreturn]] void refuse(const std::string& why) const {
    refuse_file(name_, fmt::format("line {} {}", number_, why));
  }

  // The next line as its words; false at the end of the file.
  bool next_line() {
    if (at_ == bytes_.size()) return false;
    ++number_;
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) refuse("has no end; a whole file ends in a line break");
    line_ = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    words_.clear();
    for (std::size_t from = 0; (from = line_.find_first_not_of(" \t", from)) != std::string_view::npos;) {
      const std::size_t to = std::min(line_.find_first_of(" \t", from), line_.size());
      words_.push_back(line_.substr(from, to - from));
      from = to;
    }
    return true;
  }

  // The next line that is not blank, where entry i (from 0) is to be.
  void next_entry(std::uint64_t i, std::uint64_t entries, std::size_t words) {
    do {
      if (!next_line()) {
        refuse_file(name_, fmt::format("ends after {} of the {} entries that it announces", i, entries));
      }
    } while (words_.empty());
    if (words_.size() != words) {
      refuse(fmt::format("has {} words where {} are expected: {}", words_.size(), words, excerpt(line_)));
    }
  }

  Header banner() {
    constexpr std::string_view magic = "%%MatrixMarket";
    if (!bytes_.starts_with(magic))
      refuse_file(name_, "is not a MatrixMarket file, whose first word would be %%MatrixMarket");
    next_line();
    if (words_.size() != 5 || words_[0] != magic || lower_case(words_[1]) != "matrix") {
      refuse("is to be %%MatrixMarket matrix, then the format, the field and the symmetry");
    }
    const std::string format = lower_case(words_[2]), field = lower_case(words_[3]), symmetry = lower_case(words_[4]);
    Header h;
    h.coordinate = format == "coordinate";
    h.pattern = field == "pattern";
    h.integer = field == "integer";
    if (!h.coordinate && format != "array") refuse(unknown("format", format, "coordinate and array"));
    if (!h.pattern && !h.integer && field != "real") refuse(unknown("field", field, "real, integer and pattern"));
    if (h.pattern && !h.coordinate) refuse("has a pattern as an array, which has no numbers");
    if (symmetry == "symmetric") {
      h.symmetry = Symmetry::symmetric;
    } else if (symmetry == "skew-symmetric") {
      if (h.pattern) refuse("has a skew-symmetric pattern, which has no signs");
      h.symmetry = Symmetry::skew;
    } else if (symmetry != "general") {
      refuse(unknown("symmetry", symmetry, "general, symmetric and skew-symmetric"));
    }
    return h;
  }

  static std::string unknown(const char* what, const std::string& word, const char* known) {
    return fmt::format("has the {} '{}'; {} are read", what, excerpt(word), known);
  }

  void sizes(Header& h) const {
    if (words_.size() != (h.coordinate ? 3 : 2)) {
      refuse(h.coordinate ? "is to be the numbers of rows, columns and entries"
                          : "is to be the numbers of rows and columns");
    }
    h.rows = count(words_[0], kLargestSize);
    h.cols = count(words_[1], kLargestSize);
    if (h.symmetry != Symmetry::general && h.rows != h.cols) {
      refuse(fmt::format("has a symmetric matrix of {} x {}, which is not square", h.rows, h.cols));
    }
    const std::uint64_t n = h.rows;  // < 2^31: no product overflows
    const std::uint64_t all = h.symmetry == Symmetry::general ? h.rows * h.cols
                              : h.symmetry == Symmetry::skew  ? n * (n - (n > 0 ? 1 : 0)) / 2
                                                              : n * (n + 1) / 2;
    h.entries = h.coordinate ? count(words_[2], std::numeric_limits<std::uint64_t>::max()) : all;
    if (h.entries > all) refuse(fmt::format("announces {} entries where there are {} places", h.entries, all));
  }

  std::uint64_t count(std::string_view word, std::uint64_t most) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value > most) {
      refuse(fmt::format("has '{}' where a whole number up to {} is expected", excerpt(word), most));
    }
    return value;
  }

  arma::uword index(std::string_view word, std::uint64_t size) const {
    const std::uint64_t value = count(word, size);
    if (value == 0) refuse("has the index 0; indices are counted from 1");
    return value - 1;
  }

  double value(std::string_view word, bool integer) const {
    std::string_view digits = word;
    if (digits.starts_with('+') && !digits.substr(1).starts_with('-')) digits.remove_prefix(1);
    const char *begin = digits.data(), *end = begin + digits.size();
    if (integer) {
      constexpr std::int64_t most = std::int64_t{1} << std::numeric_limits<double>::digits;
      std::int64_t whole = 0;
      const auto [stop, error] = std::from_chars(begin, end, whole);
      if (error == std::errc() && stop == end && whole >= -most && whole <= most) return static_cast<double>(whole);
      refuse(fmt::format("has '{}' where a whole number of at most 2^53 is expected", excerpt(word)));
    }
    double number = 0;
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error != std::errc() || stop != end || !std::isfinite(number)) {
      refuse(fmt::format("has '{}' where a finite double is expected", excerpt(word)));
    }
    return number;
  }

  void set(const Header& h, arma::mat& m, arma::uword i, arma::uword j, double number) const {
    if (!std::isnan(m(i, j))) refuse(fmt::format("has the entry {} {} a second time", i + 1, j + 1));
    m(i, j) = number;
    if (h.symmetry != Symmetry::general) m(j, i) = h.symmetry == Symmetry::skew ? -number : number;
  }

  void coordinates(const Header& h, arma::mat& m) {
    for (std::uint64_t entry = 0; entry < h.entries; ++entry) {
      next_entry(entry, h.entries, h.pattern ? 2 : 3);
      const arma::uword i = index(words_[0], h.rows), j = index(words_[1], h.cols);
      if (h.symmetry != Symmetry::general && (i < j || (i == j && h.symmetry == Symmetry::skew))) {
        refuse(fmt::format("has the entry {} {}; of a {} its diagonal is there", i + 1, j + 1,
                           h.symmetry == Symmetry::skew ? "skew-symmetric matrix what is below"
                                                        : "symmetric matrix what is on and below"));
      }
      set(h, m, i, j, h.pattern ? 1.0 : value(words_[2], h.integer));
    }
  }

  // An array goes column by column, a symmetric one from the diagonal down.
  void columns(const Header& h, arma::mat& m) {
    std::uint64_t entry = 0;
    for (arma::uword j = 0; j < h.cols; ++j) {
      const arma::uword first = h.symmetry == Symmetry::general ? 0 : h.symmetry == Symmetry::skew ? j + 1 : j;
      for (arma::uword i = first; i < h.rows; ++i, ++entry) {
        next_entry(entry, h.entries, 1);
        set(h, m, i, j, value(words_[0], h.integer));
      }
    }
  }

  std::string_view bytes_, line_;
  const std::string& name_;
  std::size_t at_ = 0, number_ = 0;
  Words words_;
};

}  // namespace

arma::mat read_matrix_market(const std::string& path) {
  return parse_matrix_market(read_bytes(path), path);
}

arma::mat parse_matrix_market(std::string_view bytes, const std::string& name) {
  return MarketReader(bytes, name).matrix();
}

MatrixMarketSize matrix_market_size(std::string_view bytes, const std::string& name) {
  const Header h = MarketReader(bytes, name).header();
  return {h.rows, h.cols};
}

}  // namespace croquis
