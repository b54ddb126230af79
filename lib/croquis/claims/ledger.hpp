// The ledger: the claims of all papers, each decided by one call.
#pragma once

#include <croquis/claims/claim.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace croquis::claims {

/// A paper and its claims, in the order of the paper.
struct Paper {
  std::string name;  ///< of its folder here and of its page in docs/claims/
  std::vector<Claim> claims;
};

/// All papers that have claims here.
const std::vector<Paper>& papers();

/// The claims of all papers, in their order.
const std::vector<Claim>& all_claims();

/// The claim of that id, or of that id in the first edition. Throws std::invalid_argument for an unknown one, with the
/// nearest id.
const Claim& find_claim(std::string_view id);

/// The key of a Ledger in `croquis verify --seed`.
Key ledger_key(std::uint64_t seed);

/// The beginning of Report::sentence when the check itself failed: its INCONCLUSIVE is then no finding about the claim.
inline constexpr std::string_view kBrokeDown = "the check broke down: ";

/// Runs the check of a claim. If the claim has no proof, findings that would be VERIFIED are HOLDS. A check that fails
/// with any std::exception gives a report without findings, whose verdict is INCONCLUSIVE and whose sentence is
/// kBrokeDown and why. Throws std::invalid_argument for no subject and for a mutant that the claim does not have;
/// Interrupted. Cost: that of the check, from milliseconds to half a minute for those of all_claims().
Report decide(const Claim& claim, const Check& check);

/// Error probability and amount of work.
struct LedgerOptions {
  double confidence = 1 - 1e-6;  ///< that no random row of all_claims() is wrong (see Ledger), in (0, 1)
  bool quick = false;            ///< a tenth of the trials and smaller sizes: more verdicts are INCONCLUSIVE
  bool thorough = false;         ///< ten times the trials: more power
  std::optional<std::uint64_t> most_trials = {};             ///< for every decision, at least 2
  std::function<bool()> interrupted = [] { return false; };  ///< as Check::interrupted
};

/// The input of the finding on a whole claim.
inline constexpr std::string_view kWholeInput = "all";

/// The decision on a claim, or on a claim with a deliberate mistake in its check: the typed rows of `croquis verify`.
struct LedgerEntry {
  std::string claim;   ///< id
  std::string mutant;  ///< name of the deliberate mistake; empty: none
  std::vector<Finding> findings;
  /// The verdict on the claim. Its estimate is Report::number, its hypotheses are Report::sentence, its confidence is
  /// that of the claim where anything in it is random, its input is kWholeInput.
  Finding whole;

  /// "claim", or "claim!mutant".
  std::string id() const;
};

/// What the claims of one run have in common: inputs, confidence and key. A claim is decided by one call, in any order
/// and on any thread; its verdict depends on the options, the key, the inputs and the claim, and not on other claims.
///
/// Guarantees: for each row that draws at random, the probability that its verdict is wrong about the failure rate of
///   this input and this distribution is at most its share of 1 - confidence. The shares of all rows of all_claims()
///   add up to at most 1 - confidence, whichever claims are decided. Inputs that were not run, the choice of a reading
///   and the correctness of proofs are not covered. A claim outside all_claims() has the same share in addition.
/// Randomness: key.child("input") for default_subjects(), key.child(id) for each claim.
class Ledger {
 public:
  /// Claims are checked on default_subjects(). Throws std::invalid_argument for options outside their ranges.
  Ledger(const LedgerOptions& options, const Key& key);
  /// Claims are checked on the caller's input; checks of cubic cost use its first tokens. Finding::input then begins
  /// with its name. Claims that fixed examples decide have the same findings on any input. Throws std::invalid_argument
  /// for options outside their ranges, for other numbers of queries than of keys, and for one token, of which every
  /// method is exact.
  Ledger(Subject own, const LedgerOptions& options, const Key& key);
  /// Claims are checked on several inputs, such as the heads of a model. Throws std::invalid_argument also for no
  /// input, and for two inputs of one name.
  Ledger(std::vector<Subject> own, const LedgerOptions& options, const Key& key);

  /// The arguments of the claim's check.
  Check check_of(const Claim& claim, std::string_view mutant = "") const;
  /// Throws std::invalid_argument for a mutant that the claim does not have, and Interrupted.
  LedgerEntry decide(const Claim& claim, std::string_view mutant = "") const;

 private:
  Ledger(std::vector<Subject> subjects, bool own, const LedgerOptions& options, const Key& key);

  Check shared_;  // but for the claim's key and mutant
};

/// Decides claims on the caller's input, one after the other: Ledger::decide of each. Throws what Ledger's constructor
/// and decide() throw. Cost: about 90 s for all claims on two cores, with `quick` about 20 s.
std::vector<LedgerEntry> verify(Subject own, const LedgerOptions& options, const Key& key,
                                const std::vector<Claim>& claims = all_claims());

}  // namespace croquis::claims
