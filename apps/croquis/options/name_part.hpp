// A name that a user gave, as a part of the name of an input.
#pragma once

#include <string>

/// The parts of an input's name are told apart by ';', so each ';' of a file's or folder's name becomes '_'.
std::string as_name_part(std::string name);
