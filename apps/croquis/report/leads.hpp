// Which of several groups has the smallest number, and whether that is a lead.
#pragma once

#include <croquis/measure/groups.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// A group with its median of a metric, of several inputs the median of their means.
struct Candidate {
  const croquis::Group* group;
  double value;
};

/// Whether its method computes all scores, as exact attention does.
bool is_quadratic(const std::string& method, const std::string& preset);
bool is_quadratic(const croquis::Group& group);
/// What may lead: neither v-mean nor what is quadratic.
bool may_lead(const croquis::Group& group);
/// " Not counted, here and below: v-mean and methods that compute all scores.", of those that there are.
std::string left_out(bool mean, bool quadratic);

/// The groups that may lead, and have the metric; without those that are exact up to rounding, and with them.
std::vector<Candidate> candidates_of(const std::vector<const croquis::Group*>& groups, const std::string& metric);
std::vector<Candidate> candidates_and_exact(const std::vector<const croquis::Group*>& groups,
                                            const std::string& metric);

/// "kriged-coreset, skeinformer": those of this size that candidates_of() leaves out.
std::string exact_at(const std::vector<const croquis::Group*>& groups, const std::string& metric, std::uint64_t size);

/// nullptr: there are none.
const Candidate* smallest_of(const std::vector<Candidate>& candidates);

/// Where the number of a group may lie, as far as the sample of rows tells; a point where all rows were computed.
std::pair<double, double> range_by_rows(const croquis::Group& group, const std::string& metric);

/// Whether the interval of another one for the sample of rows overlaps that of the smallest, where there are some.
bool has_rivals_by_rows(const std::vector<Candidate>& candidates, const std::string& metric);

/// ", no clear lead over srht, sjlt"; empty where the lead is clear. `nested`: of several inputs, which are no sample,
/// the rows alone tell.
std::string rivals_of(const Candidate& best, const std::vector<Candidate>& candidates, const std::string& metric,
                      bool nested);
