// The processes (ranks) of a run: one, or those that mpirun has started.
#pragma once

#include <armadillo>
#include <optional>
#include <string>
#include <utility>

namespace croquis {

/// All ranks. A build without MPI has one, and no symbol of MPI.
///
/// Collective functions (broadcast, sum, maximum, exchange) are to be called by all ranks in the same order. `sum` adds
/// in an order that depends on the number of ranks: a sum of R numbers is good to (R - 1) u sum |x|, and has the same
/// bits on all ranks. send, receive and poll may be called from several threads.
class Communicator {
 public:
  /// Starts MPI when mpirun or srun has started this process; it ends with the program. Throws std::invalid_argument
  /// when one of them started several processes of a build without MPI.
  static Communicator& world();

  int rank() const { return rank_; }
  int size() const { return size_; }

  void send(int to, const std::string& text);
  std::string receive(int from);
  /// The next message that has come from any rank, with its rank; none when there is none yet.
  std::optional<std::pair<int, std::string>> poll();

  /// `text` and `matrix` of rank `root` on all of them; the matrix has the size there already.
  void broadcast(std::string& text, int root = 0);
  void broadcast(arma::mat& matrix, int root);
  void sum(arma::mat& matrix);
  void maximum(arma::mat& matrix);

  /// Ends all ranks at once.
  [[noreturn]] void abort(int status);

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

 private:
  Communicator();

  int rank_ = 0, size_ = 1;
};

}  // namespace croquis
