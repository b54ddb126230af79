// The columns that say which head of a model or of arrays a row is about, the same in all results of single heads.
#pragma once

#include <croquis/measure/columns.hpp>

namespace croquis {

Column sequence_column();  ///< with --ids
Column layer_column();
Column head_column();

}  // namespace croquis
