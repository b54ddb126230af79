// Text of others in a page or a picture: nothing of it is markup or code.
#pragma once

#include <string>
#include <string_view>

/// Text as it stands between tags of HTML or SVG, and in an attribute in double quotes. & < > " ' are references; what
/// XML does not allow (control characters, bytes that are not UTF-8) becomes U+FFFD.
std::string html(std::string_view text);

/// JSON as it stands in a script element: without < > & and the line ends that JavaScript has and JSON has not, all
/// written as \u escapes, which only stand in strings.
std::string json_in_script(std::string_view json);

/// Bytes in base 64, of their hexadecimal digits: as a content policy writes a hash.
std::string base64_of_hex(std::string_view hexadecimal);
