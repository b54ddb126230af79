# What the library links; used by the project and by its package config, so that both find the same.
find_package(Armadillo 11 REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(hwy REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# OpenBLAS, BLAS and LAPACK in one. All its variants share a SONAME: which one runs is asked at run time.
find_library(CROQUIS_OPENBLAS NAMES openblas PATH_SUFFIXES openblas-openmp REQUIRED)
if(NOT TARGET croquis::openblas)
  add_library(croquis::openblas UNKNOWN IMPORTED)
  set_target_properties(croquis::openblas PROPERTIES IMPORTED_LOCATION ${CROQUIS_OPENBLAS})
endif()

# FFTW in double and in single precision.
find_path(CROQUIS_FFTW_INCLUDE fftw3.h REQUIRED)
find_library(CROQUIS_FFTW NAMES fftw3 REQUIRED)
find_library(CROQUIS_FFTW_SINGLE NAMES fftw3f REQUIRED)
if(NOT TARGET croquis::fftw)
  add_library(croquis::fftw INTERFACE IMPORTED)
  set_target_properties(croquis::fftw PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${CROQUIS_FFTW_INCLUDE}
    INTERFACE_LINK_LIBRARIES "${CROQUIS_FFTW};${CROQUIS_FFTW_SINGLE}")
endif()
