// What a program may ask of the library, each under a name.
#pragma once

#include <armadillo>
#include <map>
#include <string>

/// The numbers that come of all of it: methods with their scores, exact attention, errors, spectra, inverses, sketches,
/// leverage scores, inputs, gradients, claims. Called outside of any parallel loop, as a program does.
std::map<std::string, arma::mat> library_results();
