#include <croquis/claims/claim.hpp>
#include <croquis/claims/nprf/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kApproximable =
    "At the same time, such a result suggests that Transformers with RPE cannot be well-approximated by techniques "
    "developed in the previous works as those methods are under the simple dot-then-exponentiate attention setting.";
const char* const kProduct =
    "Denote C = {c_{j-i}} [c_i = e^{b_i}]. [...] Left multiplying a Toeplitz matrix can be done in O(n log n) time "
    "using Fast Fourier Transform (FFT).";
const char* const kAlgorithm = "Algorithm 1: Efficient Normalized Kernelized Attention with RPE using FFT.";
const char* const kGradient =
    "If the norms of the queries or keys happen to be larger than one, the kernelized attention (forward pass) will "
    "have a large variance, leading to a large-variance gradient (backward pass) and making the training unstable.";
const char* const kGradientTokens =
    "Queries and keys uniform on the sphere of radius R, scores q.k without 1/sqrt(p), n = 128, p = 64; independent "
    "directions.";
const char* const kGradientMethod =
    "Five sets of tokens, 40 draws, m = 64 and 256, a white cotangent: the root mean square distance of (dQ, dK) from "
    "their mean over the draws. On heads of one's own, their first tokens at these norms, with five cotangents and "
    "eight draws for each. INCONCLUSIVE within the error of the five.";
const char* const kSharp =
    "However, this [normalizing] would bound the dot-products between queries and keys into range [-1, 1]. Then the "
    "attention mechanism can no longer represent sharp distributions [...]. Fortunately, when equipped with RPE, the "
    "model is endowed with the ability to model sharp attention distributions even if the queries and keys are "
    "normalized.";

