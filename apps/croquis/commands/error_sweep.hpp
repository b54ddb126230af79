// What croquis error goes through: every head with every method, number of features and draw.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <vector>

#include "commands/error.hpp"
#include "files/run.hpp"
#include "files/saved_outputs.hpp"
#include "options/input.hpp"

struct ErrorSweep {
  const ErrorOptions& options;
  const std::vector<Input>& inputs;
  const std::vector<croquis::MethodChoice>& methods;
  const std::vector<arma::uword>& features;

  /// A cell for each row, in their order.
  std::vector<Run::Cell> plan() const;

  /// Computes the rows that `run` wants, to be called once it has the plan. `outputs` gets their outputs and the exact
  /// ones, where they are to be kept. Of many small heads each thread has one of its own, otherwise all threads work on
  /// one after the other.
  void measure(Run& run, const SavedOutputs* outputs) const;
};
