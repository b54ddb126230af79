// The processes (ranks) that work together: one, those that mpirun has started, or those of a communicator of the host
// (communicator_mpi.hpp).
#pragma once

#include <armadillo>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace croquis {

/// Some ranks, and messages among them. A build without MPI has one rank, and no symbol of MPI.
///
/// Cheap to copy: copies are the same ranks with the same messages. Two Communicators that were made separately never
/// see each other's messages, also when they were made from one MPI_Comm.
///
/// Collective functions (broadcast, sum, maximum) are to be called by all ranks in the same order. `sum` adds in an
/// order that depends on the number of ranks: a sum of R numbers is good to (R - 1) u sum |x|, and has the same bits on
/// all ranks. send, receive and poll may be called from several threads where MPI may (MPI_THREAD_MULTIPLE); a message
/// goes to one of them as a whole. A call of MPI that fails throws std::runtime_error with MPI's message.
class Communicator {
 public:
  /// This process alone.
  Communicator() = default;

  /// All processes that mpirun or srun has started with this one, or that a host which has initialised MPI has; else
  /// this process alone. MPI is initialised here when a launcher has started the process and the host has not; only
  /// then it is finalised, when the program ends. Throws std::invalid_argument when a launcher started several
  /// processes of a build without MPI, std::runtime_error when the host has finalised MPI.
  static Communicator& world();

  int rank() const { return rank_; }
  int size() const { return size_; }

  void send(int to, const std::string& text) const;
  std::string receive(int from) const;
  /// The next message that has come from any rank, with its rank; none when there is none yet.
  std::optional<std::pair<int, std::string>> poll() const;

  /// `text` and `matrix` of rank `root` on all of them; the matrix has the size there already.
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
