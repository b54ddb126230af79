#include <croquis/claims/claim.hpp>
#include <croquis/claims/nprf/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kUnbiased =
    "Followed-up works further propose two (randomized) feature maps with which the kernels are unbiased estimators of "
    "the dot-then-exponentiate function [...] where each vector w_i is independently sampled from N(0, I).";
const char* const kTheorem3 =
    "Then for any eps > 0, if feature map dimension m = Theta(n exp(4R^2) / (eps^2 delta)), we have Pr(||A - A^||_1 >= "
    "eps) <= delta.";
const char* const kTheorem3Method =
    "Two and four keys q and -q, R = 0.66, 3/4 and 1; two keys at 45 degrees of q, R = 1, 3/2, 2, where at most 20000 "
    "features are drawn. t = 0.4, delta = 0.1. Two keys near q, t -> 0, by the central limit theorem. Vacuous where "
    "uniform attention is within t.";
const char* const kBounded = "||q||, ||k_j|| <= R; scores q.k_j without 1/sqrt(p); independent directions.";
const char* const kOtherRows =
    "the sentence is of trf and prf with w_i ~ N(0, I); of the others Sec. 4.5 trains with the sphere map alone, and "
    "does not call it unbiased";
const char* const kNecessity =
    "Our following theorem precisely characterizes that one may need an exponential number of feature map dimensions "
    "to obtain a well-approximated PRF kernelized attention.";

}  // namespace

std::vector<Claim> feature_claims() {
  return {
      {.id = "rpe.lemma2/strict",
       .kind = "variance",
       .source = "NPRF Lemma 2",
       .statement =
           "For phi_PRF defined in Equation 5, we have Var(phi(x) phi(y)^T) = (1/m) (exp(||x+y||^2) - 1) exp(x "
           "y^T)^2.",
       .reading = "As printed.",
       .hypotheses = "Directions independent N(0, I).",
       .method = "Gauss-Hermite quadrature with 64 nodes of the one-dimensional Gaussian w.(x+y)/||x+y||, ||x+y|| = "
                 "1/4 ... 2, and of two directions. The generator's estimates are log-normal: 20000 draws by the "
                 "Dvoretzky-Kiefer-Wolfowitz inequality. x = -y has variance 0.",
       .proof = "docs/claims/nprf.md, Lemma 2",
       .formerly = {"rpe.lemma2"},
       .mutants = {{"without-1", "e^{||x+y||^2} without the -1"},
                   {"difference", "||x-y|| in the place of ||x+y||"},
                   {"without-m", "without 1/m"}},
       .check = check_feature_variance},
      {.id = "rpe.unbiased/gaussian-rows",
       .kind = "mean",
       .source = "NPRF Sec. 2.1, Eq. 4-5",
       .statement = kUnbiased,
       .reading = "E phi(x).phi(y) = e^{x.y} for trf, prf, hyperbolic, oprf and saderf with rows N(0, I), chi-norm "
                  "orthogonal ones included.",
       .hypotheses = "Every row has the distribution N(0, I); rows may depend on each other.",
       .method =
           "iid, haar and halton rows along four directions against N(0, 1), p = 4, by the Dvoretzky-Kiefer-Wolfowitz "
           "inequality; the library's features, one by one, against the formula that the proof is about, to rounding.",
       .proof = "docs/claims/nprf.md, Unbiased features",
       .formerly = {"rpe.unbiased"},
       .mutants = {{"qr-unsigned", "orthogonal blocks by QR without the sign of R's diagonal"},
                   {"unit-rows", "orthogonal rows of length 1 in the place of chi_p norms"},
                   {"key-height-dropped", "keys without e^{-||y||^2/2}"}},
       .check = check_gaussian_rows},
      {.id = "rpe.unbiased/other-rows",
       .kind = "counterexample",
       .source = "NPRF Sec. 2.1, Eq. 4-5",
       .statement = kUnbiased,
       .reading = "The same for the sphere map and for orthogonal (length sqrt(p)) and sorf rows.",
       .hypotheses = "None.",
       .method = "Exact means at p = 4, ||x+y|| = ||x-y|| = 1, along four directions of x + y (trf: x - y): 0F1 on "
                 "the sphere, all 4096 sign patterns of sorf.",
       .proof = "docs/claims/nprf.md, Unbiased features",
       .conceded = kOtherRows,
       .expected = Verdict::refuted,
       .mutants = {{"chi-norms", "chi_p norms, with which the rows are normal"}},
       .check = check_other_rows},
      {.id = "rpe.unbiased/qr-unsigned",
       .kind = "counterexample",
       .source = "NPRF Sec. 2.1, Eq. 4-5",
       .statement = kUnbiased,
       .reading = "The same for orthogonal blocks with chi norms by QR without the signs of R's diagonal, as several "
                  "implementations draw them.",
       .hypotheses = "None.",
       .method = "Rows along four directions against N(0, 1), p = 4.",
       .conceded = kOtherRows,
       .expected = Verdict::refuted,
       .mutants = {{"signed", "columns multiplied by the signs"}},
       .check = check_unsigned_rows}};
}

