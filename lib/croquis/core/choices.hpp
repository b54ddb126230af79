// Lists of names with options, as users write them: "skyformer:ridge=0.1,v-mean".
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// A name with options, as the user wrote them.
struct Choice {
  std::string name;
  std::map<std::string, std::string> options;
  std::string label;  ///< the name, then the options in alphabetical order: "sjlt:s=4"
};

/// Parses "a,b:x=1,y=2,c", or "all" for all known names. An item with '=' and without ':' is a further option of the
/// name before it.
/// Throws: std::invalid_argument, whose message begins with `where`, for an unknown name, a name that occurs twice with
///   the same options, an option that is given twice, and an option that is not NAME=VALUE.
std::vector<Choice> parse_choices(const std::string& text, const std::string& where,
                                  const std::vector<std::string>& known);

/// The items between commas, without spaces around them. Throws std::invalid_argument for an empty item.
std::vector<std::string> split_list(const std::string& text, const std::string& where);

/// The place of `name` among `names`, as of the values of an enumeration. Throws std::invalid_argument, "where: one of
/// a b c, got label = name", if it is none of them.
std::size_t index_of_name(std::string_view name, const std::vector<std::string>& names, std::string_view where,
                          std::string_view label = "name");

/// Throws std::invalid_argument unless `names` has the option; the message begins with `where`, whose options they are.
void require_option(const std::string& option, const std::string& where, const std::vector<std::string>& names);

}  // namespace croquis
