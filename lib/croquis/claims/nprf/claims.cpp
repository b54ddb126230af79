#include <croquis/claims/claim.hpp>
#include <croquis/claims/nprf/checks.hpp>

namespace croquis::claims {

std::vector<Claim> nprf_claims() {
  return {
      {.id = "rpe.prop1",
       .kind = "identity",
       .source = "NPRF Prop. 1",
       .statement = "For n > p + 1 there are biases b_{j-i} such that no softmax(X W X^T), W of rank p at most, equals "
                    "softmax of scores with the bias.",
       .hypotheses = "n > p + 1; the Toeplitz matrix T_ij = b_{j-i} has a rank above p + 1 (the paper: full rank).",
       .method = "Equal softmax means T = M + beta 1^T with rank(M) <= p. The distance of T from all such matrices is "
                 "sigma_{p+1}(T (I - 11^T/n)) >= sigma_{p+2}(T); it must be above the rounding of the singular values, "
                 "8 n u ||T||. ALiBi, T5 and random biases, n = p + 2 and 4 p, p = 16 and 64. Shown beside it, outside "
                 "the hypotheses: b_t = t (rank 2) and n = p + 1.",
       .mutants = {{"wide-heads", "heads of width n - 1 in the place of p"},
                   {"query-bias", "b_i in the place of b_{j-i}, the same for all keys"}},
       .check = check_expressiveness},
      {.id = "rpe.toeplitz",
       .kind = "identity",
       .source = "NPRF Sec. 3.2",
       .statement = "The product with C_ij = exp(b_{j-i}) can be done by fast Fourier transform.",
       .hypotheses = "C is a Toeplitz matrix, for images a block Toeplitz one; any n.",
       .method = "The library's operator on columns of V and a spike against the sum by definition: ALiBi, T5, random, "
                 "causal, window (-inf) and image biases, n = 7, 128, 250, 509, T X and T^T X, double and float. The "
                 "bound is norm-wise, (21 log2 L + 10) u ||c||_2 ||x||_2, and the rounding of the sum. What that means "
                 "entry by entry is shown for ALiBi with slope 1.",
       .mutants = {{"offset-turned", "b_{i-j} in the place of b_{j-i}"},
                   {"length-n", "a circulant matrix of length n, whose ends meet"}},
       .check = check_toeplitz},
      {.id = "rpe.lemma2",
       .kind = "variance",
       .source = "NPRF Lemma 2",
       .statement = "Var(phi(x).phi(y)) = (1/m) (e^{||x+y||^2} - 1) e^{2 x.y} for m positive features.",
       .hypotheses = "Directions independent N(0, I).",
       .method =
           "Twice. By Gauss-Hermite quadrature with 64 nodes of the one-dimensional Gaussian w.(x+y)/||x+y||, for "
           "||x+y|| = 1/4 ... 2, to rounding. By the sample variance of 20000 draws of the library's features, "
           "||x+y|| = 1/4, 1/2, 3/4, with its asymptotic interval: the values are means of log-normal ones, and "
           "m = 16 ... 256 is large enough for an excess kurtosis below 0.1. x = -y has variance 0.",
       .mutants = {{"without-1", "e^{||x+y||^2} without the -1"},
                   {"difference", "||x-y|| in the place of ||x+y||"},
                   {"without-m", "without 1/m"}},
       .check = check_feature_variance},
      {.id = "rpe.unbiased",
       .kind = "mean",
       .source = "NPRF Sec. 2.1",
       .statement = "The feature maps are unbiased: E phi(x).phi(y) = e^{x.y}.",
       .hypotheses =
           "w_r ~ N(0, I): projections iid, haar and halton, maps trf, prf, hyperbolic, oprf, saderf. Maps and "
           "projections with w on a sphere (sphere; orthogonal, sorf) do not satisfy it.",
       .method = "Every map with every projection at p = 4, where a wrong distribution shows most, x.y = 0, ||x+y|| = "
                 "||x-y|| = "
                 "1, x+y along 1/sqrt(p), -1/sqrt(p), e_0 and a random direction. Student's interval of the mean must "
                 "contain 1 and be within 0.01 (0.05 with --quick). Cells outside the hypotheses are checked against "
                 "the biased mean that the library documents (0F1 on the sphere; all signs of sorf): refuted when it "
                 "is not that one.",
       .mutants = {{"qr-unsigned", "orthogonal blocks by QR without the sign of R's diagonal"},
                   {"unit-rows", "orthogonal rows of length 1 in the place of chi_p norms"},
                   {"key-height-dropped", "keys without e^{-||y||^2/2}"}},
       .check = check_feature_means},
      {.id = "rpe.thm3",
       .kind = "probability",
       .source = "NPRF Thm. 3",
       .statement = "m = n e^{4 R^2} / (eps^2 delta) positive features give Pr(||A - A^||_1 >= 4 eps) <= delta.",
       .hypotheses = "||q||, ||k_j|| <= R, scores q.k_j without 1/sqrt(p), eps < 1/2 (the last line of the proof; the "
                     "statement hides the 4 in its Theta).",
       .method = "n = 8 keys, delta = 0.1, R = 1/4, 1/2, 3/4 with eps = 0.1 and R = 1 with eps = 1/4; keys uniform on "
                 "the sphere (p = 8), and half of them q, half -q. Failures against delta. The smallest m with 90 % of "
                 "400 draws within 4 eps is found by bisection: how loose the number is.",
       .mutants = {{"sign-turned", "phi(-q) in the place of phi(q)"},
                   {"one-direction", "one direction for all features"}},
       .curve = "R",
       .check = check_feature_number},
      {.id = "rpe.fftcost",
       .kind = "rate",
       .source = "NPRF Sec. 3.2",
       .statement = "Attention by features with a relative position takes O(n log n) time.",
       .hypotheses = "d and p_v fixed.",
       .method = "Work is counted, d = p = 16, n = 2^7, 2^7.25, ... 2^17: additions and products of the transforms by "
                 "FFTW itself, for the plans and lengths of the library, and the rest by what the library does for "
                 "each feature and column. The log-log slope of work / (n log2 n) must be within 0.15 of 0, with its "
                 "interval.",
       .mutants = {{"direct", "blocks of the dense matrix in the place of the transforms"}},
       .curve = "n",
       .check = check_fft_cost},
  };
}

}  // namespace croquis::claims
