#include "arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/linalg/transpose.hpp>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace {

template <typename T>
bool has_type(const py::array& array) {
  return py::isinstance<py::array_t<T>>(array);
}

bool is_aligned(const py::array& array) {
  return (array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0;
}

bool is_fortran(const py::array& array) {
  return (array.flags() & py::array::f_style) != 0;
}

bool is_c(const py::array& array) {
  return (array.flags() & py::array::c_style) != 0;
}

// Memory that an array shows, kept by the capsule that is the array's base.
template <typename T>
py::array owning(arma::Mat<T> matrix, py::ssize_t rows, py::ssize_t cols, py::ssize_t row_step, py::ssize_t col_step) {
  auto kept = std::make_unique<arma::Mat<T>>(std::move(matrix));
  T* const numbers = kept->memptr();
  const py::capsule owner(kept.get(), [](void* m) { delete static_cast<arma::Mat<T>*>(m); });
  kept.release();
  const auto size = static_cast<py::ssize_t>(sizeof(T));
  return py::array_t<T>({rows, cols}, {row_step * size, col_step * size}, numbers, owner);
}

// Where PyTorch's reason does not say how to go on, or names a function that there is not.
std::string way_of_tensor(const std::string& why, const std::string& name) {
  if (why.find("unsupported ScalarType") != std::string::npos) return fmt::format("; give {}.float()", name);
  if (why.find("layout tensor") != std::string::npos) return fmt::format("; give {}.to_dense()", name);
  return "";
}

// What NumPy makes of it, or its reason in one line: a tensor of PyTorch that has derivatives says how to go on. Ctrl-C
// and a lack of memory are no fault of the argument, and stay what they are.
py::array array_made_of(const py::handle& argument, const std::string& name) {
  const py::module_ masked = py::module_::import("numpy.ma");
  if (py::isinstance(argument, masked.attr("MaskedArray")) && masked.attr("is_masked")(argument).cast<bool>()) {
    const bool has_tokens = name != "M";  // that of a sketch
    throw std::invalid_argument(fmt::format("{0}: some of its entries are masked; give {0}.filled(...){1}", name,
                                            has_tokens ? ", and padding by length=" : ""));
  }
  try {
    return py::array(py::reinterpret_borrow<py::object>(argument));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
    std::string why = py::str(error.value()).cast<std::string>();
    std::replace(why.begin(), why.end(), '\n', ' ');
    throw std::invalid_argument(
        fmt::format("{}: not an array, and NumPy makes none of it: {}{}", name, why, way_of_tensor(why, name)));
  }
}

// How to make float64 of what has another dtype, where there is a way.
std::string way_to_float64(const py::handle& argument, char kind, const std::string& name) {
  if (kind == 'c') return ": complex numbers are not taken";
  // As a DataFrame has, too.
  const bool has_astype = py::isinstance<py::array>(argument) || py::hasattr(argument, "astype");
  if (std::string_view("biuf").find(kind) == std::string_view::npos && !(has_astype && kind == 'O')) return "";
  if (has_astype) return fmt::format(", as {}.astype('float64')", name);
  if (py::hasattr(argument, "double")) return fmt::format(", as {}.double()", name);  // a tensor of PyTorch
  return fmt::format(", as numpy.array({}, 'float64')", name);
}

std::string refusal_of_dtype(const py::handle& argument, const py::array& array, const std::string& name) {
  const char kind = array.dtype().kind();
  if (kind == 'O' && py::hasattr(argument, "toarray")) {  // as SciPy's have
    return fmt::format("{0}: is a sparse matrix; give {0}.toarray()", name);
  }
  if (array.ndim() == 0 && !py::isinstance<py::array>(argument)) {
    const auto type = py::type::of(argument).attr("__name__").cast<std::string>();
    return fmt::format("{}: is of type {}; give an array of float32 or float64", name, type);
  }
  return fmt::format("{}: its dtype is {}; give float32 or float64{}", name, py::str(array.dtype()).cast<std::string>(),
                     way_to_float64(argument, kind, name));
}

}  // namespace

std::string shape_of(const py::array& array) {
  std::vector<std::string> sizes;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) sizes.push_back(std::to_string(array.shape(i)));
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

py::array matrix_argument(const py::handle& argument, const std::string& name, const std::string& wanted) {
  const py::array array = array_made_of(argument, name);
  if (!has_type<float>(array) && !has_type<double>(array)) {
    throw std::invalid_argument(refusal_of_dtype(argument, array, name));
  }
  if (array.ndim() != 2) {
    throw std::invalid_argument(fmt::format("{}: its shape is {}; give {}", name, shape_of(array), wanted));
  }
  return array;
}

bool are_float(const std::vector<py::array>& arrays) {
  for (const py::array& array : arrays) {
    if (!has_type<float>(array)) return false;
  }
  return true;
}

bool are_fortran(const std::vector<py::array>& arrays) {
  for (const py::array& array : arrays) {
    if (!is_fortran(array) || is_c(array)) return false;
  }
  return true;
}

template <typename T>
arma::Mat<T> matrix_of(const py::array& array) {
  const auto rows = static_cast<arma::uword>(array.shape(0)), cols = static_cast<arma::uword>(array.shape(1));
  const bool usable = has_type<T>(array) && is_aligned(array);
  // Not strict: a problem that leaves out padding takes memory of its own. The library writes to no matrix of a caller.
  const auto view = [&](const void* memory, arma::uword m, arma::uword n) {
    return arma::Mat<T>(static_cast<T*>(const_cast<void*>(memory)), m, n, false, false);
  };
  if (usable && is_fortran(array)) return view(array.data(), rows, cols);
  if (usable && is_c(array)) return croquis::transposed(view(array.data(), cols, rows));
  const py::array_t<T, py::array::f_style | py::array::forcecast> copy(array);
  return arma::Mat<T>(copy.data(), rows, cols);
}

template <typename T>
py::array array_of(arma::Mat<T> matrix, bool fortran) {
  const auto rows = static_cast<py::ssize_t>(matrix.n_rows), cols = static_cast<py::ssize_t>(matrix.n_cols);
  if (fortran) return owning(std::move(matrix), rows, cols, 1, rows);
  return owning(croquis::transposed(matrix), rows, cols, cols, 1);
}

template arma::Mat<float> matrix_of(const py::array&);
template arma::Mat<double> matrix_of(const py::array&);
template py::array array_of(arma::Mat<float>, bool);
template py::array array_of(arma::Mat<double>, bool);
