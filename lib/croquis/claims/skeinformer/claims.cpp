#include <croquis/claims/claim.hpp>
#include <croquis/claims/skeinformer/checks.hpp>

namespace croquis::claims {

std::vector<Claim> skeinformer_claims() {
  return {
      {.id = "ske.unbiased",
       .kind = "mean",
       .source = "Skeinformer Eq. 1",
       .statement = "E[S S^T] = I.",
       .hypotheses = "S is any sketch of the library; importance sampling has positive weights.",
       .method =
           "Every distribution at n = 5 and 8 (a power of two and not), d = 4. The mean of each entry of S S^T, row 0 "
           "included, has an empirical Bernstein interval, which covers whatever the distribution is, since entries "
           "are "
           "bounded. Verified when every interval has I_ij and no half-width is above 0.05 (0.25 with --quick).",
       .mutants = {{"addends-unscaled", "addends of accumulative divided by m in the place of sqrt(m)"},
                   {"shared-sign", "rows 0 and 1 take the same sign"},
                   {"row-0-lost", "index 0 is left out"},
                   {"weights-swapped", "entries sqrt(d p_i) in the place of 1 / sqrt(d p_i)"}},
       .check = check_unbiased},
      {.id = "ske.jl",
       .kind = "probability",
       .source = "Skeinformer Def. 3.2",
       .statement = "With d = O(eps^-2 log(1/delta)) columns a Gaussian sketch has, for every b, "
                    "| ||S^T b||^2 - ||b||^2 | <= eps ||b||^2 with probability 1 - delta.",
       .hypotheses =
           "Columns of S mix all rows: gaussian (the paper), rademacher, srht, srct, sjlt, sparse-stack (their "
           "sources). Distributions that pick single rows are measured, not decided: they miss b = e_0.",
       .method = "d is the constant that the proof for Gaussians gives: 2 exp(-d (eps^2/4 - eps^3/6)) <= delta, at n = "
                 "256. Failures for six b (two spikes, a constant, a cosine, a column of V, a row of B) with "
                 "Clopper-Pearson intervals; the worst b decides. The smallest sufficient d is found by bisection, "
                 "singular values of S^T on the first 8 coordinates are reported beside it.",
       .mutants = {{"unscaled", "S is 1.25 times too large"},
                   {"repeated-columns", "the first d/8 columns again and again"}},
       .check = check_jl},
      {.id = "ske.prop1",
       .kind = "probability",
       .source = "Skeinformer Prop. 1",
       .statement =
           "||BV - B S S^T V||_F^2 <= eta^2 / (beta d) ||B||_F^2 ||V||_F^2 with probability 1 - delta, eta = 1 "
           "+ sqrt((8/beta) log(1/delta)).",
       .hypotheses = "p_i >= beta ||B^(i)|| ||V_i|| / sum, 1 <= d <= n; beta is measured for exact, pilot and uniform "
                     "probabilities, for a pilot in every draw.",
       .method =
           "The estimator of the library (sampled-columns), n = 128, d = 64 and 128, delta = 0.05, on every input "
           "and on two whose B V is large beside ||B||_F ||V||_F. Vacuous where the bound is above ||BV||_F^2, "
           "which the approximation 0 has too.",
       .mutants = {{"weights-swapped", "S S^T with d p_i in the place of 1 / (d p_i)"},
                   {"sum-for-mean", "S S^T is d times too large: columns without 1/sqrt(d)"}},
       .curve = "d",
       .check = check_product},
      {.id = "ske.lemma1.stated",
       .kind = "probability",
       .source = "Skeinformer Lemma 1",
       .statement = "If ||B^(i)||^2 / n >= C for all i, then (2/C^2) log(2n/delta) pilot rows give probabilities with "
                    "beta >= sqrt(1/3) with probability 1 - delta.",
       .hypotheses = "C is a constant; fewer pilot rows than B has.",
       .method = "C = min_i ||B^(i)||^2 / n is measured. Rows of B are probability vectors, hence sum_i ||B^(i)||^2 <= "
                 "n and C <= 1/n: the lemma asks for 2 n^2 log(2n/delta) rows or more. Decided by trials where it asks "
                 "for fewer than n.",
       .expected = Verdict::vacuous,
       .mutants = {{"without-n", "C = max_i ||B^(i)||^2 in the place of min_i ||B^(i)||^2 / n"}},
       .check = check_pilot_as_stated},
      {.id = "ske.lemma1.empirical",
       .kind = "probability",
       .source = "Skeinformer Sec. 4.1",
       .statement = "O(log n) pilot rows are sufficient for beta >= sqrt(1/3) with high probability.",
       .hypotheses = "None: what Lemma 1 would give if its constant did not depend on n.",
       .method = "The constant is taken as 8, before measuring: d_0 = 8 log(2n/delta) rows, delta = 0.05, n = 512; "
                 "failures of beta >= sqrt(1/3) are counted. Quantiles of beta for d_0 = 4 ... 256, the smallest d_0 "
                 "that does, and the (28/3) rho log(2n/delta) of Bernstein's inequality, rho = max_i max_j b_ji^2 / "
                 "(||B^(i)||^2/n), are measured beside it.",
       .expected = Verdict::refuted,
       .mutants = {{"flat-inputs", "queries and keys of norm 1/2 alone, where B is almost uniform"}},
       .curve = "d_0",
       .check = check_pilot_quality},
      {.id = "ske.flops",
       .kind = "identity",
       .source = "Skeinformer Table 5",
       .statement = "Leading terms, multiply-adds counted once: standard 2 n^2 p; BigBird 5 n d p; Performer and "
                    "Informer 3 n d p; Nystromformer, Linformer and Skeinformer 4 n d p.",
       .hypotheses = "p = p_v; BigBird meets 2.5 d keys a query (Sec. 6.2).",
       .method = "Matrix products of a plain implementation are counted, its output is compared with the library's "
                 "within rounding, and the coefficient of n d p is taken from counts at (n, p), (2n, p), (n, 2p), (2n, "
                 "2p). The same of the work that the library declares. Performer is counted with positive features and "
                 "with sin, cos.",
       .expected = Verdict::refuted,
       .mutants = {{"features-in-pairs", "Performer with sin and cos of d/2 directions alone"}},
       .check = check_flops},
      {.id = "ske.flops.corrected",
       .kind = "identity",
       .source = "Skeinformer Table 5",
       .statement = "The same table with Performer 4 n d p for d positive features, 3 n d p for d/2 sin, cos pairs.",
       .hypotheses = "As ske.flops.",
       .method = "As ske.flops: counted = declared = corrected coefficient.",
       .mutants = {{"exact-norms", "Skeinformer's probabilities from all rows of B"},
                   {"additions-too", "two for a multiply-add"}},
       .check = check_flops_corrected},
  };
}

}  // namespace croquis::claims
