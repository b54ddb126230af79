#include <fmt/format.h>

#include <croquis/io/bytes.hpp>
#include <croquis/io/json.hpp>
#include <croquis/models/model_weights.hpp>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

namespace croquis {

struct ModelWeights::Files {
  std::string name;
  std::vector<SafeTensors> files;
  std::map<std::string, std::size_t> places;  // the file of each tensor
  std::mutex mutex;                           // for the two below
  std::map<std::string, std::shared_ptr<const arma::mat>> kept;
  double bytes = 0;

  void add(SafeTensors file) {
    for (const std::string& tensor : file.names()) places.emplace(tensor, files.size());
    files.push_back(std::move(file));
  }

  const SafeTensors& file_of(const std::string& tensor) const {
    const auto found = places.find(tensor);
    if (found == places.end()) refuse_file(name, fmt::format("has no tensor '{}'", tensor));
    return files[found->second];
  }

  void open_index() {
    const nlohmann::json index = parse_json_object(read_bytes(name), name, "is no index of safetensors files");
    if (!index.contains("weight_map") || !index["weight_map"].is_object()) {
      refuse_file(name, "has no weight_map, which an index of safetensors files has");
    }
    std::map<std::string, std::size_t> opened;
    for (const auto& [tensor, value] : index["weight_map"].items()) {
      const std::string file = value.is_string() ? value.get<std::string>() : "";
      if (file.empty() || std::filesystem::path(file).filename() != file) {
        refuse_file(name, fmt::format("has no name of a file in the same folder for tensor '{}'", excerpt(tensor)));
      }
      const auto [place, added] = opened.try_emplace(file, files.size());
      if (added) files.emplace_back(std::filesystem::path(name).replace_filename(file).string());
      const SafeTensors& there = files[place->second];
      if (!there.has(tensor)) {
        refuse_file(there.name(), fmt::format("has no tensor '{}', which {} has there", excerpt(tensor), name));
      }
      places.emplace(tensor, place->second);
    }
  }
};

ModelWeights::ModelWeights(const std::string& path) : files_(std::make_shared<Files>()) {
  files_->name = path;
  if (path.ends_with(".json")) {
    files_->open_index();
  } else {
    files_->add(SafeTensors(path));
  }
}

ModelWeights::ModelWeights(SafeTensors tensors) : files_(std::make_shared<Files>()) {
  files_->name = tensors.name();
  files_->add(std::move(tensors));
}

const std::string& ModelWeights::name() const {
  return files_->name;
}

std::vector<std::string> ModelWeights::names() const {
  std::vector<std::string> names;
  for (const auto& [tensor, file] : files_->places) names.push_back(tensor);
  return names;
}

bool ModelWeights::has(const std::string& tensor) const {
  return files_->places.contains(tensor);
}

const std::vector<std::uint64_t>& ModelWeights::shape(const std::string& tensor) const {
  return files_->file_of(tensor).shape(tensor);
}

std::shared_ptr<const arma::mat> ModelWeights::matrix(const std::string& tensor) const {
  const SafeTensors& file = files_->file_of(tensor);
  const std::lock_guard lock(files_->mutex);
  if (const auto found = files_->kept.find(tensor); found != files_->kept.end()) return found->second;
  auto matrix = std::make_shared<const arma::mat>(file.matrix(tensor));
  const double bytes = sizeof(double) * static_cast<double>(matrix->n_elem);
  if (files_->bytes + bytes <= kKept) {
    files_->bytes += bytes;
    files_->kept.emplace(tensor, matrix);
  }
  return matrix;
}

bool ModelWeights::equal(const std::string& a, const std::string& b) const {
  if (shape(a) != shape(b)) return false;
  return arma::approx_equal(files_->file_of(a).matrix(a), *matrix(b), "absdiff", 0);
}

void ModelWeights::add_to(Digest& digest) const {
  for (const SafeTensors& file : files_->files) file.add_to(digest);
  for (const auto& [tensor, file] : files_->places) digest.add(fmt::format("{}: {}\n", tensor, file));
}

}  // namespace croquis
