// How this process was started.
#pragma once

#include <cstdlib>

namespace croquis {

/// The number of processes that an MPI launcher has started together with this one; 0 without a launcher.
inline int launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {  // mpirun; srun --mpi=pmi2
    if (const char* size = std::getenv(name)) return std::atoi(size);
  }
  // srun --mpi=pmix sets only the number of tasks of the job step.
  const char* steps = std::getenv("PMIX_RANK") != nullptr ? std::getenv("SLURM_STEP_NUM_TASKS") : nullptr;
  return steps != nullptr ? std::atoi(steps) : 0;
}

}  // namespace croquis
