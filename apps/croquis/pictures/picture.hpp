// What a user asks of a picture.
#pragma once

#include <optional>
#include <stdexcept>
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

/// There is nothing that a picture could show. A run has all of its rows all the same; who asks for the picture alone
/// has nothing.
struct NothingToDraw : std::invalid_argument {
  NothingToDraw(const Picture& picture, std::string reason)
      : std::invalid_argument(picture.path + ": " + reason), why(std::move(reason)) {}

  std::string why;
};
