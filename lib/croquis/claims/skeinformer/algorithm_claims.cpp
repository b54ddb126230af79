#include <croquis/claims/claim.hpp>
#include <croquis/claims/skeinformer/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kComplexity =
    "With the mild assumption in Lemma 1, we claim that our method can have an O(n log n) time and space complexity.";
const char* const kFigure =
    "Among the candidates, Skeinformer tends to have the smallest spectral norm loss, especially when d is large.";
const char* const kFigureMethod =
    "Mean relative spectral error of eight draws, n = 512, against Informer, Linformer and the mean of the values; "
    "INCONCLUSIVE within the error of these means.";
const char* const kTable =
    "The leading terms of FLOPs in computing attention: Standard 2 n^2 p; Big Bird 5 n d p; Performer 3 n d p; "
    "Nystromformer 4 n d p; Linformer 4 n d p; Informer 3 n d p; Skeinformer 4 n d p.";
const char* const kTableMethod =
    "Matrix products of a plain implementation are counted, its output is compared with the library's within rounding, "
    "and the coefficient of n d p is taken from counts at (n, p), (2n, p), (n, 2p), (2n, 2p); the same of the work "
    "that the library declares.";

}  // namespace

std::vector<Claim> algorithm_claims() {
  return {
      {.id = "ske.complexity/strict",
       .kind = "rate",
       .source = "Skeinformer Sec. 4.5",
       .statement = kComplexity,
       .reading = "Under the assumption of Lemma 1, d = O(log n) columns and rows.",
       .hypotheses = "Lemma 1.",
       .method = "The rows that Lemma 1 asks for with the largest C that there can be, 1/n, at n = 512, 4096, 65536.",
       .proof = "docs/claims/skeinformer.md, Complexity",
       .expected = Verdict::vacuous,
       .mutants = {{"constant-c", "C = 1, which no n > 1 allows"}},
       .check = check_complexity_strict},
      {.id = "ske.complexity/charitable",
       .kind = "identity",
       .source = "Skeinformer Sec. 4.5",
       .statement = kComplexity,
       .reading = "At given d the work is 4 n d p multiply-adds in products, and O(n (d + p)) beside them.",
       .hypotheses = "p = p_v.",
       .method = "Products of a plain implementation of Algorithm 1 are counted, twelve (n, d, p).",
       .proof = "docs/claims/skeinformer.md, Complexity",
       .mutants = {{"exact-norms", "probabilities from all rows of B"}},
       .check = check_complexity},
      {.id = "ske.alg1/identity",
       .kind = "identity",
       .source = "Skeinformer Alg. 1, Eq. 6",
       .statement = "Algorithm 1 (Skeinformer).",
       .reading = "Algorithm 1 computes diag(d^-1)(A_J' V_J' + g v^T) with d of Eq. 6, and the pilot rows exactly.",
       .hypotheses = "1 <= d <= n.",
       .method =
           "A plain implementation, line by line, with the draws of the library's method, row by row, to rounding.",
       .proof = "docs/claims/skeinformer.md, Alg. 1",
       .mutants = {{"simple-normalisation", "softmax over the columns in J' alone"},
                   {"no-reuse", "pilot rows are not put in"}},
       .check = check_algorithm},
      {.id = "ske.alg1/v-mean",
       .kind = "identity",
       .source = "Skeinformer Sec. 5, V-Mean",
       .statement = "V-Mean can also be seen as an ablation for the row normalization step (equivalent to adaptive row "
                    "normalization without any sub-samples).",
       .reading = "With J' empty Algorithm 1 gives 11^T V / n, whatever g > 0 is.",
       .hypotheses = "No pilot rows are put in.",
       .method = "n = 3 in rational arithmetic: the empty geometric mean is not defined, and any g cancels.",
       .proof = "docs/claims/skeinformer.md, Alg. 1",
       .mutants = {{"d-counted", "n - 1 entries in the place of n"}},
       .check = check_v_mean_is_empty},
      {.id = "ske.alg1/unbiased",
       .kind = "counterexample",
       .source = "Skeinformer Alg. 1, line 4; Def. 3.1",
       .statement =
           "Alg. 1: sample d indices j'_1, ..., j'_d without replacement. Def. 3.1: each column S^(j) is 1/sqrt(d "
           "p_i) e_i with probability p_i.",
       .reading = "The indices of Algorithm 1 with the weights 1/(d p_i) of Definition 3.1 estimate B V without bias. "
                  "(The authors do not say so: Algorithm 1 has other weights.)",
       .hypotheses = "None.",
       .method = "n = d = 2, p = (3/4, 1/4), terms 3/4 and -1/4, both orders of the draws in rational arithmetic.",
       .proof = "docs/claims/skeinformer.md, Alg. 1",
       .conceded = "Sec. 4.2: adaptive row normalization makes the proposed method inapplicable to Proposition 1",
       .expected = Verdict::refuted,
       .mutants = {{"with-replacement", "indices drawn with replacement"}},
       .check = check_without_replacement},
      {.id = "ske.fig1/strict",
       .kind = "measured",
       .source = "Skeinformer Sec. 5, Fig. 1",
       .statement = kFigure,
       .reading = "The smallest on every input, at d = 16 and 256.",
       .hypotheses = "n = 512.",
       .method = kFigureMethod,
       .conceded = "tends to",
       .expected = Verdict::refuted,
       .mutants = {{"exact", "exact attention in the place of Skeinformer"}},
       .check = check_figure_strict},
      {.id = "ske.fig1/charitable",
       .kind = "measured",
       .source = "Skeinformer Sec. 5, Fig. 1",
       .statement = kFigure,
       .reading = "The smallest at d = 256 on text in BERT, as in the paper.",
       .hypotheses = "n = 512; with one's own input, on it.",
       .method = kFigureMethod,
       .conceded = "tends to",
       .expected = Verdict::holds,
       .mutants = {{"no-columns", "Linformer in the place of Skeinformer"}},
       .check = check_figure_charitable},
      {.id = "ske.vmean/threshold",
       .kind = "measured",
       .source = "Skeinformer Sec. 4.2",
       .statement = "Toy experiments in Section 5 reveal that even the rank-one pure row normalization benchmark "
                    "11^T V / n, as an ablation, will have acceptable spectral norm loss ||D^-1 A V - 11^T V / n||_2.",
       .reading = "Its relative spectral error is at most 0.1 on text in BERT, as in the paper.",
       .hypotheses = "The first 512 tokens; the embedding layer is trained, as in the paper.",
       .method = "Measured on text in a BERT whose embeddings too are initialised, without a token-type embedding and "
                 "with it, and on synthetic inputs: INCONCLUSIVE there. Inputs of one's own decide.",
       .conceded = "The same sentence: toy experiments in Section 5, which are on text in BERT",
       .expected = Verdict::inconclusive,
       .mutants = {{"equal-values", "all V_i equal"}},
       .check = check_v_mean_acceptable}};
}

