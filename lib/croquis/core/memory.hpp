// Sizes that no memory can hold, found before anything is allocated.
#pragma once

#include <croquis/core/require.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

namespace croquis {

/// Bytes that the process can still take: what is available on the machine, at most what the limits on the process
/// (ulimit -v), on its control group and on the groups above that leave. Infinity where the kernel does not say.
double available_memory();

/// What the limits of a control group (version 2) and of all above it leave: `group` as "/a/b" below the folder `root`.
/// Infinity where none has a limit.
double available_in_control_group(const std::string& root, const std::string& group);

/// Throws std::invalid_argument "where: needs ... bytes, ... are available, for size = value, ..." when `bytes` is more
/// than available_memory(). A caller counts the numbers that it is sure to store: a lower bound on what it will need.
void require_memory(double bytes, std::string_view where, std::initializer_list<Got> sizes);

}  // namespace croquis
