// The function that a method approximates, as tables and plots say it. Errors against different functions are no race.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>
#include <vector>

/// The target of a method, or of exact attention ("exact", "exact-kernelized"); empty for any other name.
std::string target_of_method(const std::string& name);

/// The target of a group: its key `target`; of rows without it, as those of croquis cost, that of its key `method`.
/// Empty where there is none.
std::string target_of(const croquis::Group& group);

/// The targets of the groups that have the metric, or failed, in the order in which they come.
std::vector<std::string> targets_of(const croquis::Grouping& grouping, const std::string& metric);

/// What a target is: "softmax attention", "Gaussian-kernel attention C V, another function than softmax attention";
/// a name that is none of a target, as it is.
std::string meaning_of_target(const std::string& target);

/// The same for a legend: "softmax attention", "C V, another function".
std::string legend_of_target(const std::string& target);

/// Whether the target is softmax attention, with or without a bias; so is an empty one.
bool is_softmax(const std::string& target);
