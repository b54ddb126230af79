#!/usr/bin/env bash
# Builds the pages as a site: docs/site.sh [FOLDER], by default build/site. Needs mkdocs (Debian: mkdocs) and no network.
# With python3-pygments its code is highlighted. The site can be opened from disk, its search too.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
site=${1:-$root/build/site}
command -v mkdocs >/dev/null || { echo "docs/site.sh: mkdocs is missing: apt-get install --no-install-recommends mkdocs" >&2; exit 2; }

# The pages where the links between them expect them: README.md is the first, docs/ and experiments/ lie beside it.
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
mkdir "$staged/pages"
cd "$root"
find README.md docs experiments \( -name '*.md' -o -name '*.svg' -o -name '*.png' -o -name '*.css' -o -name '*.js' -o -name '*.html' \) -exec cp --parents -t "$staged/pages" {} +
cp docs/mkdocs.yml "$staged"
mkdocs build --strict --quiet --config-file "$staged/mkdocs.yml" --site-dir "$(realpath -m "$site")"
# Debian's mkdocs 1.4 has the jQuery that the pages ask for under an older name.
[ -e "$site/js/jquery-3.6.0.min.js" ] || cp "$site"/js/jquery-*.min.js "$site/js/jquery-3.6.0.min.js"
# Nor has it two scripts that every page of the theme asks for: one is for browsers before 2013, one wraps tables.
touch "$site/js/html5shiv.min.js" "$site/js/theme_extra.js"
# Links to the first page name a folder, which a browser lists where there is no server.
find "$site" -name '*.html' -exec sed -i -E 's#href="((\.\./)*\.\.|\.|\./\.)"#href="\1/index.html"#g' {} +
# The search index as a script, for pages that are opened from disk, where a browser reads no other files.
{ printf 'const croquisPages = '; cat "$site/search/search_index.json"; printf '.docs;\n'; } >"$site/search/search_index.js"
python3 "$root/docs/site_links.py" "$site"
echo "docs: open $site/index.html"
