#include <croquis/claims/claim.hpp>
#include <croquis/claims/skeinformer/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kRatio =
    "Here p_i is the ratio between the quadratic mean and the arithmetic mean of {a_ij}_{j=1}^n.";
const char* const kProduct =
    "Let delta in (0, 1) and eta = 1 + sqrt((8/beta) log(1/delta)). Then with probability at least 1 - delta, ||BV - "
    "B S S^T V||_F^2 <= eta^2 / (beta d) ||B||_F^2 ||V||_F^2.";
const char* const kInformerOrder =
    "It is clear that M_i will increase with p_i as these two ratios will both be large when {a_ij}_{j=1}^n are highly "
    "non-uniform.";
const char* const kIdentity = "The distribution of S is usually designed to satisfy the constraint that E(S S^T) = I.";
const char* const kProductExamples =
    "Two examples by their exact distributions: flat B with values +-1 (binomial), and one useful row. Then the "
    "estimator of the library (sampled-columns), n = 128, d = 64 and 128, ";
const char* const kProductVacuous =
    ", on every input and on two whose B V is large. Vacuous where the output 0 or the mean of the values is within "
    "the bound.";
const char* const kLemma1 =
    "Assume for any i in [n], ||B^(i)||^2 / n is uniformly lower bounded by a constant C [...]. For another constant "
    "delta in (0, 1/2), we uniformly sample d indices [...] with replacement, and let d be a constant multiple of "
    "log(n/delta) [App. B: d >= 2/C^2 log(2n/delta)]. Then with probability at least 1 - delta, the estimated "
    "sub-sampling probabilities [...] satisfy the constraints (3) with beta = sqrt(1/3).";
const char* const kRowsMethod =
    "Inputs, flat ones and clusters of tokens that attend to each other (rho = number of clusters), n = 512, delta = "
    "0.05. Vacuous where d_0 >= n. The circle with V_i of equal length at n = 10^3 ... 10^20 by the multinomial "
    "distribution.";
const char* const kPilot =
    "We show that O(log n) samples in the pilot sampling is sufficient to guarantee the quality coefficient beta >= "
    "sqrt(1/3) with high probability by the following lemma.";

