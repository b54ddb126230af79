// croquis choose: what its two questions, about heads and about the loss, have in common.
#pragma once

#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/choose.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "files/run.hpp"
#include "options/input.hpp"
#include "options/model_sequences.hpp"
#include "pictures/choice.hpp"

struct ChooseOptions {
  RunOptions run;
  InputOptions input;
  LabelOptions labels;
  std::string methods = "all", features = "16:256", per = "head", cost = "flops";
  croquis::ChoiceSettings settings;
  std::optional<long long> trials, rows;
  std::optional<double> target_loss;
  long long search_sequences = 4;
};

/// Throws std::invalid_argument unless 0 < x < 1.
void require_open_interval(double x, const char* option);

/// Throws std::invalid_argument unless 0 < x < infinity: within an infinite error everything is good enough.
void require_tolerance(double x, const char* option);

/// What --methods names; nothing for `all`, which are those that suit the heads. Throws std::invalid_argument.
std::vector<croquis::MethodChoice> named_methods(const ChooseOptions& options, croquis::PositionParts position);

/// The candidates of these methods, or of all where none is named, and of --features for heads of these shapes. Throws
/// std::invalid_argument.
croquis::CandidateLadders candidates_of(const ChooseOptions& options, const std::vector<croquis::MethodChoice>& named,
                                        const std::vector<croquis::HeadShape>& shapes, croquis::PositionParts position,
                                        croquis::CostUnit unit);

/// A line that names the candidates that cost too much on every head; empty if there are none.
std::string word_on_dear_candidates(const croquis::CandidateLadders& candidates, double max_cost);

/// The candidates as text: a resumed run must have the same.
std::string names_of(const croquis::CandidateLadders& candidates);

/// Writes the rows that the run still wants.
void deliver_choices(Run& run, const std::vector<croquis::ChoiceRow>& rows, std::uint64_t seed);

/// What is left once all rows are there: choice.json, the plot, the table. Returns the exit status. Without `places`
/// each choice is for all heads of its layer.
int finish_choices(const ChooseOptions& options, Run& run, const std::optional<croquis::ChoicePlaces>& places = {},
                   const std::vector<croquis::ChoiceDraw>& draws = {}, const CandidateCosts& costs = {});

/// Throws std::invalid_argument where X.json, a name that other programs use too, is there and no choice.
void require_choice_file(const std::string& path);

/// Removes X.json, which is that of an earlier run: to be called when choices are about to be made.
void remove_choice_file(const std::string& path);

/// Results::merge_others: choice.json and X.draws.csv.
std::function<void()> merge_choices(const std::vector<std::string>& parts, const croquis::Table& table,
                                    const std::string& out);

/// --target-loss.
int run_choose_loss(const ChooseOptions& options);
