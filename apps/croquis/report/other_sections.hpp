// Sections of the results whose rows are no groups of repetitions.
#pragma once

#include <croquis/measure/columns.hpp>

#include "report/section.hpp"

/// Loss, accuracy and the like of a model against d, flops and seconds; of --layers each, against the layer.
Section section_of_models(const croquis::Table& table);

/// What is chosen for each head, what that costs together, and error against cost.
Section section_of_choices(const croquis::Table& table);

/// Singular values and their sums, with condition and stable rank; of several heads, maps.
Section section_of_spectra(const croquis::Table& table);

/// Statistical dimension and landmarks against n, with exponents.
Section section_of_dimensions(const croquis::Table& table);
