// croquis: the command line.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/distributed/communicator.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>

#include "common_options.hpp"
#include "complaint.hpp"
#include "configuration.hpp"
#include "cost.hpp"
#include "dimension.hpp"
#include "error.hpp"
#include "list.hpp"
#include "merge.hpp"
#include "plot.hpp"
#include "results/environment.hpp"
#include "results/progress.hpp"
#include "sketch.hpp"
#include "spectrum.hpp"
#include "variance.hpp"
#include "verify.hpp"

namespace {

using croquis::Communicator;

constexpr long long kMostTrials = 10'000'000;  // more rows than anybody reads, fewer than fill a memory

std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
  return line;
}

int run(int argc, char** argv) {
  CLI::App app("Croquis: how well does a sketch approximate attention?", "croquis");
  app.set_version_flag("--version", [] { return environment_text(); });
  app.require_subcommand(1);
  app.set_config("--config", "", "read options from this file: [error], then features=\"16,32\", one a line")
      ->check(complaint_about_configuration);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.footer(
      "Exit status: 0 done, 2 bad usage or input, 130 or 143 interrupted. croquis COMMAND --help has the options.");

  ErrorOptions error;
  CLI::App* error_command = app.add_subcommand("error", "error of methods against number of features");
  add_run_options(*error_command, error.run);
  add_input_options(*error_command, error.input);
  add_precision_option(*error_command, error.run);
  error_command->add_option("--methods", error.methods, "a,b:option=value,c or all (see list methods)")
      ->capture_default_str();
  error_command->add_option("--features", error.features, "16,32,64 or 16:256 (doubling)")->capture_default_str();
  error_command->add_option("--trials", error.trials, "draws of every random method")
      ->check(whole_number(1, kMostTrials))
      ->capture_default_str();
  error_command
      ->add_option("--rows", error.rows,
                   "for large n: so many random rows of the exact output, and intervals (default all)")
      ->check(whole_number(1));
  error_command->add_flag("--by-rows", error.by_rows,
                          "with --rows and --q, --k, --v: the tokens divided over the ranks of mpirun");

  error_command->add_flag(
      "--scores", error.scores,
      "measure ||B - B~|| of the score matrices too, in two more columns; takes many products with B");

  SketchOptions sketch;
  CLI::App* sketch_command = app.add_subcommand("sketch", "sketching operators and landmark policies on a matrix");
  add_run_options(*sketch_command, sketch.run);
  add_input_options(*sketch_command, sketch.input);
  sketch_command->add_option("--matrix", sketch.matrix, "q, k, v, b, c, or FILE.npy")->capture_default_str();
  sketch_command->add_option("--sketches", sketch.sketches, "a,b:option=value,c or all (see list sketches)")
      ->capture_default_str();
  sketch_command->add_option("--landmarks", sketch.landmarks, "landmark policies on the lift of Q, K: a,b, all or none")
      ->capture_default_str();
  sketch_command->add_option("--features", sketch.features, "16,32,64 or 16:256 (doubling)")->capture_default_str();
  sketch_command->add_option("--trials", sketch.trials, "draws of each")
      ->check(whole_number(1, kMostTrials))
      ->capture_default_str();
  sketch_command
      ->add_option("--rank", sketch.rank, "dimension of the subspace to embed (default all columns, at most 64)")
      ->check(whole_number(0));

  CostOptions cost;
  CLI::App* cost_command = app.add_subcommand("cost", "time, peak memory and flops against n and d");
  add_run_options(*cost_command, cost.run);
  add_precision_option(*cost_command, cost.run);
  cost_command
      ->add_option("--methods", cost.methods,
                   "a,b:option=value,c, all, or exact alone; exact attention is timed with them")
      ->capture_default_str();
  cost_command->add_option("--n", cost.n, "tokens: 1024,4096 or 1024:8192 (doubling)")->capture_default_str();
  cost_command->add_option("--features", cost.features, "16,32,64 or 16:256 (doubling)")->capture_default_str();
  cost_command->add_option("--p", cost.p, "width of the head")->check(whole_number(1))->capture_default_str();
  add_bias_options(*cost_command, cost.bias, cost.causal);
  cost_command->add_option("--repeats", cost.repeats, "timed calls of each")
      ->check(whole_number(1, kMostTrials))
      ->capture_default_str();
  cost_command->add_option("--exact-to", cost.exact_to, "exact attention for n up to this one (default: all)")
      ->check(whole_number(0));
  cost_command->add_option("--warmup", cost.warmup, "calls before them")
      ->check(whole_number(0, kMostTrials))
      ->capture_default_str();

  VarianceOptions variance;
  CLI::App* variance_command = app.add_subcommand("variance", "random features: error and variance against norm and d");
  add_run_options(*variance_command, variance.run);
  variance_command->add_option("--q", variance.q, "queries, .npy (n, p); without files points are uniform on spheres");
  variance_command->add_option("--k", variance.k, "keys, .npy (n, p)");
  variance_command->add_option("--norms", variance.norms, "R: 1,2,4 (default 1,2,3,4,5,6; with files 1, a factor)");
  variance_command->add_option("--maps", variance.maps, "prf,trf,... or all (see list features)")
      ->capture_default_str();
  variance_command->add_option("--projections", variance.projections, "iid,haar,... or all")->capture_default_str();
  variance_command->add_option("--features", variance.features, "4,16,64 or 4:1024 (doubling)")->capture_default_str();
  variance_command->add_option("--p", variance.p, "dimension of the spheres")
      ->check(whole_number(1))
      ->capture_default_str();
  variance_command->add_option("--keys", variance.keys, "keys on the sphere")
      ->check(whole_number(1))
      ->capture_default_str();
  variance_command->add_option("--queries", variance.queries, "queries (default 1; at most 64 of a file)")
      ->check(whole_number(1));
  variance_command->add_option("--trials", variance.trials, "draws of each")
      ->check(whole_number(1, kMostTrials))
      ->capture_default_str();

  SpectrumOptions spectrum;
  CLI::App* spectrum_command = app.add_subcommand("spectrum", "singular values of score matrices and outputs");
  add_run_options(*spectrum_command, spectrum.run);
  add_input_options(*spectrum_command, spectrum.input);
  spectrum_command
      ->add_option("--matrices", spectrum.matrices,
                   "of a (over its largest entry), b, c, the outputs bv and cv; or all")
      ->capture_default_str();
  spectrum_command
      ->add_option("--method", spectrum.method, "dense, lanczos, or auto: lanczos for n x n matrices above n = 4096")
      ->check(CLI::IsMember({"auto", "dense", "lanczos"}))
      ->capture_default_str();
  spectrum_command->add_option("--leading", spectrum.leading, "lanczos: so many singular values")
      ->check(whole_number(1, kMostTrials))
      ->capture_default_str();
  spectrum_command->add_option("--probes", spectrum.probes, "lanczos: random vectors for the sum of the others")
      ->check(whole_number(2, kMostTrials))
      ->capture_default_str();

  DimensionOptions dimension;
  CLI::App* dimension_command =
      app.add_subcommand("dimension", "statistical dimension of the lift, and the landmarks that it asks for");
  add_run_options(*dimension_command, dimension.run);
  add_input_options(*dimension_command, dimension.input);
  for (const char* one : {"--n", "--norm"}) dimension_command->remove_option(dimension_command->get_option(one));
  dimension_command->add_option("--n", dimension.n, "tokens: 256,1024 or 256:2048 (default 256,512,1024)");
  dimension_command->add_option("--norms", dimension.norms, "synthetic inputs: norms of queries and keys, as 2,4,8");
  dimension_command->add_option("--widths", dimension.widths, "factors on the kernel's width p^{1/4}")
      ->capture_default_str();
  dimension_command->add_option("--epsilons", dimension.epsilons, "lambda over ||C||, below 1")->capture_default_str();
  dimension_command->add_option("--delta", dimension.delta, "probability of failure of the theorem")
      ->capture_default_str();
  dimension_command->add_option("--trials", dimension.trials, "draws for the d that suffices; 0: leave it out")
      ->check(whole_number(0, kMostTrials))
      ->capture_default_str();
  dimension_command->add_option("--method", dimension.method, "dense, lanczos, or auto: lanczos above n = 4096")
      ->check(CLI::IsMember({"auto", "dense", "lanczos"}))
      ->capture_default_str();
  dimension_command->add_option("--leading", dimension.leading, "lanczos: so many eigenvalues")
      ->check(whole_number(1, kMostTrials))
      ->capture_default_str();
  dimension_command->add_option("--probes", dimension.probes, "lanczos: random vectors for what the others add")
      ->check(whole_number(2, kMostTrials))
      ->capture_default_str();

  VerifyOptions verify;
  CLI::App* verify_command = app.add_subcommand("verify", "the claims ledger: every lemma and theorem, decided");
  add_run_options(*verify_command, verify.run);
  const auto has_own_input = add_input_options(*verify_command, verify.input);
  verify_command->add_option("--claims", verify.claims, "sky.lift,rpe.*,... or all (see list claims)")
      ->capture_default_str();
  verify_command->add_option("--confidence", verify.confidence, "that no verdict of all claims is wrong")
      ->capture_default_str();
  verify_command->add_option("--trials", verify.trials, "at most so many a decision (default: as many as it needs)")
      ->check(whole_number(2));
  verify_command->add_flag("--quick", verify.quick,
                           "a tenth of the trials: under a minute, with INCONCLUSIVE verdicts");
  verify_command->add_option("--explain", verify.explain, "statement, source and findings of one claim; no files");
  verify_command->add_option("--expect", verify.expect,
                             "file of lines 'claim VERDICT'; exit status 1 where one differs");
  verify_command->add_flag("--mutants", verify.mutants, "deliberate mistakes instead: what each does to the verdict");
  verify_command->add_flag("--markdown", verify.markdown, "print the table in Markdown");

  std::string what;
  CLI::App* list_command = app.add_subcommand("list", "what there is: methods, sketches, features, inputs, claims");
  list_command->add_option("what", what, "methods, sketches, features, inputs or claims")
      ->required()
      ->check(CLI::IsMember({"methods", "sketches", "features", "inputs", "claims"}));

  MergeOptions merge;
  CLI::App* merge_command = app.add_subcommand("merge", "put the parts of a run with --shard together");
  merge_command->add_option("out", merge.out, "OUT.csv: the rows of one run")->required();
  merge_command->add_option("parts", merge.parts, "PART.csv...: all shards of one run, in any order")->required();
  merge_command->add_flag("--overwrite", merge.overwrite, "start again if OUT.csv is there");

  std::string file, out, metric;
  CLI::App* plot_command = app.add_subcommand("plot", "draw a result again");
  plot_command->add_option("file", file, "a CSV of croquis error")->required();
  plot_command->add_option("--out", out, "FILE.svg, .png or .pdf (default: the CSV's name with .svg)");
  plot_command->add_option("--metric", metric, "column to draw (default: a relative spectral error)");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return Communicator::world().rank() == 0 ? app.exit(success) : 0;  // --help, --version
  } catch (const CLI::ConfigError& wrong) {
    throw std::invalid_argument(fmt::format("--config: {}", wrong.what()));
  } catch (const CLI::ParseError& wrong) {
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
      throw std::invalid_argument(fmt::format("'{}' is not a command; croquis --help shows those there are", argv[1]));
    }
    throw std::invalid_argument(fmt::format("{}; croquis --help shows what there is", wrong.what()));
  }

  if (*error_command) {
    infer_kind(*error_command, error.input);
    error.run.command_line = command_line(argc, argv);
    error.run.configuration = configuration_of(*error_command);
    return run_error(error);
  }
  if (*sketch_command) {
    infer_kind(*sketch_command, sketch.input);
    sketch.run.command_line = command_line(argc, argv);
    sketch.run.configuration = configuration_of(*sketch_command);
    return run_sketch(sketch);
  }
  if (*cost_command) {
    cost.run.command_line = command_line(argc, argv);
    cost.run.configuration = configuration_of(*cost_command);
    return run_cost(cost);
  }
  if (*variance_command) {
    variance.run.command_line = command_line(argc, argv);
    variance.run.configuration = configuration_of(*variance_command);
    return run_variance(variance);
  }
  if (*dimension_command) {
    infer_kind(*dimension_command, dimension.input);
    dimension.run.command_line = command_line(argc, argv);
    dimension.run.configuration = configuration_of(*dimension_command);
    return run_dimension(dimension);
  }
  if (*spectrum_command) {
    infer_kind(*spectrum_command, spectrum.input);
    spectrum.run.command_line = command_line(argc, argv);
    spectrum.run.configuration = configuration_of(*spectrum_command);
    return run_spectrum(spectrum);
  }
  if (*verify_command) {
    infer_kind(*verify_command, verify.input);
    verify.own_input = has_own_input();
    verify.run.command_line = command_line(argc, argv);
    verify.run.configuration = configuration_of(*verify_command);
    return run_verify(verify);
  }
  if (Communicator::world().rank() > 0) return 0;  // the rest is for one
  if (*list_command) return run_list(what);
  if (*merge_command) return run_merge(merge);
  return run_plot(file, out, metric);
}

// Started without standard streams, the program would open its results as one of them and print into them.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != stream) std::abort();
  }
}

void require_output_written() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return;
  throw std::runtime_error("standard output cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // the write fails, and says where
  try {
    Communicator& world = Communicator::world();
    const croquis::SerialBlas serial;  // for products of the program's own, in claims for instance
    try {
      const int status = run(argc, argv);
      require_output_written();
      return status;
    } catch (const std::exception& failure) {
      const bool no_memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr;
      const std::string why =
          no_memory ? "there is not enough memory; give a smaller --n, --p or --features, or fewer --threads"
                    : failure.what();
      if (world.size() > 1) fail_together(world, why);
      complain(why);
      return kBadUsage;
    }
  } catch (const std::exception& failure) {
    complain(failure.what());
    return kBadUsage;
  }
}
