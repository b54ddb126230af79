#include <croquis/claims/claim.hpp>
#include <croquis/claims/linformer/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kTheorem2 =
    "For any Q, K, V (n x d), if k = min{Theta(9 d log d / eps^2), 5 Theta(log n / eps^2)}, then there exist E, F such "
    "that, for any row w of Q K^T / sqrt(d), Pr(||softmax(w E^T) F V - softmax(w) V|| <= eps ||softmax(w)|| ||V||) > 1 "
    "- o(1).";
const char* const kGamma =
    "With the rows A_s of rank d, ||Gamma_i|| = Theta(d) and the error of row i is Theta(d) "
    "||exp(A_s)|| ||V||.";

}  // namespace

std::vector<Claim> theorem2_claims() {
  return {
      {.id = "lin.eq9/strict",
       .kind = "probability",
       .source = "Linformer Eqs. 9, 21",
       .statement =
           "Pr(|exp(x E^T) F y^T - exp(x) y^T| <= eps |exp(x) y^T|) > 1 - 2 exp(-(eps^2 - eps^3) k / 4), E = delta "
           "R, F = e^-delta R.",
       .hypotheses = kGaussianProjection,
       .method =
           "x = 0, y = 1: e^-delta N(0, n) against n, whatever k. The exact failure and draws at k = 64 <= n and the "
           "proof's delta = 2^-n; any delta >= 0 fails with probability Phi((1 - eps) sqrt n) at least. |exp(x) y^T| "
           "is ||exp(x)|| ||y|| here, so the form of Eq. 24 fails as well.",
       .proof = std::string(kLinformerPage) + ", Theorem 2",
       .expected = Verdict::refuted,
       .mutants = {{"no-compression", "E = F = I"}},
       .check = check_exponentials},
      {.id = "lin.eq23/strict",
       .kind = "counterexample",
       .source = "Linformer Eq. 23",
       .statement = "With delta = theta(1/n), ||exp(delta x R) - exp(delta x) R|| = o(||exp x||).",
       .hypotheses = kGaussianProjection,
       .method = "x = 0: E||1 - 1^T R||^2 = k + n, and ||exp 0||^2 = n: the quotient is above 1 for all n and delta.",
       .proof = std::string(kLinformerPage) + ", Theorem 2",
       .expected = Verdict::refuted,
       .mutants = {{"first-order", "1 + delta x R in the place of exp(delta x) R"}},
       .check = check_small_delta},
      {.id = "lin.eq26/strict",
       .kind = "counterexample",
       .source = "Linformer Eq. 26",
       .statement = kGamma,
       .reading = "||Gamma_i|| = Theta(d) for any rows A_s of rank d.",
       .hypotheses = "The rows have full rank.",
       .method = "d = 1, queries 0, log(1+h), log 2, keys (1, 0, 0), V = (1, -1, 0), delta -> 0: rows (1, 0) and "
                 "(1, h) and the row (1, 1) in rationals, whose coefficients are 1 - 1/h and 1/h.",
       .proof = std::string(kLinformerPage) + ", Theorem 2",
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
       .proof = std::string(kLinformerPage) + ", Theorem 2",
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
       .proof = std::string(kLinformerPage) + ", Theorem 2",
       .expected = Verdict::refuted_proof,
       .mutants = {{"same-row", "the row itself among the chosen"}},
       .check = check_last_line},
      {.id = "lin.thm2/construction",
       .kind = "probability",
       .source = "Linformer Thm. 2, after Eq. 9, and App. B",
       .statement = kTheorem2,
       .reading = "E = delta R, F = e^-delta R with small delta, one row w and one column of V: failures at most 2 "
                  "exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = kGaussianProjection,
       .method =
           "V = 1, which exact attention gives back; delta = 1e-6, k = 64, a flat row and row 0 of every input; the "
           "exact failure as delta -> 0. Rows that output 0 passes are VACUOUS.",
       .proof = std::string(kLinformerPage) + ", T5",
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
                     "go to 0 as n grows. k < n needs n > 1280 mu^2 at eps = 1/2, delta = 0.1. In the spectral norm "
                     "of V the same holds with d times as many keys.",
       .method =
           "Failures of one row at n = 8192: half of the keys with 19 times the weight, V = 1 and -1 on the halves.",
       .proof = std::string(kLinformerPage) + ", T4",
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
       .reading = "For any n and d and any Q, K, V (n x d), in the spectral norm of V: one constant in k serves all, "
                  "and o(1) -> 0 as n grows.",
       .hypotheses = "None but the sizes: d may grow with n.",
       .method =
           "d = n, Q = K = t I, V = I, in rationals: softmax(A) = (a - b) I + b 1 1^T with a / b = exp(t^2 / sqrt n). "
           "An output of rank k has at most about k / (1 - eps^2) rows within eps, whatever E and F are and whether "
           "they are drawn; k = 5 c log n / eps^2 for the constants c = 1, 100 and 10000. The paper does not say which "
           "norm ||V|| is; in the Frobenius norm the output 0 passes here, and where d grows and mu is bounded T4 "
           "proves the theorem.",
       .proof = std::string(kLinformerPage) + ", T18",
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
       .hypotheses = "d >= 2. k is d or more for constants of 1 or more: the rank of the output is no obstacle. For a "
                     "bounded mu and a fixed failure it follows from T4; open are any V, and o(1).",
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

}  // namespace croquis::claims