std::vector<Claim> number_claims() {
  const std::vector<Mutant> mutants = {{"sign-turned", "phi(-q) in the place of phi(q)"},
                                       {"one-direction", "one direction for all features"}};
  const Rung without_delta = {"without-delta", "no 1/delta", "not told apart at delta = 0.1; false for delta -> 0: T20",
                              true},
             half_exponent = {"half-exponent", "e^{2R^2} for e^{4R^2}", "two keys near q, t -> 0: T20", false};
  return {
      {.id = "rpe.thm3/strict",
       .kind = "probability",
       .source = "NPRF Thm. 3, App. B.2",
       .statement = kTheorem3,
       .reading = "With the constant 16, for every eps > 0.",
       .hypotheses = kBounded,
       .method = kTheorem3Method,
       .proof = "docs/claims/nprf.md, Theorem 3",
       .bound = true,
       .mutants = mutants,
       .ladder = {{"without-n", "no n", "proved: T14", true},
                  {"without-exponential", "no e^{4R^2}", "two keys at 45 degrees, R = 2", false},
                  {"half-constant", "8 in the place of 16", "proved: T14c", true},
                  half_exponent,
                  without_delta},
       .curve = "R",
       .check = check_feature_number_strict},
      {.id = "rpe.thm3/charitable",
       .kind = "probability",
       .source = "NPRF Thm. 3, App. B.2",
       .statement = kTheorem3,
       .reading = "m >= n e^{4R^2} / (eps^2 delta) gives Pr(||A - A^||_1 >= 4 eps) <= delta, eps < 1/2.",
       .hypotheses = kBounded,
       .method = kTheorem3Method,
       .proof = "docs/claims/nprf.md, Theorem 3",
       .formerly = {"rpe.thm3"},
       .bound = true,
       .mutants = mutants,
       .ladder = {{"without-n", "no n", "proved: T14", true},
                  {"without-exponential", "no e^{4R^2}", "two keys at 45 degrees, R = 2", false},
                  {"half-constant", "half of it", "proved: T14c", true},
                  half_exponent,
                  without_delta},
       .curve = "R",
       .check = check_feature_number},
      {.id = "rpe.thm3/corrected",
       .kind = "probability",
       .source = "NPRF Thm. 3, App. B.2",
       .statement = kTheorem3,
       .reading =
           "m >= (e^{4R^2} - 1) / (eps^2 delta) gives Pr(||A - A^||_1 >= 4 eps) <= delta for every n, eps < 1/2.",
       .hypotheses = kBounded,
       .method = kTheorem3Method,
       .proof = "docs/claims/nprf.md, T14",
       .bound = true,
       .mutants = mutants,
       .ladder = {{"without-exponential", "no e^{4R^2} - 1", "two keys at 45 degrees, R = 2", false},
                  {"half-constant", "half of it", "proved for eps <= 0.457: T14c", true},
                  half_exponent,
                  without_delta},
       .curve = "R",
       .check = check_feature_number_corrected},
      {.id = "rpe.thm3/sharper",
       .kind = "probability",
       .source = "NPRF Thm. 3, App. B.2",
       .statement = kTheorem3,
       .reading = "m >= (1 + t)^2 (e^{4R^2} - 1) / (t^2 delta) gives Pr(||A - A^||_1 >= t) <= delta for every n "
                  "and every t > 0.",
       .hypotheses = kBounded,
       .method = kTheorem3Method,
       .proof = "docs/claims/nprf.md, T14c",
       .bound = true,
       .mutants = mutants,
       .ladder = {{"without-exponential", "no e^{4R^2} - 1", "two keys at 45 degrees, R = 2", false},
                  {"half-constant", "half of it", "not told apart", true},
                  half_exponent,
                  without_delta},
       .curve = "R",
       .check = check_feature_number_sharper},
      {.id = "rpe.thm3/trf",
       .kind = "probability",
       .source = "NPRF Thm. 3, App. B.2",
       .statement = kTheorem3,
       .reading = "For sin and cos: m >= (1 + t)^2 e^{4R^2} (1 - e^{-4R^2})^2 / (2 t^2 delta) directions.",
       .hypotheses = kBounded,
       .method = kTheorem3Method,
       .proof = "docs/claims/nprf.md, T14c",
       .bound = true,
       .mutants = mutants,
       .ladder = {{"without-exponential", "no e^{4R^2}", "two keys at 45 degrees of -q, R = 2", false},
                  {"half-constant", "half of it", "not told apart", true},
                  {"half-exponent", "e^{2R^2}", "two keys at 45 degrees of -q, R = 1.5", false},
                  without_delta},
       .curve = "R",
       .check = check_feature_number_trf},
      {.id = "rpe.thm3.necessity/every-input",
       .kind = "counterexample",
       .source = "NPRF Sec. 3.3, before Thm. 3",
       .statement = kNecessity,
       .reading = "Every query and keys of norm R need m >= c e^{4R^2}: at R = 2 one feature, or 16, are not "
                  "enough for t = 0.4, delta = 0.1. (This goes beyond the paper's words.)",
       .hypotheses = "None.",
       .method = "Equal keys, where one feature is exact; half of the keys q, half -q.",
       .proof = "docs/claims/nprf.md, Necessity",
       .conceded = "one may need",
       .expected = Verdict::refuted,
       .mutants = {{"two-keys", "two keys at 45 degrees of q"}},
       .check = check_every_input},
      {.id = "rpe.thm3.necessity/some-input",
       .kind = "probability",
       .source = "NPRF Sec. 3.3, before Thm. 3",
       .statement = kNecessity,
       .reading = "For every R >= 1 there is an input on which e^{2R^2} features fail for t = 0.4 in more than a "
                  "tenth of the draws.",
       .hypotheses = "None.",
       .method = "Two keys at 45 degrees of q, R = 1, 3/2, 2.",
       .expected = Verdict::holds,
       .mutants = {{"equal-keys", "both keys at q"}},
       .check = check_some_input},
      {.id = "rpe.thm3.necessity/exponent",
       .kind = "rate",
       .source = "NPRF Sec. 3.3, before Thm. 3",
       .statement = kNecessity,
       .reading =
           "At fixed eps and delta some inputs need m >= c e^{4R^2}, one c > 0 for all R. (As eps -> 0 at each R "
           "they do: that is the reading small-error.)",
       .hypotheses = "None.",
       .method = "T16 gives for every input a sufficient m with log m = (2 + o(1)) R^2: at R = 10 ... 80 log c "
                 "falls without end.",
       .proof = "docs/claims/nprf.md, T16",
       .expected = Verdict::refuted,
       .mutants = {{"variance-alone", "the number of T14c, whose exponent is 4"}},
       .check = check_exponent},
      {.id = "rpe.thm3.necessity/lower-exponent",
       .kind = "probability",
       .source = "NPRF Sec. 3.3, before Thm. 3",
       .statement = kNecessity,
       .reading = "For every t < 2, delta < 1 and c in (1, 2) and every large R some input with norms at most R has "
                  "||A - A^||_1 > t with e^{c R^2} features with probability above delta.",
       .hypotheses = "None.",
       .method = "Proof; one key q and others that are 0, c = 3/2, R = 1, 3/2, 2: t = 0.4 is exceeded in more than a "
                 "tenth of the draws.",
       .proof = "docs/claims/nprf.md, T19",
       .mutants = {{"equal-keys", "all keys at q"}},
       .check = check_lower_exponent},
      {.id = "rpe.thm3.necessity/small-error",
       .kind = "probability",
       .source = "NPRF Sec. 3.3, before Thm. 3",
       .statement = kNecessity,
       .reading = "As eps -> 0 at a given R some input needs m >= c e^{4R^2} / eps^2, one c > 0 for all R >= 0.6: with "
                  "0.1 e^{4R^2} / eps^2 features ||A - A^||_1 >= eps in more than four tenths of the draws.",
       .hypotheses = "None.",
       .method =
           "Proof; its two keys, q and one with half of that weight, 0.02 for eps, R = 3/4 and 1: the error is above "
           "that in more than a tenth of the draws.",
       .proof = "docs/claims/nprf.md, T20",
       .mutants = {{"equal-keys", "all keys at q"}},
       .check = check_small_error},
      {.id = "rpe.fig1b/threshold",
       .kind = "measured",
       .source = "NPRF Sec. 3.3, Fig. 1(b)",
       .statement = "When R is large, the approximation error is huge and can only be slightly improved as the "
                    "feature map dimension grows from 4 to 1024. But when R = 1, the approximation error is small "
                    "and drops significantly when we increase the feature map dimension.",
       .reading = "R = 1: a factor 4 at least; R = 4: 1 at least at m = 1024, and a factor 2 at most.",
       .hypotheses = "One query and 1024 keys uniform on the sphere of radius R, p = 64.",
       .method = "Means over 64 draws of points and features. Uniform attention is beside them: 0.10 at R = 1, and "
                 "at R = 2 better than 1024 features.",
       .expected = Verdict::holds,
       .mutants = {{"normalised", "norms of 4 brought back to 1"}},
       .check = check_figure}};
}

}  // namespace croquis::claims
