// The landmark policies that croquis sketch compares.
#pragma once

#include <string>
#include <vector>

#include "commands/sketch_subject.hpp"

/// Those of --landmarks: a list, none, or all that there are for the subject. What all leaves out is said in a line on
/// standard error. Throws std::invalid_argument for a policy by name that the subject cannot have.
std::vector<std::string> landmark_policies(const std::string& text, const SketchSubject& subject);
