// Hugging Face's safetensors files: named tensors of a model.
#pragma once

#include <armadillo>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace croquis {

/// A safetensors file: eight bytes of header length, a JSON header with type, shape and place of every tensor, the
/// numbers.
class SafeTensors {
 public:
  /// Throws std::invalid_argument in one line that names the file: cannot be read, and what the format forbids or its
  /// reference implementation refuses: a header of more than 100 MB or longer than the file, that does not begin with
  /// '{', is not JSON or has a name twice; an unknown type; tensors of other sizes than their shapes, or that are not
  /// one after the other from the first byte after the header to the file's last.
  explicit SafeTensors(const std::string& path);
  /// The same from the bytes of a file; `name` stands in the messages.
  SafeTensors(std::string bytes, std::string name);

  bool has(const std::string& tensor) const { return tensors_.contains(tensor); }
  std::vector<std::string> names() const;
  /// What stands before messages about the file.
  const std::string& name() const { return name_; }
  /// Throws std::invalid_argument for a name that there is not.
  const std::vector<std::uint64_t>& shape(const std::string& tensor) const { return find(tensor).shape; }
  /// A tensor of one dimension, as a row, or of two; float32, float16, bfloat16 or float64.
  /// Throws std::invalid_argument for a name that there is not, another type, more dimensions, NaN or Inf.
  arma::mat matrix(const std::string& tensor) const;

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

  std::string bytes_, name_;
  std::uint64_t data_ = 0;  // where the numbers begin
  std::map<std::string, Tensor> tensors_;
};

}  // namespace croquis
