// Lists of names with options, as users write them: "skyformer:ridge=0.1,v-mean".
#pragma once

#include <map>
#include <string>
#include <vector>

namespace croquis {

/// A name with options, as the user wrote them.
struct Choice {
  std::string name;
  std::map<std::string, std::string> options;
  std::string label;  ///< the name, then the options in alphabetical order: "sjlt:s=4"
};

/// "a,b:x=1,y=2,c" or "all" (the known names): an item with '=' and no ':' is a further option of the name before it.
/// Throws std::invalid_argument, with `where` in front, for an unknown name, one twice with the same options, a damaged
/// option.
std::vector<Choice> parse_choices(const std::string& text, const std::string& where,
                                  const std::vector<std::string>& known);

/// The items between commas, without spaces around them. Throws std::invalid_argument for an empty item.
std::vector<std::string> split_list(const std::string& text, const std::string& where);

}  // namespace croquis
