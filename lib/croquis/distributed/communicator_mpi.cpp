#include <fmt/format.h>
#include <mpi.h>

#include <croquis/core/require.hpp>
#include <croquis/distributed/communicator.hpp>
#include <croquis/distributed/communicator_mpi.hpp>
#include <croquis/distributed/launch.hpp>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace croquis {
namespace {

constexpr int kTag = 1;

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char why[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, why, &length);
  throw CommunicatorError(fmt::format("Communicator: {} failed: {}", call, std::string(why, why + length)));
}

// MPI counts in int.
int count_of(std::size_t size) {
  require(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "Communicator",
          "fewer than 2^31 numbers in a message; ask for fewer rows or a smaller d", {{"numbers", size}});
  return static_cast<int>(size);
}

bool is_initialised() {
  int value = 0;
  MPI_Initialized(&value);
  return value != 0;
}

bool is_finalised() {
  int value = 0;
  MPI_Finalized(&value);
  return value != 0;
}

// The message that a probe has matched: no other thread can receive it between the probe and this.
std::string received(MPI_Message& message, const MPI_Status& status) {
  int size = 0;
  check(MPI_Get_count(&status, MPI_CHAR, &size), "MPI_Get_count");
  std::string text(static_cast<std::size_t>(size), '\0');
  check(MPI_Mrecv(text.data(), size, MPI_CHAR, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  return text;
}

// MPI of a program that has not initialised it, for as long as the program runs.
class OwnMpi {
 public:
  OwnMpi() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    require(provided == MPI_THREAD_MULTIPLE, "Communicator", "an MPI that threads may call (MPI_THREAD_MULTIPLE)",
            {{"level", provided}});
  }
  ~OwnMpi() {
    if (!is_finalised()) MPI_Finalize();
  }
  OwnMpi(const OwnMpi&) = delete;
  OwnMpi& operator=(const OwnMpi&) = delete;
};

}  // namespace

// A duplicate of somebody's communicator: what is sent on one is not received on the other.
struct Communicator::Mpi {
  MPI_Comm comm = MPI_COMM_NULL;

  explicit Mpi(MPI_Comm of) {
    check(MPI_Comm_dup(of, &comm), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ~Mpi() {
    if (!is_finalised()) MPI_Comm_free(&comm);
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
};

struct MpiCommunicators {
  static Communicator of(MPI_Comm comm) {
    Communicator ranks;
    ranks.mpi_ = std::make_shared<const Communicator::Mpi>(comm);
    check(MPI_Comm_rank(ranks.mpi_->comm, &ranks.rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(ranks.mpi_->comm, &ranks.size_), "MPI_Comm_size");
    return ranks;
  }
};

Communicator communicator_of(MPI_Comm comm) {
  if (!is_initialised() || is_finalised()) {
    throw std::runtime_error("communicator_of: MPI is not running; call it between MPI_Init_thread and MPI_Finalize");
  }
  require(comm != MPI_COMM_NULL, "communicator_of", "a communicator, not MPI_COMM_NULL");
  int between_groups = 0;
  check(MPI_Comm_test_inter(comm, &between_groups), "MPI_Comm_test_inter");
  require(between_groups == 0, "communicator_of", "a communicator of one group, not an intercommunicator");
  return MpiCommunicators::of(comm);
}

Communicator& Communicator::world() {
  if (!is_initialised() && launched_processes() > 0) static const OwnMpi mpi;
  static Communicator all = is_initialised() ? communicator_of(MPI_COMM_WORLD) : Communicator();
  return all;
}

void Communicator::send(int to, const std::string& text) const {
  require(mpi_ != nullptr, "Communicator::send", "another rank", {{"size", size_}});
  check(MPI_Send(text.data(), count_of(text.size()), MPI_CHAR, to, kTag, mpi_->comm), "MPI_Send");
}

std::string Communicator::receive(int from) const {
  require(mpi_ != nullptr, "Communicator::receive", "another rank", {{"size", size_}});
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check(MPI_Mprobe(from, kTag, mpi_->comm, &message, &status), "MPI_Mprobe");
  return received(message, status);
}

std::optional<std::pair<int, std::string>> Communicator::poll() const {
  if (size_ == 1) return {};
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int found = 0;
  check(MPI_Improbe(MPI_ANY_SOURCE, kTag, mpi_->comm, &found, &message, &status), "MPI_Improbe");
  if (found == 0) return {};
  return std::pair{status.MPI_SOURCE, received(message, status)};
}

void Communicator::broadcast(std::string& text, int root) const {
  if (size_ == 1) return;
  unsigned long long size = text.size();
  check(MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, root, mpi_->comm), "MPI_Bcast");
  text.resize(size);
  check(MPI_Bcast(text.data(), count_of(size), MPI_CHAR, root, mpi_->comm), "MPI_Bcast");
}

void Communicator::broadcast(arma::mat& matrix, int root) const {
  if (size_ == 1) return;
  check(MPI_Bcast(matrix.memptr(), count_of(matrix.n_elem), MPI_DOUBLE, root, mpi_->comm), "MPI_Bcast");
}

// Reduced on rank 0 and sent from there: MPI_Allreduce may give ranks sums that differ in their last bits.
void Communicator::sum(arma::mat& matrix) const {
  if (size_ == 1) return;
  const void* source = rank_ == 0 ? MPI_IN_PLACE : matrix.memptr();
  check(MPI_Reduce(source, matrix.memptr(), count_of(matrix.n_elem), MPI_DOUBLE, MPI_SUM, 0, mpi_->comm), "MPI_Reduce");
  broadcast(matrix, 0);
}

void Communicator::maximum(arma::mat& matrix) const {
  if (size_ == 1) return;
  check(MPI_Allreduce(MPI_IN_PLACE, matrix.memptr(), count_of(matrix.n_elem), MPI_DOUBLE, MPI_MAX, mpi_->comm),
        "MPI_Allreduce");
}

void Communicator::abort(int status) const {
  if (mpi_ != nullptr) MPI_Abort(mpi_->comm, status);
  std::_Exit(status);
}

}  // namespace croquis