std::vector<Claim> position_claims() {
  return {
      {.id = "rpe.prop1/strict",
       .kind = "identity",
       .source = "NPRF Sec. 3.1, Prop. 1",
       .statement = "If n > p + 1, there exist weight matrices W_rel^Q, W_rel^K in R^{p x p} and RPE weights b_{j-i} "
                    "[...], such that there does not exist weight matrices W_vanilla^Q, W_vanilla^K and input "
                    "vectors x_1, ..., x_n in R^p that satisfy [that both give the same attention].",
       .reading = "There are b such that for all X and all p x p matrices W_rel and W: softmax of X W_rel X^T + T is "
                  "not softmax of X W X^T. For heads of width p of wider tokens: softmax of T, W_rel = 0, is not "
                  "softmax of the scores of any such head.",
       .hypotheses = "n > p + 1, p the width of the tokens, in the second sentence of the head; the Toeplitz matrix "
                     "T_ij = b_{j-i} has a rank above p + 1 (the paper: full rank).",
       .method = "Equal softmax means T = M + beta 1^T with rank(M) <= p. The distance of T from all such matrices "
                 "is sigma_{p+1}(T (I - 11^T/n)) >= sigma_{p+2}(T); it must be above the rounding of the singular "
                 "values, 8 n u ||T||. ALiBi, T5 and random biases, n = p + 2 and 4 p, p = 16 and 64. Shown beside "
                 "it, outside the hypotheses: b_t = t (rank 2), n = p + 1, and two heads of width p of wider tokens, "
                 "n = 2p, which give the same attention.",
       .proof = "docs/claims/nprf.md, Proposition 1",
       .formerly = {"rpe.prop1"},
       .mutants = {{"wide-heads", "heads of width n - 1 in the place of p"},
                   {"query-bias", "b_i in the place of b_{j-i}, the same for all keys"}},
       .check = check_expressiveness},
      {.id = "rpe.approximable/strict",
       .kind = "counterexample",
       .source = "NPRF Sec. 3.1, after Prop. 1",
       .statement = kApproximable,
       .reading = "Whatever the bias, if it is not constant: no dot product of one column more gives the same "
                  "attention.",
       .hypotheses = "None: the sentence does not say for which biases.",
       .method = "b_t = t log 2 is a bias of keys, of rank 1: n = 5 in rational arithmetic.",
       .proof = "docs/claims/nprf.md, Approximation",
       .conceded = "suggests",
       .expected = Verdict::refuted,
       .mutants = {{"alibi", "b_t = -|t| log 2"}},
       .check = check_approximable_strict},
      {.id = "rpe.approximable/charitable",
       .kind = "measured",
       .source = "NPRF Sec. 3.1, after Prop. 1",
       .statement = kApproximable,
       .reading = "For independent normal biases of deviation 3 every dot product of width 64 has a row that is off "
                  "by half in total variation, n = 256. (Biases and numbers are a threshold of Croquis. Prop. 1, "
                  "which the sentence follows, is about some biases: that is the reading existence.)",
       .hypotheses = "Tokens without scores of their own.",
       .method = "The best M of T in Frobenius norm, and from there a descent on the Kullback-Leibler divergence, for "
                 "M = Q K^T and, with tokens of width 64 as in Prop. 1, for M = X W X^T, X = (Q, K), Q and K of width "
                 "32. The other biases are beside it.",
       .conceded = "suggests",
       .expected = Verdict::refuted,
       .mutants = {{"narrow", "width 2"}},
       .check = check_approximable_charitable},
      {.id = "rpe.approximable/existence",
       .kind = "existence",
       .source = "NPRF Sec. 3.1, after Prop. 1",
       .statement = kApproximable,
       .reading = "For every p there are n and b such that every dot product of width p has a row that is off by "
                  "more than 1/16 in total variation.",
       .hypotheses = "Tokens without scores of their own; n grows exponentially with p.",
       .method =
           "b_t = 12 s_t with fair signs, n = 128, p = 1, 2, 4: the search of the other reading stays above 1/16.",
       .proof = "docs/claims/nprf.md, T17",
       .mutants = {{"linear", "b_t = t / 20, of rank 2"}},
       .check = check_approximable_existence},
      {.id = "rpe.toeplitz/norm-wise",
       .kind = "identity",
       .source = "NPRF Sec. 3.2, Eq. 10-13",
       .statement = kProduct,
       .reading =
           "Every entry of C x, by b phases with transforms of length L, is within (28 log2 L + 3 b + 10) u ||c|| "
           "||x|| of the sum.",
       .hypotheses = "C is a Toeplitz matrix, for images a block Toeplitz one; any n; b_t = -inf included.",
       .method = "The library's operator on columns of V and a spike against the sum by definition: ALiBi, T5, "
                 "random, causal, window (-inf) and image biases, n = 7, 128, 250, T X and T^T X, double and "
                 "float. The bound has the rounding of the sum on top.",
       .proof = "docs/claims/nprf.md, The product",
       .formerly = {"rpe.toeplitz"},
       .bound = true,
       .mutants = {{"offset-turned", "b_{i-j} in the place of b_{j-i}"},
                   {"length-n", "a circulant matrix of length n, whose ends meet"}},
       .check = check_toeplitz},
      {.id = "rpe.toeplitz/entry-wise",
       .kind = "counterexample",
       .source = "NPRF Sec. 3.2, Eq. 10-13",
       .statement = kProduct,
       .reading = "Every entry of C x is within half of itself, in double.",
       .hypotheses = "x >= 0.",
       .method = "b_t = -|t|, x = e_0, n = 128 and 509: entries below u ||c|| are lost.",
       .proof = "docs/claims/nprf.md, The product",
       .conceded = "the paper counts operations and does not speak of rounding",
       .expected = Verdict::refuted,
       .mutants = {{"direct", "the sum by definition"}},
       .check = check_toeplitz_entries},
      {.id = "rpe.alg1/charitable",
       .kind = "identity",
       .source = "NPRF Alg. 1, footnote 1",
       .statement = kAlgorithm,
       .reading = "On rows that are not zero Algorithm 1 is Eq. 10 on rows of unit length; b_t = -inf for t > 0 "
                  "makes it causal.",
       .hypotheses = "No zero rows; row sums that are not zero.",
       .method = "The library's method against Eq. 10 by sums, for all biases, causal, window and image included, "
                 "n = 64, d = 16.",
       .proof = "docs/claims/nprf.md, Algorithm 1",
       .mutants = {{"not-normalised", "rows over p^{1/4} in the place of unit rows"},
                   {"bias-turned", "b_{i-j} in the place of b_{j-i}"}},
       .check = check_algorithm_normalised},
      {.id = "rpe.alg1/strict",
       .kind = "counterexample",
       .source = "NPRF Alg. 1",
       .statement = kAlgorithm,
       .reading = "It gives an output for every input.",
       .hypotheses = "None.",
       .method = "A query of zeros over its length.",
       .proof = "docs/claims/nprf.md, Algorithm 1",
       .expected = Verdict::refuted,
       .mutants = {{"zero-stays-zero", "zero rows stay zero, as in the library"}},
       .check = check_algorithm_zero_rows}};
}

