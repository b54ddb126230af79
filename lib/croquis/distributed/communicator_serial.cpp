#include <croquis/core/require.hpp>
#include <croquis/distributed/communicator.hpp>
#include <croquis/distributed/launch.hpp>
#include <cstdlib>
#include <stdexcept>

namespace croquis {
namespace {
[[noreturn]] void no_other_rank() {
  throw std::logic_error("Communicator: there is no other rank");
}
}  // namespace

Communicator::Communicator() {
  require(launched_processes() <= 1, "mpirun",
          "one process, for this build has no MPI; configure it with -DCROQUIS_WITH_MPI=ON",
          {{"processes", launched_processes()}});
}
Communicator::~Communicator() = default;

Communicator& Communicator::world() {
  static Communicator one;
  return one;
}

void Communicator::send(int, const std::string&) {
  no_other_rank();
}
std::string Communicator::receive(int) {
  no_other_rank();
}
std::optional<std::pair<int, std::string>> Communicator::poll() {
  return {};
}

// What is the same on one rank.
void Communicator::broadcast(std::string&, int) {}
void Communicator::broadcast(arma::mat&, int) {}
void Communicator::sum(arma::mat&) {}
void Communicator::maximum(arma::mat&) {}

void Communicator::abort(int status) {
  std::_Exit(status);
}

}  // namespace croquis
