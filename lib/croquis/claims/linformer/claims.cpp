#include <croquis/claims/claim.hpp>
#include <croquis/claims/linformer/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kPage = "docs/claims/linformer.md";
const char* const kSpectrum =
    "The results exhibit a clear long-tail spectrum distribution across each layer, head and task. (The labels of the "
    "colour bar of "
    "the heat map, 12 layers of 12 heads on Wiki103 at the 128th of 512 singular values, go from .88 to .96.)";
const char* const kTheorem1 =
    "For any column vector w of V there exists a low-rank matrix P~ such that Pr(||P~ w - P w|| < eps ||P w||) > 1 - "
    "o(1) and rank(P~) = Theta(log n).";
const char* const kTruncation =
    "Based on the results in Theorem 1 and the Eckart-Young-Mirsky theorem, one can use P_low to approximate "
    "self-attention with eps error.";
const char* const kTheorem2 =
    "For any Q, K, V (n x d), if k = min{Theta(9 d log d / eps^2), 5 Theta(log n / eps^2)}, then there exist E, F such "
    "that, for any row w of Q K^T / sqrt(d), Pr(||softmax(w E^T) F V - softmax(w) V|| <= eps ||softmax(w)|| ||V||) > 1 "
    "- o(1).";
const char* const kGaussian = "R is k x n with independent N(0, 1/k) entries; 0 < eps < 1.";
const char* const kGamma =
    "With the rows A_s of rank d, ||Gamma_i|| = Theta(d) and the error of row i is Theta(d) "
    "||exp(A_s)|| ||V||.";

std::vector<Claim> spectrum_claims() {
  return {
      {.id = "lin.spectrum/strict",
       .kind = "measured",
       .source = "Linformer Sec. 3, Fig. 1",
       .statement = kSpectrum,
       .reading = "Beyond the sentence, as a property of attention and not of trained models: every softmax matrix of "
                  "512 tokens has .88 of its singular values' sum in the first 128.",
       .hypotheses = "None.",
       .method = "Tokens on a circle of radius t, each its own query and key: B tends to I, and the share to .25.",
       .proof = std::string(kPage) + ", Figure 1",
       .conceded = "Sec. 3: the spectra are those of pretrained RoBERTa, averaged over 10,000 sentences",
       .expected = Verdict::refuted,
       .mutants = {{"one-key", "all keys the same, so that B has rank 1"}},
       .check = check_spectrum_strict},
      {.id = "lin.spectrum/charitable",
       .kind = "measured",
       .source = "Linformer Sec. 3, Fig. 1",
       .statement = kSpectrum,
       .reading =
           "Each trained head has .85 of its singular values' sum in the first 128 of 512, on one sequence. (The "
           "paper's heat map has the mean over sentences.)",
       .hypotheses = "The input is a trained head of 512 tokens, or the first 512 of a longer one.",
       .method = "The singular values of B. The inputs of the default run are no trained heads: INCONCLUSIVE there; a "
                 "head of one's own decides it. A head of fewer tokens is measured, and NOT_APPLICABLE.",
       .expected = Verdict::inconclusive,
       .mutants = {{"all-values", "the sum over the first quarter alone in the place of all"}},
       .check = check_spectrum_charitable},
      {.id = "lin.spectrum/layers",
       .kind = "measured",
       .source = "Linformer Sec. 3, Fig. 1 (right)",
       .statement = "The spectrum distribution in higher layers is more skewed than in lower layers.",
       .reading = "In a trained model the mean share of the first quarter of the singular values, over the heads of a "
                  "layer, has a rank correlation of 0.5 or more with the layer.",
       .hypotheses = "Heads of four layers at least of one trained model.",
       .method =
           "The singular values of B of every head that is given. INCONCLUSIVE where fewer layers are: the inputs "
           "of the default run have none.",
       .expected = Verdict::inconclusive,
       .mutants = {{"place-for-layer", "the place of an input in the place of its layer"}},
       .check = check_spectrum_layers},
      {.id = "lin.eckart-young/strict",
       .kind = "counterexample",
       .source = "Linformer Sec. 3, after Eq. 6",
       .statement = kTruncation,
       .reading = "For every P, the best matrix of rank 250 at n = 512 (5 log n / (eps^2 - eps^3), eps = 1/2) has "
                  "||P_low w - P w|| <= eps ||P w||.",
       .hypotheses = "None.",
       .method = "P = I, the limit of tokens on a circle, and P = (a - b) I + b 1 1^T, in rationals.",
       .proof = std::string(kPage) + ", the truncated decomposition",
       .expected = Verdict::refuted,
       .mutants = {{"full-rank", "rank n"}},
       .check = check_truncation_strict},
      {.id = "lin.eckart-young/charitable",
       .kind = "measured",
       .source = "Linformer Sec. 3, after Eq. 6",
       .statement = kTruncation,
       .reading = "||P_low V - P V||_F <= eps ||P V||_F at the rank of Theorem 1's proof, 5 log n / (eps^2 - eps^3), "
                  "eps = 1/2, for a given head.",
       .hypotheses = "The rank is below n: the first 512 tokens of every input, where it is 250.",
       .method =
           "The error of the truncated decomposition. Rows are VACUOUS where the rank is n or more, and where the "
           "output 0 or the mean of the values passes.",
       .expected = Verdict::holds,
       .mutants = {{"rank-1", "rank 1"}},
       .check = check_truncation_given}};
}

