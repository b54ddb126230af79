#include <croquis/claims/claim.hpp>
#include <croquis/claims/skyformer/checks.hpp>

namespace croquis::claims {
namespace {

const char* const kLift =
    "M is the lift, the Gaussian kernel matrix of the 2n points (Q; K) / p^(1/4), C its upper right block, M~ = M S "
    "(S^T M S)^+ S^T M, C~ the block of M~.";

std::vector<Claim> lift_claims() {
  return {
      {.id = "sky.lemma1",
       .kind = "identity",
       .source = "Skyformer Lemma 1",
       .statement =
           "SM(Q, Q)_ij = exp(q_i.q_j / sqrt(p)) is positive semi-definite: SM = D_Q^(1/2) kappa D_Q^(1/2), kappa "
           "the Gaussian kernel of Q / p^(1/4), D_Q = diag(exp(||q_i||^2 / sqrt(p))).",
       .hypotheses = "None: any points.",
       .method =
           "Entries of D_Q^(-1/2) SM D_Q^(-1/2) against the library's kernel matrix, and the smallest eigenvalues of "
           "SM and of kappa, for queries and keys of each input, for points that would overflow SM, and for equal "
           "points; within rounding, c (p + n) u (1 + max ||q||^2 / sqrt(p)) times the norm.",
       .mutants = {{"sign", "exp(-q_i.q_j / sqrt(p))"}, {"root", "D_Q in place of its root"}},

       .check = check_lemma1},
      {.id = "sky.lift",
       .kind = "identity",
       .source = "Skyformer Sec. 4.2",
       .statement = std::string(kLift) + " Then ||C - C~|| <= ||M - M~||.",
       .hypotheses = "None: any landmarks, any draw.",
       .method =
           "C by exact attention and C~ by the method skyformer, M~ by the library's blocks with the same uniform "
           "landmarks, 1, n / 4 and 2n of them; no draw may fail by more than the rounding of the products.",
       .mutants = {{"other-block", "C~ taken from the block of queries with queries"},
                   {"core-scale", "the factor 1/d of Definition 1 in the core of C~ alone"}},

       .check = check_lift},
      {.id = "sky.thm2.order",
       .kind = "probability",
       .source = "Skyformer Theorem 2",
       .statement = std::string(kLift) + " Then M~ <= M in the Loewner order, for every draw.",
       .hypotheses = "M positive semi-definite (Lemma 1), (.)^+ the exact pseudo-inverse.",
       .method =
           "Smallest eigenvalue of M - M~, by the library's blocks and pseudo-inverse with 1, n / 4 and 2n uniform "
           "landmarks, duplicates among them. No draw may be below zero by more than its rounding bound, worked out "
           "from the computed weights Z = W^+ F^T: (I - S Z)^T M (I - S Z) >= 0 for any Z.",
       .mutants = {{"core-scale", "the factor 1/d of Definition 1 in the core alone"}},

       .check = check_order},
      {.id = "sky.thm2",
       .kind = "probability",
       .source = "Skyformer Theorem 2",
       .statement =
           std::string(kLift) +
           " With d >= (56/3) (d_stat / beta) log(4n / delta) uniform landmarks, M <= M~ + lambda I and ||C~ - "
           "C|| <= lambda = eps ||C|| with probability at least 1 - delta.",
       .hypotheses =
           "eps < 1, delta < 1/2, lambda < ||M||; l_i = (M (M + lambda I)^-1)_ii, d_stat = sum l_i, beta = min(1, "
           "min_i d_stat / (2n l_i)). The paper leaves the constant open; 56/3 and log(4n / delta) are what its "
           "proof gives (Lemma C.2 for 2n points with s <= 2 d_stat).",
       .method =
           "delta = 0.1. A trial draws landmarks one by one until ||M - M~|| <= lambda, which ||C - C~|| <= ||M - M~|| "
           "(sky.lift) makes both parts; it fails when that takes more than d. The 0.9-quantile of the trials over "
           "(d_stat / beta) log(4n / delta) is the smallest constant that suffices, with the interval of its order "
           "statistics. One case runs the library's blocks and pseudo-inverse at d itself. VACUOUS where d >= 2n.",
       .mutants = {{"bare-dimension", "d = d_stat landmarks"}, {"queries-only", "landmarks drawn among the queries"}},
       .curve = "n",
       .check = check_theorem2}};
}

std::vector<Claim> lemma3_claims() {
  const std::string matrix =
      "N = D_M^(-1/2) (W + gamma I) D_M^(-1/2), W = S^T M S the core, D_M = diag((W + gamma I) 1), gamma > 0.";
  const std::string draws =
      " For uniform landmarks, duplicates among them, with and without the factor 1 / sqrt(d) of S, gamma = 0.1 and "
      "0.001.";
  return {{.id = "sky.lemma3.stated",
           .kind = "identity",
           .source = "Skyformer Lemma 3",
           .statement = matrix + " All eigenvalues of N are in (0, 1).",
           .hypotheses = "gamma > 0.",
           .method =
               "1 - (largest eigenvalue), and ||N v - v|| / ||v|| for v = D_M^(1/2) 1: refuted when both vanish up to "
               "rounding, for then N v = v, and 1 is an eigenvalue." +
               draws,
           .expected = Verdict::refuted,
           .mutants = {{"ridge-twice", "D_M with 2 gamma, for which the statement is true"}},

           .check = check_lemma3_stated},
          {.id = "sky.lemma3.corrected",
           .kind = "identity",
           .source = "Skyformer Lemma 3, corrected",
           .statement =
               matrix + " The eigenvalues of N are in [gamma / max D_M, 1]; so ||I - N|| <= 1 - gamma / max D_M < 1.",
           .hypotheses =
               "gamma > 0, and no entry of W is negative: true for a kernel with positive entries and columns of S "
               "without signs.",
           .method = "Largest eigenvalue <= 1 (rows 'upper') and smallest >= gamma / max D_M (rows 'lower'), up to the "
                     "rounding of "
                     "N and of the eigenvalue solver." +
                     draws,
           .mutants = {{"signs", "columns of S with random signs, as in accumulative sketches"},
                       {"sums-without-ridge", "D_M = diag(W 1)"}},

           .check = check_lemma3_corrected}};
}

std::vector<Claim> concentration_claims() {
  return {
      {.id = "sky.lemmaC1",
       .kind = "probability",
       .source = "Skyformer Lemma C.1",
       .statement =
           "Pr(||sum X_k|| >= t) <= 2n exp(-(t^2 / 2) / (sigma^2 + R t / 3)) for independent symmetric n x n X_k.",
       .hypotheses = "E X_k = 0, ||X_k|| <= R, sigma^2 >= ||sum E X_k^2||: exact for the sums that are drawn.",
       .method =
           "Failures of ||sum X_k|| < t at the t where the bound is 0.5, 0.1 and 0.01: diagonal signs (n = 1 is the "
           "scalar inequality, n = 64 needs the factor n), a symmetric matrix of signs, and the sampled columns of "
           "Lemma C.2. Slack = t over the quantile. VACUOUS at t = sigma, where the bound is above 1.",
       .mutants = {{"no-dimension", "the bound without the factor 2n"},
                   {"one-variance", "sigma^2 of one term in place of the sum"}},
       .curve = "tail",
       .check = check_bernstein},
      {.id = "sky.lemmaC2",
       .kind = "probability",
       .source = "Skyformer Lemma C.2",
       .statement =
           "With d >= (28/3) (s / beta) log(2n / delta) uniformly drawn columns, ||H Pi Pi^T H^T - H H^T|| <= ||H||^2 "
           "/ 2 with probability at least 1 - delta, Pi = sqrt(n) S.",
       .hypotheses = "s = ||H||_F^2 / ||H||^2, beta = min(1, min_i ||H||_F^2 / (n ||h_i||^2)), delta < 1/2.",
       .method =
           "delta = 0.1. Failures at that d for H = Psi^T of inputs (lambda = 0.1 ||M||), the identity, one column "
           "with "
           "nine tenths of the weight, and half of the columns zero. The smallest constant in place of 28/3 by "
           "bisection: the interval is from the largest that is shown to fail to the smallest that is shown to do.",
       .mutants = {{"no-scale", "Pi = S, without sqrt(n)"}, {"coherence", "beta = 1 for every H"}},

       .check = check_multiplication}};
}

std::vector<Claim> measured_claims() {
  return {
      {.id = "sky.dstat-growth",
       .kind = "rate",
       .source = "Skyformer Sec. 4.3",
       .statement = "d_stat = O~(1) for the Gaussian kernel, lambda = eps ||C||.",
       .hypotheses = "Tokens from a fixed distribution; the kernel's eigenvalues decay exponentially.",
       .method =
           "Slope of log d_stat over log n, n = 64 ... 512 (16 ... 128 when quick), six samples each, eps = 0.1, with "
           "its interval. Threshold, stated beforehand: 0.25, the slope of log(n) at n = e^4; proportional growth has "
           "slope 1. Gaussian tokens of width 2, 16 and 64 and norm 1, 4 and 8, and random tokens of the text: REFUTED "
           "where the slope is above the threshold on this range.",
       .expected = Verdict::refuted,
       .mutants = {{"wide-only", "tokens of norm 1 alone"}, {"trivial-norm", "lambda = eps n in place of eps ||C||"}},

       .check = check_statistical_dimension},
      {.id = "sky.conditioning",
       .kind = "identity",
       .source = "Skyformer Sec. 1, 4.1",
       .statement =
           "The kernelized scores C have a more reasonable condition number than the scores A and B of softmax "
           "attention.",
       .hypotheses = "None is stated.",
       .method =
           "Singular values of A, B and C: condition numbers, how many are above 1 % of the largest, stable ranks. "
           "REFUTED where cond C > min(cond A, cond B) beyond rounding; NOT_APPLICABLE where rounding hides it. "
           "unseen-norm:L are two tokens whose keys differ by L in a direction that no query sees.",
       .expected = Verdict::refuted,
       .mutants = {{"balanced", "only keys without the unseen direction"}},

       .check = check_conditioning}};
}

}  // namespace

std::vector<Claim> skyformer_claims() {
  std::vector<Claim> claims = lift_claims();
  for (auto&& part : {lemma3_claims(), concentration_claims(), measured_claims()}) {
    claims.insert(claims.end(), part.begin(), part.end());
  }
  return claims;
}

}  // namespace croquis::claims
