// A claim of a paper, and what a check of it reports.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/random/key.hpp>
#include <croquis/stats/decision.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What was found on one input, at one size: a row of the results.
struct Finding {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  ///< NA in the results

  std::string input;  ///< what it was found on, with every size that varies; no two findings of a claim have the same
  croquis::Verdict verdict = croquis::Verdict::inconclusive;
  std::optional<arma::uword> n, p, d;
  std::optional<std::uint64_t> trials, failures;
  double estimate = kNone;                      ///< the measured quantity
  croquis::Interval interval = {kNone, kNone};  ///< of the true one, at `confidence`
  double confidence = kNone;                    ///< 1 - alpha of this row; none where nothing is random
  double bound = kNone;                         ///< what the claim allows
  double observed = kNone;                      ///< what it allows less for: bound / observed is the slack
  std::string hypotheses;                       ///< measured, "name = value; name = value"
};

/// What was found on all inputs. The verdict of the whole follows from those of the findings (see `verdict_of`).
struct Report {
  std::vector<Finding> findings;
  double number = Finding::kNone;  ///< the one that the sentence is about
  std::string sentence;            ///< what was found, in a line of some 100 characters at most
};

/// Q, K and V that claims are checked on.
struct Subject {
  std::string name;
  croquis::Problem<double> problem;
};

/// What a check is given.
struct Check {
  std::vector<Subject> subjects = {};  ///< the default ones, or the user's own
  bool own_input = false;              ///< they are the user's: check on them, not on examples of the claim's own
  croquis::Key draw_key;               ///< of the claim
  double alpha = 1e-8;                 ///< of any wrong verdict in this claim: divide it among what the claim decides
  bool quick = false;                  ///< a tenth of the trials, and smaller sizes where they are what takes the time
  std::optional<std::uint64_t> most_trials = {};  ///< the user's, for every decision
  std::string mutant = {};                        ///< the deliberate mistake to make, none when empty
  std::function<bool()> interrupted = [] { return false; };

  /// Whether to make this deliberate mistake.
  bool makes(std::string_view mistake) const { return mutant == mistake; }
  /// Trials of a decision that takes at most `full` of them.
  std::uint64_t trials(std::uint64_t full) const;
};

/// Thrown out of a check once a signal has come.
struct Interrupted {};

/// A deliberate mistake that a check must notice.
struct Mutant {
  std::string name, mistake;
};

struct Claim {
  std::string id, kind, source;
  std::string statement;   ///< of the paper, in the project's notation
  std::string hypotheses;  ///< what it assumes
  std::string method;      ///< how it is checked
  croquis::Verdict expected = croquis::Verdict::verified;
  std::vector<Mutant> mutants = {};  ///< every one turns the verdict
  std::string curve = {};  ///< "n", "d" or a name in Finding::hypotheses: what the plot has on its axis; or none
  std::function<Report(const Check&)> check;
};

/// REFUTED when one finding is, else INCONCLUSIVE when one is, else VERIFIED when one is, else VACUOUS when one is,
/// else NOT_APPLICABLE.
croquis::Verdict verdict_of(const std::vector<Finding>& findings);

/// The first n tokens of a problem, or all when it has fewer. Padding and position are left out.
croquis::Problem<double> first_tokens(const croquis::Problem<double>& problem, arma::uword n);

/// All claims in the order of the papers, and those of one paper (one folder each).
const std::vector<Claim>& all_claims();
std::vector<Claim> skyformer_claims();
std::vector<Claim> nystromformer_claims();
std::vector<Claim> linformer_claims();
std::vector<Claim> skeinformer_claims();
std::vector<Claim> nprf_claims();
