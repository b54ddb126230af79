// JSON: strict reading of files that may be damaged or malicious, and the text of what is written. Not installed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace croquis {

/// Reads a text that consists of one JSON object and white space. Where RFC 8259 leaves a choice to the reader, the
/// rules are: no byte order mark, no name twice in one object, numbers that a double can represent, and at most 32
/// levels.
/// Throws: std::invalid_argument "name: what (what is wrong and where)" in one line.
/// Cost: memory of at most 50 times the size of the text.
nlohmann::json parse_json_object(std::string_view text, const std::string& name, const std::string& what);

/// The text of a value in one line, or with `indent` spaces over several; with `ascii` other characters are escaped.
/// What is not UTF-8, as names of files need not be, becomes U+FFFD, where dump() alone throws.
std::string json_text(const nlohmann::json& value, int indent = -1, bool ascii = false);

}  // namespace croquis
