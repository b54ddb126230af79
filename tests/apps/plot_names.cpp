// Names that reach gnuplot: nothing in them is run, and the picture is drawn all the same.
#include <doctest/doctest.h>
#include <armadillo>
#include <croquis/io/npy.hpp>

#include <string>
#include <utility>
#include <vector>

#include "apps/made_rows.hpp"
#include "support/process.hpp"
#include "support/text.hpp"

namespace {

// Each would make a file named "hit" if a shell or gnuplot ran it.
const std::vector<std::string> kHostile = {
    "x`touch hit`",
    "\"; system('touch hit'); \"",
    "'; system('touch hit'); '",
    "x\\047; system('touch hit') #",
    "@system('touch hit')",
    "\\\"; system('touch hit')",
    "$(touch hit)",
    "%s%n`touch hit`",
    "{/Symbol `touch hit`}",
    "\x01\x7f`touch hit`",
    "\xff\xfe`touch hit`",
};

// A result of croquis error with these names.
std::string rows_with(const std::string& input, const std::string& method, const std::string& preset,
                      const std::string& error = "0.5") {
  std::string text = with_fields(kErrorHeader, ",layer,head,n_q");
  for (const char* d : {"8", "16"}) {
    text += csv_quoted(input) + "," + csv_quoted(method) + "," + csv_quoted(preset) + ",softmax,32,4,4," + d +
            ",1,1,double,1," + error + ",1,0.5,1,0,1,0.1,10,ok,NA,NA,32\n";
  }
  return text;
}

void check_drawn(const TemporaryFolder& folder, const std::vector<std::string>& arguments, const std::string& picture) {
  const ProgramRun run = run_process(arguments, folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK(std::filesystem::file_size(folder / picture) > 1000);
  CHECK_FALSE(std::filesystem::exists(folder / "hit"));
  std::filesystem::remove(folder / picture);
}

}  // namespace

TEST_CASE("croquis plot: names of methods, inputs and presets in a result are drawn as text, not run") {
  TemporaryFolder folder;
  for (const std::string& name : kHostile) {
    CAPTURE(name);
    for (const char* picture : {"a.svg", "a.png", "a.pdf"}) {
      write_text(folder / "r.csv", rows_with(name, name, name));
      check_drawn(folder, {"plot", "r.csv", "--out", picture}, picture);
    }
  }
  write_text(folder / "r.csv", rows_with("x", "`touch hit` & <b>it's</b>", "paper"));
  REQUIRE(run_process({"plot", "r.csv", "--out", "a.svg"}, folder.path()).status == 0);
  CHECK(read_text(folder / "a.svg").find("`touch hit` &amp; &lt;b>it's&lt;/b>") != std::string::npos);
  // What may stand nowhere in the text of XML 1.0.
  write_text(folder / "r.csv", rows_with("in]]>put", "a]]>b]]]>>c]>", "]]>"));
  REQUIRE(run_process({"plot", "r.csv", "--title", "x]]>", "--out", "a.svg"}, folder.path()).status == 0);
  const std::string picture = read_text(folder / "a.svg");
  CHECK(picture.find("a]]?b]]]?>c]>") != std::string::npos);
  CHECK(picture.find("x]]?") != std::string::npos);
  CHECK(picture.find("]]>") == std::string::npos);
}

TEST_CASE("croquis plot: an .svg has its title as its name, and what is shown as its description") {
  const TemporaryFolder folder;
  const auto drawn = [&](const std::string& arguments) {
    const ProgramRun run = run_process(words("plot r.csv --out a.svg " + arguments), folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    const std::string picture = read_text(folder / "a.svg");
    CHECK(count_of(picture, "<desc>") == 1);
    CHECK_FALSE(contains(picture, "Gnuplot"));
    CHECK(contains(picture, "\n>\n\n<title>"));  // the first child of the root
    return std::pair(between(picture, "<title>", "</title>"), between(picture, "<desc>", "</desc>"));
  };
  const std::string norm = "||O - O~|| / ||O||, spectral norm";
  write_text(folder / "r.csv", rows_with("<x> & \"y]]>", "performer", "paper"));
  CHECK(drawn("") ==
        std::pair<std::string, std::string>("&lt;x&gt; &amp; &quot;y]]&gt;, n = 32, p = 4",
                                            norm + " against features d; one draw; approximating softmax attention"));
  CHECK(drawn("--title Mine --x flops").first == "Mine");
  CHECK(drawn("--x flops").second.starts_with(norm + " against "));
  std::string rows = with_fields(kErrorHeader, ",layer,head");
  for (const char* method : {"performer", "informer"}) {
    for (const char* head : {"0", "1"}) {
      rows += with_fields(plot_row("x", method, "softmax", 8, 1, 0.5), std::string(",0,") + head);
    }
  }
  write_text(folder / "r.csv", rows);
  const auto drawing = drawn("--heat-map");
  CHECK(contains(drawing.first, "n = 32, p = 4"));
  const std::string& maps = drawing.second;
  CHECK_MESSAGE(maps.starts_with("layer against head; "), maps);
  CHECK_MESSAGE(contains(maps, "; performer"), maps);
  CHECK_MESSAGE(contains(maps, "; informer"), maps);
  const std::string one = drawn("--heat-map --methods performer").second;
  CHECK_MESSAGE(one.starts_with("layer against head; "), one);
  CHECK_FALSE(contains(one, "informer"));
  write_text(folder / "r.csv", rows_with("x", "performer", "paper"));
  for (const std::string end : {".png", ".pdf"}) {
    REQUIRE(run_process({"plot", "r.csv", "--out", "a" + end}, folder.path()).status == 0);
  }
}

TEST_CASE("croquis plot: spectra, dimensions and the ledger are drawn with names as text too") {
  TemporaryFolder folder;
  const std::string name = "\"x';system('touch hit')`touch hit`\\047\"";
  write_text(folder / "s.csv",
             "input,matrix,n,p,method,index,singular_value,residual,cumulative,cumulative_lo,cumulative_hi,"
             "frobenius,log_scale,seed,status,layer,head,n_q\n" +
                 name + "," + name + ",4,2,dense,1,1,0,1,1,1,1,0,1,ok,NA,NA,4\n");
  check_drawn(folder, {"plot", "s.csv", "--out", "s.svg"}, "s.svg");
  const std::string numbers = ",2,1,1,0.1,0.1,1,1,1,1,1,2,2,2,1,1,1,1,1,3,3,0,20,0,0.2,dense,1,ok,NA,NA\n";
  write_text(folder / "d.csv",
             "input,n,p,norm,width,epsilon,delta,lambda,norm_c,norm_lift,stable_rank_c,stable_rank_lift,d_stat,"
             "d_stat_lo,d_stat_hi,leverage_max,leverage_q90,leverage_q50,leverage_q10,beta,d_theorem,d_suffices,"
             "failures,trials,failure_lo,failure_hi,method,seed,status,layer,head\n" +
                 name + ",4" + numbers + name + ",8" + numbers);
  check_drawn(folder, {"plot", "d.csv", "--out", "d.svg"}, "d.svg");
}

TEST_CASE("--plot and plot --out: the name of a file is no code, whatever is in it") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", rows_with("x", "skyformer", "paper"));
  for (const std::string end : {".svg", ".png", ".pdf"}) {
    for (std::string name : kHostile) {
      for (const char* more : {"", "\nsystem('touch hit')\n", "\n`touch hit`\n"}) {
        std::string picture = name + more + end;
        std::erase(picture, '/');
        CAPTURE(picture);
        check_drawn(folder, {"plot", "r.csv", "--out", picture}, picture);
      }
    }
  }
  const std::string q = "`touch hit`_Q.npy";
  croquis::write_npy((folder / q).string(), arma::mat{{1, 2}, {-1, 3}, {0.5, 0}, {2, 1}});
  check_drawn(folder,
              {"error", "--q", q, "--k", q, "--v", q, "--methods", "v-mean", "--features", "2", "--out", "y.csv",
               "--plot", "y.svg", "--quiet"},
              "y.svg");
}

TEST_CASE("croquis plot: start-up files of gnuplot, of the user and of the folder, are not run") {
  TemporaryFolder folder;
  write_text(folder / "r.csv", rows_with("x", "skyformer", "paper"));
  for (const char* name : {".gnuplot", "gnuplotrc"}) write_text(folder / name, "system('touch hit')\n");
  const ProgramRun run = run_process({"plot", "r.csv"}, folder.path(), {.environment = {{"HOME", folder.path()}}});
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK_FALSE(std::filesystem::exists(folder / "hit"));
}

TEST_CASE("croquis plot: numbers that no axis can show are left out, and said in one line where none is left") {
  TemporaryFolder folder;
  for (const char* error : {"1e308", "1e-320"}) {
    CAPTURE(error);
    write_text(folder / "r.csv", rows_with("x", "skyformer", "paper", error));
    const ProgramRun run = run_process({"plot", "r.csv"}, folder.path());
    CHECK(run.status == 2);
    CHECK(run.output == "croquis: r.svg: no row has a spectral_rel that an axis can show\n");
  }
  for (const char* error : {"0", "-1"}) {  // on a linear axis
    write_text(folder / "r.csv", rows_with("x", "skyformer", "paper", error));
    check_drawn(folder, {"plot", "r.csv"}, "r.svg");
  }
}
