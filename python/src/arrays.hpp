// NumPy's arrays as matrices of the library, and back.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <armadillo>
#include <string>
#include <vector>

namespace py = pybind11;

/// "(3, 4)".
std::string shape_of(const py::array& array);

/// A matrix argument: an array of two dimensions, of float32 or float64 in the machine's byte order. Throws
/// std::invalid_argument, beginning with `name`, for anything else; `wanted` says what the dimensions are.
py::array matrix_argument(const py::handle& argument, const std::string& name,
                          const std::string& wanted = "the two dimensions of one head, tokens x width");

/// Whether all of them have float32: they are computed in float then, otherwise in double.
bool are_float(const std::vector<py::array>& arrays);

/// Whether all are in Fortran order and not in C order: what is made of them is in Fortran order then too.
bool are_fortran(const std::vector<py::array>& arrays);

/// The array's own memory where it is in Fortran order, aligned and of T; a copy otherwise. The array has to outlive
/// it.
template <typename T>
arma::Mat<T> matrix_of(const py::array& array);

/// An array that owns the matrix, which is not copied in Fortran order.
template <typename T>
py::array array_of(arma::Mat<T> matrix, bool fortran);