std::vector<Claim> theorem1_claims() {
  return {
      {.id = "lin.thm1/strict",
       .kind = "counterexample",
       .source = "Linformer Thm. 1",
       .statement = kTheorem1,
       .reading = "The words as printed, for any w.",
       .hypotheses = "None.",
       .method = "P = 1/2 (1, 1; 1, 1), w = (1, -1) in rationals: P w = 0, and nothing is below 0.",
       .proof = std::string(kPage) + ", Theorem 1",
       .expected = Verdict::refuted,
       .mutants = {{"nonzero", "w = (1, 1)"}},
       .check = check_low_rank_strict},
      {.id = "lin.thm1/charitable",
       .kind = "existence",
       .source = "Linformer Thm. 1",
       .statement = kTheorem1,
       .reading = "For every w with P w != 0 there is such a P~, which may depend on w.",
       .hypotheses = "P w != 0.",
       .method = "P~ = P w w^T / ||w||^2 has rank 1 and no error, for any matrix P: exactly, and on every input.",
       .proof = std::string(kPage) + ", Theorem 1",
       .expected = Verdict::vacuous,
       .mutants = {{"unscaled", "P w w^T, without 1 / ||w||^2"}},
       .check = check_low_rank_trivial},
      {.id = "lin.thm1/one-matrix-for-v",
       .kind = "counterexample",
       .source = "Linformer Thm. 1",
       .statement = kTheorem1,
       .reading = "One P~ for all columns of V.",
       .hypotheses = "P w != 0. With rank p_v or more P~ = P V V^+ has no error, which is trivial.",
       .method =
           "P = I, V = (I; 0) with more than rank / (1 - eps^2) columns: one of them has error sqrt(1 - rank / p_v) "
           "at least, by Eckart and Young.",
       .proof = std::string(kPage) + ", Theorem 1",
       .expected = Verdict::refuted,
       .mutants = {{"narrow", "as many columns as the rank"}},
       .check = check_low_rank_for_values},
      {.id = "lin.thm1/oblivious",
       .kind = "counterexample",
       .source = "Linformer Thm. 1, Eqs. 16-18",
       .statement = kTheorem1,
       .reading = "A P~ made without knowledge of w, as the one of the proof is.",
       .hypotheses = "P w != 0.",
       .method =
           "P = I and w uniform on the sphere: success is at most as likely as Beta((n-r)/2, r/2) <= eps^2, whatever "
           "P~ of rank r = 5 log n / (eps^2 - eps^3) is.",
       .proof = std::string(kPage) + ", T2",
       .expected = Verdict::refuted,
       .mutants = {{"nearly-full", "rank n - 1"}},
       .check = check_low_rank_oblivious},
      {.id = "lin.thm1/construction",
       .kind = "probability",
       .source = "Linformer Eqs. 5, 16-20",
       .statement = "With P~ = P R^T R and k = 5 log n / (eps^2 - eps^3), ||P~ w - P w|| < eps ||P w|| fails with "
                    "probability at most 2 n exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = kGaussian,
       .method =
           "Flat attention and w = e_1 - e_2, where P w = 0 and P~ w != 0 almost surely; the columns of V of every "
           "input, as they are and less their means.",
       .proof = std::string(kPage) + ", Theorem 1",
       .formerly = {"lin.thm1.stated", "lin.thm1.construction"},
       .expected = Verdict::refuted_proof,
       .mutants = {{"norms", "eps ||P||_F ||w|| in the place of eps ||P w||"}},
       .check = check_low_rank_construction},
      {.id = "lin.thm1/corrected",
       .kind = "probability",
       .source = "Linformer Thm. 1, corrected",
       .statement = "||P R^T R w - P w|| <= eps ||P||_F ||w|| with probability 1 - delta for k >= 2 / (eps^2 delta).",
       .hypotheses = "R is k x n with independent N(0, 1/k) entries; P is any matrix.",
       .method = "Failures at eps = 1/2, delta = 0.1. Rows that P~ = 0 or P~ = 1 1^T / n passes are VACUOUS.",
       .proof = std::string(kPage) + ", T1",
       .formerly = {"lin.thm1.corrected"},
       .bound = true,
       .mutants = {{"no-scale", "entries N(0, 1)"}},
       .ladder = {{"half-constant", "1 / (eps^2 delta)",
                   "not told apart: 21 of the 80 rows are needed (tests/claims/worst/lin.thm1.csv)", true},
                  {"eighth-constant", "1 / (4 eps^2 delta)",
                   "P of rank 1 in the direction of w, by the chi^2 distribution", false},
                  {"no-delta", "2 / eps^2", "P of rank 1 in the direction of w, by the chi^2 distribution", false}},
       .check = check_low_rank_corrected}};
}

