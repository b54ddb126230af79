#include <mpi.h>

#include <croquis/core/require.hpp>
#include <croquis/distributed/communicator.hpp>
#include <croquis/distributed/launch.hpp>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace croquis {
namespace {

constexpr int kTag = 1;

// MPI counts in int.
int count_of(std::size_t size) {
  require(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "Communicator",
          "fewer than 2^31 numbers in a message; use more ranks", {{"numbers", size}});
  return static_cast<int>(size);
}

// MPI's own error handler has ended the job before a call returns an error.
std::string received(int from, const MPI_Status& status) {
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string text(static_cast<std::size_t>(size), '\0');
  MPI_Recv(text.data(), size, MPI_CHAR, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return text;
}

}  // namespace

Communicator::Communicator() {
  if (launched_processes() == 0) return;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  require(provided == MPI_THREAD_MULTIPLE, "Communicator", "an MPI that threads may call (MPI_THREAD_MULTIPLE)",
          {{"level", provided}});
}

Communicator::~Communicator() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) MPI_Finalize();
}

Communicator& Communicator::world() {
  static Communicator all;
  return all;
}

void Communicator::send(int to, const std::string& text) {
  MPI_Send(text.data(), count_of(text.size()), MPI_CHAR, to, kTag, MPI_COMM_WORLD);
}

std::string Communicator::receive(int from) {
  MPI_Status status;
  MPI_Probe(from, kTag, MPI_COMM_WORLD, &status);
  return received(from, status);
}

std::optional<std::pair<int, std::string>> Communicator::poll() {
  if (size_ == 1) return {};
  MPI_Status status;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &found, &status);
  if (found == 0) return {};
  return std::pair{status.MPI_SOURCE, received(status.MPI_SOURCE, status)};
}

void Communicator::broadcast(std::string& text, int root) {
  if (size_ == 1) return;
  unsigned long long size = text.size();
  MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, root, MPI_COMM_WORLD);
  text.resize(size);
  MPI_Bcast(text.data(), count_of(size), MPI_CHAR, root, MPI_COMM_WORLD);
}

void Communicator::broadcast(arma::mat& matrix, int root) {
  if (size_ == 1) return;
  MPI_Bcast(matrix.memptr(), count_of(matrix.n_elem), MPI_DOUBLE, root, MPI_COMM_WORLD);
}

// Reduced on rank 0 and sent from there: MPI_Allreduce may give ranks sums that differ in their last bits.
void Communicator::sum(arma::mat& matrix) {
  if (size_ == 1) return;
  const void* source = rank_ == 0 ? MPI_IN_PLACE : matrix.memptr();
  MPI_Reduce(source, matrix.memptr(), count_of(matrix.n_elem), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  broadcast(matrix, 0);
}

void Communicator::maximum(arma::mat& matrix) {
  if (size_ == 1) return;
  MPI_Allreduce(MPI_IN_PLACE, matrix.memptr(), count_of(matrix.n_elem), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

void Communicator::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace croquis
