#pragma once

#include <doctest/doctest.h>

// CAPTURE of a structured binding, which Clang before 16 takes into a lambda, as CAPTURE has, only under another name.
#define CAPTURE_BINDING(name)         \
  const auto& captured_##name = name; \
  INFO(#name " := ", captured_##name)
