// What a user asks of a picture.
#pragma once

#include <optional>
#include <string>
#include <utility>

/// Width and height, in pixels; of a .pdf in points.
struct PictureSize {
  int width = 0, height = 0;
};

/// "860x560". Throws std::invalid_argument for anything else, and for sizes that no screen has.
PictureSize parse_picture_size(const std::string& text);

/// A picture that is to be drawn into a file.
struct Picture {
  std::string path;
  std::string title = {};  ///< in place of the one that says what was measured on what; empty: that one
  std::optional<PictureSize> size = {};

  Picture(std::string where) : path(std::move(where)) {}  // NOLINT(google-explicit-constructor): a file is a picture
};
