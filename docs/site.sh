#!/usr/bin/env bash
# Builds the pages as a site: docs/site.sh [FOLDER], by default build/site. Needs mkdocs (Debian: mkdocs) and no network.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
site=${1:-$root/build/site}
command -v mkdocs >/dev/null || { echo "docs/site.sh: mkdocs is missing: apt-get install --no-install-recommends mkdocs" >&2; exit 2; }

# The pages where the links between them expect them: README.md is the first, docs/ and experiments/ lie beside it.
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
mkdir "$staged/pages"
cd "$root"
find README.md docs experiments \( -name '*.md' -o -name '*.svg' -o -name '*.png' -o -name '*.css' -o -name '*.js' \) -exec cp --parents -t "$staged/pages" {} +
cp docs/mkdocs.yml "$staged"
mkdocs build --strict --quiet --config-file "$staged/mkdocs.yml" --site-dir "$(realpath -m "$site")"
# Debian's mkdocs 1.4 has the jQuery that the pages ask for under an older name.
[ -e "$site/js/jquery-3.6.0.min.js" ] || cp "$site"/js/jquery-*.min.js "$site/js/jquery-3.6.0.min.js"
echo "docs: open $site/index.html; search needs a server: python3 -m http.server -d $site"
