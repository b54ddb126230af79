// The tensors of a model, in one safetensors file or in several with an index.
#pragma once

#include <armadillo>
#include <croquis/io/safetensors.hpp>
#include <memory>
#include <string>
#include <vector>

namespace croquis {

/// Tensors by name, as matrices in double. They are read when they are used, and kept in memory as long as all that is
/// kept has at most kKept bytes; what is beyond that is read each time. Copies share the files and what is kept.
/// Thread-safe.
class ModelWeights {
 public:
  static constexpr double kKept = 4e9;

  /// A safetensors file or, ending in .json, an index: a JSON object whose weight_map has the name of a file in the
  /// same folder for each tensor.
  /// Throws: std::invalid_argument, with one line that names the file, as SafeTensors, for an index without a
  ///   weight_map of strings, with a file in another folder, and where a file lacks a tensor that the index has there.
  explicit ModelWeights(const std::string& path);
  /// Tensors of one file. Implicit, for those who have it open.
  ModelWeights(SafeTensors tensors);  // NOLINT(google-explicit-constructor)

  /// The file that was given, as in messages.
  const std::string& name() const;
  bool has(const std::string& tensor) const;
  /// Throws: std::invalid_argument for an unknown name.
  const std::vector<std::uint64_t>& shape(const std::string& tensor) const;
  /// A tensor of one dimension, as a row, or of two. Throws: std::invalid_argument as SafeTensors::matrix.
  std::shared_ptr<const arma::mat> matrix(const std::string& tensor) const;

 private:
  struct Files;
  std::shared_ptr<Files> files_;
};

}  // namespace croquis
