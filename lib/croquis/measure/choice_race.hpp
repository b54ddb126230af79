// The search for the cheapest candidate that is good enough: the statistics of choose(), without attention.
#pragma once

#include <croquis/stats/e_process.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace croquis {

/// A candidate: rung `rung` of ladder `ladder`.
struct Rung {
  std::size_t ladder = 0, rung = 0;
  bool operator==(const Rung&) const = default;
};

/// The state of a candidate.
enum class RungState {
  open,       ///< not decided
  certified,  ///< its mean loss is shown to be below delta
  closed,     ///< given up: it or a rung above it seems to fail too often, or a cheaper candidate is certified
};

/// Ladders of candidates for one choice. The rungs of a ladder are in an order that is fixed before any loss is
/// observed, the one that is most likely to be good enough first. A rung is certified when the wealth that bets against
/// "its mean loss is at least delta" (MeanBet) has reached (the number of all ladders) / alpha, and all rungs above it
/// are certified. It is closed, with those below it, when the wealth that bets against "at most delta" has reached 1 /
/// futility, or when neither it nor a rung below it is cheaper than a certified one. A rung that is not random has no
/// part in this: it is certified or closed by its mean loss alone, which is known, whatever stands above or below it.
///
/// Guarantees: with probability >= 1 - alpha, none of the races that share alpha certifies a rung whose mean loss,
///   given the past, is at least delta. In each ladder only the first such rung that is random matters, because the
///   random ones below it need it certified. So neither the number of rungs nor looking after every loss has a price
///   (proof in docs/choose.md). Which rungs are observed may depend on everything observed so far.
class ChoiceRace {
 public:
  struct Settings {
    double delta = 0.05;      ///< in (0, 1)
    double alpha = 0.05;      ///< in (0, 1): the error probability of all ladders together
    std::size_t ladders = 1;  ///< the number of ladders that share alpha, in this race and in others
    double futility = 0.1;    ///< in (0, 1): at most the probability of giving up a rung with a mean loss <= delta
  };

  /// `costs[l][j]` is the cost of rung j of ladder l. Throws std::invalid_argument unless settings are in their ranges,
  /// and `ladders` is at least the number of ladders here. All functions that take a Rung throw it for a rung that the
  /// race does not have.
  ChoiceRace(std::vector<std::vector<double>> costs, const Settings& settings);

  /// The rungs to observe next; empty if the race is over.
  std::vector<Rung> open() const;
  bool is_over() const { return open().empty(); }

  /// Adds the loss of an open rung on the next unit: 1 for a failure, 0 for none, and in between the share of its parts
  /// that failed.
  void add(Rung rung, double loss);
  /// Sets the mean loss of a rung that is not random.
  void add_certain(Rung rung, double mean);
  /// Updates the states. To be called after all losses of a unit have been added.
  void settle();

  RungState state(Rung rung) const;
  /// The cheapest certified rung, the first of several.
  std::optional<Rung> winner() const;
  /// The cheapest open rung that would be certified if losses go on as so far (units_needed). If there is none, the
  /// open rung with the lowest mean loss, and of several such rungs the costliest, which is the likeliest to be good.
  /// Empty if no rung is open.
  std::optional<Rung> leader() const;
  /// The number of further units after which the rung is certified if its losses, and those of the rungs above it,
  /// go on as so far (MeanBet::losses_until); empty if a mean is not below delta.
  std::optional<std::uint64_t> units_needed(Rung rung) const;
  /// The upper confidence limit of the mean loss (mean_upper_limit). For a certified rung the level is alpha / ladders,
  /// with the `ladders` of Settings. Any other rung has been singled out by its losses, so its limit has to hold for
  /// all rungs of this race together: the level is alpha (ladders of this race) / ladders / (rungs of this race). For a
  /// rung that is not random it is the mean loss itself.
  double upper_limit(Rung rung) const;
  std::uint64_t observed(Rung rung) const;
  double cost(Rung rung) const;

 private:
  struct Candidate {
    MeanBet good, bad;  // against mean_at_least and mean_at_most
    std::vector<double> losses;
    std::optional<double> certain;
    RungState state = RungState::open;
  };
  const Candidate& at(Rung rung) const;
  Candidate& at(Rung rung) { return const_cast<Candidate&>(std::as_const(*this).at(rung)); }
  bool has_shown(const Candidate& candidate) const;
  double needed() const;

  std::vector<std::vector<double>> costs_;
  Settings settings_;
  std::vector<std::vector<Candidate>> candidates_;
};

}  // namespace croquis
