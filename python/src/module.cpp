// croquis._core: the calls of the library that the Python package makes. It has no logic of its own.
#include "module.hpp"

#include <croquis/core/kept_memory.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/core/version.hpp>
#include <exception>
#include <new>

#include "calls.hpp"

// What Python calls is below.
#define PyInit__core begin_of_pybind11
PYBIND11_MODULE(_core, module) {
  croquis::keep_freed_memory();
  pybind11::register_exception_translator([](std::exception_ptr failure) {  // also of what copies arguments and results
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      set_no_memory();
    }
  });
  module.doc() = "The library as the package croquis calls it; not for other callers.";
  module.attr("version") = CROQUIS_VERSION;
  module.def("set_threads", &croquis::set_threads);
  module.def("threads", &croquis::threads);
  add_attention(module);
  add_measurements(module);
  add_claims(module);
  add_choice(module);
  add_sketches(module);
}
#undef PyInit__core

// In another interpreter than the first of the process, as those of mod_wsgi, pybind11 would wait for ever for the lock
// that its own thread holds.
PYBIND11_PLUGIN_IMPL(_core) {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return begin_of_pybind11();
  PyErr_SetString(PyExc_ImportError, "croquis: runs in the first interpreter of a process alone, and this is another");
  return nullptr;
}
