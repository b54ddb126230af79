// Sentences about grouped rows.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>
#include <vector>

/// For each target the methods with the smallest of each of these metrics (of `otherwise`, where the rows have none of
/// them), the least flops within round errors, and what is no better than v-mean; of several inputs, how often a
/// method is the best. Brackets, and methods that take n^2 work themselves, are no candidates, as the first sentence of
/// each says. `single` has the inputs one by one.
std::vector<std::string> answers_of_groups(const croquis::Grouping& shown, const croquis::Grouping& single,
                                           std::vector<std::string> metrics, const std::string& otherwise);

/// The metric of every curve at its largest size, and where misses_its_tail() says that a mean says nothing.
std::vector<std::string> answers_of_each(const croquis::Grouping& shown, const std::string& metric);

/// The seconds of exact attention and of the methods at the largest size.
std::vector<std::string> answers_of_costs(const croquis::Grouping& shown);

/// That rows in float and in double are taken together, where the rows have both and no curve tells them apart.
void add_precisions(const croquis::Table& table, std::vector<std::string>& answers);

/// That rows of several seeds are of several heads, where the seed draws the input too: of a text or a synthetic one.
void add_seeds(const croquis::Table& table, std::vector<std::string>& answers);

/// How many rows failed, and the first reason; nothing where none did.
void add_failures(const croquis::Table& table, std::vector<std::string>& answers);
