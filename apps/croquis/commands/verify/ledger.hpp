// The ledger as the program prints it: one line a claim, as a run's file has it.
#pragma once

#include <croquis/claims/claim_rows.hpp>
#include <map>
#include <string>
#include <vector>

struct LedgerLine {
  std::string id;  ///< claim, or claim!mutant
  std::string verdict, number, sentence;
};

/// The rows of whole claims.
std::vector<LedgerLine> lines_of(const std::vector<croquis::claims::ClaimRow>& rows);

void print_ledger(const std::vector<LedgerLine>& ledger, bool markdown);

/// Claims whose verdict no row on one of these inputs has: on the user's own heads, those that examples of their own
/// decide.
std::vector<std::string> decided_elsewhere(const std::vector<croquis::claims::ClaimRow>& rows,
                                           const std::vector<std::string>& inputs);

/// What to say of them: for a terminal in lines below the table, and as one sentence; nothing if there are none.
void print_decided_elsewhere(const std::vector<std::string>& claims);
std::string sentence_of_elsewhere(const std::vector<std::string>& claims);

/// Verdicts by claim from a file of lines "claim VERDICT" with # comments; none for an empty path.
/// Throws std::invalid_argument for a file that cannot be opened and a line that is anything else, with its number.
std::map<std::string, std::string> read_expected(const std::string& path);

/// Says on standard error which claims are INCONCLUSIVE because their check broke down, and nothing where none is.
void warn_of_broken(const std::vector<LedgerLine>& ledger);

/// Says on standard error which claims came out other than expected; whether one did.
bool print_unexpected(const std::vector<LedgerLine>& ledger, const std::map<std::string, std::string>& expected);

/// Of the lines of mutants: those that are weakened bounds and may keep the verdict, and why.
void print_survivors(const std::vector<LedgerLine>& ledger);

/// Says on standard error which mutants left the verdict that their claim should have; whether one did.
bool print_unnoticed(const std::vector<LedgerLine>& ledger);
