#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <croquis/models/required_tensors.hpp>

namespace croquis {
namespace {

std::string shown(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", excerpt(fmt::format("{}", fmt::join(shape, ", "))));
}

}  // namespace

void RequiredTensors::shape(const std::string& tensor, const std::vector<std::uint64_t>& shape) {
  const std::string name = parts_.full(tensor);
  names_.insert(name);
  const auto& there = parts_.weights().shape(name);
  if (there == shape) return;
  refuse_file(parts_.weights().name(),
              fmt::format("tensor '{}' is {}; the configuration calls for {}", name, shown(there), shown(shape)));
}

void RequiredTensors::linear(const std::string& name, arma::uword out, arma::uword in, bool bias) {
  shape(name + ".weight", {out, in});
  if (bias) shape(name + ".bias", {out});
}

void RequiredTensors::norm(const std::string& name, arma::uword width) {
  for (const bool weight : {true, false}) {
    const std::string part = parts_.norm_part(name, weight), other = name + (weight ? ".weight" : ".bias");
    shape(part, {width});
    if (part == other || !parts_.has(other)) continue;
    names_.insert(parts_.full(other));
    if (parts_.weights().equal(parts_.full(part), parts_.full(other))) continue;
    refuse_file(parts_.weights().name(), fmt::format("tensor '{}' differs from '{}', which are two names of one part",
                                                     parts_.full(part), parts_.full(other)));
  }
}

arma::uword RequiredTensors::table(const std::string& tensor, arma::uword width) {
  const auto& there = parts_.weights().shape(parts_.full(tensor));
  const arma::uword rows = there.empty() ? 0 : there[0];
  shape(tensor, {rows, width});
  return rows;
}

void RequiredTensors::no_others(const std::string& stem, std::initializer_list<const char*> buffers) const {
  for (const std::string& name : parts_.weights().names()) {
    if (!name.starts_with(parts_.full(stem)) || names_.contains(name)) continue;
    if (std::any_of(buffers.begin(), buffers.end(), [&](const char* end) { return name.ends_with(end); })) continue;
    refuse_file(parts_.weights().name(),
                fmt::format("has tensor '{}', which the configuration does not call for: it would be left out, and "
                            "another model computed; correct config.json, or remove the tensor",
                            excerpt(name)));
  }
}

}  // namespace croquis
