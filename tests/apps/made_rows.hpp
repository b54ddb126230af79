// Results made by hand: the columns of what commands write, and rows of them.
#pragma once

#include <fmt/format.h>

#include <string>

inline const std::string kErrorHeader =
    "input,method,preset,target,n,p,p_v,features,trial,seed,precision,spectral_abs,spectral_rel,frobenius_abs,"
    "frobenius_rel,max_abs,row_sum_dev,min_denominator,seconds,flops,status\n";
inline const std::string kCostHeader =
    "input,method,preset,n,p,p_v,features,repeat,seed,precision,threads,seconds,peak_bytes,flops,status\n";
inline const std::string kLossHeader =
    "model,layers,method,preset,features,trial,seed,sequence,tokens,counted,loss,loss_exact,accuracy,accuracy_exact,"
    "agreement,kl,hidden_rel,seconds,status,flops,flops_exact,precision\n";
inline const std::string kSpectrumHeader =
    "input,matrix,n,p,method,index,singular_value,residual,cumulative,cumulative_lo,cumulative_hi,frobenius,"
    "log_scale,seed,status,layer,head,n_q\n";
/// Of versions whose choices did not say their target.
inline const std::string kOldChoiceHeader =
    "input,layer,head,eps,delta,confidence,metric,method,preset,features,cost,exact_cost,cost_ratio,error_median,"
    "error_q95,failure_upper,draws,sequences,status,needed,open,evaluations,cost_unit,seed,precision\n";

/// A row, or a header, with more fields at its end.
inline std::string with_fields(std::string row, const std::string& more) {
  return row.insert(row.size() - 1, more);
}

inline const std::string kChoiceHeader = with_fields(kOldChoiceHeader, ",target,flops_limit,head_count,rows");
/// With an interval of both relative errors for the sample of rows.
inline const std::string kSampledHeader =
    with_fields(kErrorHeader, ",rows,spectral_rel_lo,spectral_rel_hi,frobenius_rel_lo,frobenius_rel_hi");

/// The fields of a row of croquis error by which rows of tests differ.
struct ErrorFields {
  std::string input, method, target = "softmax";
  int d, trial = 1;
  double spectral_rel = 0, frobenius_rel = 0;
  double seconds = 0.5, flops = 100;
};

inline std::string error_row(const ErrorFields& row) {
  return fmt::format("{},{},paper,{},32,4,4,{},{},1,double,1,{},1,{},1,0,1,{},{},ok\n", row.input, row.method,
                     row.target, row.d, row.trial, row.spectral_rel, row.frobenius_rel, row.seconds, row.flops);
}

/// A draw that failed: no errors, and the reason in place of `ok`.
inline std::string failed_row(const ErrorFields& row, const std::string& reason) {
  return fmt::format("{},{},paper,{},32,4,4,{},{},1,double,NA,NA,NA,NA,NA,NA,NA,{},{},{}\n", row.input, row.method,
                     row.target, row.d, row.trial, row.seconds, row.flops, reason);
}

/// Of softmax attention, with one number as both relative errors and 100 d flops.
inline std::string report_row(const std::string& input, const std::string& method, int d, int trial, double error) {
  return error_row({.input = input,
                    .method = method,
                    .d = d,
                    .trial = trial,
                    .spectral_rel = error,
                    .frobenius_rel = error,
                    .flops = 100.0 * d});
}

/// With the relative error in the spectral norm, which plots show where they are not told another.
inline std::string plot_row(const std::string& input, const std::string& method, const std::string& target, int d,
                            int trial, double error, double seconds = 0.5, double flops = 100) {
  return error_row({.input = input,
                    .method = method,
                    .target = target,
                    .d = d,
                    .trial = trial,
                    .spectral_rel = error,
                    .frobenius_rel = 0.5,
                    .seconds = seconds,
                    .flops = flops});
}

/// Two methods of softmax attention, one of C V and one of unit queries and keys, at two d, two draws.
inline std::string four_methods() {
  std::string text = kErrorHeader;
  for (const int d : {8, 16}) {
    for (const int t : {1, 2}) {
      text += plot_row("x", "v-mean", "softmax", d, t, 0.5) + plot_row("x", "skyformer", "kernelized", d, t, 0.3) +
              plot_row("x", "nystromformer", "softmax", d, t, 0.2, 0.25 * d, 10 * d) +
              plot_row("x", "nprf", "normalized", d, t, 0.4);
    }
  }
  return text;
}

inline std::string sampled_row(const std::string& input, const std::string& method, int d, int trial, double error,
                               double low, double high) {
  return with_fields(report_row(input, method, d, trial, error), fmt::format(",20,{0},{1},{0},{1}", low, high));
}

inline std::string cost_row(const std::string& method, int d, int repeat, double seconds) {
  return fmt::format("gaussian,{},paper,1024,64,64,{},{},1,double,2,{},4096,{},ok\n", method, d, repeat, seconds,
                     1000 + d);
}

/// The fields of a row of croquis model by which rows of tests differ.
struct LossFields {
  std::string layers = "all", method;
  int d = 16, sequence;
  double loss, loss_exact = 2, flops = 1000, flops_exact = 8000;
};

inline std::string loss_row(const LossFields& row) {
  return fmt::format("m,{},{},paper,{},1,1,{},9,8,{},{},0.5,0.6,0.9,0.1,0.2,0.01,ok,{},{},double\n", row.layers,
                     row.method, row.d, row.sequence, row.loss, row.loss_exact, row.flops, row.flops_exact);
}

/// A field that may have quotes, commas and line breaks in it.
inline std::string csv_quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return '"' + text + '"';
}
