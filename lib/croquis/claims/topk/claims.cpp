#include <croquis/claims/papers.hpp>
#include <croquis/claims/topk/checks.hpp>

namespace croquis::claims {

std::vector<Claim> topk_claims() {
  const char* const masks =
      "Masks of the library (top-keys and mra-2 without a rest, streaming, vertical-slash), d = 32, n = 256, on every "
      "input; their B~ against B from the logits, row by row, within the rounding bound of an entry.";
  return {{.id = "topk.tail-mass/any-mask",
           .kind = "identity",
           .source = "Tzachristas et al. 2025 (arXiv 2512.07647), abstract",
           .statement = "The total-variation distance coincides with the discarded softmax tail mass and satisfies "
                        "TV(P, P^) = 1 - exp(-KL(P^ || P)).",
           .reading = "For every row b of B and every set of keys with a positive share of it, not only the k largest: "
                      "of the renormalised row b~, TV(b, b~) = tau = 1 - exp(-KL(b~ || b)), tau the share of the "
                      "other keys.",
           .hypotheses = "The set of keys has a positive share.",
           .method = masks,
           .proof = "docs/claims/topk.md, T1",
           .mutants = {{"not-renormalised", "the part of B in the mask in the place of B~"},
                       {"pinsker", "sqrt(KL / 2) in the place of 1 - exp(-KL)"}},
           .check = check_tail_mass},
          {.id = "topk.output/any-mask",
           .kind = "identity",
           .source = "Tzachristas et al. 2025 (arXiv 2512.07647), abstract",
           .statement = "The output error factorizes as ||Attn(q, K, V) - Attn_k(q, K, V)|| = tau ||mu_tail - "
                        "mu_head|| with tau = TV(P, P^).",
           .reading = "For every set of keys with a positive share: o - o~ = tau (mu_tail - mu_head) as vectors, the "
                      "means of the values outside and inside the mask, weighted by b; o~ = mu_head.",
           .hypotheses = "The set of keys has a positive share.",
           .method = masks,
           .proof = "docs/claims/topk.md, T1",
           .mutants = {{"plain-means", "the plain mean of the values outside the mask"},
                       {"head-mass", "1 - tau in the place of tau"}},
           .check = check_tail_output}};
}

}  // namespace croquis::claims