std::vector<Claim> flops_claims() {
  return {
      {.id = "ske.flops/rff",
       .kind = "identity",
       .source = "Skeinformer App. A.2, Table 5",
       .statement = kTable,
       .reading = "Performer 3 n d p: d features sin, cos of d/2 directions (Sec. 2 names random Fourier features).",
       .hypotheses = "Multiply-adds counted once; p = p_v.",
       .method = kTableMethod,
       .proof = "docs/claims/skeinformer.md, Table 5",
       .mutants = {{"a-direction-a-feature", "d positive features"}},
       .check = check_flops_pairs},
      {.id = "ske.flops/positive-features",
       .kind = "identity",
       .source = "Skeinformer App. A.2, Table 5",
       .statement = kTable,
       .reading = "Performer 3 n d p with d positive features.",
       .hypotheses = "Multiply-adds counted once; p = p_v.",
       .method = kTableMethod,
       .proof = "docs/claims/skeinformer.md, Table 5",
       .formerly = {"ske.flops"},
       .expected = Verdict::refuted,
       .mutants = {{"features-in-pairs", "sin and cos of d/2 directions"}},
       .check = check_flops_positive},
      {.id = "ske.flops/nystromformer",
       .kind = "identity",
       .source = "Skeinformer App. A.2, Table 5",
       .statement = kTable,
       .reading = "Nystromformer 4 n d p, computed as F (Z (G V)).",
       .hypotheses = "Multiply-adds counted once; p = p_v.",
       .method = kTableMethod,
       .proof = "docs/claims/skeinformer.md, Table 5",
       .mutants = {{"as-written", "(F Z)(G V)"}},
       .check = check_flops_nystromformer},
      {.id = "ske.flops/nystromformer-order",
       .kind = "identity",
       .source = "Skeinformer App. A.2, Table 5",
       .statement = kTable,
       .reading = "Nystromformer 4 n d p in the order of its paper (Sec. 3.2, complexity), (F Z)(G V).",
       .hypotheses = "Multiply-adds counted once; p = p_v.",
       .method = kTableMethod,
       .proof = "docs/claims/skeinformer.md, Table 5",
       .expected = Verdict::refuted,
       .mutants = {{"right-to-left", "F (Z (G V))"}},
       .check = check_flops_nystromformer_order},
      {.id = "ske.flops/others",
       .kind = "identity",
       .source = "Skeinformer App. A.2, Table 5",
       .statement = kTable,
       .reading = "Standard, BigBird (2.5 d keys a query), Linformer, Informer and Skeinformer as in the table.",
       .hypotheses = "Multiply-adds counted once; p = p_v.",
       .method = kTableMethod,
       .proof = "docs/claims/skeinformer.md, Table 5",
       .formerly = {"ske.flops.corrected"},
       .mutants = {{"exact-norms", "Skeinformer's probabilities from all rows of B"},
                   {"additions-too", "two for a multiply-add"}},
       .check = check_flops_others}};
}

}  // namespace croquis::claims
