#include "options/choice_inputs.hpp"

#include <algorithm>
#include <croquis/measure/groups.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

// The name without ";what=..." , a part that ends at the next ';' or at the end.
std::string without(std::string name, const std::string& what) {
  const std::size_t start = name.find(";" + what + "=");
  if (start == std::string::npos) return name;
  const std::size_t end = std::min(name.find(';', start + 1), name.size());
  return name.erase(start, end - start);
}

// The elements of a batch of arrays are sequences.
std::uint64_t sequence_of(const Input& input) {
  if (input.sequence) return *input.sequence;
  const std::string batch = croquis::sequence_in(input.name);
  return batch.empty() ? 0 : std::stoull(batch);
}

croquis::HeadShape shape_of(const Input& input) {
  return {.n_q = input.n_q, .n_k = input.n_k, .p = input.p, .p_v = input.p_v};
}

}  // namespace

croquis::ChoiceInputs choice_inputs(const std::vector<Input>& heads, croquis::ChoicePer per) {
  croquis::ChoiceInputs inputs;
  inputs.name = without(without(croquis::head_in(heads.front().name), "layer"), "head");
  std::map<std::string, std::size_t> places;
  std::map<std::uint64_t, std::size_t> sequences;
  std::map<std::pair<std::size_t, std::size_t>, const Input*> at;
  for (const Input& head : heads) {
    if (per == croquis::ChoicePer::layer && !head.layer) {
      throw std::invalid_argument("--per layer: the input has no layers; give --per head or --per model");
    }
    const std::string name = croquis::head_in(head.name);
    const auto [place, new_head] = places.emplace(name, places.size());
    const auto [sequence, new_sequence] = sequences.emplace(sequence_of(head), sequences.size());
    if (new_head) inputs.heads.push_back({.input = name, .layer = head.layer, .head = head.head});
    if (new_sequence) inputs.sequences.push_back(sequence->first);
    at[{sequence->second, place->second}] = &head;
  }
  if (at.size() != places.size() * sequences.size()) {
    throw std::invalid_argument("croquis choose: needs the same heads of every sequence; leave out --head-sample");
  }
  inputs.problem = [at](std::size_t s, std::size_t h) { return at.at({s, h})->problem(); };
  inputs.shape = [at](std::size_t s, std::size_t h) { return shape_of(*at.at({s, h})); };
  return inputs;
}

std::vector<croquis::HeadShape> shapes_of(const std::vector<Input>& heads) {
  std::vector<croquis::HeadShape> shapes;
  for (const Input& head : heads) {
    if (std::find(shapes.begin(), shapes.end(), shape_of(head)) == shapes.end()) shapes.push_back(shape_of(head));
  }
  return shapes;
}
