// The files beside the rows of a result: their names, and which of them a run may replace.
#pragma once

#include <string>
#include <vector>

/// What to do with the files of a result that are there already.
enum class Existing { refuse, resume, overwrite };

/// Throws std::invalid_argument, which says what --resume and --overwrite would do.
[[noreturn]] void refuse_existing(const std::string& path);

/// `out` without its last extension ".csv", plus `end`: X.csv -> X.svg.
std::string beside(const std::string& out, const std::string& end);

/// X.csv -> X.meta.json: what is needed to obtain the rows again.
std::string meta_file(const std::string& out);
/// X.csv -> X.json: the choices of croquis choose, for other programs.
std::string choice_file(const std::string& out);

/// A table beside the rows, by the function that names it.
using Companion = std::string (*)(const std::string& out);

/// X.csv -> X.summary.csv: what the rows say together.
std::string summary_file(const std::string& out);
/// X.csv -> X.heads.csv: the same of several heads together.
std::string heads_file(const std::string& out);
/// X.csv -> X.layers.csv: the errors of the layers of croquis model --by-layer.
std::string layers_file(const std::string& out);
/// X.csv -> X.draws.csv: every error that croquis choose has computed.
std::string draws_file(const std::string& out);
/// X.csv -> X.steps.csv: what croquis choose --target-loss has tested.
std::string steps_file(const std::string& out);

/// Whether a file has the name and the columns of one of them, and is not the rows of a run of that name.
bool is_companion_of_rows(const std::string& path);
/// All of them that there can be.
std::vector<std::string> companions_of(const std::string& out);
/// Throws std::invalid_argument where a run with rows in `out` would replace a file that is none of its result: one of
/// these companions, which it writes; or, unasked, one that a run goes on with. To be called before the rows are
/// opened.
void require_companions(const std::string& out, const std::vector<Companion>& companions, Existing existing);
/// Throws std::runtime_error where `path`, one of them, has meanwhile become something else: the rows of another run,
/// or a file of somebody. To be called before it is written.
void require_still_companion(const std::string& path);
/// Whether one of them has rows that a run goes on with before it has rows in `out`: the errors of croquis choose.
bool has_rows_to_resume(const std::string& out, const std::vector<Companion>& companions);
/// Removes those of an earlier result in `out`, which would be taken for the new one's. Tables with other
/// columns, and the rows of another run, stay. Throws std::runtime_error for one that cannot be removed.
void remove_companions(const std::string& out);
