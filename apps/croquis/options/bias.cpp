#include "options/bias.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <croquis/core/choices.hpp>
#include <croquis/inputs/biases.hpp>
#include <croquis/io/npy.hpp>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "options/name_part.hpp"
#include "options/said_of.hpp"

namespace {

[[noreturn]] void refuse_bias(const std::string& text) {
  throw std::invalid_argument(
      fmt::format("--bias: '{}' is none of FILE.npy, alibi:SLOPE, t5:BUCKETS,MAXDISTANCE,SIGMA, random:SIGMA", text));
}

std::vector<double> numbers(const std::string& list, const std::string& text, std::size_t count) {
  if (list.empty()) refuse_bias(text);
  std::vector<double> values;
  for (const std::string& item : croquis::split_list(list, "--bias")) {
    double value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc{} || end != item.data() + item.size()) refuse_bias(text);
    values.push_back(value);
  }
  if (values.size() != count) refuse_bias(text);
  return values;
}

int whole(double value, const std::string& text) {
  constexpr double most = 1e9;
  if (!(value >= 0 && value <= most && value == std::floor(value))) refuse_bias(text);
  return static_cast<int>(value);
}

croquis::RelativePosition<double> from_file(const std::string& path, arma::uword n) {
  const arma::mat values = croquis::read_npy_or_vector(path);
  croquis::RelativePosition<double> position;
  position.bias = arma::vectorise(values.t());  // row by row
  if (values.n_rows > 1 && values.n_cols > 1) {
    if (values.n_rows % 2 == 0 || values.n_cols % 2 == 0) {
      throw std::invalid_argument(
          fmt::format("--bias: {}: {} x {} numbers; images of h x w tokens have (2h - 1) x (2w - 1)", path,
                      values.n_rows, values.n_cols));
    }
    const arma::uword height = (values.n_rows + 1) / 2, width = (values.n_cols + 1) / 2;
    if (height * width != n) {
      throw std::invalid_argument(
          fmt::format("--bias: {}: {} x {} numbers are of an image of {} x {} tokens, there are {}", path,
                      values.n_rows, values.n_cols, height, width, n));
    }
    position.height = height;
  }
  return position;
}

}  // namespace

croquis::RelativePosition<double> parse_bias(const std::string& text, bool causal, arma::uword n,
                                             const croquis::Key& draw_key) {
  croquis::RelativePosition<double> position;
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (text.ends_with(".npy")) {
    position = from_file(text, n);
  } else if (kind == "alibi") {
    const double slope = numbers(rest, text, 1)[0];
    position.bias = said_of("--bias " + text, [&] { return croquis::alibi_bias(n, slope); });
  } else if (kind == "t5") {
    const std::vector<double> values = numbers(rest, text, 3);
    const croquis::T5Bias t5 = {whole(values[0], text), whole(values[1], text), values[2]};
    position.bias = said_of("--bias " + text, [&] { return croquis::t5_bias(n, t5, draw_key); });
  } else if (kind == "random") {
    const double sigma = numbers(rest, text, 1)[0];
    position.bias = said_of("--bias " + text, [&] { return croquis::random_bias(n, sigma, draw_key); });
  } else if (!text.empty()) {
    refuse_bias(text);
  }
  position.causal = causal;
  return position;
}

std::string name_of_bias(const std::string& text, bool causal) {
  std::string name;
  if (!text.empty())
    name = ";bias=" + (text.ends_with(".npy") ? as_name_part(std::filesystem::path(text).stem().string()) : text);
  return causal ? name + ";causal" : name;
}

void require_no_bias(const std::string& bias, const std::string& command, const std::string& why) {
  if (!bias.empty()) throw std::invalid_argument(fmt::format("{}: takes no --bias; {}", command, why));
}
