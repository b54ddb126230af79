#include "files/choice_draws.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "files/progress.hpp"

using croquis::ChoiceDraw;

namespace {

std::vector<std::string> header() {
  std::vector<std::string> names;
  for (const croquis::Column& column : croquis::choice_draw_columns().list()) names.push_back(column.name);
  return names;
}

}  // namespace

ChoiceDraws::ChoiceDraws(const RunOptions& options, const std::function<bool(const ChoiceDraw&)>& keep)
    : seed_(options.seed), file_(draws_file(options.out), header(), existing_file(options)) {
  const std::string path = draws_file(options.out);
  const std::vector<croquis::Column> columns = croquis::choice_draw_columns().list();
  croquis::Table table{columns, {}};
  for (std::size_t i = 0; i < file_.found().size(); ++i) {
    try {
      table.rows.push_back(croquis::parse_record(columns, file_.found()[i]));
    } catch (const std::invalid_argument& wrong) {
      throw std::invalid_argument(fmt::format("{}: line {}: {}", path, i + 2, wrong.what()));
    }
  }
  const std::vector<ChoiceDraw> found = croquis::choice_draw_columns().rows(table);
  croquis::CsvTable kept{header(), {}};
  SeenRows seen(path);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ChoiceDraw& draw = found[i];
    if (draw.seed != options.seed || draw.precision != options.precision) {
      throw std::invalid_argument(
          fmt::format("{}: line {} has seed {} in {}, this run has seed {} in {}; give another --out", path, i + 2,
                      draw.seed, draw.precision, options.seed, options.precision));
    }
    seen.add(key_of(draw), i + 2);
    if (keep && !keep(draw)) continue;
    known_.emplace(key_of(draw), draw.error);
    all_.push_back(draw);
    kept.rows.push_back(file_.found()[i]);
  }
  file_.begin();
  if (kept.rows.size() < found.size()) file_.replace(kept);
}

ChoiceDraws::Key ChoiceDraws::key_of(const ChoiceDraw& draw) {
  return {draw.input,  std::to_string(draw.sequence), draw.method,
          draw.preset, std::to_string(draw.features), std::to_string(draw.trial)};
}

croquis::ChoiceHooks ChoiceDraws::hooks(bool quiet) {
  croquis::ChoiceHooks hooks;
  hooks.known = [this](const ChoiceDraw& draw) -> std::optional<double> {
    const auto found = known_.find(key_of(draw));
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  };
  hooks.made = [this](ChoiceDraw draw) {
    draw.seed = seed_;
    std::vector<std::string> fields;
    for (const croquis::Value& value : croquis::choice_draw_columns().record(draw)) {
      fields.push_back(croquis::text_of(value));
    }
    file_.append(fields);
    all_.push_back(std::move(draw));
  };
  hooks.progress = [this, quiet](std::uint64_t done, std::uint64_t of, std::size_t open) {
    if (!progress_) progress_ = std::make_unique<Progress>(of, quiet);
    progress_->show(done, fmt::format("{} choice{} open", open, open == 1 ? "" : "s"));
  };
  hooks.stop = [] { return Run::interrupted(); };
  return hooks;
}
