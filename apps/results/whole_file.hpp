// Files that are written whole or not at all: a process that is killed, or a disk that is full, leaves what was there.
#pragma once

#include <string>

/// Where a file stands until it is whole. The extension is kept: gnuplot and people go by it.
std::string part_of(const std::string& path);

/// part_of(path) becomes `path`. Throws std::runtime_error.
void publish(const std::string& path);

/// `path` becomes `text`. Throws std::runtime_error when it cannot.
void write_whole(const std::string& path, const std::string& text);
