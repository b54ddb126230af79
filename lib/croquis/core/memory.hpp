// Checks that there is enough memory, before anything is allocated.
#pragma once

#include <croquis/core/require.hpp>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>

namespace croquis {

/// Bytes that the process can still allocate: the minimum of what is available on the machine and of what the limits on
/// the process (ulimit -v), on its control group and on the groups above it leave. Infinity if the kernel does not say.
double available_memory();

/// Bytes that the limits of a control group (version 2) and of all groups above it leave: the minimum of limit - usage,
/// where files in the page cache that are not in use (inactive_file) are no usage. `group` is a path such as "/a/b"
/// below the folder `root`. Infinity if no group has a limit and a usage.
double available_in_control_group(const std::string& root, const std::string& group);

/// Throws std::invalid_argument "where: needs ... bytes, ... are available, for size = value, ..." if `bytes` is more
/// than available_memory(). Up to 16 MiB are not checked. Callers count only the arrays that they are sure to allocate,
/// which is a lower bound on what they need.
void require_memory(double bytes, std::string_view where, std::initializer_list<Got> sizes);

/// What a failure says; of one without a sentence of its own, std::bad_alloc, that there is not enough memory.
std::string reason_of(const std::exception& failure);

}  // namespace croquis
