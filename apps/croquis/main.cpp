// croquis: the command line.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <croquis/core/kept_memory.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/distributed/communicator.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands/command.hpp"
#include "complaint.hpp"
#include "files/environment.hpp"
#include "options/common_options.hpp"
#include "options/configuration.hpp"
#include "options/unknown.hpp"

namespace {

using croquis::Communicator;

std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
  return line;
}

int run(int argc, char** argv) {
  CLI::App app("Croquis: how well does a sketch approximate attention?", "croquis");
  app.set_version_flag("--version", [] { return environment_text(); });
  app.require_subcommand(1);
  app.set_config("--config", "",
                 "read options from this file: a line [error], then one option a line, as features=\"16,32\"")
      ->check(complaint_about_configuration);
  require_values(app);
  app.config_formatter(configuration_format());
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.footer(
      "Exit status: 0 done, 1 a verdict of croquis verify is not as expected, 2 bad usage or input, 130 or 143 "
      "interrupted. croquis COMMAND --help has the options.");

  std::vector<std::pair<const Command*, CLI::App*>> added;
  for (const Command& command : commands()) {
    CLI::App* const sub = app.add_subcommand(command.name, command.summary);
    command.add_options(*sub);
    require_values(*sub);
    const std::string more = sub->get_footer().empty() ? "" : sub->get_footer() + "\n";
    if (!command.example.empty()) sub->footer(fmt::format("{}Example: {}", more, command.example));
    added.emplace_back(&command, sub);
  }

  require_values(std::vector<std::string>(argv + 1, argv + argc));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return Communicator::world().rank() == 0 ? app.exit(success) : 0;  // --help, --version
  } catch (const CLI::ConfigError& wrong) {
    throw std::invalid_argument(complaint_about_option_in_file(app, wrong.what()));
  } catch (const CLI::ExtrasError& wrong) {
    throw std::invalid_argument(complaint_about_extras(app, wrong.what()));
  } catch (const CLI::RequiredError& wrong) {
    throw std::invalid_argument(complaint_about_extras(app, wrong.what()));
  } catch (const CLI::ArgumentMismatch& wrong) {
    throw std::invalid_argument(complaint_about_values(app, wrong.what()));
  } catch (const CLI::ExcludesError& wrong) {
    throw std::invalid_argument(fmt::format("{}; leave one of them out", wrong.what()));
  } catch (const CLI::RequiresError& wrong) {
    throw std::invalid_argument(fmt::format("{}; give both or neither", wrong.what()));
  } catch (const CLI::ConversionError& wrong) {
    throw std::invalid_argument(complaint_about_conversion(app, wrong.what()));
  } catch (const CLI::ParseError& wrong) {
    throw std::invalid_argument(fmt::format("{}; {} shows what there is", wrong.what(), help_of(app)));
  }

  for (const auto& [command, sub] : added) {
    if (!*sub) continue;
    if (const auto file = app.get_option("--config")->results(); !file.empty())
      require_options_of(command->name, file.front());
    if (command->one_rank && Communicator::world().rank() > 0) return 0;
    return command->run(*sub, command_line(argc, argv));
  }
  return kBadUsage;
}

// Started without standard streams, the program would open its results as one of them and print into them.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != stream) std::abort();
  }
}

// A stack that is too small is overflown without a word.
void require_stack() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= croquis::kLeastStack) return;
  throw std::runtime_error(fmt::format("a stack of {} KiB is less than croquis needs; give it {} or more (ulimit -s)",
                                       limit.rlim_cur >> 10, croquis::kLeastStack >> 10));
}

constexpr const char* kOutputNotWritten = "standard output cannot be written";

void require_output_written() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return;
  throw std::runtime_error(kOutputNotWritten);
}

std::string reason_of(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) {
    return "there is not enough memory; give a smaller --n, --p or --features, or fewer --threads";
  }
  // fmt says "cannot write to file", and not which.
  const auto* const of_system = dynamic_cast<const std::system_error*>(&failure);
  if (of_system == nullptr || std::ferror(stdout) == 0) return failure.what();
  return fmt::format("{}: {}", kOutputNotWritten, of_system->code().message());
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  croquis::keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // the write fails, and says where
  try {
    Communicator& world = Communicator::world();
    const croquis::SerialBlas serial;  // for products of the program's own
    try {
      require_stack();
      const int status = run(argc, argv);
      require_output_written();
      return status;
    } catch (const std::exception& failure) {
      const std::string why = reason_of(failure);
      if (world.size() > 1) fail_together(world, why);
      complain(why);
      return kBadUsage;
    }
  } catch (const std::exception& failure) {
    complain(failure.what());
    return kBadUsage;
  }
}
