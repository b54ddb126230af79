// What the output of croquis model, and its rows shown again, say of losses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/formula_folder.hpp"
#include "apps/made_rows.hpp"
#include "support/capture.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// Rows of `croquis model` whose sequences differ much more than their methods: linformer is above performer by .1 on
// each, skeinformer by 0, .1 and -.02.
std::string losses_of_three_methods(int sequences) {
  std::string rows = kLossHeader;
  const double exact[] = {1, 2, 3}, apart[] = {0, 0.1, -0.02};
  for (int s = 0; s < sequences; ++s) {
    for (const auto& [method, loss, flops] : {std::tuple{"performer", exact[s] + 0.2, 1000.0},
                                              {"linformer", exact[s] + 0.3, 3000.0},
                                              {"skeinformer", exact[s] + 0.2 + apart[s], 500.0}}) {
      rows += loss_row({.method = method, .sequence = s, .loss = loss, .loss_exact = exact[s], .flops = flops});
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("model: exact attention alone is one sentence and no table; it takes no options and stands there once") {
  const FormulaFolder folder;
  const std::string command = "model --model bert/model.safetensors --out o.csv --features 2 --trials 1" + kLabelled;
  const ProgramRun alone = run_croquis(command + "--methods exact", folder.path());
  REQUIRE_MESSAGE(alone.status == 0, alone.output);
  CHECK(contains(alone.output, "exact attention: loss "));
  CHECK_FALSE(contains(alone.output, "standard error"));
  for (const auto& [methods, says] : {std::pair("exact:foo=1", "--methods: exact takes no options: exact:foo=1"),
                                      std::pair("exact,v-mean,exact", "--methods: 'exact' stands there twice")}) {
    CAPTURE_BINDING(methods);
    const ProgramRun run = run_croquis(command + "--overwrite --methods " + methods, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, says), run.output);
  }
}

TEST_CASE("model: where a method fails on some sequences, exact attention is that of all") {
  const FormulaFolder folder;
  const std::string of_all =
      "model --model bert/model.safetensors --trials 1 --features 2 --overwrite --quiet" + kLabelled;
  REQUIRE(run_croquis(of_all + " --methods v-mean --out one.csv", folder.path()).status == 0);
  const std::string exact = column_of(folder / "one.summary.csv", "loss_exact").front();
  // As if another method, which comes first, had failed on all sequences but the first.
  const auto sequences = column_of(folder / "one.csv", "sequence");
  REQUIRE(sequences.size() > 1);
  std::string rows = read_text(folder / "one.csv"), header = rows.substr(0, rows.find('\n') + 1), failed;
  std::istringstream lines(rows.substr(header.size()));
  for (std::string line; std::getline(lines, line);) {
    std::string other = line;
    other.replace(other.find("v-mean"), 6, "linear");
    if (!failed.empty()) other = other.replace(other.rfind("ok"), 2, "not finite");
    failed += other + "\n";
  }
  write_text(folder / "two.csv", header + failed + rows.substr(header.size()));
  const ProgramRun shown = run_croquis("show two.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  CHECK_MESSAGE(contains(shown.output, fmt::format("With exact attention the loss is {:.4g}", std::stod(exact))),
                shown.output);
}

TEST_CASE(
    "croquis show and report of losses: a lead that differences on the same sequences do not bear out is not clear") {
  const TemporaryFolder folder;
  write_text(folder / "m.csv", losses_of_three_methods(3));
  const ProgramRun shown = run_croquis("show m.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  CHECK(contains(shown.output, "At d = 16, performer has the smallest loss: 2.2"));
  CHECK_MESSAGE(contains(shown.output, "It has no clear lead over skeinformer: on the same sequences"), shown.output);
  CHECK_FALSE(contains(shown.output, "band"));  // characters have none
  CHECK_FALSE(contains(shown.output, "one sequence"));
  // Exact attention is a line across in the picture; its ends are no numbers of its own.
  REQUIRE(run_croquis("report m.csv --out m.html", folder.path()).status == 0);
  const std::string page = read_text(folder / "m.html");
  // With one d there are bars alone: the line across has no spread.
  CHECK(contains(page, "mean over positions; bar: one standard error between sequences"));
  const std::size_t numbers = page.find("Loss of the model: the numbers"), row = page.find("exact attention", numbers);
  REQUIRE(row != std::string::npos);
  const std::string cells = page.substr(row, page.find("</tr>", row) - row);
  CHECK_FALSE(contains(cells, "3000"));
  CHECK_FALSE(contains(cells, "500"));
  CHECK(page.find("exact attention</th>", row + 1) > page.find("</table>", row));
}

TEST_CASE("croquis show and report of losses: a rise has the error of differences, not that of losses") {
  const TemporaryFolder folder;
  write_text(folder / "m.csv", losses_of_three_methods(3));
  const ProgramRun shown = run_croquis("show m.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  // skeinformer: losses 1.2, 2.3, 3.18 have the mean 2.227 and the standard error 0.573, their rises 0.2, 0.3, 0.18
  // the mean 0.2267 and the standard error 0.0371, which would be 0.0303 by n in place of n - 1.
  for (const char* cell : {" 2.227 (0.6)\n", " 0.2267 (0.04)\n"})
    CHECK_MESSAGE(contains(shown.output, cell), shown.output);
  REQUIRE(run_croquis("report m.csv --out m.html", folder.path()).status == 0);
  CHECK(contains(read_text(folder / "m.html"), "0.2267 (0.1895 – 0.2638)"));
}

TEST_CASE("croquis show of losses: a method of which one row failed has its mark") {
  const TemporaryFolder folder;
  std::string rows = losses_of_three_methods(3);
  const std::size_t first = rows.find("linformer"), ok = rows.find(",ok,", first);
  rows.replace(ok, 4, ",not finite,");
  write_text(folder / "m.csv", rows);
  const ProgramRun shown = run_croquis("show m.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  CHECK_MESSAGE(contains(shown.output, " 2.8 (0.5)!\n"), shown.output);
  CHECK(contains(shown.output, "\n! leaves out rows that failed; their status says why\n"));
}

TEST_CASE("croquis show and report of losses: on one sequence a lead may be chance, and there is no band") {
  const TemporaryFolder folder;
  write_text(folder / "m.csv", losses_of_three_methods(1));
  const ProgramRun shown = run_croquis("show m.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  REQUIRE(run_croquis("report m.csv --out m.html", folder.path()).status == 0);
  for (const std::string& text : {shown.output, read_text(folder / "m.html")}) {
    CHECK(contains(text, "At d = 16, performer has the smallest loss: 1.2, 0.2 above exact attention"));
    CHECK(contains(text, "On one sequence: a lead may be chance."));
    CHECK(contains(text, "mean over positions"));
    CHECK_FALSE(contains(text, "standard error between sequences to each side"));
    CHECK_FALSE(contains(text, "(standard error between sequences)"));
    CHECK_FALSE(contains(text, "no clear lead"));
  }
}

TEST_CASE("croquis show of losses: of one layer at a time it is said which layers an approximation changes most") {
  const TemporaryFolder folder;
  // Rises on three sequences, with the means 0.2, 0.125 and 1.1, and the standard errors 0.0577, 0.191 and
  // 0.1.
  const double rises[3][3] = {{0.1, 0.2, 0.3}, {-0.25, 0.25, 0.375}, {1, 1, 1.3}};
  const auto rows_of = [&](int sequences) {
    std::string rows = kLossHeader;
    for (int layer = 0; layer < 3; ++layer) {
      for (int s = 0; s < sequences; ++s) {
        for (const auto& [method, d, more] :
             {std::tuple{"linformer", 8, 5.0}, {"linformer", 16, 0.0}, {"v-mean", 16, 9.0}})
          rows += loss_row({.layers = std::to_string(layer),
                            .method = method,
                            .d = d,
                            .sequence = s,
                            .loss = 1.0 + s + rises[layer][s] + more,
                            .loss_exact = 1.0 + s});
      }
    }
    return rows;
  };
  write_text(folder / "m.csv", rows_of(3));
  const ProgramRun shown = run_croquis("show m.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  CHECK_MESSAGE(contains(shown.output,
                         "linformer at d = 16 in one layer at a time: the loss rises most with layer 2 (1.1 ± 0.1) and "
                         "least with layer 1 (0.125 ± 0.2). In 1 of 3 layers (1) it does not differ clearly from exact "
                         "attention's."),
                shown.output);
  CHECK_MESSAGE(contains(shown.output,
                         "v-mean in one layer at a time: the loss rises most with layer 2 (10.1 ± 0.1) and least with "
                         "layer 1 (9.125 ± 0.2)."),
                shown.output);
  CHECK_FALSE(contains(shown.output, "at d = 8"));

  // A layer where a row failed is named, and a choice is no layer.
  std::string rows = rows_of(3);
  const std::string last = "m,2,linformer,paper,16,";
  const std::size_t row = rows.find(last), ok = rows.find(",ok,", row);
  REQUIRE(row != std::string::npos);
  rows.replace(ok, 4, ",lost,");
  for (int s = 0; s < 3; ++s)
    rows +=
        loss_row({.layers = "all", .method = "choice", .d = 0, .sequence = s, .loss = 1.5 + s, .loss_exact = 1.0 + s});
  write_text(folder / "failed.csv", rows);
  const ProgramRun failed = run_croquis("show failed.csv", folder.path());
  REQUIRE_MESSAGE(failed.status == 0, failed.output);
  CHECK_MESSAGE(contains(failed.output,
                         "the loss rises most with layer 0 (0.2 ± 0.06) and least with layer 1 (0.125 ± 0.2). Not "
                         "compared, as rows failed: layer 2. In 1 of 3 layers (1) it does not differ clearly"),
                failed.output);
  CHECK_FALSE(contains(failed.output, "choice in one layer"));
  CHECK_MESSAGE(contains(failed.output, "The choice has the loss 2.5"), failed.output);

  write_text(folder / "one.csv", rows_of(1));
  const ProgramRun one = run_croquis("show one.csv", folder.path());
  REQUIRE_MESSAGE(one.status == 0, one.output);
  CHECK_MESSAGE(contains(one.output,
                         "with layer 2 (1) and least with layer 1 (-0.25). On one sequence: a difference may "
                         "be chance."),
                one.output);
}

TEST_CASE("croquis show and report of losses: v-mean and what computes all scores do not count, and that is said") {
  const TemporaryFolder folder;
  const auto rows_of = [](const std::vector<std::pair<std::string, double>>& losses) {
    std::string rows = kLossHeader;
    for (const int d : {4, 16}) {
      for (const auto& [method, loss] : losses) {
        for (const int s : {0, 1}) rows += loss_row({.method = method, .d = d, .sequence = s, .loss = loss + 0.01 * s});
      }
    }
    return rows;
  };
  write_text(folder / "m.csv", rows_of({{"v-mean", 2.1}, {"top-keys", 2.05}, {"best-rank-d", 2.2}, {"linear", 2.5}}));
  const ProgramRun shown = run_croquis("show m.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  REQUIRE(run_croquis("report m.csv --out m.html", folder.path()).status == 0);
  const std::string said = " Not counted, here and below: v-mean and methods that compute all scores.";
  for (const std::string& text : {shown.output, read_text(folder / "m.html")}) {
    const std::size_t first = text.find("At d = 4, linear has the smallest loss: 2.505"),
                      then = text.find("At d = 16, linear has the smallest loss: 2.505");
    REQUIRE(then != std::string::npos);
    CHECK(text.find(" For comparison: v-mean 2.105, best-rank-d 2.205." + said) < then);
    CHECK(text.find(said) > first);
    CHECK(text.find(said) < then);
    CHECK(text.find(" For comparison: v-mean 2.105, best-rank-d 2.205.", then) != std::string::npos);
    CHECK(text.find(said, then) == std::string::npos);  // once
    CHECK_FALSE(contains(text, "top-keys has the smallest"));
  }
  // What all count in is said without.
  write_text(folder / "two.csv", rows_of({{"linear", 2.5}, {"performer", 2.4}}));
  CHECK_FALSE(contains(run_croquis("show two.csv", folder.path()).output, "Not counted"));
  // As for errors, what does not count does not lead where there is nothing else.
  write_text(folder / "one.csv", rows_of({{"top-keys", 2.05}}));
  CHECK_FALSE(contains(run_croquis("show one.csv", folder.path()).output, "smallest loss"));
}

TEST_CASE("croquis show and report of losses: a method that failed on some sequences is compared with no other") {
  const TemporaryFolder folder;
  const auto answers = [&](int failures_of_better) {
    std::string rows = kLossHeader;
    // Losses of the last three sequences are high. On each of the six, linear is above performer by 0.5.
    for (int s = 0; s < 6; ++s) {
      const double exact = s < 3 ? 0.1 : 3;
      const auto row = [&](const char* method, double rise, bool fails) {
        std::string text = loss_row({.method = method, .sequence = s, .loss = exact + rise, .loss_exact = exact});
        if (fails) text.replace(text.find(",ok,"), 4, ",not finite,");
        return text;
      };
      rows += row("v-mean", 1, false) + row("linear", 0.6, s >= 3) + row("performer", 0.1, s < failures_of_better);
    }
    write_text(folder / "m.csv", rows);
    const ProgramRun shown = run_croquis("show m.csv", folder.path());
    REQUIRE_MESSAGE(shown.status == 0, shown.output);
    REQUIRE(run_croquis("report m.csv --out m.html", folder.path()).status == 0);
    return std::vector<std::string>{shown.output, read_text(folder / "m.html")};
  };
  for (const std::string& text : answers(0)) {
    CHECK_MESSAGE(contains(text, "At d = 16, performer has the smallest loss: 1.65"), text);
    CHECK(
        contains(text, " Not compared at d = 16, as rows failed: linear (3 of 6 rows). For comparison: v-mean 2.55."));
    CHECK_FALSE(contains(text, "no clear lead"));
  }
  for (const std::string& text : answers(1)) {
    CHECK_MESSAGE(contains(text, "Not compared at d = 16, as rows failed: linear (3 of 6 rows), performer (1 of 6"),
                  text);
    CHECK_FALSE(contains(text, "has the smallest loss"));
  }
}

TEST_CASE("croquis show of losses: presets of a method are methods of their own in comparisons") {
  const TemporaryFolder folder;
  const auto row = [](const char* preset, int sequence, double loss, bool fails) {
    std::string text = loss_row({.method = "performer", .sequence = sequence, .loss = loss});
    text.replace(text.find(",paper,"), 7, fmt::format(",{},", preset));
    if (fails) text.replace(text.find(",ok,"), 4, ",not finite,");
    return text;
  };
  std::string rows = kLossHeader;
  for (const int s : {0, 1, 2}) {
    rows += row("paper", s, 2.5 + 0.01 * s, false) + row("map=trf", s, 3.5 + 0.01 * s, false) +
            row("map=oprf", s, 2.1, s == 0);
  }
  write_text(folder / "m.csv", rows);
  const ProgramRun run = run_croquis("show m.csv", folder.path());
  // On each sequence by 1.
  CHECK_MESSAGE(contains(run.output, "At d = 16, performer has the smallest loss: 2.51"), run.output);
  CHECK_FALSE(contains(run.output, "no clear lead"));
  CHECK(contains(run.output, "Not compared at d = 16, as rows failed: performer (map=oprf) (1 of 3 rows)."));
}
