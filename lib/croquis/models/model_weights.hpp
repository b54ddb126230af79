// The tensors of a model, in one safetensors file or in several with an index.
#pragma once

#include <armadillo>
#include <croquis/io/safetensors.hpp>
#include <memory>
#include <string>
#include <vector>

namespace croquis {

/// Tensors by name, as matrices in double. They are read on first use, and kept in memory while all kept tensors have
/// at most kKept bytes; further tensors are read each time. Copies share the files and the kept tensors. Thread-safe.
class ModelWeights {
 public:
  static constexpr double kKept = 4e9;

  /// Opens a safetensors file or, if the path ends in .json, an index: a JSON object whose weight_map has the name of a
  /// file in the same folder for each tensor.
  /// Throws: std::invalid_argument, with a message of one line that names the file, as SafeTensors; for an index
  ///   without a weight_map of strings or with a file in another folder; and if a file lacks a tensor that the index
  ///   assigns to it.
  explicit ModelWeights(const std::string& path);
  /// The tensors of one open file. Implicit on purpose.
  ModelWeights(SafeTensors tensors);  // NOLINT(google-explicit-constructor)

  /// The path of the file, as it appears in messages.
  const std::string& name() const;
  std::vector<std::string> names() const;
  bool has(const std::string& tensor) const;
  /// Throws: std::invalid_argument for an unknown name.
  const std::vector<std::uint64_t>& shape(const std::string& tensor) const;
  /// A tensor of one dimension, as a row, or of two. Throws: std::invalid_argument as SafeTensors::matrix.
  std::shared_ptr<const arma::mat> matrix(const std::string& tensor) const;
  /// Whether two tensors have one shape and the same numbers. Reads both; only the second may then be kept in memory.
  bool equal(const std::string& a, const std::string& b) const;
  /// Adds all bytes of the files to a digest, and in which of them each tensor is.
  void add_to(Digest& digest) const;

 private:
  struct Files;
  std::shared_ptr<Files> files_;
};

}  // namespace croquis
