#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <croquis/models/stock.hpp>
#include <string>
#include <string_view>

namespace croquis {
namespace {

// Whether Hugging Face has a class of this name for the type, as LlamaForCausalLM (in early files LLaMAForCausalLM),
// GPT2LMHeadModel and BertModel; Llama4ForCausalLM and BertGenerationEncoder are others.
bool is_class_of(ModelType type, std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  std::string_view rest = name;
  if (!rest.starts_with(name_of(type))) return false;
  rest.remove_prefix(name_of(type).size());
  const auto kinds = {"for", "model", "lmheadmodel", "doubleheadsmodel"};
  return std::any_of(kinds.begin(), kinds.end(), [&](const char* kind) { return rest.starts_with(kind); });
}

bool has_part(const std::string& tensor, const char* part) {
  return tensor.find(fmt::format(".{}.", part)) != std::string::npos;
}

}  // namespace

void require_stock_entries(const ConfigEntries& entries, ModelType type) {
  for (const std::string& name : entries.texts("architectures")) {
    if (is_class_of(type, name)) continue;
    entries.refuse(fmt::format("architectures has '{}', which is not of model_type '{}'{}", excerpt(name),
                               name_of(type), entries.has("model_type") ? "" : ", taken because it has none"));
  }
  for (const std::string& name : entries.object("auto_map").keys()) {
    if (name == "AutoTokenizer") continue;
    entries.refuse(fmt::format("auto_map has '{}', code of the model's own, which is not run", excerpt(name)));
  }
  if (!entries.object("quantization_config").keys().empty()) {
    entries.refuse("has a quantization_config; weights that are not quantised are read");
  }
  if (!entries.object("pruned_heads").keys().empty()) {
    entries.refuse("has pruned_heads; models with all of their heads are read");
  }
  entries.refuse_unless("add_cross_attention", false);
}

void require_stock_tensors(const ModelWeights& weights) {
  for (const std::string& tensor : weights.names()) {
    if (has_part(tensor, "q_norm") || has_part(tensor, "k_norm")) {
      refuse_file(weights.name(),
                  fmt::format("has tensor '{}', a norm of queries or keys, which is not read", excerpt(tensor)));
    }
    if (has_part(tensor, "lora_A") || has_part(tensor, "lora_B")) {
      refuse_file(weights.name(), fmt::format("has tensor '{}' of an adapter; merge it into the weights and save them",
                                              excerpt(tensor)));
    }
  }
}

}  // namespace croquis
