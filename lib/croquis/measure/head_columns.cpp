#include <croquis/measure/head_columns.hpp>

namespace croquis {

Column sequence_column() {
  return {.name = "sequence",
          .role = Role::subject,
          .meaning = "the sequence of `--ids`, from 0; of several that are joined, the first",
          .option = "--ids"};
}

Column layer_column() {
  return {
      .name = "layer", .role = Role::subject, .meaning = "the layer of a model, from 0. `NA` if the input has none"};
}

Column head_column() {
  return {
      .name = "head", .role = Role::subject, .meaning = "the head, from 0. `NA` if the input has one without a number"};
}

}  // namespace croquis
