// How a result came to be, in a page.
#pragma once

#include <string>

/// Versions, seed, configuration and the command line that makes `rows` again, from the meta file beside it; where
/// there is none, that. `changed`: the rows are not those that the run has written.
std::string html_of_run(const std::string& rows, bool changed);
