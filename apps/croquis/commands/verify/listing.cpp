#include "commands/verify/listing.hpp"

#include <fmt/format.h>

#include <croquis/claims/ledger.hpp>

#include "files/text_table.hpp"

void print_claims() {
  TextTable table(std::vector<TextColumn>(4));
  table.add({"claim", "kind", "source", "statement"});
  for (const croquis::claims::Claim& claim : croquis::claims::all_claims()) {
    table.add({claim.id, claim.kind, claim.source, claim.statement});
  }
  fmt::print("{}", table.text());
}
