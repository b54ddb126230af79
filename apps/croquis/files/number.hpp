// Numbers in text.
#pragma once

#include <optional>
#include <string>

/// The finite number that all of the text is.
std::optional<double> parse_number(const std::string& text);
