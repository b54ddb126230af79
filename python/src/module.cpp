// croquis._core: the calls of the library that the Python package makes. It has no logic of its own.
#include "module.hpp"

#include <croquis/core/kept_memory.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/core/version.hpp>

PYBIND11_MODULE(_core, module) {
  croquis::keep_freed_memory();
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
