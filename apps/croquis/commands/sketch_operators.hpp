// The sketching operators that croquis sketch compares.
#pragma once

#include <armadillo>
#include <croquis/core/choices.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

/// Those of --sketches: a list, none, or all that there are. Throws std::invalid_argument for a name that is none and
/// for an option that is no number.
std::vector<croquis::Choice> parse_sketches(const std::string& text);

std::map<std::string, double> parameters_of(const croquis::Choice& choice);

/// Those of them that take one of these numbers of features (ascending) at least, for one of these numbers of rows.
/// What all leaves out is said in a line on standard error. Throws std::invalid_argument for an operator by name that
/// takes none of them, or whose options are wrong, before anything is computed.
std::vector<croquis::Choice> usable_sketches(const std::vector<croquis::Choice>& sketches, const std::string& text,
                                             const std::set<arma::uword>& rows,
                                             const std::vector<arma::uword>& features);
