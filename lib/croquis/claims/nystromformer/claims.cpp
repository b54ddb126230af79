#include <croquis/claims/claim.hpp>
#include <croquis/claims/nystromformer/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kLemma1 =
    "The sequence Z <- Z (13 I - A Z (15 I - A Z (7 I - A Z))) / 4 converges to A^+ in the third order, with an "
    "initial approximation Z_0 satisfying ||A A^+ - A Z_0|| < 1.";
const char* const kStart = "Z_0 = A^T / (||A||_1 ||A||_inf) ensures that ||I - A Z_0|| < 1.";
const char* const kSix =
    "For all our experiments, we need to run about 6 iterations in order to achieve a good approximation of the "
    "pseudoinverse.";
const char* const kLemma2 =
    "The approximate self-attention converges to true self-attention if there exist landmark points q~_p and k~_t with "
    "q~_p = q_i and k~_t = k_j, for all i = 1, ..., n, j = 1, ..., n.";
const char* const kCores =
    "A is the softmax core of 32 and 64 segment means of the inputs given. The paper's models, trained with the "
    "approximation, are not among them.";
const char* const kOurExperiments = "The same sentence: for all our experiments";

std::vector<Claim> inverse_claims() {
  return {
      {.id = "nys.lemma1/strict",
       .kind = "counterexample",
       .source = "Nystromformer Lemma 1",
       .statement = kLemma1,
       .reading = "For every square A and every Z_0 with ||A A^+ - A Z_0|| < 1, Z_t -> A^+.",
       .hypotheses = "The condition of the lemma alone.",
       .method = "The softmax matrix A = 1/2 (1, 1; 1, 1), Z_0 = I in rational arithmetic: A A^+ = A Z_0, and Z_t maps "
                 "(1, -1), which A maps to 0, to (13/4)^t of it.",
       .proof = "docs/claims/nystromformer.md, Lemma 1",
       .expected = Verdict::refuted,
       .mutants = {{"start-in-range", "Z_0 = A^T, of which no mode lies in the null space of A"}},
       .check = check_lemma1_strict},
      {.id = "nys.lemma1/charitable",
       .kind = "identity",
       .source = "Nystromformer Lemma 1",
       .statement = kLemma1,
       .reading =
           "For non-singular A and ||I - A Z_0|| < 1, and for any A with Z_0 = alpha A^T, 0 < alpha ||A||^2 <= 1, "
           "Z_t -> A^+ with ||E_{t+1}|| <= ||E_t||^3 (3 + ||E_t||) / 4, E = A A^+ - A Z: order 3, constant 3/4.",
       .hypotheses = "A is non-singular, or Z_0 is in the range of A^T.",
       .method =
           "Random matrices near I, step by step until the inverse is reached to rounding; one step on cores of 8 "
           "and 32 segment means against (3 E^3 + E^4)/4; the growth of modes x = 1e-2, 1e-4, 1e-8 of A Z with "
           "(13 - 15 x + 7 x^2 - x^3)/4.",
       .proof = "docs/claims/nystromformer.md, T7",
       .formerly = {"nys.lemma1"},
       .bound = true,
       .mutants = {{"coefficient-14", "14 I in the place of 15 I"}},
       .ladder = {{"half-constant", "order 3 with the constant 3/8", "normals about I", false}},
       .check = check_third_order},
      {.id = "nys.start/strict",
       .kind = "counterexample",
       .source = "Nystromformer, Moore-Penrose inverse computation",
       .statement = kStart,
       .reading = "||I - A Z_0|| < 1 for every softmax matrix A.",
       .hypotheses = "None: the sentence comes before the one on non-singular A.",
       .method = "A = 1/2 (1, 1; 1, 1) in rational arithmetic: I - A Z_0 maps (1, -1) to itself.",
       .proof = "docs/claims/nystromformer.md, the start",
       .conceded =
           "After Lemma 1: the next sentences are about non-singular A, and about experiments without that constraint",
       .expected = Verdict::refuted,
       .mutants = {{"non-singular", "A = 1/3 (2, 1; 1, 2)"}},
       .check = check_start_strict},
      {.id = "nys.start/charitable",
       .kind = "identity",
       .source = "Nystromformer, Moore-Penrose inverse computation",
       .statement = kStart,
       .reading = "||I - A Z_0|| = 1 - sigma_min^2 / (||A||_1 ||A||_inf), below 1 for non-singular A.",
       .hypotheses = "sigma_min(A) is above its rounding error m u ||A||.",
       .method = "Cores of 8 and 32 segment means of every input.",
       .proof = "docs/claims/nystromformer.md, the start",
       .bound = true,
       .mutants = {{"start-unscaled", "Z_0 without the norm that keeps ||I - A Z_0|| below 1"}},
       .check = check_start_charitable},
      {.id = "nys.rounding/strict",
       .kind = "measured",
       .source = "Nystromformer Lemma 1",
       .statement = kLemma1,
       .reading = "In floating point, too, the iteration reaches A^+ and stays there.",
       .hypotheses = "The lemma does not speak of rounding; its proof is in exact arithmetic. A of 16 rows and rank 5, "
                     "singular values 1 ... 1/16; Z_0 of the paper; double.",
       .method = "The relative error after 30 steps. Rounding puts a part of Z into the null space of A, where a step "
                 "multiplies it by 13/4.",
       .expected = Verdict::refuted,
       .mutants = {{"non-singular", "A + I"}},
       .check = check_rounding}};
}

