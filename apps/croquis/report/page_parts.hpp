// The style sheet and the script of reports, which are files of their own in the tree, embedded by CMake.
#pragma once

#include <string_view>

struct PagePart {
  std::string_view text;
  std::string_view sha256;  ///< of the text, hexadecimal: the content policy of a page names it
};

const PagePart& page_style();
const PagePart& page_script();
