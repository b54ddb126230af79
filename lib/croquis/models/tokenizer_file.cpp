#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <croquis/io/json.hpp>
#include <croquis/models/byte_pairs.hpp>
#include <croquis/models/regular_expression.hpp>

namespace croquis {

using nlohmann::json;

// A nested class, because it fills private members.
struct BytePairTokenizer::Reader {
  BytePairTokenizer& tokenizer;
  const std::string& name;

  [[noreturn]] void refuse(const std::string& why) const { refuse_file(name, why); }

  static bool is_there(const json& object, const char* key) {
    return object.is_object() && object.contains(key) && !object[key].is_null();
  }
  static std::string shown(const json& value) { return excerpt(value.dump(-1, ' ', true)); }

  std::string text(const json& object, const char* key) const {
    if (!is_there(object, key) || !object[key].is_string()) refuse(fmt::format("has no text '{}'", key));
    return object[key].get<std::string>();
  }
  bool flag(const json& object, const char* key, bool default_value) const {
    if (!is_there(object, key)) return default_value;
    if (!object[key].is_boolean()) refuse(fmt::format("{} is {}; true or false is read", key, shown(object[key])));
    return object[key].get<bool>();
  }
  std::uint32_t number(const json& value) const {
    constexpr std::uint64_t most = 1 << 24;
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= most) {
      refuse(fmt::format("has the id {}; whole numbers below {} are read", shown(value), most));
    }
    const auto id = static_cast<std::uint32_t>(value.get<std::uint64_t>());
    tokenizer.size_ = std::max<std::size_t>(tokenizer.size_, std::size_t{id} + 1);
    return id;
  }

