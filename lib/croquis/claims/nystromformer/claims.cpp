#include <croquis/claims/claim.hpp>
#include <croquis/claims/nystromformer/checks.hpp>

namespace croquis::claims {

std::vector<Claim> nystromformer_claims() {
  return {
      {.id = "nys.lemma1",
       .kind = "identity",
       .source = "Nystromformer Lemma 1",
       .statement =
           "The iteration Z <- Z (13 I - A Z (15 I - A Z (7 I - A Z))) / 4 converges to A^+ in third order, and "
           "Z_0 = A^T / (||A||_1 ||A||_inf) has ||I - A Z_0|| < 1 for non-singular A.",
       .hypotheses = "A is square; for the start, sigma_min(A) is above its rounding error m u ||A||.",
       .method = "A is the softmax core of 8 and 32 segment means of every input. I - A Z_1 of the library is compared "
                 "with (3 E^3 + E^4)/4, E = I - A Z_0, within the rounding of the products; ||I - A Z_0|| with 1 - "
                 "sigma_min^2 / (||A||_1 ||A||_inf); the growth of modes x = 1e-2, 1e-4, 1e-8 of A Z with (13 - 15 x + "
                 "7 x^2 - x^3)/4.",
       .mutants = {{"coefficient-14", "14 I in the place of 15 I"},
                   {"start-unscaled", "Z_0 without the norm that keeps ||I - A Z_0|| below 1"}},
       .check = check_third_order},
      {.id = "nys.lemma2",
       .kind = "identity",
       .source = "Nystromformer Lemma 2",
       .statement = "F A^+ G = B when the landmarks are all the points.",
       .hypotheses = "Every query and every key is a landmark: d = n; the pseudo-inverse is exact.",
       .method = "||B - F A^+ G|| for d = n segment means (which are the points) with the pseudo-inverse by singular "
                 "values, against 8 n u ||B||_F ||B||. Smaller d = n/16 ... n/2 are measured beside it; the lemma does "
                 "not speak of them.",
       .mutants = {{"six-iterations", "six steps of the iteration in the place of A^+"},
                   {"one-landmark-less", "n - 1 segment means in the place of the n points"}},
       .curve = "d",
       .check = check_all_landmarks},
      {.id = "nys.six-iterations",
       .kind = "identity",
       .source = "Nystromformer Sec. 3.2",
       .statement = "About 6 iterations are needed to achieve a good approximation of the pseudo-inverse.",
       .hypotheses = "A is the softmax core of d segment means, as in the paper's experiments (d = 32 and 64).",
       .method =
           "||A^+ - Z_6|| / ||A^+|| on every input; good is 0.1 or less, stated before measuring. The error of the "
           "output with Z_6 and with A^+ is measured beside it.",
       .expected = Verdict::refuted,
       .mutants = {{"well-conditioned", "the core I + A/d, whose condition number is at most 2"}},
       .check = check_six_iterations},
  };
}

}  // namespace croquis::claims
