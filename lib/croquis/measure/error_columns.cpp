// The columns of the rows of `croquis error`.
#include <croquis/measure/error_row.hpp>
#include <croquis/measure/head_columns.hpp>

namespace croquis {

const Columns<ErrorRow>& error_columns() {
  static const Columns<ErrorRow> columns = {
      {{"input", Role::key,
        "the kind of [input](inputs.md); the name of the file if there is one, and the layer and head if there are "
        "several"},
       &ErrorRow::input},
      {{"method", Role::curve, "the method"}, &ErrorRow::method},
      {{"preset", Role::curve,
        "the preset: `paper`, or `code` for what the authors' program does. Other options follow it "
        "(`paper;ridge=0.1`)"},
       &ErrorRow::preset},
      {{"target", Role::subject,
        "the exact output that the method approximates, and against which its errors are measured: `softmax` (BV), "
        "`kernelized` (CV) or `normalized` (softmax of the products of queries and keys of unit length, which are not "
        "divided by √p); `softmax-rpe` and `normalized-rpe` add the bias of `--bias` to the scores. With `--causal` "
        "all of them are causal"},
       &ErrorRow::target},
      {{"n", Role::subject, "number of tokens, without padding; of keys, where queries are others"}, &ErrorRow::n},
      {{"p", Role::subject, "width of queries and keys"}, &ErrorRow::p},
      {{"p_v", Role::subject, "width of values"}, &ErrorRow::p_v},
      {{"features", Role::axis, "number of features d: landmarks, sampled columns, rows of a sketch", "d"},
       &ErrorRow::features},
      {{"trial", Role::draw, "the number of the draw, from 1. A method that is not random has one row for each d"},
       &ErrorRow::trial},
      {{"seed", Role::note, "`--seed`"}, &ErrorRow::seed},
      {{"precision", Role::note,
        "the precision in which the method computes. Errors are always computed in double, from the same numbers that "
        "the method was given"},
       &ErrorRow::precision},
      {{"spectral_abs", Role::metric, "‖O - O~‖", "||O - O~||"}, &ErrorRow::spectral_abs},
      {{"spectral_rel", Role::metric,
        "‖O - O~‖ / ‖O‖; `NA` where O is 0 or, for the targets `softmax` and `kernelized`, rounding alone, as "
        "for equal keys and values whose mean is 0",
        "||O - O~|| / ||O||"},
       &ErrorRow::spectral_rel},
      {{"frobenius_abs", Role::metric, "‖O - O~‖_F", "||O - O~||_F"}, &ErrorRow::frobenius_abs},
      {{"frobenius_rel", Role::metric, "‖O - O~‖_F / ‖O‖_F", "||O - O~||_F / ||O||_F"}, &ErrorRow::frobenius_rel},
      {{"max_abs", Role::metric, "largest entry of \\|O - O~\\|"}, &ErrorRow::max_abs},
      {{"row_sum_dev", Role::number,
        "for softmax methods, the maximum over rows of \\|row sum of B~ - 1\\|. It is 0, up to rounding, for a "
        "method that divides each row by the sum of what it has computed of that row (skeinformer-simple-norm, "
        "bigbird, longformer, random features). What such a method leaves out shows in `min_denominator` "
        "instead. A sum that is not a number fails the row: `not finite: row_sum_dev = nan` in `status`"},
       &ErrorRow::row_sum_dev},
      {{"min_denominator", Role::number,
        "for methods that divide by estimated row sums, the smallest estimate as a multiple of the true row sum. A "
        "value of 1 is exact; at or below 0 the normalisation of a row is lost. `NA` where it overflows, as where "
        "the estimates of all rows are e^710 times too large. An estimate that is not a number fails the row"},
       &ErrorRow::min_denominator},
      {{"seconds", Role::number,
        "the time of one call and of the preparation that the trials share, on one thread while other trials run. It "
        "is an indication, not a benchmark",
        "", "s"},
       &ErrorRow::seconds},
      {{"flops", Role::number,
        "the leading terms of the operation count. A multiply-add counts as two and an exponential as one; [exact "
        "attention](#croquis-cost-time-memory-and-flops) is counted in the same way"},
       &ErrorRow::flops},
      {{"status", Role::note,
        "`ok`, or the reason why the method failed. A failure never ends the run. `not finite: ...` names a number "
        "that overflowed or is NaN; the other metrics of such a row are missing"},
       &ErrorRow::status},
      {sequence_column(), &ErrorRow::sequence},
      {layer_column(), &ErrorRow::layer},
      {head_column(), &ErrorRow::head},
      {{"n_q", Role::subject,
        "number of queries. It is `n`, except for cross-attention and decoding, whose queries are others"},
       &ErrorRow::n_q},
      {{"rows", Role::number, "R, the number of exact rows from which the errors are estimated", "", "", "--rows"},
       &ErrorRow::rows},
      {{"spectral_rel_lo", Role::number,
        "the lower end of the 95 % interval of `spectral_rel`, for the draw of this row of the results", "", "",
        "--rows"},
       &ErrorRow::spectral_rel_lo},
      {{"spectral_rel_hi", Role::number, "the upper end", "", "", "--rows"}, &ErrorRow::spectral_rel_hi},
      {{"frobenius_rel_lo", Role::number, "the lower end of the 95 % interval of `frobenius_rel`", "", "", "--rows"},
       &ErrorRow::frobenius_rel_lo},
      {{"frobenius_rel_hi", Role::number, "the upper end", "", "", "--rows"}, &ErrorRow::frobenius_rel_hi},
      {{"scores_spectral_abs", Role::metric,
        "‖B - B~‖ of the score matrices (for other targets of their score matrices, such as C). `NA` if the "
        "method has no B~, or if its product or a norm overflows",
        "||B - B~||", "", "--scores"},
       &ErrorRow::scores_spectral_abs},
      {{"scores_spectral_rel", Role::metric, "‖B - B~‖ / ‖B‖", "||B - B~|| / ||B||", "", "--scores"},
       &ErrorRow::scores_spectral_rel},
      {{"row_rel_q50", Role::metric,
        "the median over the rows of ‖o_i - o~_i‖ / ‖o_i‖, the relative error of single rows of the output (of those "
        "chosen by `--rows`). Rows with o_i = 0 are left out, here and in the columns below",
        "median of ||o - o~|| / ||o||", "", "--row-errors"},
       &ErrorRow::row_rel_q50},
      {{"row_rel_q90", Role::metric, "the 90 % quantile of the same", "90 % quantile of ||o - o~|| / ||o||", "",
        "--row-errors"},
       &ErrorRow::row_rel_q90},
      {{"row_rel_q99", Role::metric, "the 99 % quantile of the same", "99 % quantile of ||o - o~|| / ||o||", "",
        "--row-errors"},
       &ErrorRow::row_rel_q99},
      {{"row_rel_max", Role::metric, "the largest", "max ||o - o~|| / ||o||", "", "--row-errors"},
       &ErrorRow::row_rel_max},
      {{"row_cosine_mean", Role::metric, "the mean over the rows of the cosine of the angle between o_i and o~_i", "",
        "", "--row-errors"},
       &ErrorRow::row_cosine_mean},
      {{"row_cosine_q10", Role::metric, "the 10 % quantile of these cosines", "", "", "--row-errors"},
       &ErrorRow::row_cosine_q10},
      {{"row_kl_mean", Role::metric,
        "the mean over the rows of the Kullback-Leibler divergence of B~'s row from B's, Σ_j b~_ij log(b~_ij / b_ij). "
        "`NA` if the method has no B~, if B~ has a negative entry or a row that does not sum to 1, if some b_ij "
        "underflows where b~_ij does not, with `--rows`, and above n = 4096",
        "mean KL(b~ || b)", "", "--row-errors"},
       &ErrorRow::row_kl_mean},
      {{"row_kl_q90", Role::metric, "the 90 % quantile of these divergences", "90 % quantile of KL(b~ || b)", "",
        "--row-errors"},
       &ErrorRow::row_kl_q90},
      {{"tail_mass", Role::metric,
        "for methods that are renormalised masks, such as longformer and streaming: the mean over the rows of "
        "τ_i, the share of B's row that is outside the mask. Then o_i - o~_i = τ_i (μ_tail - μ_head), where "
        "μ_tail and μ_head are the means of the values outside and inside the mask, weighted by b_ij. A method "
        "counts as a mask if its scores are those of one up to 1e-4. `NA` for other methods, and where "
        "`row_kl_mean` is not measured",
        "mean share of attention outside the mask", "", "--row-errors"},
       &ErrorRow::tail_mass},
      {{"tail_shift", Role::metric,
        "the mean of ‖μ_tail - μ_head‖ / ‖o_i‖ over the rows with τ_i > 0. The relative error of a "
        "row is this times τ_i",
        "mean ||mu_tail - mu_head|| / ||o||", "", "--row-errors"},
       &ErrorRow::tail_shift},
      {{"alpha", Role::number,
        "for hyperattention, α = n_k max_j ‖B e_j‖², on which its theorem depends together with κ. B e_j "
        "is column j of B, so α is n_q / n_k if all keys have the same weight, and n_q n_k if one key has all "
        "of it. With `--causal` it is the largest α of the rectangles that are estimated, each with softmax "
        "over its own keys. `NA` for other methods, where nothing is estimated, with `--rows`, and above n = 4096",
        "", "", "--row-errors"},
       &ErrorRow::alpha},
      {{"kappa", Role::number,
        "for hyperattention, κ, the largest row sum of A outside the blocks of this draw over the smallest one; "
        "with `--causal` the largest κ of the rectangles. `NA` also where it overflows",
        "", "", "--row-errors"},
       &ErrorRow::kappa},
      {{"bound_abs", Role::metric,
        "an upper bound of ‖O - O~‖ for this method, d and input in exact arithmetic, by a proved theorem of "
        "the [ledger](claims.md); of two the smaller one. There are bounds for `skyformer` with `inverse=pinv` "
        "and `ridge=0`, `linformer-unreduced`, and `sampled-columns` with `p=exact` or `p=uniform`, of full "
        "attention with n_q = n_k up to n = 2048; else `NA`",
        "guaranteed ||O - O~||", "", "--bounds"},
       &ErrorRow::bound_abs},
      {{"bound_probability", Role::number,
        "the probability, over the draws of the method, that the bound holds: 0.9, or 1 where it holds for every "
        "draw",
        "", "", "--bounds"},
       &ErrorRow::bound_probability},
      {{"bound_source", Role::note,
        "the theorem: its page in docs/claims and its name there. `skyformer lift`, ‖M‖ ‖V‖ / 2, holds "
        "for any landmarks, and is given where the theorem T9 has no smaller bound for this d. T9 has the "
        "constant 6.52 where `d_theorem` of `croquis dimension` has the paper's 56/3",
        "", "", "--bounds"},
       &ErrorRow::bound_source},
      {{"bound_trivial", Role::note,
        "outputs that need no method and are within the bound too: `output 0`, `V-mean` and, for `skyformer`, "
        "`constant scores`, the multiple of V-mean that is closest to O in the Frobenius norm. The theorem then says "
        "nothing about the method",
        "", "", "--bounds"},
       &ErrorRow::bound_trivial}};
  return columns;
}

}  // namespace croquis