std::vector<Claim> lemma_claims() {
  return {
      {.id = "lin.jl-norm/strict",
       .kind = "probability",
       .source = "Linformer Lemma 1, Eq. 11",
       .statement = "Pr(||Rx|| <= (1 + eps) ||x||) > 1 - exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = kGaussian,
       .method =
           "The distribution of ||Rx||^2 / ||x||^2 is chi^2_k / k: the exact failure is compared with the bound for k "
           "= 1 ... 1024, eps = 0.02 ... 0.98. Then failures are counted for a row of B and a column of V, k = 32.",
       .proof = std::string(kPage) + ", T3",
       .formerly = {"lin.jl-norm"},
       .bound = true,
       .mutants = {{"no-scale", "entries N(0, 1)"}},
       .ladder = {{"four-times", "four times the exponent", "proved: T3", true},
                  {"five-times", "five times the exponent", "k -> infinity, eps -> 0, by the chi^2 distribution",
                   false}},
       .check = check_jl_norm},
      {.id = "lin.jl-product/strict",
       .kind = "probability",
       .source = "Linformer Lemma 1, Eq. 12",
       .statement = "Pr(|x R^T R y^T - x y^T| <= eps |x y^T|) > 1 - 2 exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = "R is k x n with independent N(0, 1/k) entries; any x, y.",
       .method = "x = e_1, y = e_2: the product of two independent normal vectors is 0 with probability 0. Then cosine "
                 "0.01 and a row of B with a column of V; eps = 0.5, k = 128 (allowed: 0.037).",
       .proof = std::string(kPage) + ", Lemma 1",
       .conceded = "Eqs. 22 (c) and 24 have eps ||x|| ||y||, as the corrected reading has; Eqs. 5, 18-20 do not",
       .formerly = {"lin.jl-product.stated"},
       .expected = Verdict::refuted,
       .mutants = {{"same", "x = y alone"}},
       .check = check_jl_product_strict},
      {.id = "lin.jl-product/corrected",
       .kind = "probability",
       .source = "Linformer Lemma 1, Eq. 12, corrected",
       .statement = "Pr(|x R^T R y^T - x y^T| <= eps ||x|| ||y||) >= 1 - 2 exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = "R is k x n with independent N(0, 1/k) entries; any x, y.",
       .method =
           "The same pairs with the corrected right-hand side. Pairs with |x y^T| <= eps ||x|| ||y|| are VACUOUS: 0 "
           "passes.",
       .proof = std::string(kPage) + ", Lemma 1",
       .formerly = {"lin.jl-product.corrected"},
       .bound = true,
       .mutants = {{"no-scale", "entries N(0, 1)"}},
       .ladder = {{"twice", "twice the exponent", "x = y, k -> infinity, eps -> 0, by the chi^2 distribution", false},
                  {"one-side", "1 in the place of 2 before the exponential", "not told apart", true}},
       .check = check_jl_product_corrected}};
}

