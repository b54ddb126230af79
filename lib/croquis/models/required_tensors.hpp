// The tensors that an architecture has. Not installed.
#pragma once

#include <croquis/models/architecture.hpp>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace croquis {

/// Notes the tensors that have to be there, so that others can be told from them. All functions throw
/// std::invalid_argument, which names the tensor.
class RequiredTensors {
 public:
  explicit RequiredTensors(const ModelParts& parts) : parts_(parts) {}

  /// These throw unless the tensor exists with this shape.
  void shape(const std::string& tensor, const std::vector<std::uint64_t>& shape);
  void linear(const std::string& name, arma::uword out, arma::uword in, bool bias = true);
  /// Also if the norm has other numbers under the old names of its parts than under the new ones.
  void norm(const std::string& name, arma::uword width);
  /// The number of rows of a table of embeddings of this width.
  arma::uword table(const std::string& tensor, arma::uword width);

  /// Throws if the file has a tensor besides the required ones whose name begins with `stem`, as that of the layers:
  /// the model may then be computed in another way. Buffers, whose numbers follow from the configuration, are told by
  /// the end of their names.
  void no_others(const std::string& stem, std::initializer_list<const char*> buffers = {}) const;

 private:
  const ModelParts& parts_;
  std::set<std::string> names_;
};

}  // namespace croquis
