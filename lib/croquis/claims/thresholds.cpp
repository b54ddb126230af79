#include <algorithm>
#include <croquis/claims/thresholds.hpp>
#include <croquis/claims/thresholds_text.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/io/digest.hpp>
#include <iterator>
#include <sstream>

namespace croquis::claims {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

Threshold threshold_of(const std::string& line) {
  const auto fields = split_csv_line(line);
  Threshold threshold{words_of(fields.at(0)), fields.at(1), fields.at(2), {}, fields.at(4)};
  for (const std::string& number : words_of(fields.at(3))) threshold.values.push_back(std::stod(number));
  return threshold;
}

}  // namespace

const std::vector<Threshold>& thresholds() {
  static const std::vector<Threshold> all = [] {
    std::istringstream text{std::string(kThresholdsText)};
    std::vector<Threshold> lines;
    std::string line;
    std::getline(text, line);  // names of the columns
    while (std::getline(text, line)) lines.push_back(threshold_of(line));
    return lines;
  }();
  return all;
}

const std::vector<double>* find_threshold(std::string_view id, std::string_view quantity) {
  const auto slash = id.find('/');
  const std::string_view sentence = id.substr(0, slash),
                         reading = slash == std::string_view::npos ? "*" : id.substr(slash + 1);
  const std::vector<double>* shared = nullptr;
  for (const Threshold& line : thresholds()) {
    if (line.quantity != quantity || std::find(line.claims.begin(), line.claims.end(), sentence) == line.claims.end()) {
      continue;
    }
    if (line.reading == reading) return &line.values;
    if (line.reading == "*") shared = &line.values;
  }
  return shared;
}

std::string thresholds_digest() {
  return digest_of(kThresholdsText);
}

}  // namespace croquis::claims
