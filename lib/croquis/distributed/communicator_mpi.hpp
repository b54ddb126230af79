// A Communicator of the host's own MPI_Comm. Installed by builds with MPI alone.
#pragma once

#include <mpi.h>

#include <croquis/distributed/communicator.hpp>

namespace croquis {

/// The ranks of `comm`, which is borrowed: MPI is neither initialised nor finalised, `comm` is not freed, and the
/// host's messages on it are not touched, because the Communicator has a duplicate (MPI_Comm_dup). Errors of MPI on the
/// duplicate throw CommunicatorError, whatever the error handler of `comm` is.
///
/// Collective over `comm`: all of its ranks must call it, in the same order with respect to other collective calls. The
/// duplicate is freed with the last copy of the Communicator, which is collective too. So all ranks must drop theirs in
/// the same order, before the host calls MPI_Finalize (afterwards nothing is freed).
///
/// If the library has more than one thread, the host must have initialised MPI with at least MPI_THREAD_FUNNELED: only
/// the thread that calls the library calls MPI.
/// Throws: std::invalid_argument for MPI_COMM_NULL and an intercommunicator, std::runtime_error if MPI is not
///   initialised or already finalised.
Communicator communicator_of(MPI_Comm comm);

}  // namespace croquis
