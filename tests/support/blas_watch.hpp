// Watches every call of BLAS and LAPACK that the library makes in a test runner. Runners without blas_watch.cpp have
// null pointers here.
#pragma once

/// Sets four threads for BLAS, as in a program that says nothing on a machine of four processors. BLAS is then told one
/// thread whoever calls, so that small products of the tests stay fast; but where it asks on behalf of a function of
/// the library that holds no SerialBlas, the function is noted.
///
/// BLAS of the OpenMP variant asks omp_get_max_threads() in every call that could use threads. The watch has a function
/// of that name, which the loader takes in place of OpenMP's.
[[gnu::weak]] void start_blas_watch();

/// Prints the functions noted; their number.
[[gnu::weak]] int report_blas_watch();
