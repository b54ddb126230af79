// Hugging Face's safetensors files: named tensors of a model.
#pragma once

#include <armadillo>
#include <croquis/io/digest.hpp>
#include <croquis/io/stored_array.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace croquis {

/// A safetensors file: eight bytes with the length of the header; a JSON header with the type, shape and position of
/// every tensor; and the numbers, which are read on request. Copies share the file, which stays open.
class SafeTensors {
 public:
  /// Throws std::invalid_argument, with a message of one line that names the file, if it cannot be read, and for
  ///   everything that the format forbids or its reference implementation refuses:
  /// - a header that is longer than 100 MB or than the file, does not begin with '{', is not JSON, or has a name twice;
  /// - an unknown type;
  /// - tensors whose sizes differ from their shapes, or that do not follow each other without gaps from the end of the
  ///   header to the end of the file.
  explicit SafeTensors(const std::string& path);
  explicit SafeTensors(SharedBytes source);
  /// The same from the bytes of a file. `name` is used in messages.
  SafeTensors(std::string bytes, const std::string& name);

  bool has(const std::string& tensor) const { return tensors_.contains(tensor); }
  std::vector<std::string> names() const;
  /// The path of the file, as it appears in messages.
  const std::string& name() const { return source_->name(); }
  /// Throws std::invalid_argument for an unknown name.
  const std::vector<std::uint64_t>& shape(const std::string& tensor) const { return find(tensor).shape; }
  /// A tensor of one dimension, as a row (1 x n), or of two; float32, float16, bfloat16 or float64.
  /// Throws: std::invalid_argument for an unknown name, another type, more dimensions, NaN or infinity.
  arma::mat matrix(const std::string& tensor) const;
  /// A tensor of two dimensions, of three (heads, n, p) or of four (batch, heads, n, p). Its numbers are not checked.
  /// Throws: std::invalid_argument for an unknown name, another type, and as StoredArray.
  StoredArray array(const std::string& tensor) const;
  /// Adds all bytes of the file to a digest.
  void add_to(Digest& digest) const { digest.add(*source_); }

 private:
  struct Tensor {
    std::string type;
    std::vector<std::uint64_t> shape;
    std::uint64_t begin, end;  // in the data
  };
  struct Header;  // reads an entry
  void parse_header();
  void require_contiguous() const;
  const Tensor& find(const std::string& tensor) const;
  StoredArray array(const std::string& tensor, std::vector<std::uint64_t> shape) const;

  SharedBytes source_;
  std::uint64_t data_ = 0;  // where the numbers begin
  std::map<std::string, Tensor> tensors_;
};

}  // namespace croquis