std::vector<Claim> theorem2_claims() {
  return {
      {.id = "lin.eq9/strict",
       .kind = "probability",
       .source = "Linformer Eqs. 9, 21",
       .statement =
           "Pr(|exp(x E^T) F y^T - exp(x) y^T| <= eps |exp(x) y^T|) > 1 - 2 exp(-(eps^2 - eps^3) k / 4), E = delta "
           "R, F = e^-delta R.",
       .hypotheses = kGaussian,
       .method = "x = 0, y = 1: e^-delta N(0, n) against n, whatever k. The exact failure and draws at the proof's "
                 "delta = 2^-n; any delta >= 0 fails with probability Phi((1 - eps) sqrt n) at least. |exp(x) y^T| is "
                 "||exp(x)|| ||y|| here, so the form of Eq. 24 fails as well.",
       .proof = std::string(kPage) + ", Theorem 2",
       .expected = Verdict::refuted,
       .mutants = {{"no-compression", "E = F = I"}},
       .check = check_exponentials},
      {.id = "lin.eq23/strict",
       .kind = "counterexample",
       .source = "Linformer Eq. 23",
       .statement = "With delta = theta(1/n), ||exp(delta x R) - exp(delta x) R|| = o(||exp x||).",
       .hypotheses = kGaussian,
       .method = "x = 0: E||1 - 1^T R||^2 = k + n, and ||exp 0||^2 = n: the quotient is above 1 for all n and delta.",
       .proof = std::string(kPage) + ", Theorem 2",
       .expected = Verdict::refuted,
       .mutants = {{"first-order", "1 + delta x R in the place of exp(delta x) R"}},
       .check = check_small_delta},
      {.id = "lin.eq26/strict",
       .kind = "counterexample",
       .source = "Linformer Eq. 26",
       .statement = kGamma,
       .reading = "||Gamma_i|| = Theta(d) for any rows A_s of rank d.",
       .hypotheses = "The rows have full rank.",
       .method = "Rows (1, 0) and (1, h) and the row (0, 1) in rationals: coefficients -1/h and 1/h.",
       .proof = std::string(kPage) + ", Theorem 2",
       .expected = Verdict::refuted_proof,
       .mutants = {{"orthogonal", "rows (1, 0) and (0, 1)"}},
       .check = check_coefficients_any},
      {.id = "lin.eq26/charitable",
       .kind = "identity",
       .source = "Linformer Eq. 26",
       .statement = kGamma,
       .reading = "|Gamma_ij| <= 1 for the rows of largest determinant, so that ||Gamma_i|| <= sqrt(2d).",
       .hypotheses = "The rows A_s are those whose determinant is largest in absolute value.",
       .method = "All choices of 2 and 4 rows out of 10, of normal matrices and of one with nearly dependent columns.",
       .proof = std::string(kPage) + ", Theorem 2",
       .bound = true,
       .mutants = {{"smallest-determinant", "the rows of smallest determinant"}},
       .ladder = {{"half", "|Gamma_ij| <= 1/2", "a chosen row, whose own coefficient is 1", false}},
       .check = check_coefficients_best},
      {.id = "lin.eq26/last-line",
       .kind = "counterexample",
       .source = "Linformer App. B, after Eq. 26",
       .statement = kGamma,
       .reading = "The last line gives (24) for row i: ||exp(A_s)|| is at most a constant times ||exp(A_i)||.",
       .hypotheses = "The rows have full rank.",
       .method =
           "p = 1, k = 1, q_i = 0, q_s = t: the quotient is e^t. No step treats the denominator of the softmax either.",
       .proof = std::string(kPage) + ", Theorem 2",
       .expected = Verdict::refuted_proof,
       .mutants = {{"same-row", "the row itself among the chosen"}},
       .check = check_last_line},
      {.id = "lin.thm2/construction",
       .kind = "probability",
       .source = "Linformer Thm. 2, after Eq. 9, and App. B",
       .statement = kTheorem2,
       .reading = "E = delta R, F = e^-delta R with small delta, one row w and one column of V: failures at most 2 "
                  "exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = kGaussian,
       .method =
           "V = 1, which exact attention gives back; delta = 1e-6, k = 64, a flat row and row 0 of every input; the "
           "exact failure as delta -> 0. Rows that output 0 passes are VACUOUS.",
       .proof = std::string(kPage) + ", T5",
       .formerly = {"lin.thm2.construction"},
       .expected = Verdict::refuted_proof,
       .mutants = {{"no-compression", "E = F = I"}},
       .check = check_construction},
      {.id = "lin.thm2/charitable",
       .kind = "probability",
       .source = "Linformer Thm. 2",
       .statement = kTheorem2,
       .reading =
           "With ||V||_F for ||V|| and mu = sqrt(n) max ||V_j|| / ||V||_F: E = F = k uniform rows of I, k >= 32 mu^2 "
           "/ (eps^2 delta), each row w within eps ||softmax(w)|| ||V||_F with probability 1 - delta.",
       .hypotheses = "Row norms of V within mu of their root mean square; delta is fixed, for at fixed k it does not "
                     "go to 0 as n "
                     "grows. k < n needs n > 1280 mu^2 at eps = 1/2, delta = 0.1.",
       .method =
           "Failures of one row at n = 8192: half of the keys with 19 times the weight, V = 1 and -1 on the halves.",
       .proof = std::string(kPage) + ", T4",
       .bound = true,
       .mutants = {{"first-keys", "the first keys in the place of uniform ones"}},
       .ladder = {{"half-constant", "16 in the place of 32", "not told apart", true},
                  {"no-delta", "32 mu^2 / eps^2", "not told apart", true},
                  {"no-mu", "32 / (eps^2 delta)", "one key with all the weight and the only value", false},
                  {"hundredth-constant", "0.32 in the place of 32", "two kinds of keys, by the binomial distribution",
                   false}},
       .check = check_sampled_keys},
      {.id = "lin.thm2/strict",
       .kind = "counterexample",
       .source = "Linformer Thm. 2",
       .statement = kTheorem2,
       .reading = "For any n and d and any Q, K, V (n x d): one constant in k serves all, and o(1) -> 0 as n grows.",
       .hypotheses = "None but the sizes: d may grow with n.",
       .method =
           "d = n, Q = K = t I, V = I, in rationals: softmax(A) = (a - b) I + b 1 1^T with a / b = exp(t^2 / sqrt n). "
           "An output of rank k has at most about k / (1 - eps^2) rows within eps, whatever E and F are and whether "
           "they are drawn; k = 5 c log n / eps^2 for the constants c = 1, 100 and 10000.",
       .proof = std::string(kPage) + ", T18",
       .conceded = "Sec. 4, before Thm. 2: k = O(d / eps^2) is to be independent of n, as for fixed d",
       .expected = Verdict::refuted,
       .mutants = {{"narrow", "k of the columns of V alone, whose rank is then k"}},
       .check = check_every_projection},
      {.id = "lin.thm2/fixed-width",
       .kind = "existence",
       .source = "Linformer Thm. 2",
       .statement = kTheorem2,
       .reading =
           "d is fixed and n grows, so that k = Theta(9 d log d / eps^2): the spectral norm of V, any V, unnamed "
           "constants.",
       .hypotheses = "d >= 2. k is d or more for constants of 1 or more: the rank of the output is no obstacle.",
       .method =
           "The best E, F found for k = 4, 16, 64: F V by least squares, E K from segment means by gradient steps. "
           "An upper bound on what k costs, which decides nothing; a lower bound for all E, F would. Where the mean "
           "of the values, which is E = 0 and F = 1 1^T / n, is within eps on every row w, the row is VACUOUS. REFUTED "
           "would mean that the E, F found do not do what the search says.",
       .formerly = {"lin.thm2.existence"},
       .expected = Verdict::inconclusive,
       .mutants = {{"exchanged", "E and F exchanged"}},
       .curve = "d",
       .check = check_existence}};
}

}  // namespace

std::vector<Claim> linformer_claims() {
  std::vector<Claim> claims = spectrum_claims();
  for (auto&& more : {theorem1_claims(), lemma_claims(), theorem2_claims()}) {
    claims.insert(claims.end(), more.begin(), more.end());
  }
  return claims;
}

}  // namespace croquis::claims