std::vector<Claim> sketch_claims() {
  return {
      {.id = "ske.unbiased/enumerated",
       .kind = "identity",
       .source = "Skeinformer Sec. 3.2, Eq. 1",
       .statement = kIdentity,
       .reading = "E[S S^T] = I for every distribution of the library whose entries are discrete, and its draws have "
                  "that distribution.",
       .hypotheses = "n = 4, d = 2; importance sampling has positive weights.",
       .method = "All outcomes of each documented distribution (12 to 6561) are summed in rational arithmetic; srct, "
                 "whose entries are irrational, in double. Then 40000 draws of each, srct's too: the count of every "
                 "outcome is binomial and is tested exactly, at level alpha over the number of outcomes.",
       .proof = "docs/claims/skeinformer.md, Eq. 1",
       .formerly = {"ske.unbiased"},
       .mutants = {{"shared-sign", "rows 0 and 1 take the same sign"},
                   {"row-0-lost", "index 0 is left out"},
                   {"weights-swapped", "entries sqrt(d p_i) in the place of 1 / sqrt(d p_i)"},
                   {"addends-unscaled", "addends of accumulative divided by m in the place of sqrt(m)"}},
       .check = check_unbiased},
      {.id = "ske.unbiased/gaussian",
       .kind = "identity",
       .source = "Skeinformer Sec. 3.2, Eq. 1",
       .statement = kIdentity,
       .reading = "E[S S^T] = I for S with independent N(0, 1/d) entries, and the draws have that distribution.",
       .hypotheses = "n = 4, d = 2.",
       .method = "Entries against N(0, 1) by the Dvoretzky-Kiefer-Wolfowitz inequality; the sign of each product of "
                 "two entries by the exact binomial test.",
       .proof = "docs/claims/skeinformer.md, Eq. 1",
       .mutants = {{"entries-copied", "row 1 is row 0"}, {"variance-1/n", "entries of variance 1/n"}},
       .check = check_unbiased_gaussian},
      {.id = "ske.jl/gaussian",
       .kind = "probability",
       .source = "Skeinformer Def. 3.2",
       .statement = "With d = O(eps^-2 log(1/delta)), a Gaussian sketching matrix S can satisfy the oblivious (eps, "
                    "delta)-JL guarantee.",
       .reading = "d >= 5.29 eps^-2 log(2/delta), eps <= 1/2, gives Pr(| ||S^T b||^2 - ||b||^2 | > eps ||b||^2) <= "
                  "delta for every b (log(2/delta) <= 2 log(1/delta) for delta <= 1/2). The paper writes S b.",
       .hypotheses = "S_ij independent N(0, 1/d).",
       .method = "d ||S^T b||^2 / ||b||^2 is chi^2_d: both tails by incomplete gamma functions, for eps = 0.01 ... "
                 "1/2, delta = 0.49 ... 1e-300. Draws of the library against chi^2_16 by the "
                 "Dvoretzky-Kiefer-Wolfowitz inequality. The other distributions are not the paper's claim: their "
                 "worst b of a search is measured on draws of its own.",
       .proof = "docs/claims/skeinformer.md, Def. 3.2",
       .formerly = {"ske.jl"},
       .bound = true,
       .mutants = {{"unscaled", "S is 1.25 times too large"},
                   {"repeated-columns", "the first d/8 columns again and again"}},
       .ladder = {{"half-constant", "2.65 in the place of 5.29", "eps = 1/2, delta = 1e-9: c = 4.41 is needed", false},
                  {"epsilon-for-epsilon-squared", "eps^-1 in the place of eps^-2", "eps = 0.1", false},
                  {"without-log", "no log(2/delta)", "delta = 1e-3", false},
                  {"log-1/delta", "log(1/delta) in the place of log(2/delta)", "not told apart", true}},
       .check = check_jl},
      {.id = "ske.ratio/strict",
       .kind = "counterexample",
       .source = "Skeinformer Sec. 3.3, Informer",
       .statement = kRatio,
       .reading = "sqrt(sum_j a_ij^2) / sum_j a_ij is that ratio, and the p_i are probabilities.",
       .hypotheses = "None.",
       .method = "a = (1, 1), and four flat rows, in rational arithmetic.",
       .proof = "docs/claims/skeinformer.md, Sec. 3.3",
       .expected = Verdict::refuted,
       .mutants = {{"with-sqrt-n", "sqrt(n) p_i"}},
       .check = check_ratio_strict},
      {.id = "ske.ratio/corrected",
       .kind = "identity",
       .source = "Skeinformer Sec. 3.3, Informer",
       .statement = kRatio,
       .reading = "sqrt(n) p_i is that ratio; sum p_i need not be 1.",
       .hypotheses = "None.",
       .method = "Squares in rational arithmetic.",
       .proof = "docs/claims/skeinformer.md, Sec. 3.3",
       .mutants = {{"without-n", "p_i alone"}},
       .check = check_ratio_corrected},
      {.id = "ske.informer-order/strict",
       .kind = "counterexample",
       .source = "Skeinformer Sec. 3.3, Informer",
       .statement = kInformerOrder,
       .reading = "p_i > p_j implies M_i > M_j.",
       .hypotheses = "None.",
       .method = "(1, 2, 4) and (1, 1, 3); (1, 1, 1, 1/64) and (4, 1, 1, 1): p^2 and e^{n M} are rational.",
       .proof = "docs/claims/skeinformer.md, Sec. 3.3",
       .expected = Verdict::refuted,
       .mutants = {{"two-keys", "rows of two keys, of which either number decides the other"}},
       .check = check_informer_order_strict},
      {.id = "ske.informer-order/heads",
       .kind = "measured",
       .source = "Skeinformer Sec. 3.3, Informer",
       .statement = kInformerOrder,
       .reading = "Over the rows of a head, p_i and M_i have a rank correlation of 0.9 or more.",
       .hypotheses = "The first 512 tokens of every input.",
       .method = "Spearman's correlation; the share of the quarter of the rows with the largest p that has the largest "
                 "M is beside it.",
       .expected = Verdict::refuted,
       .mutants = {{"its-own-order", "p_i against itself"}},
       .check = check_informer_order_heads}};
}

