#include "options/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <croquis/io/bytes.hpp>
#include <croquis/io/utf8.hpp>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "options/common_options.hpp"

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
}

// Asked for again by whoever makes a result again: a file of options never replaces a result on its own.
const std::set<std::string> kNotOfResult = {"resume", "overwrite", "quiet"};

// What is no option of a result, and says what the program is to do or to read.
const std::set<std::string> kOfCommandLine = {"help", "version", "config"};

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// A value as unquoted() reads it back, whatever is in it.
std::string quoted(const std::string& text) {
  if (text == "true" || text == "false" || is_number(text)) return text;
  const bool utf8 = !croquis::first_not_utf8(text);
  const bool plain = utf8 && std::none_of(text.begin(), text.end(), is_control);
  if (plain && text.find_first_of("\"\\") == std::string::npos) return '"' + text + '"';
  if (plain && text.find('\'') == std::string::npos) return '\'' + text + '\'';
  std::string line = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') line += '\\';
    line += is_control(c) || (!utf8 && byte >= 0x80) ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return line + '"';
}

// The byte that "\xHH" at this place means.
std::optional<char> escaped_byte(std::string_view text) {
  unsigned byte = 0;
  if (text.size() < 4 || !text.starts_with("\\x")) return {};
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 4, byte, 16);
  if (error != std::errc{} || end != text.data() + 4) return {};
  return static_cast<char>(byte);
}

// What is in quotes, where the line has nothing else but a comment.
std::optional<std::string> unquoted(std::string_view line) {
  if (line.empty() || (line[0] != '"' && line[0] != '\'')) return {};
  std::string text;
  std::size_t at = 1;
  for (; at < line.size() && line[at] != line[0]; ++at) {
    if (line[0] == '"' && line[at] == '\\') {
      if (const auto byte = escaped_byte(line.substr(at))) {
        text += *byte;
        at += 3;
        continue;
      }
      if (at + 1 < line.size() && (line[at + 1] == '"' || line[at + 1] == '\\')) ++at;
    }
    text += line[at];
  }
  if (at == line.size()) return {};
  const std::string rest = trimmed(line.substr(at + 1));
  if (!rest.empty() && rest[0] != '#') return {};
  return text;
}

// The place of the first of these characters outside quotes; npos: none, or quotes are not closed before it.
std::size_t find_unquoted(std::string_view line, std::string_view characters) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (characters.find(line[i]) != std::string_view::npos) {
      return i;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    }
  }
  return std::string_view::npos;
}

// The items of [16, 32], as the text that their option takes: "16,32".
std::string list_in_brackets(std::string_view line) {
  const std::size_t comment = find_unquoted(fmt::format("{}#", line), "#");
  if (comment == std::string_view::npos) throw std::invalid_argument("a quote is not closed");
  const std::string text = trimmed(line.substr(0, comment));
  const std::size_t end = find_unquoted(std::string_view(text).substr(1), "[]");
  if (end != text.size() - 2) {
    throw std::invalid_argument(
        "a list that begins with [ ends with ] in its line; a name with brackets stands in quotes");
  }
  std::vector<std::string> items;
  std::string_view rest = std::string_view(text).substr(1, end);
  if (trimmed(rest).empty()) throw std::invalid_argument("the list is empty; give a value or leave it out");
  for (bool more = true; more;) {
    const std::size_t comma = find_unquoted(rest, ",");
    const std::string item = trimmed(rest.substr(0, comma));
    items.push_back(unquoted(item).value_or(item));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return fmt::format("{}", fmt::join(items, ","));
}

// A value that is one text for CLI11: in quotes, a list in brackets, or with commas. Throws std::invalid_argument for
// what cannot be a value.
std::optional<std::string> text_of_value(std::string_view value) {
  if (value.empty()) return "";
  if (auto text = unquoted(value)) return text;
  if (value[0] == '[') return list_in_brackets(value);
  const std::string_view list = value.substr(0, find_unquoted(value, "#"));
  if (list.find(',') == std::string_view::npos) return {};
  if (list.find_first_of("\"'") != std::string_view::npos) return list_in_brackets(fmt::format("[{}]", list));
  return trimmed(list);
}

// The parser of CLI11 cuts values at #, and has no way to write some of them. It gets a mark in place of each text.
class Format : public CLI::ConfigTOML {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<std::string> texts;
    std::stringstream marked;
    for (std::string line; std::getline(input, line);) {
      const std::size_t equals = line.find('=');
      const std::string name = trimmed(std::string_view(line).substr(0, equals));
      const bool option = equals != std::string::npos && !name.empty() && name.find_first_of("#;[") != 0;
      const auto text = option ? text_of_value(trimmed(std::string_view(line).substr(equals + 1))) : std::nullopt;
      if (text) {
        marked << name << '=' << kMark << texts.size() << '\n';
        texts.push_back(*text);
      } else {
        marked << line << '\n';
      }
    }
    std::vector<CLI::ConfigItem> read = CLI::ConfigBase::from_config(marked);
    for (CLI::ConfigItem& item : read) {
      for (std::string& value : item.inputs) {
        std::size_t i = texts.size();
        if (value.starts_with(kMark)) std::from_chars(value.data() + 1, value.data() + value.size(), i);
        if (i < texts.size()) value = texts[i];
      }
    }
    return read;
  }

 private:
  static constexpr char kMark = '\x01';
};

