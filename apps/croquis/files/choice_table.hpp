// What croquis choose prints.
#pragma once

#include <croquis/measure/choose.hpp>
#include <string>
#include <vector>

/// A line a choice, or of many in layers a line a layer; then what all choices together cost.
void print_choices(const std::vector<croquis::ChoiceRow>& rows);

/// Why exact attention is the answer of some rows: that no candidate is cheap enough, none is good enough, or none
/// could be certified; then, from the draws of the run, which are in `file`, what came nearest. Or that none has an
/// error.
void print_why_exact(const std::vector<croquis::ChoiceRow>& rows, const std::vector<croquis::ChoiceDraw>& draws,
                     const std::string& file);

/// What the probability is about where choices are for several heads of a model together: a head picked at random.
/// Empty of single heads.
std::string heads_of_guarantee(const std::vector<croquis::ChoiceRow>& rows);

/// How many of the chosen methods cost as much as exact attention or more, which --max-cost allows; empty if none does.
std::string dear_choices(const std::vector<croquis::ChoiceRow>& rows);

/// How the times of the chosen methods on the heads themselves compare with their costs, which are those of random
/// tokens; empty where they were not measured.
std::string times_on_heads(const std::vector<croquis::ChoiceRow>& rows);

/// The error that is compared with eps: of --rows the upper end of its interval.
std::string measured_name(const croquis::ChoiceRow& row);

/// What --rows makes of the guarantee; empty without it.
std::string rows_of_guarantee(const std::vector<croquis::ChoiceRow>& rows);

/// What the limit of --target-loss rests on.
std::string basis_of_loss(const std::vector<croquis::ChoiceRow>& rows);

/// That the errors are those against another function than softmax attention, where they are; else empty.
std::string other_target_of(const std::vector<croquis::ChoiceRow>& rows);
