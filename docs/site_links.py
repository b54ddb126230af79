"""Whether all that the pages of a site ask for is there: docs/site_links.py FOLDER. Lists what is not."""
import html.parser
import os
import sys
import urllib.parse


class Links(html.parser.HTMLParser):
    """The addresses in a page, and the names that one can link to."""

    def __init__(self, path):
        super().__init__()
        self.addresses, self.names = set(), set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.addresses.add(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def main(root):
    pages = {}
    for folder, _, files in os.walk(root):
        for name in files:
            # The page for addresses that there are not is served from everywhere.
            if name.endswith(".html") and name != "404.html":
                pages[os.path.join(folder, name)] = Links(os.path.join(folder, name))
    missing = set()
    for page, links in pages.items():
        for address in links.addresses:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            path = urllib.parse.unquote(parts.path)
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            known = not parts.fragment or target not in pages or parts.fragment in pages[target].names
            if not os.path.isfile(target) or not known:
                missing.add(f"{os.path.relpath(page, root)}: {address}")
    for line in sorted(missing):
        print(line, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