std::vector<Claim> remaining_claims() {
  return {
      {.id = "rpe.sharp/norms",
       .kind = "identity",
       .source = "NPRF Sec. 3.3, sharp distributions",
       .statement = kSharp,
       .reading = "||q||, ||k_j|| <= R give no weight above 1 / (1 + (n-1) e^{-2R^2}); it is attained.",
       .hypotheses = "No bias.",
       .method = "Rows of every input brought to R = 1 and 2, and k_1 = q, the others -q.",
       .proof = "docs/claims/nprf.md, T15",
       .bound = true,
       .mutants = {{"norms-doubled", "norms of 2R"}},
       .ladder = {{"half-exponent", "e^{-R^2}", "k_1 = q, the others -q", false}},
       .check = check_sharp_norms},
      {.id = "rpe.sharp/bias",
       .kind = "identity",
       .source = "NPRF Sec. 3.3, sharp distributions",
       .statement = kSharp,
       .reading = "R = 1 and b_0 = beta, other b = 0, give every token a weight of 1 / (1 + (n-1) e^{2-beta}) at least "
                  "on itself.",
       .hypotheses = "R = 1.",
       .method = "Rows of every input, beta = 0, 5, 20.",
       .proof = "docs/claims/nprf.md, T15",
       .bound = true,
       .mutants = {{"bias-clipped", "b_0 <= 1"}},
       .check = check_sharp_bias},
      {.id = "rpe.gradient/absolute",
       .kind = "measured",
       .source = "NPRF Sec. 3.3, before Alg. 1",
       .statement = kGradient,
       .reading = "From R = 1 to R = 4 the spread of (dQ, dK) over draws of the features grows by a factor of 4.",
       .hypotheses = kGradientTokens,
       .method = kGradientMethod,
       .expected = Verdict::holds,
       .mutants = {{"normalised", "features of rows of unit length"}},
       .check = check_gradient_absolute},
      {.id = "rpe.gradient/relative",
       .kind = "measured",
       .source = "NPRF Sec. 3.3, before Alg. 1",
       .statement = kGradient,
       .reading = "In units of the exact derivatives the spread grows from R = 1 to 2 and from there to 4. (A question "
                  "of our own: the paper says that the variance is large, and nothing of these units or of growth.)",
       .hypotheses = kGradientTokens,
       .method = kGradientMethod,
       .conceded =
           "the paper says that the variance of the gradient is large, and not that it grows, or in which units",
       .expected = Verdict::refuted,
       .mutants = {{"moderate-norms", "R = 1 and 2 alone"}},
       .check = check_gradient_relative},
      {.id = "rpe.gradient/explosion",
       .kind = "measured",
       .source = "NPRF Sec. 3.3, before Alg. 1; Lemma 2",
       .statement = kGradient,
       .reading = "From R = 2 to R = 4 the spread of (dQ, dK) grows at least as the relative standard deviation of an "
                  "estimate of exp(q.k), ((e^(2 R^2) - 1) / m)^(1/2).",
       .hypotheses = kGradientTokens,
       .method = kGradientMethod,
       .conceded = "the paper does not say how large the variance of the gradient is",
       .expected = Verdict::refuted,
       .mutants = {{"same-norm", "R = 2 in the place of R = 4"}},
       .check = check_gradient_explosion},
      {.id = "rpe.gradient/direction",
       .kind = "measured",
       .source = "NPRF Sec. 3.3, before Alg. 1",
       .statement = kGradient,
       .reading =
           "At R = 4 the cosine of (dQ, dK) of a draw with the exact one is below 0.1 in the mean, for 64 and for "
           "256 features: what the variance costs is the direction.",
       .hypotheses = kGradientTokens,
       .method = kGradientMethod,
       .expected = Verdict::holds,
       .mutants = {{"normalised", "features of rows of unit length"}},
       .check = check_gradient_direction},
      {.id = "rpe.gradient/normalised",
       .kind = "measured",
       .source = "NPRF Sec. 3.3, after Alg. 1",
       .statement =
           "A straightforward solution to fix the problem is normalizing queries and keys by their l2 norms, so the "
           "variance of the kernelized attention will be well controlled.",
       .reading =
           "At R = 4 the spread of (dQ, dK) of features of rows of unit length is a tenth of that of PRF at most, "
           "and in units of the exact derivatives what it is at R = 1.",
       .hypotheses = kGradientTokens,
       .method = kGradientMethod,
       .expected = Verdict::holds,
       .mutants = {{"not-normalised", "the features of the rows themselves"}},
       .check = check_gradient_normalised},
      {.id = "rpe.fftcost/strict",
       .kind = "rate",
       .source = "NPRF Sec. 3.2, after Eq. 13",
       .statement =
           "This fact leads to an efficient algorithm to compute kernelized attention with RPE in O(n log n) time.",
       .reading = "At given d and p_v the work is at most a n + b n log2 n.",
       .hypotheses = "d = p = 16.",
       .method = "Work is counted, n = 2^7, 2^7.25, ... 2^17: additions and products of the transforms by FFTW itself, "
                 "in its plans for the next length >= 2n - 1 with small factors, and the rest by what the algorithm "
                 "does. Explicit a and b; and a fit that n log^2 n does not pass.",
       .proof = "docs/claims/nprf.md, n log n",
       .formerly = {"rpe.fftcost"},
       .bound = true,
       .mutants = {{"direct", "blocks of the dense matrix in the place of the transforms"},
                   {"another-log", "n log^2 n in the place of n log n"}},
       .curve = "n",
       .check = check_fft_cost}};
}

}  // namespace

std::vector<Claim> nprf_claims() {
  std::vector<Claim> claims = position_claims();
  for (auto&& more : {feature_claims(), number_claims(), remaining_claims()})
    claims.insert(claims.end(), more.begin(), more.end());
  return claims;
}

}  // namespace croquis::claims
