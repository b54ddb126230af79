// Which of several groups has the smallest number, and whether that is a lead.
#pragma once

#include <croquis/measure/groups.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// The groups of single inputs that a group of several is made of; of one input it is the group itself.
class InputGroups {
 public:
  /// Both are to outlive this.
  InputGroups(const croquis::Grouping& shown, const croquis::Grouping& single);
  const std::vector<const croquis::Group*>& of(const croquis::Group& shown) const;

 private:
  std::vector<croquis::Column> keys_;
  std::map<std::vector<std::string>, std::vector<const croquis::Group*>> groups_;
};

/// A group with its median of a metric, of several inputs the median of their means.
struct Candidate {
  const croquis::Group* group;
  double value;
  croquis::Summary draws = {};           ///< on the input whose mean is the median, of two the larger one
  std::size_t failed = 0, measured = 0;  ///< rows of all inputs

  /// A failure is no small error: with half of the draws its median is none.
  bool fails_mostly() const { return failed >= measured; }
};

/// Whether its method computes all scores, as exact attention does.
bool is_quadratic(const std::string& method, const std::string& preset);
bool is_quadratic(const croquis::Group& group);
/// What may lead: neither v-mean nor what is quadratic.
bool may_lead(const croquis::Group& group);
/// " Not counted, here and below: v-mean and methods that compute all scores.", of those that there are.
std::string left_out(bool mean, bool quadratic);

/// The groups that may lead, have the metric, are of as many inputs as any and do not fail mostly; without those that
/// are exact up to rounding, and with them.
std::vector<Candidate> candidates_of(const std::vector<const croquis::Group*>& groups, const InputGroups& inputs,
                                     const std::string& metric);
std::vector<Candidate> candidates_and_exact(const std::vector<const croquis::Group*>& groups, const InputGroups& inputs,
                                            const std::string& metric);
/// Those that might lead if they did not fail mostly, also where no draw has a number.
std::vector<Candidate> mostly_failing(const std::vector<const croquis::Group*>& groups, const InputGroups& inputs,
                                      const std::string& metric);

/// "kriged-coreset, skeinformer": those of this size that candidates_of() leaves out.
std::string exact_at(const std::vector<const croquis::Group*>& groups, const std::string& metric, std::uint64_t size);

/// nullptr: there are none.
const Candidate* smallest_of(const std::vector<Candidate>& candidates);

/// Where the number of a group may lie, as far as the sample of rows tells; a point where all rows were computed.
std::pair<double, double> range_by_rows(const croquis::Group& group, const std::string& metric);

/// The labels of the others over which the smallest one has no clear lead: intervals for the sample of rows overlap, or
/// draws are too near each other. Inputs are no sample, so of several the draws on the one in the middle tell.
std::vector<std::string> rivals_of(const Candidate& best, const std::vector<Candidate>& candidates,
                                   const std::string& metric);

/// ", no clear lead over srht, sjlt"; empty where the lead is clear.
std::string no_clear_lead(const Candidate& best, const std::vector<Candidate>& candidates, const std::string& metric);

/// ", though 3 of 20 draws failed"; empty where none did.
std::string failures_of(const Candidate& one);
