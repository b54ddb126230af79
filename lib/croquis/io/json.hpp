// JSON that a file has in it, read with care: it may be damaged, or made to do harm. Not installed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace croquis {

/// A JSON object, white space around it and nothing else. Where RFC 8259 leaves it to the reader: no byte order mark,
/// no name twice in one object, numbers that double can hold, nested no deeper than 32. Throws std::invalid_argument
/// "name: what (what is wrong and where)" in one line. Memory: at most 50 times that of the text.
nlohmann::json parse_json_object(std::string_view text, const std::string& name, const std::string& what);

}  // namespace croquis
