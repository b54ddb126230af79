// A claim of a paper, and what a check of it reports.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/core/interruption.hpp>
#include <croquis/random/key.hpp>
#include <croquis/stats/decision.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The claims of papers on approximate attention, decided numerically. A `Claim` has a check; the check is given a
/// `Check` (inputs, key, error probability) and returns a `Report`, a list of `Finding`s. `Ledger` (ledger.hpp) makes
/// the `Check` of every claim; decisions.hpp has the tests that checks are made of.
namespace croquis::claims {

/// What was found on one input, at one size.
struct Finding {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  ///< where there is no such number

  /// The input and every size that varies; no two findings of a claim have the same text here. It begins with the name
  /// of the subject, if the finding is about one.
  std::string input;
  Verdict verdict = Verdict::inconclusive;
  std::optional<arma::uword> n, p, d;
  std::optional<std::uint64_t> trials, failures;
  double estimate = kNone;             ///< the measured quantity
  Interval interval = {kNone, kNone};  ///< of the true one, at `confidence`
  double confidence = kNone;           ///< 1 - alpha of this finding; NaN where nothing is random
  double bound = kNone;     ///< what the claim allows: the most; a least has a minus sign, as `observed` then
  double observed = kNone;  ///< the quantity that the bound is on
  /// The smallest violation that this row would refute with probability 0.95, with the most trials that it may take.
  /// For a probability it is a failure rate (where the claim is that a rate is above something, the largest one that
  /// would be refuted), for an identity the relative error of the formula at which the verdict changes.
  double power = kNone;
  /// The factor by which the bound could be lowered, as far as it is known: `lo` is proved (1 where nothing is), `hi`
  /// is the bound over what was achieved at the worst input that is known.
  Interval tightness = {kNone, kNone};
  std::string trivial;     ///< a trivial object that satisfies the claim on this input, which makes the row VACUOUS
  std::string threshold;   ///< what was fixed beforehand and decides the row: "name = value", of thresholds.csv
  std::string hypotheses;  ///< measured, "name = value; name = value"

  /// bound / observed: how many times larger the bound is than necessary. NaN unless observed is positive, so for a
  /// least too.
  double slack() const { return observed > 0 ? bound / observed : kNone; }
};

/// What was found on all inputs.
struct Report {
  std::vector<Finding> findings;
  double number = Finding::kNone;  ///< the number that the sentence is about
  std::string sentence;            ///< what was found, in a line of some 100 characters at most
  /// For a bound: the default value of Finding::tightness in `findings`.
  Interval tightness = {Finding::kNone, Finding::kNone};

  /// The verdict on the claim as a whole: verdict_of(findings).
  Verdict verdict() const;
};

/// The first of REFUTED, REFUTED_PROOF, INCONCLUSIVE, VERIFIED, HOLDS, VACUOUS that some finding has, else
/// NOT_APPLICABLE; INCONCLUSIVE for no findings.
Verdict verdict_of(const std::vector<Finding>& findings);

/// Q, K and V that claims are checked on.
struct Subject {
  std::string name;
  Problem<double> problem;
  std::optional<std::uint64_t> layer = {};  ///< of a model, where it is one of its heads
};

/// The arguments of a check.
struct Check {
  std::string claim = {};              ///< id of the claim that is checked
  std::vector<Subject> subjects = {};  ///< the default ones (subjects.hpp), or the user's own: one at least
  bool own_input = false;              ///< the subjects are the user's: check on them, not on the claim's own examples
  Key draw_key;                        ///< of the claim
  double alpha = 1e-8;                 ///< probability of any wrong verdict in this claim, shared by all its decisions
  bool quick = false;                  ///< a tenth of the trials, and smaller sizes where they are what takes the time
  bool thorough = false;               ///< ten times the trials
  std::optional<std::uint64_t> most_trials = {};  ///< the user's number of trials for every decision
  std::string mutant = {};                        ///< name of the deliberate mistake to make; empty: none
  /// The check calls it before every trial, from several threads at once; when it returns true, the check ends and
  /// throws Interrupted.
  std::function<bool()> interrupted = [] { return false; };

