# What the library links; used by the project and by its package config, so that both find the same.
find_package(Armadillo 11 REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(hwy REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# OpenBLAS, BLAS and LAPACK in one. All its variants share a SONAME: which one runs is asked at run time.
find_library(CROQUIS_OPENBLAS NAMES openblas PATH_SUFFIXES openblas-openmp REQUIRED)
if(NOT TARGET croquis::openblas)
  add_library(croquis::openblas UNKNOWN IMPORTED)
  set_target_properties(croquis::openblas PROPERTIES IMPORTED_LOCATION ${CROQUIS_OPENBLAS})
endif()

# FFTW in both precisions, zip archives, Unicode, regular expressions. Debian has no CMake targets of them that work.
foreach(library fftw3 fftw3f zip utf8proc pcre2-8)
  find_library(CROQUIS_${library} NAMES ${library} REQUIRED)
  if(NOT TARGET croquis::${library})
    add_library(croquis::${library} UNKNOWN IMPORTED)
    set_target_properties(croquis::${library} PROPERTIES IMPORTED_LOCATION ${CROQUIS_${library}})
  endif()
endforeach()

# MPI, for runs of several processes. The C interface alone: the C++ one was taken out of the standard.
# Where the package config has set it, it stays: under policies of before CMake 3.21 the cache variable would remove it.
if(NOT DEFINED CROQUIS_WITH_MPI)
  set(CROQUIS_WITH_MPI AUTO CACHE STRING "Runs of several processes: ON, OFF, or AUTO, where MPI is found")
  set_property(CACHE CROQUIS_WITH_MPI PROPERTY STRINGS AUTO ON OFF)
endif()
set(CROQUIS_HAS_MPI OFF)
if(CROQUIS_WITH_MPI STREQUAL "AUTO" OR CROQUIS_WITH_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  if(CROQUIS_WITH_MPI STREQUAL "AUTO")
    find_package(MPI QUIET COMPONENTS CXX)
  else()
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
  set(CROQUIS_HAS_MPI ${MPI_CXX_FOUND})
endif()
