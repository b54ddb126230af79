// The outputs of a run as .npy files: what --save-output writes.
#pragma once

#include <armadillo>
#include <string>
#include <utility>

/// A folder with the output of every cell, and the exact outputs beside them: n_q x p_v float64 arrays without padding.
/// Thread-safe: files of different names do not meet.
class SavedOutputs {
 public:
  explicit SavedOutputs(std::string folder) : folder_(std::move(folder)) {}

  /// Makes the folder. Of several ranks the first does so, before any of them saves an output. Throws
  /// std::invalid_argument for one that has files already, unless `may_replace`, and std::runtime_error for one that
  /// cannot be written.
  void make_folder(bool may_replace) const;

  /// "gaussian:8", "skyformer", "paper;ridge=0.1", ... joined by '_' in a name that every file system takes; where that
  /// changes a character, a digest of the whole keeps different names different.
  static std::string file_name(const std::string& parts);

  /// folder/file_name(parts)
  std::string path_of(const std::string& parts) const;
  /// Writes that file. Throws std::runtime_error when it cannot.
  void save(const std::string& parts, const arma::mat& output) const;

 private:
  std::string folder_;
};