  // ["a", "b"], or "a b" in older files, where no token has a blank.
  std::pair<std::string, std::string> pair_of(const json& merge) const {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      return {merge[0].get<std::string>(), merge[1].get<std::string>()};
    }
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos) {
      refuse(fmt::format("has the merge {}; pairs are read", shown(merge)));
    }
    return {text.substr(0, blank), text.substr(blank + 1)};
  }

  void read_model(const json& model) const {
    if (is_there(model, "type") && text(model, "type") != "BPE") {
      const std::string type = text(model, "type");
      const char* instead = type == "WordPiece" ? "; for WordPiece give the vocab.txt" : "";
      refuse(fmt::format("model is '{}'; BPE is read{}", excerpt(type), instead));
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (is_there(model, key) && model[key] != "")
        refuse(fmt::format("{} is {}; none is read", key, shown(model[key])));
    }
    if (is_there(model, "dropout") && model["dropout"] != 0.0) refuse("dropout is not 0; none is read");
    tokenizer.fuse_unknown_ = flag(model, "fuse_unk", false);
    tokenizer.whole_words_ = flag(model, "ignore_merges", false);
    if (!is_there(model, "vocab") || !model["vocab"].is_object()) refuse("has no vocab of ids by token");
    for (const auto& [token, id] : model["vocab"].items()) tokenizer.ids_.emplace(token, number(id));
    if (!is_there(model, "merges") || !model["merges"].is_array()) refuse("has no list of merges");
    std::size_t rank = 0;
    for (const json& merge : model["merges"]) {
      const auto [left, right] = pair_of(merge);
      tokenizer.ranks_[pair_key(left, right)] = rank++;  // of a pair that stands there twice, the last one counts
    }
    tokenizer.byte_fallback_ = flag(model, "byte_fallback", false);
    for (unsigned byte = 0; tokenizer.byte_fallback_ && byte < 256; ++byte) {
      const std::string token = fmt::format("<0x{:02X}>", byte);
      if (!tokenizer.ids_.contains(token))
        refuse(fmt::format("byte_fallback is true, and there is no token {}", token));
    }
    if (!is_there(model, "unk_token")) return;
    tokenizer.unknown_ = tokenizer.id(text(model, "unk_token"));
    if (tokenizer.unknown_) tokenizer.special_.insert(*tokenizer.unknown_);
  }

  void read_normalizer(const json& entry, int depth = 0) const {
    const std::string type = text(entry, "type");
    if (type == "Prepend") {
      tokenizer.normalizers_.push_back({{}, text(entry, "prepend")});
    } else if (type == "Replace") {
      if (!is_there(entry, "pattern") || !is_there(entry["pattern"], "String")) {
        refuse("the pattern of the normalizer Replace is no String; others are not read");
      }
      tokenizer.normalizers_.push_back({text(entry["pattern"], "String"), text(entry, "content")});
      if (tokenizer.normalizers_.back().replaced.empty()) refuse("the pattern of the normalizer Replace is empty");
    } else if (type == "Sequence" && depth == 0 && is_there(entry, "normalizers")) {
      for (const json& part : entry["normalizers"]) read_normalizer(part, depth + 1);
    } else {
      refuse(fmt::format("normalizer is '{}'; Prepend, Replace and a Sequence of them are read", excerpt(type)));
    }
  }

  void read_added(const json& list) const {
    if (!list.is_array()) refuse("has added_tokens that are no list");
    for (const json& token : list) {
      for (const char* key : {"single_word", "lstrip", "rstrip"}) {
        if (flag(token, key, false)) refuse(fmt::format("an added token has {} true; false is read", key));
      }
      const std::string content = text(token, "content");
      if (content.empty() || !is_there(token, "id")) refuse("has an added token without content or id");
      const std::uint32_t id = number(token["id"]);
      const bool special = flag(token, "special", false), after = flag(token, "normalized", !special);
      const std::string searched = after ? tokenizer.normalised(content) : content;
      // What the normalizers leave nothing of is found nowhere.
      if (!searched.empty()) (after ? tokenizer.normalised_added_ : tokenizer.added_).emplace_back(searched, id);
      tokenizer.added_ids_.emplace(content, id);
      if (special) tokenizer.special_.insert(id);
    }
    for (Added* added : {&tokenizer.added_, &tokenizer.normalised_added_}) {
      std::stable_sort(added->begin(), added->end(),
                       [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    }
  }

  void read_split(const json& entry) const {
    Split split;
    const std::string behaviour = text(entry, "behavior");
    if (behaviour != "Isolated" && behaviour != "Removed") {
      refuse(fmt::format("behavior of Split is '{}'; Isolated and Removed are read", excerpt(behaviour)));
    }
    split.removed = behaviour == "Removed";
    split.inverted = flag(entry, "invert", false);
    if (!is_there(entry, "pattern")) refuse("Split has no pattern");
    const json& pattern = entry["pattern"];
    if (is_there(pattern, "String")) {
      split.kind = Split::Kind::string;
      split.text = text(pattern, "String");
      if (split.text.empty()) refuse("the pattern of Split is empty");
    } else {
      split.kind = Split::Kind::expression;
      const std::string expression = text(pattern, "Regex");
      try {
        split.expression = std::make_shared<const RegularExpression>(expression);
      } catch (const std::invalid_argument& wrong) {
        refuse(fmt::format("the pattern of Split is '{}', which is not read: {}", excerpt(expression), wrong.what()));
      }
    }
    tokenizer.splits_.push_back(std::move(split));
  }

  void read_pre_tokenizer(const json& entry, int depth = 0) const {
    const std::string type = text(entry, "type");
    if (type == "ByteLevel") {
      Split split;
      split.prefix_space = flag(entry, "add_prefix_space", true);
      split.words = flag(entry, "use_regex", true);
      tokenizer.splits_.push_back(std::move(split));
      tokenizer.byte_level_ = true;
    } else if (type == "Split") {
      read_split(entry);
    } else if (type == "Sequence" && depth == 0 && is_there(entry, "pretokenizers")) {
      for (const json& part : entry["pretokenizers"]) {
        if (tokenizer.byte_level_) refuse("has a pre_tokenizer after ByteLevel; it is read as the last");
        read_pre_tokenizer(part, depth + 1);
      }
    } else {
      refuse(fmt::format("pre_tokenizer is '{}'; ByteLevel, Split and a Sequence of them are read", excerpt(type)));
    }
  }

  // The ids that Hugging Face's library puts there are those of the table.
  void require_own_id(const json& entry, const std::string& token, std::uint32_t id) const {
    if (!is_there(entry, "special_tokens")) return;
    const json& table = entry["special_tokens"];
    if (!table.is_object())
      refuse(fmt::format("special_tokens of TemplateProcessing is {}; a table is read", shown(table)));
    if (!table.contains(token)) return;
    const json ids = is_there(table[token], "ids") ? table[token]["ids"] : json();
    if (ids == json::array({id})) return;
    refuse(fmt::format("special_tokens of TemplateProcessing has the ids {} of '{}'; [{}] of the vocabulary is read",
                       shown(ids), excerpt(token), id));
  }

  void read_post_processor(const json& entry, int depth = 0) const {
    const std::string type = text(entry, "type");
    if (type == "ByteLevel") return;  // about offsets
    if (type == "Sequence" && depth == 0 && is_there(entry, "processors")) {
      for (const json& part : entry["processors"]) read_post_processor(part, depth + 1);
      return;
    }
    if (type != "TemplateProcessing") {
      refuse(fmt::format("post_processor is '{}'; ByteLevel, TemplateProcessing and a Sequence of them are read",
                         excerpt(type)));
    }
    if (!is_there(entry, "single") || !entry["single"].is_array()) refuse("TemplateProcessing has no list 'single'");
    bool behind = false;
    for (const json& part : entry["single"]) {
      if (is_there(part, "Sequence")) {
        behind = true;
        continue;
      }
      if (!is_there(part, "SpecialToken")) refuse("TemplateProcessing has a part that is no token and no sequence");
      const std::string token = text(part["SpecialToken"], "id");
      const auto id = tokenizer.id(token);
      if (!id)
        refuse(fmt::format("TemplateProcessing has the token '{}', which is not in the vocabulary", excerpt(token)));
      require_own_id(entry, token, *id);
      (behind ? tokenizer.after_ : tokenizer.before_).push_back(*id);
    }
  }
};

BytePairTokenizer::BytePairTokenizer(const std::string& path) : BytePairTokenizer(read_bytes(path), path) {}

BytePairTokenizer::BytePairTokenizer(std::string_view bytes, const std::string& name) : name_(name) {
  const json file = parse_json_object(bytes, name, "is no tokenizer.json");
  const Reader reader{*this, name};
  if (!Reader::is_there(file, "model")) {
    reader.refuse("has no model, as a tokenizer.json has; a vocab.json with a merges.txt is not read");
  }
  if (Reader::is_there(file, "normalizer")) reader.read_normalizer(file["normalizer"]);
  if (Reader::is_there(file, "added_tokens")) reader.read_added(file["added_tokens"]);
  reader.read_model(file["model"]);
  if (Reader::is_there(file, "pre_tokenizer")) reader.read_pre_tokenizer(file["pre_tokenizer"]);
  if (Reader::is_there(file, "post_processor")) reader.read_post_processor(file["post_processor"]);
}

}  // namespace croquis
