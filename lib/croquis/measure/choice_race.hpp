// The race for the cheapest candidate that is good enough: the statistics of choose(), without attention.
#pragma once

#include <croquis/stats/e_process.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace croquis {

/// A candidate of a race: a rung of one of its ladders.
struct Rung {
  std::size_t ladder = 0, rung = 0;
  bool operator==(const Rung&) const = default;
};

/// What is known of a candidate.
enum class RungState {
  open,       ///< not decided
  certified,  ///< its mean loss is below delta
  closed,     ///< not to be certified any more: it, or one above it, seems to fail too often
};

/// Ladders of candidates for one choice. The rungs of a ladder are in an order that is fixed before any loss is seen,
/// the one that is most likely to be good enough first. A rung is certified once the wealth that bets against "its mean
/// loss is at least delta" (MeanBet) has reached `ladders in all` / alpha, and all rungs above it are certified. It is
/// closed, with those below it, once the wealth that bets against "at most delta" has reached 1 / futility; or once
/// no rung from it on is cheaper than one that is certified.
///
/// Guarantees: with probability >= 1 - alpha, no race of all that share alpha certifies a rung whose mean loss, given
///   the past, is at least delta. In each ladder only the first such rung matters, as those below it need it certified:
///   so there is no price for the number of rungs, and none for looking after every loss (docs/choose.md has the
///   proof). Which rungs are observed may depend on all that was seen.
class ChoiceRace {
 public:
  struct Settings {
    double delta = 0.05;      ///< in (0, 1)
    double alpha = 0.05;      ///< in (0, 1): the error probability of all ladders together
    std::size_t ladders = 1;  ///< how many share alpha: those of this race, and those of others
    double futility = 0.1;    ///< in (0, 1): the probability of giving up a rung whose mean loss is at most delta
  };

  /// `costs[l][j]` is the cost of rung j of ladder l. Throws std::invalid_argument unless settings are in their ranges.
  ChoiceRace(std::vector<std::vector<double>> costs, const Settings& settings);

  /// The rungs that are to be observed next. None: the race is over.
  std::vector<Rung> open() const;
  bool is_over() const { return open().empty(); }

  /// The loss of an open rung on the next unit: 1 is a failure, 0 none, and between them the share of parts that
  /// failed.
  void add(Rung rung, double loss);
  /// The mean loss of a rung that is known: nothing is random in it.
  void add_certain(Rung rung, double mean);
  /// To be called after the losses of a unit.
  void settle();

  RungState state(Rung rung) const;
  /// The cheapest certified rung, the first of several.
  std::optional<Rung> winner() const;
  /// The cheapest open rung whose losses have a mean of at most delta so far, and where there is none the first of the
  /// ladder that has the lowest. None when no rung is open.
  std::optional<Rung> leader() const;
  /// How many more units it takes until the rung is certified if its losses, and those of the rungs above, go on with
  /// the mean so far; none if a mean is not below delta.
  std::optional<std::uint64_t> units_needed(Rung rung) const;
  /// The confidence limit for the mean loss at the level of a ladder, alpha / ladders (mean_upper_limit).
  double upper_limit(Rung rung) const;
  std::uint64_t observed(Rung rung) const;
  double cost(Rung rung) const { return costs_[rung.ladder][rung.rung]; }

 private:
  struct Candidate {
    MeanBet good, bad;  // against mean_at_least and mean_at_most
    std::vector<double> losses;
    std::optional<double> certain;
    RungState state = RungState::open;
  };
  const Candidate& at(Rung rung) const { return candidates_[rung.ladder][rung.rung]; }
  Candidate& at(Rung rung) { return candidates_[rung.ladder][rung.rung]; }
  bool has_shown(const Candidate& candidate) const;
  double needed() const;

  std::vector<std::vector<double>> costs_;
  Settings settings_;
  std::vector<std::vector<Candidate>> candidates_;
};

}  // namespace croquis
