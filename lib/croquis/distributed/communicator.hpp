// The processes (ranks) that work together: one process, those that mpirun has started, or those of the host's own
// communicator (communicator_mpi.hpp).
#pragma once

#include <armadillo>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace croquis {

/// Thrown, with MPI's message, if a call of MPI has failed. This may have happened on this rank alone, while others
/// wait for it. So the program must not go on as after a numerical breakdown, which all ranks share.
class CommunicatorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A group of ranks, and messages among them. A build without MPI has one rank, and no symbol of MPI.
///
/// Cheap to copy: copies are the same ranks with the same messages. Two Communicators that were created separately
/// never see each other's messages, even if they were created from the same MPI_Comm.
///
/// Collective functions (broadcast, sum, maximum) must be called by all ranks in the same order. `sum` adds in an order
/// that depends on the number of ranks: the error of a sum of R numbers is at most (R - 1) u sum |x|, and the result
/// has the same bits on all ranks. If MPI allows it (MPI_THREAD_MULTIPLE), send, receive and poll may be called from
/// several threads; one of them gets a message as a whole. If a call of MPI fails, CommunicatorError is thrown.
class Communicator {
 public:
  /// This process alone.
  Communicator() = default;

  /// All processes that mpirun or srun has started with this one, or all processes of a host that has initialised MPI;
  /// otherwise this process alone. MPI is initialised here if a launcher has started the process and the host has not
  /// initialised it; only then it is finalised, at the end of the program.
  /// Throws: std::invalid_argument if a launcher started several processes of a build without MPI, std::runtime_error
  ///   if the host has finalised MPI.
  static Communicator& world();

  int rank() const { return rank_; }
  int size() const { return size_; }

  void send(int to, const std::string& text) const;
  std::string receive(int from) const;
  /// The next message that has arrived, with its rank; empty if none has.
  std::optional<std::pair<int, std::string>> poll() const;

  /// Copies `text` or `matrix` of rank `root` to all ranks, on which the matrix must have its size already. sum and
  /// maximum replace the matrix by the entrywise sum or maximum over the ranks.
  void broadcast(std::string& text, int root = 0) const;
  void broadcast(arma::mat& matrix, int root) const;
  void sum(arma::mat& matrix) const;
  void maximum(arma::mat& matrix) const;

  /// Ends all ranks at once.
  [[noreturn]] void abort(int status) const;

 private:
  struct Mpi;  // what a build with MPI knows of it
  friend struct MpiCommunicators;

  std::shared_ptr<const Mpi> mpi_;  // none: this process alone
  int rank_ = 0, size_ = 1;
};

}  // namespace croquis
