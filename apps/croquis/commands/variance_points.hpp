// The points that croquis variance measures on: queries and keys of heads, or points on spheres.
#pragma once

#include <CLI/CLI.hpp>
#include <croquis/measure/feature_variance.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "options/input.hpp"

struct PointsOptions {
  long long keys = 1024;             ///< of spheres
  std::optional<long long> queries;  ///< 1 on spheres, at most 64 of a head
  std::set<std::string> of_heads;    ///< options of an input that spheres do not have
};

/// The points at one factor R; those on spheres are other ones in every trial.
using PointsAt = std::function<croquis::FeaturePoints(double norm, std::uint64_t trial)>;

/// A head, or spheres, without the points.
struct PendingPoints {
  std::string input;
  std::optional<std::uint64_t> sequence = {}, layer = {}, head = {};
  arma::uword queries = 0, keys = 0, p = 0;
  std::function<PointsAt()> load = {};  ///< reads the head
};

struct VariancePoints {
  std::vector<PendingPoints> all;
  std::map<std::string, std::string> identity;
};

/// Adds the options of inputs, of which --p is that of spheres as well, and --keys and --queries.
void add_points_options(CLI::App& app, InputOptions& input, PointsOptions& options);

/// Whether the points are those of heads: a model, arrays, a text or --input is given.
bool are_of_heads(const RunOptions& run);

/// Throws std::invalid_argument for what does not go together or cannot be read.
VariancePoints variance_points(const InputOptions& input, const PointsOptions& options, const RunOptions& run);