  /// Finding::input of a finding that is made from the first subject: `input`, and before it the subject's name where
  /// the subject is the user's own.
  std::string of_own(const std::string& input) const;
  /// Whether to make this deliberate mistake.
  bool makes(std::string_view mistake) const { return mutant == mistake; }
  /// Trials for a decision that takes `full` of them by default: a tenth if quick, ten times as many if thorough;
  /// most_trials, if set, replaces all of these. At least 2.
  std::uint64_t trials(std::uint64_t full) const;

  // Values for this claim in thresholds.csv (find_threshold()). In quick mode a line "tokens (quick)" takes precedence
  // over "tokens". They throw std::invalid_argument if the claim has no such quantity; value() and count() also if it
  // has several values.
  const std::vector<double>& values(std::string_view quantity) const;
  std::vector<arma::uword> counts(std::string_view quantity) const;
  double value(std::string_view quantity) const;
  arma::uword count(std::string_view quantity) const;
  /// "quantity = value", for Finding::threshold.
  std::string stated(std::string_view quantity) const;
};

/// Thrown out of a check that was interrupted.
using croquis::Interrupted;

/// A deliberate mistake in a check that must change its verdict.
struct Mutant {
  std::string name, mistake;
};

/// A change of a bound: a factor left out, a constant halved or doubled. The check makes it when Check::mutant has its
/// name. The changes that the check refutes show how sharp the bound is.
struct Rung {
  std::string name, change;
  /// The outcome: the input that refutes the changed bound, or why none does, "proved: ..." or "not told apart".
  std::string fate;
  bool survives = false;  ///< no input refutes it
};

/// A claim of a paper in one reading: a closed statement, with every quantifier, norm and constant, and how it is
/// decided. The readings of one sentence of the paper are claims of their own.
struct Claim {
  /// "paper.statement/reading", as "nys.lemma1/strict"; the key of its draws is made from it. *strict*: the sentence on
  /// every input that its words do not exclude. *charitable*: the weakest repair that the paper's context supports.
  /// Others have names.
  std::string id;
  std::string kind;          ///< probability, mean, identity, existence, ...: what sort of statement it is
  std::string source;        ///< the paper and the number of the statement
  std::string statement;     ///< what the paper says, in its words or in short, in the project's notation
  std::string reading = {};  ///< the closed statement that is decided; empty: the sentence itself
  std::string hypotheses;    ///< what the statement assumes
  std::string method;        ///< how the statement is checked
  /// Where the proof stands: a theorem of docs/claims/ or a reference. Empty: there is none, and what no input refutes
  /// HOLDS and is not VERIFIED.
  std::string proof = {};
  std::string conceded = {};               ///< where the paper itself restricts or doubts its sentence
  std::vector<std::string> formerly = {};  ///< ids of the first edition of the ledger; find_claim() knows them too
  Verdict expected = Verdict::verified;
  bool bound = false;  ///< the reading is a bound with a constant: its rows have a tightness
  std::vector<Mutant> mutants = {};
  std::vector<Rung> ladder = {};
  /// Abscissa of the figure of the findings: "n", "d", "p" or a name in Finding::hypotheses; empty: no figure.
  std::string curve = {};
  /// Throws Interrupted, std::invalid_argument for subjects that it cannot take, std::runtime_error for a breakdown;
  /// `decide` (ledger.hpp) turns the latter two into a report.
  std::function<Report(const Check&)> check;

  /// The two parts of the id, "nys.lemma1" and "strict"; no reading where the id has no slash.
  std::string sentence_id() const { return id.substr(0, id.find('/')); }
  std::string reading_name() const { return id.substr(std::min(id.size(), sentence_id().size() + 1)); }
};

}  // namespace croquis::claims