std::vector<Claim> sampling_claims() {
  return {
      {.id = "ske.prop1/strict",
       .kind = "probability",
       .source = "Skeinformer Prop. 1",
       .statement = kProduct,
       .reading =
           "As printed, for every B of nonnegative rows that sum to 1, every V, d >= 1, and p with quality beta.",
       .hypotheses = "p_i >= beta ||B^(i)|| ||V_i|| / sum.",
       .method = std::string(kProductExamples) + "with exact probabilities" + kProductVacuous +
                 " It follows from ske.prop1/corrected, which has the pilot's and uniform ones.",
       .proof = "docs/claims/skeinformer.md, T12",
       .formerly = {"ske.prop1"},
       .bound = true,
       .mutants = {{"weights-swapped", "S S^T with d p_i in the place of 1 / (d p_i)"},
                   {"sum-for-mean", "S S^T is d times too large: columns without 1/sqrt(d)"}},
       .ladder = {{"quarter-constant", "2 in the place of 8", "proved: T12", true},
                  {"sixteenth-constant", "1/2 in the place of 8", "flat B, values +-1, d = 5: eta^2 = 4.95", false},
                  {"without-1", "eta without the 1", "proved for delta <= 0.6: it is above the eta of T12", true},
                  {"beta-outside-alone", "no beta in eta", "not told apart", true},
                  {"beta-inside-alone", "no beta below d", "not told apart", true}},
       .curve = "d",
       .check = check_product_strict},
      {.id = "ske.prop1/corrected",
       .kind = "probability",
       .source = "Skeinformer Prop. 1",
       .statement = kProduct,
       .reading = "The same with eta = 1 + sqrt((2/beta) log(1/delta)): at beta = 1, delta = 0.05, eta^2 = 11.89 for "
                  "34.76; 5 is needed.",
       .hypotheses = "p_i >= beta ||B^(i)|| ||V_i|| / sum.",
       .method = std::string(kProductExamples) + "with exact, pilot and uniform probabilities" + kProductVacuous +
                 " A pilot with beta = 0 is drawn again, and these are counted.",
       .proof = "docs/claims/skeinformer.md, T12",
       .bound = true,
       .mutants = {{"weights-swapped", "S S^T with d p_i in the place of 1 / (d p_i)"},
                   {"sum-for-mean", "S S^T is d times too large: columns without 1/sqrt(d)"}},
       .ladder = {{"half-constant", "1 in the place of 2", "not told apart: eta^2 = 7.46, 5 is needed", true},
                  {"quarter-constant", "1/2 in the place of 2", "flat B, values +-1, d = 5: eta^2 = 4.95", false},
                  {"without-1", "eta without the 1", "not told apart: eta^2 = 5.99, 5 is needed", true},
                  {"beta-outside-alone", "no beta in eta",
                   "one useful row, p = 1/19, d = 1: error^2 324 S^2, bound 226 S^2", false},
                  {"beta-inside-alone", "no beta below d",
                   "one useful row, p = 1/19, d = 1: error^2 324 S^2, bound 136 S^2", false}},
       .curve = "d",
       .check = check_product_corrected},
      {.id = "ske.lemma1.stated/strict",
       .kind = "probability",
       .source = "Skeinformer Lemma 1",
       .statement = kLemma1,
       .reading = "C does not depend on n, and there are fewer pilot rows than B has.",
       .hypotheses = "||B^(i)||^2 / n >= C.",
       .method =
           "C <= 1/n, since sum_i ||B^(i)||^2 = ||B||_F^2 <= n: the lemma asks for 2 n^2 log(2n/delta) rows or more. C "
           "is measured; decided by draws where it asks for fewer than n. App. B, above (7), has E X^2 <= C for >=.",
       .proof = "docs/claims/skeinformer.md, Lemma 1",
       .formerly = {"ske.lemma1.stated"},
       .expected = Verdict::vacuous,
       .mutants = {{"without-n", "C = max_i ||B^(i)||^2 in the place of min_i ||B^(i)||^2 / n"}},
       .check = check_pilot_as_stated},
      {.id = "ske.lemma1.corrected/bernstein",
       .kind = "probability",
       .source = "Skeinformer Lemma 1",
       .statement = kLemma1,
       .reading = "d_0 >= (28/3) rho log(2n/delta) rows give beta >= sqrt(1/3) with probability 1 - delta, rho = "
                  "max_ij n b_ji^2 / ||B^(i)||^2.",
       .hypotheses = "None.",
       .method = kRowsMethod,
       .proof = "docs/claims/skeinformer.md, T13",
       .bound = true,
       .mutants = {{"few-rows", "one row"}},
       .ladder = {{"without-rho", "no rho", "64 clusters", false},
                  {"without-log", "no log(2n/delta)", "64 clusters", false},
                  {"without-n", "log(2/delta) in the place of log(2n/delta)", "the circle, n = 10^20", false},
                  {"half-constant", "14/3 in the place of 28/3",
                   "not told apart; proved for n -> oo, where 3.33 is enough", true},
                  {"quarter-constant", "7/3 in the place of 28/3",
                   "not told apart at these n; false for n -> oo, where 3.33 is needed", true},
                  {"eighth-constant", "7/6 in the place of 28/3", "64 clusters", false}},
       .check = check_pilot_corrected},
      {.id = "ske.lemma1.corrected/sharper",
       .kind = "probability",
       .source = "Skeinformer Lemma 1",
       .statement = kLemma1,
       .reading = "d_0 >= 6.52 rho log(2n/delta) rows do, where n^2.39 >= 2/delta.",
       .hypotheses = "n^2.39 >= 2/delta.",
       .method = kRowsMethod,
       .proof = "docs/claims/skeinformer.md, T13b",
       .bound = true,
       .mutants = {{"few-rows", "one row"}},
       .ladder = {{"without-rho", "no rho", "64 clusters", false},
                  {"without-log", "no log(2n/delta)", "64 clusters", false},
                  {"without-n", "log(2/delta) in the place of log(2n/delta)", "the circle, n = 10^20", false},
                  {"half-constant", "3.26 in the place of 6.52",
                   "not told apart at these n; false for n -> oo, where 3.33 is needed", true},
                  {"eighth-constant", "0.815 in the place of 6.52", "64 clusters", false}},
       .check = check_pilot_sharper},
      {.id = "ske.pilot-size/strict",
       .kind = "counterexample",
       .source = "Skeinformer Sec. 4.1, remark on Prop. 1",
       .statement = kPilot,
       .reading = "There is a constant c such that c log n rows do for every B.",
       .hypotheses = "None: without the assumption of the lemma that the sentence announces, which no B meets with a "
                     "constant (ske.lemma1.stated).",
       .method = "B near the identity (the circle), V_i of equal length: with d_0 < n rows a column is missed in every "
                 "draw, beta^2 <= n^2 d_0 "
                 "e^2 / (1 - (n-1) e)^2, in rational arithmetic. The smallest d_0 of the inputs is measured beside it.",
       .proof = "docs/claims/skeinformer.md, Pilot rows",
       .conceded = "The same sentence: by the following lemma, which assumes ||B^(i)||^2 / n >= C",
       .formerly = {"ske.pilot-size", "ske.lemma1.empirical"},
       .expected = Verdict::refuted,
       .mutants = {{"flat-inputs", "all rows of B equal"}},
       .check = check_pilot_size_strict},
      {.id = "ske.pilot-size/charitable",
       .kind = "probability",
       .source = "Skeinformer Sec. 4.1, remark on Prop. 1",
       .statement = kPilot,
       .reading = "Where rho is bounded, O(log n) rows do: (28/3) rho log(2n/delta).",
       .hypotheses = "rho does not grow with n.",
       .method = "Four clusters, rho = 4, n = 512, 1024, 2048.",
       .proof = "docs/claims/skeinformer.md, T13",
       .bound = true,
       .mutants = {{"rho-ignored", "three rows"}},
       .check = check_pilot_size_charitable}};
}

}  // namespace

std::vector<Claim> skeinformer_claims() {
  std::vector<Claim> claims = sketch_claims();
  for (auto&& more : {sampling_claims(), algorithm_claims(), flops_claims()})
    claims.insert(claims.end(), more.begin(), more.end());
  return claims;
}

}  // namespace croquis::claims
