// What a run of croquis choose has beside its rows, from what its shards have.
#include <fmt/format.h>

#include <croquis/io/csv.hpp>
#include <croquis/measure/choice_file.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "commands/choose_options.hpp"
#include "files/companions.hpp"
#include "files/metadata.hpp"
#include "files/row_file.hpp"
#include "files/whole_file.hpp"

void require_choice_file(const std::string& path) {
  if (!std::filesystem::exists(path)) return;
  const nlohmann::json file = read_metadata(path);
  if (file.is_object() && file.contains("choices")) return;
  throw std::invalid_argument(
      fmt::format("{}: is there, is no choice, and would be replaced; remove it, or give another --out", path));
}

void remove_choice_file(const std::string& path) {
  std::error_code failure;
  std::filesystem::remove(target_of(path), failure);
}

std::function<void()> merge_choices(const std::vector<std::string>& parts, const croquis::Table& table,
                                    const std::string& out) {
  require_choice_file(choice_file(out));
  std::optional<croquis::ChoicePlaces> places;
  croquis::CsvTable draws;
  for (const std::string& part : parts) {
    if (croquis::read_csv(part).rows.empty()) continue;  // more shards than choices
    const std::string json = read_as_written(part, choice_file);
    for (const croquis::SavedChoice& choice : croquis::parse_saved_choices(json, choice_file(part))) {
      if (choice.heads) (places ? *places : places.emplace())[choice.row.input] = *choice.heads;
    }
    const croquis::CsvTable of_part = croquis::parse_csv(read_as_written(part, draws_file), draws_file(part));
    draws.header = of_part.header;
    draws.rows.insert(draws.rows.end(), of_part.rows.begin(), of_part.rows.end());
  }
  const std::string text = croquis::choice_json(croquis::choice_columns().rows(table), places);
  return [=] {
    write_whole(draws_file(out), csv_text(draws));
    write_whole(choice_file(out), text);
    note_companions(out, {draws_file, choice_file});
  };
}
