// X.draws.csv of croquis choose: every error that was computed, so that a resumed run has it.
#pragma once

#include <croquis/measure/choose.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "files/row_file.hpp"
#include "files/run.hpp"

/// The file while a run writes it; with --resume, with the errors that it had.
class ChoiceDraws {
 public:
  /// Errors that are not to be kept are taken out of the file. Throws as RowFile, and std::invalid_argument for a line
  /// of another seed or precision, or a damaged one.
  explicit ChoiceDraws(const RunOptions& options, const std::function<bool(const croquis::ChoiceDraw&)>& keep = {});

  /// What choose() asks and tells; they refer to this object. Shows progress unless `quiet`.
  croquis::ChoiceHooks hooks(bool quiet);
  /// Ends the progress.
  void close() { progress_.reset(); }
  /// What the file has now.
  const std::vector<croquis::ChoiceDraw>& all() const { return all_; }

 private:
  using Key = std::vector<std::string>;
  static Key key_of(const croquis::ChoiceDraw& draw);

  std::uint64_t seed_;
  RowFile file_;
  std::map<Key, double> known_;
  std::vector<croquis::ChoiceDraw> all_;
  std::unique_ptr<Progress> progress_;
};