// Excluded by an option that was given, or of use with one alone that was not.
bool is_out_of_place(const CLI::Option& option) {
  const auto given = [](const CLI::Option* other) { return other->count() > 0; };
  const std::set<CLI::Option*> excluded = option.get_excludes(), needed = option.get_needs();
  return std::any_of(excluded.begin(), excluded.end(), given) || !std::all_of(needed.begin(), needed.end(), given);
}

}  // namespace

std::shared_ptr<CLI::Config> configuration_format() {
  return std::make_shared<Format>();
}

std::string configuration_of(const CLI::App& command) {
  std::string kept = fmt::format("[{}]\n", command.get_name());
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_single_name();
    if (!option->get_configurable() || kNotOfResult.contains(name)) continue;
    std::vector<std::string> values;
    if (option->count() > 0) {
      values = option->reduced_results();
    } else if (option->get_group() == kInputGroup || option->get_group().empty()) {  // a group without name is hidden
      // What of an input is not given follows from what is given, as its kind does: a default would contradict it.
      continue;
    } else if (is_out_of_place(*option)) {
      continue;
    } else if (option->get_expected_min() == 0) {
      values = {"false"};
    } else {
      values = {option->get_default_str()};
    }
    std::string line;
    for (const std::string& value : values) {
      if (!value.empty()) line += (line.empty() ? "" : ", ") + quoted(value);
    }
    if (!line.empty()) kept += name + '=' + line + '\n';
  }
  return kept;
}

void require_options_of(const std::string& command, const std::string& path) {
  std::set<std::string> commands;
  for (const CLI::ConfigItem& item : configuration_format()->from_file(path)) {
    const bool is_section = item.name == "++" || item.name == "--";  // CLI11's names for where one begins and ends
    if (!is_section && !item.parents.empty()) commands.insert(item.parents.front());
  }
  if (commands.contains(command)) return;
  throw std::invalid_argument(
      fmt::format("--config: {} has no options of [{}]; it has {}", path, command,
                  commands.empty() ? "none" : fmt::format("some of [{}]", fmt::join(commands, "], ["))));
}

std::string complaint_about_configuration(const std::string& path) {
  constexpr std::uintmax_t most = 1 << 20;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return path + ": there is no such file";
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > most) {
    return path + " is not a file of options";
  }
  const std::string bytes = croquis::read_bytes(path);
  if (bytes.starts_with("\xef\xbb\xbf")) return path + " begins with a byte order mark; save it without one";
  std::istringstream lines(bytes);
  std::set<std::string> seen;
  std::string section;
  int number = 0;
  for (std::string raw; std::getline(lines, raw);) {
    ++number;
    const std::string line = trimmed(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      section = line.ends_with(']') ? trimmed(std::string_view(line).substr(1, line.size() - 2)) : "";
      if (!is_name(section)) return fmt::format("{}: line {} is not [COMMAND]", path, number);
      continue;
    }
    const std::size_t equals = line.find('=');
    const std::string name = trimmed(std::string_view(line).substr(0, equals));
    const std::size_t dot = name.find('.');
    const std::string option = dot == std::string::npos ? name : name.substr(dot + 1);
    if (!is_name(option)) return fmt::format("{}: line {} is not OPTION=VALUE", path, number);
    if (kOfCommandLine.contains(option)) {
      return fmt::format("{}: line {}: --{} is for the command line alone; leave it out", path, number, option);
    }
    if (!seen.insert(section + '.' + name).second) {
      return fmt::format("{}: line {} gives {} a second time", path, number, name);
    }
    if (equals == std::string::npos) continue;
    try {
      const auto text = text_of_value(trimmed(std::string_view(line).substr(equals + 1)));
      if (text && text->empty()) throw std::invalid_argument("is empty; give a value or leave it out");
    } catch (const std::invalid_argument& wrong) {
      return fmt::format("{}: line {}: --{}: {}", path, number, option, wrong.what());
    }
  }
  return {};
}
