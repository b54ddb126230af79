#include <croquis/claims/claim.hpp>
#include <croquis/claims/linformer/checks.hpp>

namespace croquis::claims {

std::vector<Claim> linformer_claims() {
  return {
      {.id = "lin.jl-norm",
       .kind = "probability",
       .source = "Linformer Lemma 1 (11)",
       .statement = "Pr(||Rx|| <= (1 + eps) ||x||) > 1 - exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = "R is k x n with independent N(0, 1/k) entries; 0 < eps < 1.",
       .method = "The distribution of ||Rx||^2 / ||x||^2 is chi^2_k / k: the exact failure is compared with the bound "
                 "for k = 1 ... "
                 "1024, eps = 0.02 ... 0.98. Then failures are counted for a row of B and a column of V, k = 32.",
       .mutants = {{"no-scale", "entries N(0, 1)"}},
       .check = check_jl_norm},
      {.id = "lin.jl-product.stated",
       .kind = "probability",
       .source = "Linformer Lemma 1 (12)",
       .statement = "Pr(|x R^T R y^T - x y^T| <= eps |x y^T|) > 1 - 2 exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = "R is k x n with independent N(0, 1/k) entries; any x, y.",
       .method =
           "Failures at eps = 0.5, k = 128 (allowed: 0.037) for a row of B with a column of V, with the same column "
           "less its mean, with a vector at cosine 0.01, and with itself.",
       .expected = Verdict::refuted,
       .mutants = {{"norms", "eps ||x|| ||y|| in the place of eps |x y^T|: the corrected lemma"},
                   {"harmless", "y = x alone"}},
       .check = check_jl_product_stated},
      {.id = "lin.jl-product.corrected",
       .kind = "probability",
       .source = "Linformer Lemma 1 (12), corrected",
       .statement = "Pr(|x R^T R y^T - x y^T| <= eps ||x|| ||y||) >= 1 - 2 exp(-(eps^2 - eps^3) k / 4).",
       .hypotheses = "As stated; docs/claims/linformer.md has the proof.",
       .method = "The same pairs with the corrected right-hand side.",
       .mutants = {{"no-scale", "entries N(0, 1)"}},
       .check = check_jl_product_corrected},
      {.id = "lin.thm1.stated",
       .kind = "probability",
       .source = "Linformer Thm. 1, App. A",
       .statement =
           "With k = 5 log n / (eps^2 - eps^3), ||P R^T R w - P w|| < eps ||P w|| fails with probability at most "
           "2 n exp(-(eps^2 - eps^3) k / 4) = 2 n^(-1/4).",
       .hypotheses = "R is k x n with independent N(0, 1/k) entries, k <= n; any w.",
       .method = "Failures at eps = 0.5, n = 512, of w = a column of V, the same less its mean, and the right singular "
                 "vector of P with the least singular value.",
       .expected = Verdict::refuted,
       .mutants = {{"norms", "eps ||P||_F ||w|| in the place of eps ||P w||: the corrected theorem"}},
       .check = check_low_rank_stated},
      {.id = "lin.thm1.corrected",
       .kind = "probability",
       .source = "Linformer Thm. 1, corrected",
       .statement =
           "With k = 5 log n / (eps^2 - eps^3), ||P R^T R w - P w|| <= eps ||P||_F ||w|| fails with probability at "
           "most 2 n^(-1/4).",
       .hypotheses = "As stated; P is any matrix.",
       .method = "The same failures with the corrected right-hand side; for a column of V also the fewest features at "
                 "which 200 draws fail no more often than that, by bisection.",
       .mutants = {{"no-scale", "entries N(0, 1)"}},
       .check = check_low_rank_corrected},
      {.id = "lin.thm2.construction",
       .kind = "probability",
       .source = "Linformer Thm. 2, App. B",
       .statement =
           "E = delta R, F = e^-delta R give ||softmax(w E^T) F V - softmax(w) V|| <= eps ||softmax(w)|| ||V|| for "
           "every row w of Q K^T / sqrt(p), but with small probability.",
       .hypotheses = "R is k x n with independent N(0, 1/k) entries; delta is small.",
       .method =
           "Failures at eps = 0.5, k = 64 (allowed per row and column: 0.27), the worst row, delta = 1e-6, 1/n and "
           "1, for the input's V and for V = 1, which exact attention gives back.",
       .expected = Verdict::refuted,
       .mutants = {{"no-compression", "E = F = I"}},
       .check = check_construction},
      {.id = "lin.thm2.existence",
       .kind = "existence",
       .source = "Linformer Thm. 2",
       .statement =
           "Some E, F in R^{k x n} with k = min{Theta(9 p log p / eps^2), 5 Theta(log n / eps^2)} achieve that "
           "error.",
       .hypotheses = "None but the sizes.",
       .method =
           "The best E, F found for k = 4, 16, 64: F V by least squares, E K from segment means by gradient steps. The "
           "error is that of E and F themselves. A statement with free constants is reported, not decided: "
           "INCONCLUSIVE; REFUTED would mean that the E, F found do not do what the search says.",
       .expected = Verdict::inconclusive,
       .mutants = {{"exchanged", "E and F exchanged"}},
       .curve = "d",
       .check = check_existence},
  };
}

}  // namespace croquis::claims
