#!/usr/bin/env bash
# Writes the tables of docs/results.md again, from what the program says of its columns:
#   docs/columns.sh build/release/apps/croquis
set -euo pipefail
program=$(realpath "$1")
page=$(dirname "$0")/results.md
"$program" list columns | awk -v page="$page" '
  /^croquis / { title = $0 }
  /^\|/ { table[title] = table[title] $0 "\n" }
  END {
    while ((getline line < page) > 0) {
      if (line == "<!-- end of columns -->") inside = 0
      if (!inside) print line
      if (line ~ /^<!-- columns of .* -->$/) {
        title = substr(line, length("<!-- columns of ") + 1)
        sub(/ -->$/, "", title)
        printf "\n%s\n", table[title]
        inside = 1
      }
    }
  }' >"$page.new"
mv "$page.new" "$page"
