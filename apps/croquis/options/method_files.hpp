// Files that options of methods name, as nystromformer:landmarks=given,indices=FILE.npy does.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <map>
#include <string>
#include <vector>

/// What these files contain, for the meta file: rows of a file that has changed since are not those of the run. Throws
/// std::invalid_argument for a file that cannot be read.
std::map<std::string, std::string> identity_of_files(const std::vector<croquis::MethodChoice>& methods);
