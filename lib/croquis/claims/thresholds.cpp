#include <fmt/format.h>

#include <croquis/claims/thresholds.hpp>
#include <croquis/claims/thresholds_text.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/io/digest.hpp>
#include <stdexcept>

namespace croquis::claims {

const std::vector<Threshold>& thresholds() {
  static const std::vector<Threshold> all = [] {
    std::vector<Threshold> lines;
    const std::string_view text = kThresholdsText;
    for (std::size_t start = text.find('\n') + 1, end = 0; (end = text.find('\n', start)) != std::string_view::npos;
         start = end + 1) {
      const auto fields = split_csv_line(text.substr(start, end - start));
      lines.push_back({fields.at(0), fields.at(1), std::stod(fields.at(2)), fields.at(3)});
    }
    return lines;
  }();
  return all;
}

double threshold(std::string_view claim, std::string_view quantity) {
  std::string known;
  for (const Threshold& line : thresholds()) {
    if (line.claim != claim) continue;
    if (line.quantity == quantity) return line.value;
    known += fmt::format(" {}", line.quantity);
  }
  throw std::invalid_argument(fmt::format("thresholds: {} has{}, none for {}", claim, known, quantity));
}

std::string thresholds_digest() {
  return digest_of(kThresholdsText);
}

}  // namespace croquis::claims
