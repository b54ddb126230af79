// A row of croquis error.
#pragma once

#include <string>
#include <vector>

#include "error.hpp"
#include "lists.hpp"
#include "measured.hpp"

/// What tells one row from another.
inline const Run::Keys kErrorKeys = {{"input", "method", "preset", "features", "trial"}};

/// With those of --rows and --scores where they are given.
std::vector<std::string> error_columns(const ErrorOptions& options);

/// What is measured on what.
struct ErrorSubject {
  std::string input;
  const MethodChoice* choice;
  croquis::Target target;
  arma::uword n, p, p_v;
};

std::vector<std::string> error_row(const ErrorOptions& options, const ErrorSubject& subject, arma::uword features,
                                   long long trial, const Measured& m, double flops);
