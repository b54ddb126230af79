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

Communicator& Communicator::world() {
  static Communicator one = [] {
    require(launched_processes() <= 1, "mpirun",
            "one process, for this build has no MPI; configure it with -DCROQUIS_WITH_MPI=ON",
            {{"processes", launched_processes()}});
    return Communicator();
  }();
  return one;
}

void Communicator::send(int, const std::string&) const {
  no_other_rank();
}
std::string Communicator::receive(int) const {
  no_other_rank();
}
std::optional<std::pair<int, std::string>> Communicator::poll() const {
  return {};
}

// What is the same on one rank.
void Communicator::broadcast(std::string&, int) const {}
void Communicator::broadcast(arma::mat&, int) const {}
void Communicator::sum(arma::mat&) const {}
void Communicator::maximum(arma::mat&) const {}

void Communicator::abort(int status) const {
  std::_Exit(status);
}

}  // namespace croquis
