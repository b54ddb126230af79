#include <croquis/claims/claim.hpp>
#include <croquis/claims/papers.hpp>
#include <croquis/claims/vattention/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kBudget =
    "If b >= (Phi^-1(1 - delta/2) n_s sqrt(Tr Sigma) / tau)^2, then Pr(||s^ - s|| > tau) <= delta, s the sum of n_s "
    "vectors with covariance Sigma, s^ = n_s / b times the sum of b uniform ones.";
const char* const kVerified =
    "An algorithm is (eps, delta)-verified for the denominator D when Pr(|D^ - D| / D > eps) < delta for all inputs; "
    "vAttention is, with the budget that a pilot's estimates of Sigma and D give.";
const char* const kSetting =
    "eps = delta = .05, a tenth of all keys, those with the largest scores, for certain, and a pilot of a twentieth of "
    "the residual, as the authors have them. Certain are 4 sinks and the last 16 of 512 keys too; the authors have 128 "
    "sinks and the last 128 keys, of more tokens. Fewer than 512 tokens are not judged.";

}  // namespace

std::vector<Claim> vattention_claims() {
  return {
      {.id = "vat.lemma41/strict",
       .kind = "counterexample",
       .source = "vAttention Lemma 4.1",
       .statement = kBudget,
       .reading = "For every finite set of vectors, tau and delta, and every such b.",
       .hypotheses = "Samples are independent and uniform.",
       .method = "One of 100 numbers is 1, the others are 0, tau = 4.8, b = 17; and one of 1000: the failure rate is a "
                 "binomial tail, in rationals.",
       .proof = "docs/claims/vattention.md, T1",
       .conceded =
           "the authors' summary has no such limit, but others say that the paper takes b from the central limit "
           "theorem, of which vat.lemma41/charitable is",
       .expected = Verdict::refuted,
       .mutants = {{"even-numbers", "half of the numbers are 1"}},
       .check = check_budget_strict},
      {.id = "vat.lemma41/charitable",
       .kind = "probability",
       .source = "vAttention Lemma 4.1",
       .statement = kBudget,
       .reading = "For a fixed set of vectors and delta <= 1/5, in the limit tau -> 0, b -> infinity.",
       .hypotheses = "delta <= 0.2.",
       .method = "The limit is a quadratic form in normal numbers; its tails for equal eigenvalues, in closed form.",
       .proof = "docs/claims/vattention.md, T2 (Szekely and Bakirov 2003)",
       .bound = true,
       .mutants = {{"one-sided", "the quantile at 1 - delta"}},
       .check = check_budget_limit},
      {.id = "vat.lemma41/any-delta",
       .kind = "counterexample",
       .source = "vAttention Lemma 4.1",
       .statement = kBudget,
       .reading = "The same for every delta in (0, 1).",
       .hypotheses = "None on delta.",
       .method = "Two equal eigenvalues at delta = 1/4: the limit is exp(-z^2), z = 1.1503.",
       .proof = "docs/claims/vattention.md, T2",
       .expected = Verdict::refuted,
       .mutants = {{"small-delta", "delta = 1/20"}},
       .check = check_budget_any_delta},
      {.id = "vat.lemma42/strict",
       .kind = "identity",
       .source = "vAttention Lemma 4.2",
       .statement = "If N^ is within eps_1 ||N|| of N with probability 1 - delta_1 and D^ within eps_2 D of D with 1 - "
                    "delta_2, eps_2 < 1/2, then Pr(||N/D - N^/D^|| > 2 (eps_1 + eps_2) ||N/D||) < delta_1 + delta_2.",
       .reading =
           "As printed where the estimates fail with probabilities below delta_1 and delta_2, as in the definition of "
           "Verified-X. With <= in the conclusion where these may be delta_1 and delta_2, as in Lemma 4.1: failures "
           "that never coincide attain the sum.",
       .hypotheses = "D > 0.",
       .method = "Errors of the full size in random directions, and along N.",
       .proof = "docs/claims/vattention.md, T3",
       .bound = true,
       .mutants = {{"without-two", "eps_1 + eps_2 without the factor 2"}},
       .check = check_quotient},
      {.id = "vat.verified-d/known",
       .kind = "probability",
       .source = "vAttention Sec. 4, Definition of Verified-X",
       .statement = kVerified,
       .reading = "On each input, with queries drawn uniformly, for Sigma and D that are known.",
       .hypotheses = kSetting,
       .method =
           "Failures of the row sum of a random query and fresh samples. Where the budget is n_s or more all keys "
           "are taken.",
       .expected = Verdict::inconclusive,
       .mutants = {{"few-samples", "a twentieth of the budget"}},
       .check = check_verified_known},
      {.id = "vat.verified-d/charitable",
       .kind = "probability",
       .source = "vAttention Sec. 4, Definition of Verified-X",
       .statement = kVerified,
       .reading = "On each input, with queries drawn uniformly, by the pilot.",
       .hypotheses = kSetting,
       .method = "As vat.verified-d/known, with the pilot's estimates; its keys are not used again.",
       .expected = Verdict::refuted,
       .mutants = {{"all-keys", "every key is taken"}},
       .check = check_verified_pilot},
      {.id = "vat.verified-d/code",
       .kind = "probability",
       .source = "xAlg-ai/sparse-attention-hub 1a048c9, AdaptiveSamplingMasker",
       .statement = kVerified,
       .reading = "On each input, with queries drawn uniformly, for what the authors' code does.",
       .hypotheses = kSetting,
       .method =
           "The code's steps: the quantile at 1 - delta, keys that are drawn twice count once, the largest keys are "
           "in the pilot.",
       .expected = Verdict::refuted,
       .mutants = {{"all-keys", "every key is taken"}},
       .check = check_verified_code}};
}

}  // namespace croquis::claims
