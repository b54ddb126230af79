#include "options/unknown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/nearest.hpp>
#include <vector>

namespace {

// The options of a command and of the program, without dashes.
std::vector<std::string> options_of(const CLI::App& program, const CLI::App* command) {
  std::vector<std::string> names;
  for (const CLI::App* app : {command, &program}) {
    if (app == nullptr) continue;
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back(name);
    }
  }
  return names;
}

// "; did you mean --features?", or nothing; of an option without dashes.
std::string question_about(const std::string& option, const CLI::App& program, const CLI::App* command) {
  const std::string name = croquis::nearest(option, options_of(program, command));
  return name.empty() ? "" : fmt::format("; did you mean --{}?", name);
}

std::vector<std::string> commands_of(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// A question ends with its mark; anything else that goes on needs a semicolon.
std::string ended(const std::string& question) {
  return question.empty() ? ";" : question;
}

// Numbers and names that are checked have a type of their own, and no lists.
bool takes_text(const CLI::App& program, const std::string& option) {
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App* command) { return command->count() > 0; })) {
    const CLI::Option* const found = command->get_option_no_throw(option);
    if (found != nullptr) return found->get_type_name() == "TEXT";
  }
  return false;  // --config
}

}  // namespace

std::string help_of(const CLI::App& program) {
  const std::vector<const CLI::App*> chosen =
      program.get_subcommands([](const CLI::App* command) { return command->count() > 0; });
  return chosen.empty() ? "croquis --help" : fmt::format("croquis {} --help", chosen.front()->get_name());
}

std::string complaint_about_extras(const CLI::App& program, const std::string& wrong) {
  const std::vector<std::string> extras = program.remaining(true);
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  if (chosen.empty()) {
    for (const std::string& word : extras) {
      if (word.starts_with("-")) continue;
      return fmt::format("'{}' is not a command{} croquis --help shows those there are", word,
                         ended(croquis::did_you_mean(word, commands_of(program))));
    }
  }
  const CLI::App* const command = chosen.empty() ? nullptr : chosen.front();
  const std::string help = help_of(program);
  for (const std::string& word : extras) {
    if (!word.starts_with("-")) continue;
    const std::string option = word.substr(0, word.find('='));
    const std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
    return fmt::format("{}: unknown{} {} shows what there is", option, ended(question_about(name, program, command)),
                       help);
  }
  if (command != nullptr) {
    for (const CLI::Option* option : command->get_options()) {
      if (!option->get_required() || !option->get_positional() || option->count() > 0) continue;
      return fmt::format("{}: give {}; {} shows what there is", command->get_name(), option->get_description(), help);
    }
    const bool of_one_result = command->get_name() == "show" || command->get_name() == "plot";
    if (of_one_result && !extras.empty()) {
      return fmt::format("{}: takes one result, and {} is one more; croquis report sets several one below the other",
                         command->get_name(), extras.front());
    }
  }
  return fmt::format("{}; {} shows what there is", chosen.empty() && extras.empty() ? "give a command" : wrong, help);
}

std::string complaint_about_option_in_file(const CLI::App& program, const std::string& wrong) {
  // "INI was not able to parse error.feature"
  const std::string option = wrong.substr(wrong.find_last_of(' ') + 1);
  const std::size_t dot = option.find('.');
  if (dot == std::string::npos) {
    return fmt::format("--config: '{}' has no command; options stand below a line with theirs, such as [error]",
                       option);
  }
  if (option.substr(dot) == ".++") {  // CLI11's name for the line with the command
    return fmt::format("--config: [{0}]: there is no command '{0}'", option.substr(0, dot));
  }
  std::string question;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == option.substr(0, dot)) {
      question = question_about(option.substr(dot + 1), program, command);
    }
  }
  return fmt::format("--config: '{}' is unknown{}", option, question);
}

std::string complaint_about_values(const CLI::App& program, const std::string& wrong) {
  const std::string option = wrong.substr(0, wrong.find(':'));
  if (wrong.ends_with("missing")) {  // "--seed: 1 required UINT missing"
    return fmt::format("{}: has no value; {} shows what it takes", option, help_of(program));
  }
  // "--features: At Most 1 required but received 2", also of a list in a file, at whose spaces the parser divides it
  if (!wrong.starts_with(option + ": At Most 1 required but received ")) {
    return fmt::format("{}; {} shows what there is", wrong, help_of(program));
  }
  return fmt::format("{}: has {} values and takes one; give it once{}", option,
                     wrong.substr(wrong.find_last_of(' ') + 1),
                     takes_text(program, option) ? ", and a list with commas, as 8,16" : "");
}

std::string complaint_about_conversion(const CLI::App& program, const std::string& wrong) {
  // "Could not convert: --eps = x"
  const std::string begin = "Could not convert: ";
  const std::size_t equals = wrong.find(" = ");
  if (!wrong.starts_with(begin) || equals == std::string::npos) {
    return fmt::format("{}; {} shows what there is", wrong, help_of(program));
  }
  return fmt::format("{}: '{}' is not a number", wrong.substr(begin.size(), equals - begin.size()),
                     wrong.substr(equals + 3));
}
