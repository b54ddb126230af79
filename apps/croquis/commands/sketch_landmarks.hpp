// The landmark policies that croquis sketch compares.
#pragma once

#include <string>
#include <vector>

#include "commands/sketch_subject.hpp"

/// Those of --landmarks: a list, none, or all that there are for the subjects, which share them: what one head cannot
/// have, none has. What all leaves out is said in a line on standard error. Throws std::invalid_argument for a policy
/// by name that a subject cannot have, or where each has less than `least` points, the smallest of --features.
std::vector<std::string> landmark_policies(const std::string& text, const std::vector<PendingSketchSubject>& subjects,
                                           bool causal, arma::uword least);
