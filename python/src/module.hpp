// The parts of the module croquis._core, each in a file.
#pragma once

#include <pybind11/pybind11.h>

void add_attention(pybind11::module_& module);     // Forward, methods
void add_measurements(pybind11::module_& module);  // error, spectrum, dimension, columns
void add_claims(pybind11::module_& module);        // verify, claims
void add_choice(pybind11::module_& module);        // choose, read_choices
void add_sketches(pybind11::module_& module);      // Sketch, sketches
