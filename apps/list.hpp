// croquis list: what there is.
#pragma once

#include <string>

/// Prints the methods, sketches or inputs. `what` is one of these three.
int run_list(const std::string& what);
