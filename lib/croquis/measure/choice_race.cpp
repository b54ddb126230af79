#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/measure/choice_race.hpp>
#include <limits>
#include <utility>

namespace croquis {
namespace {

void require_share(double x, const char* what) {
  require(x > 0 && x < 1, "ChoiceRace", "shares between 0 and 1, exclusive", {{what, x}});
}

}  // namespace

ChoiceRace::ChoiceRace(std::vector<std::vector<double>> costs, const Settings& settings)
    : costs_(std::move(costs)), settings_(settings) {
  require_share(settings.delta, "delta");
  require_share(settings.alpha, "alpha");
  require_share(settings.futility, "futility");
  require(settings.ladders >= costs_.size(), "ChoiceRace", "no more ladders than share alpha",
          {{"ladders", costs_.size()}, {"that share", settings.ladders}});
  for (const std::vector<double>& ladder : costs_) {
    candidates_.emplace_back(ladder.size(), Candidate{MeanBet(NullHypothesis::mean_at_least, settings.delta),
                                                      MeanBet(NullHypothesis::mean_at_most, settings.delta),
                                                      {},
                                                      {},
                                                      RungState::open});
  }
}

const ChoiceRace::Candidate& ChoiceRace::at(Rung rung) const {
  require(rung.ladder < candidates_.size() && rung.rung < candidates_[rung.ladder].size(), "ChoiceRace",
          "a rung of its ladders", {{"ladder", rung.ladder}, {"rung", rung.rung}});
  return candidates_[rung.ladder][rung.rung];
}

double ChoiceRace::cost(Rung rung) const {
  at(rung);  // throws if there is none
  return costs_[rung.ladder][rung.rung];
}

double ChoiceRace::needed() const {
  return std::log(static_cast<double>(settings_.ladders) / settings_.alpha);
}

bool ChoiceRace::has_shown(const Candidate& candidate) const {
  return candidate.good.log_largest() >= needed();
}

std::vector<Rung> ChoiceRace::open() const {
  std::vector<Rung> rungs;
  for (std::size_t l = 0; l < candidates_.size(); ++l) {
    for (std::size_t j = 0; j < candidates_[l].size(); ++j) {
      if (candidates_[l][j].state == RungState::open) rungs.push_back({l, j});
    }
  }
  return rungs;
}

void ChoiceRace::add(Rung rung, double loss) {
  Candidate& candidate = at(rung);
  candidate.good.add(loss);
  candidate.bad.add(loss);
  candidate.losses.push_back(loss);
}

void ChoiceRace::add_certain(Rung rung, double mean) {
  require(mean >= 0 && mean <= 1, "ChoiceRace", "a mean loss in [0, 1]", {{"mean", mean}});
  at(rung).certain = mean;
}

void ChoiceRace::settle() {
  for (auto& ladder : candidates_) {
    bool above = true;  // all rungs above are certified
    bool closed = false;
    for (Candidate& candidate : ladder) {
      if (candidate.state == RungState::certified) continue;
      if (candidate.certain) {  // no error is possible, so that it needs nothing above it
        candidate.state = *candidate.certain < settings_.delta ? RungState::certified : RungState::closed;
        continue;
      }
      const bool fails = candidate.bad.log_largest() >= -std::log(settings_.futility);
      if (above && !closed && has_shown(candidate)) {
        candidate.state = RungState::certified;
        continue;
      }
      above = false;
      closed = closed || fails || candidate.state == RungState::closed;
      if (closed) candidate.state = RungState::closed;
    }
  }
  const auto best = winner();
  if (!best) return;
  for (std::size_t l = 0; l < candidates_.size(); ++l) {
    double least = std::numeric_limits<double>::infinity();  // cost of what is open from here on
    for (std::size_t j = candidates_[l].size(); j-- > 0;) {
      if (candidates_[l][j].state != RungState::open) continue;
      least = std::min(least, costs_[l][j]);
      if (least >= cost(*best)) candidates_[l][j].state = RungState::closed;
    }
  }
}

RungState ChoiceRace::state(Rung rung) const {
  return at(rung).state;
}

std::optional<Rung> ChoiceRace::winner() const {
  std::optional<Rung> best;
  for (std::size_t l = 0; l < candidates_.size(); ++l) {
    for (std::size_t j = 0; j < candidates_[l].size(); ++j) {
      if (candidates_[l][j].state != RungState::certified) continue;
      if (!best || costs_[l][j] < cost(*best)) best = Rung{l, j};
    }
  }
  return best;
}

std::optional<Rung> ChoiceRace::leader() const {
  const auto mean = [&](Rung rung) {
    const MeanBet& bet = at(rung).good;
    return bet.count() == 0 ? 1.0 : bet.mean();
  };
  std::optional<Rung> cheapest, lowest;
  for (const Rung rung : open()) {
    if (units_needed(rung) && (!cheapest || cost(rung) < cost(*cheapest))) cheapest = rung;
    const bool is_lower =
        !lowest || mean(rung) < mean(*lowest) || (mean(rung) == mean(*lowest) && cost(rung) > cost(*lowest));
    if (is_lower) lowest = rung;
  }
  return cheapest ? cheapest : lowest;
}

std::optional<std::uint64_t> ChoiceRace::units_needed(Rung rung) const {
  std::uint64_t most = 0;
  for (std::size_t j = 0; j <= rung.rung; ++j) {
    const Candidate& candidate = at({rung.ladder, j});
    if (candidate.state == RungState::certified || has_shown(candidate)) continue;
    if (candidate.certain && j < rung.rung) continue;
    if (candidate.state == RungState::closed) return {};
    const auto more = candidate.good.losses_until(needed());
    if (!more) return {};
    most = std::max(most, *more);
  }
  return most;
}

double ChoiceRace::upper_limit(Rung rung) const {
  const Candidate& candidate = at(rung);
  if (candidate.certain) return *candidate.certain;
  double level = settings_.alpha / static_cast<double>(settings_.ladders);
  if (candidate.state != RungState::certified) {
    // It is shown for what its losses have been, so that the limit has to hold for all rungs of this race.
    std::size_t rungs = 0;
    for (const std::vector<Candidate>& ladder : candidates_) rungs += ladder.size();
    level *= static_cast<double>(candidates_.size()) / static_cast<double>(rungs);
  }
  const double limit = mean_upper_limit(candidate.losses, level);
  // A mean of delta has been rejected, and so have all above; the limit is rounded up.
  return candidate.state == RungState::certified ? std::min(limit, settings_.delta) : limit;
}

std::uint64_t ChoiceRace::observed(Rung rung) const {
  return at(rung).certain ? 1 : at(rung).good.count();
}

}  // namespace croquis
