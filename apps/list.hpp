// croquis list: what there is.
#pragma once

#include <string>

/// Prints the methods, sketches, features or inputs. `what` is one of these four.
int run_list(const std::string& what);