std::vector<Claim> six_claims() {
  return {
      {.id = "nys.six-iterations/norm",
       .kind = "measured",
       .source = "Nystromformer, Moore-Penrose inverse computation",
       .statement = kSix,
       .reading = "||A^+ - Z_6|| <= 0.1 ||A^+||.",
       .hypotheses = kCores,
       .method = "On the cores of every input. It takes sigma_min^2 >= 0.002 ||A||_1 ||A||_inf.",
       .conceded = kOurExperiments,
       .formerly = {"nys.six-iterations"},
       .expected = Verdict::refuted,
       .mutants = {{"well-conditioned", "the core I + A/d, whose condition number is at most 2"}},
       .check = check_six_iterations},
      {.id = "nys.six-iterations/penrose-1",
       .kind = "identity",
       .source = "Nystromformer, Moore-Penrose inverse computation",
       .statement = kSix,
       .reading =
           "||A Z_6 A - A|| <= 0.012532 sqrt(||A||_1 ||A||_inf) for every A: Penrose's first condition holds to a "
           "relative error of 0.01254 m^{1/4} for row-stochastic A.",
       .hypotheses = "Z_0 of the paper.",
       .method = "The cores of every input, and diag(1, sqrt(4.3e-4)), where the bound is attained.",
       .proof = "docs/claims/nystromformer.md, T6",
       .conceded = kOurExperiments,
       .bound = true,
       .mutants = {{"five-steps", "five steps, whose constant is 0.0226"}},
       .ladder = {{"half-constant", "the constant 0.0063", "A = diag(1, sqrt(4.3e-4))", false}},
       .check = check_penrose_first},
      {.id = "nys.six-iterations/penrose-2",
       .kind = "measured",
       .source = "Nystromformer, Moore-Penrose inverse computation",
       .statement = kSix,
       .reading = "||Z_6 A Z_6 - Z_6|| <= 0.1 ||Z_6|| for every A.",
       .hypotheses = "None.",
       .method =
           "The softmax matrix A = 1/2 (1 + s, 1 - s; 1 - s, 1 + s), s = 1e-3, with the singular values 1 and s: x_0 "
           "= 1e-6 and 1 - x_6 = 0.999 for the small mode, which is the larger part of Z_6.",
       .proof = "docs/claims/nystromformer.md, T6",
       .conceded = kOurExperiments,
       .expected = Verdict::refuted,
       .mutants = {{"well-conditioned", "s = 1/2"}},
       .check = check_penrose_second},
      {.id = "nys.six-iterations/penrose-3-4",
       .kind = "identity",
       .source = "Nystromformer, Moore-Penrose inverse computation",
       .statement = kSix,
       .reading = "A Z_6 and Z_6 A are symmetric.",
       .hypotheses = kCores,
       .method = "Both products against their transposes.",
       .proof = "docs/claims/nystromformer.md, T6",
       .conceded = kOurExperiments,
       .mutants = {{"transposed", "Z_6 transposed"}},
       .check = check_penrose_symmetry},
      {.id = "nys.six-iterations/output",
       .kind = "measured",
       .source = "Nystromformer, Moore-Penrose inverse computation",
       .statement = kSix,
       .reading = "The error of the output with Z_6 is at most 1.01 times that with A^+.",
       .hypotheses = kCores,
       .method = "The relative spectral error of the output with Z_6 and with A^+, on every input.",
       .conceded = kOurExperiments,
       .expected = Verdict::holds,
       .mutants = {{"half", "at most half of the error with A^+"}},
       .check = check_six_output}};
}

