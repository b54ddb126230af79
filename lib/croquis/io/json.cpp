#include <fmt/format.h>

#include <croquis/io/bytes.hpp>
#include <croquis/io/json.hpp>
#include <utility>
#include <vector>

namespace croquis {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 32;

// Builds the value from the events of the parser. The parser's own builder silently keeps the last of equal names, and
// it does not limit the depth.
class Builder final : public json::json_sax_t {
 public:
  const std::string& wrong() const { return wrong_; }
  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [place, is_new] = open_.back()->get_ref<json::object_t&>().emplace(name, nullptr);
    named_ = &place->second;
    return is_new || stop(fmt::format("'{}' twice in one object", excerpt(name)));
  }

  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override {
    constexpr int too_large = 406;  // number of the message in the parser
    return stop(fmt::format("{} at byte {}", error.id == too_large ? "a number beyond double" : "not JSON", position));
  }

 private:
  bool stop(std::string why) {
    wrong_ = std::move(why);
    return false;
  }

  // The place of the next value. Pointers to open values stay valid, because nothing is added to an array while one of
  // its elements is open.
  json* put(json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*named_ = std::move(value));
    auto& array = open_.back()->get_ref<json::array_t&>();
    return &array.emplace_back(std::move(value));
  }
  bool add(json value) {
    put(std::move(value));
    return true;
  }
  bool open(json value) {
    if (open_.size() == kDeepest) return stop(fmt::format("nested deeper than {}", kDeepest));
    open_.push_back(put(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json root_;
  std::vector<json*> open_;  // from the root to the innermost
  json* named_ = nullptr;    // the value that belongs to the last name
  std::string wrong_;
};

}  // namespace

json parse_json_object(std::string_view text, const std::string& name, const std::string& what) {
  const auto refuse = [&](const std::string& why) { refuse_file(name, fmt::format("{} ({})", what, why)); };
  // The parser skips a byte order mark and ends at a NUL, whatever follows.
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') refuse("not a JSON object, which begins with '{'");
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    refuse(fmt::format("not a JSON object: a NUL at byte {}", at + 1));
  }
  Builder builder;
  if (!json::sax_parse(text, &builder)) refuse("not a JSON object: " + builder.wrong());
  return builder.take();
}

std::string json_text(const json& value, int indent, bool ascii) {
  return value.dump(indent, ' ', ascii, json::error_handler_t::replace);
}

}  // namespace croquis
