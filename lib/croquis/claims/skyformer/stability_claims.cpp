#include <croquis/claims/claim.hpp>
#include <croquis/claims/skyformer/checks.hpp>

namespace croquis::claims {

std::vector<Claim> stability_claims() {
  const char* const sentence =
      "The intrinsic normalization allows kernelized attention to have a more reasonable condition number than "
      "self-attention.";
  const char* const meant =
      "Sec. 1: 'We conjecture'. Sec. 4.1 shows it by App. F, whose score is 'somewhat similar to condition number': "
      "the authors' own formalisation, sky.instability";
  const char* const whereof =
      "the paper does not say whether f, 'the embedding after two layers', has dropout, nor whether it is before the "
      "last LayerNorm; its public code does not compute the score";
  const char* const inherits =
      "We speculate that it is because the matrix S^T Abar S [...] inherits the high condition number of the original "
      "attention score matrices A [...]. (Abar = SM(X, X), X = (Q; K), is the lift of A.)";
  const char* const speculated = "'We speculate'";
  const std::string tokens = "Two tokens, p = 3: queries s e_1, s e_2, keys s e_1 + L e_3, s e_2, s = 2.";
  return {
      {.id = "sky.conditioning/against-a",
       .kind = "counterexample",
       .source = "Skyformer Sec. 1, 4.1, 'The intrinsic normalization'",
       .statement = sentence,
       .reading = "cond C <= cond A for all tokens, in the usual sense of a condition number.",
       .hypotheses = "None is stated.",
       .method = tokens + " cond A = coth(s^2 / (2 sqrt 3)) for every L, and cond C grows without bound.",
       .proof = "docs/claims/skyformer.md, conditioning",
       .conceded = meant,
       .formerly = {"sky.conditioning"},
       .expected = Verdict::refuted,
       .mutants = {{"balanced", "L = 0"}},
       .check = check_conditioning_of_a},
      {.id = "sky.conditioning/against-b",
       .kind = "counterexample",
       .source = "Skyformer Sec. 4.1, 'The intrinsic normalization'",
       .statement = sentence,
       .reading = "cond C <= cond B for all tokens, in the usual sense of a condition number.",
       .hypotheses = "None is stated.",
       .method = tokens + " cond B = coth(s^2 / (2 sqrt 3)) for every L, and cond C grows without bound.",
       .proof = "docs/claims/skyformer.md, conditioning",
       .conceded = meant,
       .expected = Verdict::refuted,
       .mutants = {{"balanced", "L = 0"}},
       .check = check_conditioning_of_b},
      {.id = "sky.conditioning/charitable",
       .kind = "measured",
       .source = "Skyformer Sec. 4.1, 'The intrinsic normalization'",
       .statement = sentence,
       .reading = "On the heads of models, C is usually better conditioned.",
       .hypotheses = "None is stated.",
       .method = "Condition numbers, singular values above 1 % of the largest and stable ranks of A, B and C. No "
                 "number is claimed and none is decided: INCONCLUSIVE; a threshold and a sample of heads would. "
                 "REFUTED would mean that log |det A| - log |det C| is not what the norms of tokens say.",
       .conceded = meant,
       .expected = Verdict::inconclusive,
       .mutants = {{"keys-only", "norms of the keys alone in that difference"}},
       .check = check_conditioning_table},
      {.id = "sky.core/interlacing",
       .kind = "identity",
       .source = "Skyformer Sec. 4.5, Remark",
       .statement = inherits,
       .reading = "A fact beside the sentence: cond(S^T X S) <= cond(X) for X = Abar and X = M, as for every positive "
                  "semi-definite matrix. A core cannot be worse than its lift; that it is as bad this does not say.",
       .hypotheses = "Columns e_i of different landmarks.",
       .method = "Smallest and largest eigenvalues of 8 and 32 landmarks' cores against those of the two lifts of 64 "
                 "tokens.",
       .proof = "docs/claims/skyformer.md, cores",
       .conceded = speculated,
       .mutants = {{"weighted", "the core doubled"}},
       .check = check_interlacing},
      {.id = "sky.core/inherits",
       .kind = "measured",
       .source = "Skyformer Sec. 4.5, Remark",
       .statement = inherits,
       .reading = "The median condition number of S^T Abar S is above that of S^T M S, 64 landmarks. The Remark's "
                  "observation, a more severe gradient explosion in training, has no reading.",
       .hypotheses = "The first 512 tokens of every input.",
       .method =
           "Medians over 20 draws, INCONCLUSIVE where their intervals meet, as for tokens of one length, where both "
           "are the same. NOT_APPLICABLE where both are beyond what double tells.",
       .conceded = speculated,
       .expected = Verdict::holds,
       .mutants = {{"exchanged", "exp(2 x.y) in the place of the Gaussian kernel"}},
       .check = check_inherited},
      {.id = "sky.instability/strict",
       .kind = "counterexample",
       .source = "Skyformer Sec. 4.1, App. F and its table",
       .statement = "Kernelized attention has a lower instability score ||f(x, W') - f(x, W)||^2 / ||W' - W||^2 than "
                    "self-attention.",
       .reading = "One layer, a step of V, any Q and K: beyond the words, which are about models of two layers.",
       .hypotheses = "None.",
       .method = "Q = K = 0 in rationals: C V = n mean(V) and B V = mean(V), so that the score is n^2 times as large.",
       .proof = "docs/claims/skyformer.md, instability",
       .conceded = "App. F: a toy experiment; 'As we can observe', in a table of models after 20 steps of training",
       .expected = Verdict::refuted,
       .mutants = {{"averaged", "C / n"}},
       .check = check_instability},
      {.id = "sky.instability/charitable",
       .kind = "measured",
       .source = "Skyformer Sec. 4.1, App. F and its table",
       .statement = "Kernelized attention has a lower instability score ||f(x, W') - f(x, W)||^2 / ||W' - W||^2 than "
                    "self-attention.",
       .reading = "Two layers, the mean over 20 steps of training, as in Table 3 (.62 to .83).",
       .hypotheses = "The paper's tasks and training.",
       .method =
           "The paper's models are not trained here, and how dropout enters f it does not say: INCONCLUSIVE. Small "
           "models are in the other readings and in experiments/skyformer-table3. Shown: the ratio of scores of one "
           "layer for a step of V at given Q and K, over random "
           "steps ||C||_F^2 / ||B||_F^2. REFUTED would mean that the library's outputs do not have that step.",
       .conceded = "App. F: refers to Liu et al. for the argument",
       .expected = Verdict::inconclusive,
       .mutants = {{"transposed", "C^T in the place of C"}},
       .check = check_instability_table},
      {.id = "sky.instability/after-norm",
       .kind = "measured",
       .source = "Skyformer Sec. 4.1, App. F and its table",
       .statement = "Kernelized attention has a lower instability score ||f(x, W') - f(x, W)||^2 / ||W' - W||^2 than "
                    "self-attention.",
       .reading =
           "f has no dropout and is what the tokens have after the last LayerNorm, which is what the authors' public "
           "model returns; for at least half of the models the mean over 20 steps of the ratio of scores is below 1.",
       .hypotheses =
           "Two layers of width 32 with one head (two_layers.hpp), 20 steps of Adam at 1e-4 with dropout .1 on random "
           "sequences; n = 64 and 128; 64 models, drawn with their sequences and masks.",
       .method =
           "How many of the models have a ratio that is not below 1, with the Clopper-Pearson interval of their share: "
           "REFUTED where it is above a half, INCONCLUSIVE where it has a half in it. The norm hides how large C V is. "
           "Student's interval of the mean ratio is shown and decides nothing.",
       .conceded = whereof,
       .expected = Verdict::inconclusive,
       .mutants = {{"averaged", "C / n"}},
       .check = check_instability_after_norm},
      {.id = "sky.instability/before-norm",
       .kind = "measured",
       .source = "Skyformer Sec. 4.1, App. F and its table",
       .statement = "Kernelized attention has a lower instability score ||f(x, W') - f(x, W)||^2 / ||W' - W||^2 than "
                    "self-attention.",
       .reading =
           "f has no dropout and is what the tokens have before the last LayerNorm, which the authors' public model "
           "does not return; for at least half of the models the mean over 20 steps of the ratio of scores is below 1.",
       .hypotheses =
           "Two layers of width 32 with one head (two_layers.hpp), 20 steps of Adam at 1e-4 with dropout .1 on random "
           "sequences; n = 64 and 128; 64 models, drawn with their sequences and masks.",
       .method = "The same, where nothing hides how large C V is.",
       .conceded = whereof,
       .expected = Verdict::refuted,
       .mutants = {{"averaged", "C / n"}},
       .check = check_instability_before_norm},
      {.id = "sky.instability/fresh-masks",
       .kind = "measured",
       .source = "Skyformer Sec. 4.1, App. F and its table",
       .statement = "Kernelized attention has a lower instability score ||f(x, W') - f(x, W)||^2 / ||W' - W||^2 than "
                    "self-attention.",
       .reading =
           "f has dropout with masks of its own at each evaluation, after the last LayerNorm; for at least half of the "
           "models the mean over 20 steps of the ratio of scores is below 1.",
       .hypotheses =
           "Two layers of width 32 with one head (two_layers.hpp), 20 steps of Adam at 1e-4 with dropout .1 on random "
           "sequences; n = 64 and 128; 64 models, drawn with their sequences and masks.",
       .method = "The same. VACUOUS where the same test finds the ratio below 1 also with the same weights in both "
                 "evaluations: what is then measured is dropout.",
       .conceded = whereof,
       .expected = Verdict::vacuous,
       .mutants = {{"averaged", "C / n"}},
       .check = check_instability_fresh_masks},
      {.id = "sky.fig1/charitable",
       .kind = "measured",
       .source = "Skyformer Sec. 4.5, Fig. 1",
       .statement = "For Skyformer the approximation is significantly better with more features, while for other "
                    "methods the gain is not obvious.",
       .reading =
           "On initialised BERT, the gain of skyformer-softmax is 1.5 times that of nystromformer, performer and "
           "informer, the methods of the figure; gain = min(error(16), error of the mean of the values) / "
           "error(256).",
       .hypotheses = "512 tokens of text. NOT_APPLICABLE to fewer than 512: the figure has n >= 2d.",
       .method =
           "Mean spectral errors of the output over 8 draws; INCONCLUSIVE within their error. The factor was "
           "fixed beforehand; the cap by the mean of the values was put into the gain after a first run. Performer "
           "starts far above that mean; gains without the cap are shown beside, and do not decide.",
       .conceded = "Limitations: for long sequences",
       .expected = Verdict::holds,
       .mutants = {{"another", "informer in the place of skyformer-softmax"}},
       .check = check_gain},
      {.id = "sky.fig1/strict",
       .kind = "measured",
       .source = "Skyformer Sec. 4.5, Fig. 1",
       .statement = "For Skyformer the approximation is significantly better with more features, while for other "
                    "methods the gain is not obvious.",
       .reading = "The same on every input.",
       .hypotheses = "512 tokens.",
       .method = "The same gains, of every input.",
       .conceded = "Limitations: for long sequences; the figure is of BERT alone",
       .expected = Verdict::refuted,
       .mutants = {{"thousandth", "a thousandth of the factor"}},
       .check = check_gain_everywhere}};
}

}  // namespace croquis::claims