std::vector<Claim> cost_claims() {
  const char* const cost =
      "The overall time complexity is thus O(n + m^3 + n m^2 + m n d_v + m^3 + n m d_v). In terms of memory, storing "
      "the landmarks has an O(m d_q) cost and storing four Nystrom approximation matrices has a O(n m + m^2 + m n + n "
      "d_v) cost.";
  return {
      {.id = "nys.cost/strict",
       .kind = "counterexample",
       .source = "Nystromformer, Complexity analysis",
       .statement = cost,
       .reading = "One constant for all n, m, d_q and d_v serves the sum of the overall complexity.",
       .hypotheses =
           "None: queries and values have widths of their own. The sentence before it, on the products of the "
           "factors alone, has no need of d_q and holds.",
       .method = "F~ and A~ take n m d_q and m^2 d_q multiply-adds, which the sum does not have: counted at d_v = 1, "
                 "m = 1 and d_q = 16, 256, 4096, where count / sum grows with d_q.",
       .proof = "docs/claims/nystromformer.md, Cost",
       .expected = Verdict::refuted,
       .mutants = {{"with-scores", "n m d_q and m^2 d_q in the sum"}},
       .check = check_cost_strict},
      {.id = "nys.cost/charitable",
       .kind = "identity",
       .source = "Nystromformer, Complexity analysis",
       .statement = cost,
       .reading =
           "The multiply-adds are n m^2 + 4 n m p + m^2 p + 24 m^3 (six steps) at d_q = d_v = p, so at most 25/3 "
           "times the printed sum with m <= n.",
       .hypotheses = "d_q = d_v.",
       .method =
           "Products of a plain implementation in the paper's order are counted at several n, m and p. The term "
           "24 m^3 is the largest part for n < 6 m^2 / p and n < 24 m (p < 24 m), which is compared there too; for "
           "m > 4 p the second comes first.",
       .proof = "docs/claims/nystromformer.md, Cost",
       .mutants = {{"five-steps", "five steps of the iteration in the formula"},
                   {"without-24m", "24 m^3 as the largest part for n < 6 m^2 / p, whatever n m^2 is"}},
       .check = check_cost},
      {.id = "nys.cost/memory",
       .kind = "identity",
       .source = "Nystromformer, Complexity analysis",
       .statement = cost,
       .reading = "Landmarks, F~, A~, its inverse, G~ and the output are 2 m p + 2 n m + 2 m^2 + n p numbers.",
       .hypotheses = "d_q = d_v = p.",
       .method = "The factors are made, and their numbers counted.",
       .proof = "docs/claims/nystromformer.md, Cost",
       .mutants = {{"stored-scores", "the n x n matrix too"}},
       .check = check_cost_memory}};
}

std::vector<Claim> landmark_claims() {
  return {
      {.id = "nys.lemma2/all-points",
       .kind = "identity",
       .source = "Nystromformer Lemma 2",
       .statement = kLemma2,
       .reading = "F A^+ G = B when the landmarks are the points, each once.",
       .hypotheses = "Every query and every key is a landmark: d = n; the pseudo-inverse is exact.",
       .method =
           "||B - F A^+ G|| for d = n segment means (which are the points) with the pseudo-inverse by singular "
           "values, against 8 n u ||B||_F ||B|| + 2 h ||B||, where h = u (2 n + 4 (p + 2) (1 + L)) is what rounding "
           "does to a weight, L the product of the longest query and key over sqrt(p). Smaller d = n/16 ... n/2 "
           "are measured beside it; the lemma does not speak of them.",
       .proof = "docs/claims/nystromformer.md, T8",
       .formerly = {"nys.lemma2"},
       .mutants = {{"six-iterations", "six steps of the iteration in the place of A^+"},
                   {"one-landmark-less", "n - 1 segment means in the place of the n points"}},
       .curve = "d",
       .check = check_all_landmarks},
      {.id = "nys.lemma2/superset-nonsingular",
       .kind = "identity",
       .source = "Nystromformer Lemma 2",
       .statement = kLemma2,
       .reading = "F A^+ G = B when all points are among the landmarks and A is non-singular.",
       .hypotheses = "A is non-singular.",
       .method = "Three points and a fourth landmark, and three points, in rational arithmetic.",
       .proof = "docs/claims/nystromformer.md, T8",
       .mutants = {{"a-point-less", "a point is no landmark"}},
       .check = check_superset_charitable},
      {.id = "nys.lemma2/strict",
       .kind = "counterexample",
       .source = "Nystromformer Lemma 2",
       .statement = kLemma2,
       .reading = "F A^+ G = B whenever every point is among the landmarks.",
       .hypotheses = "The condition of the lemma alone.",
       .method = "Kernel values (9,1,1; 1,9,9; 10,10,10), the first point twice among the landmarks, in rational "
                 "arithmetic.",
       .proof = "docs/claims/nystromformer.md, T8",
       .expected = Verdict::refuted,
       .mutants = {{"each-once", "every point once"}},
       .check = check_superset_strict},
      {.id = "nys.landmarks/threshold",
       .kind = "measured",
       .source = "Nystromformer, Landmarks selection",
       .statement = "We find that using 64 landmarks is often sufficient to ensure a good approximation, although this "
                    "depends on the application.",
       .reading =
           "On half of the inputs at least, the relative spectral error of the output with 64 segment means is at "
           "most 0.1, and at most half of that of the mean of the values. So an input where the mean of the values is "
           "nearly as good an approximation counts as one where they are not sufficient. An input where both errors "
           "are rounding alone does not count.",
       .hypotheses = "The first 512 tokens of every input.",
       .method = "The error against both thresholds, which were fixed before the run, and the share of inputs on which "
                 "it is below both.",
       .conceded = "The same sentence: this depends on the application",
       .expected = Verdict::refuted,
       .mutants = {{"all-points", "exact attention, d = n"}},
       .check = check_landmarks_sufficient}};
}

}  // namespace

std::vector<Claim> nystromformer_claims() {
  std::vector<Claim> claims = inverse_claims();
  for (auto&& more : {six_claims(), landmark_claims(), cost_claims()})
    claims.insert(claims.end(), more.begin(), more.end());
  return claims;
}

}  // namespace croquis::claims
