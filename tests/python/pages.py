"""The pages: every session that they show is run, and that of the interface is that of the docstrings."""

import doctest
import os
import pathlib
import re
import subprocess
import sys
import unittest

try:
    import torch
except ImportError:
    torch = None

ROOT = pathlib.Path(os.environ["CROQUIS_SOURCE"])


def run_sessions(page):
    """Runs the sessions of a page one after the other, with one set of names."""
    names, failures = {}, 0
    for i, block in enumerate(re.findall(r"^```pycon\n(.*?)^```", page.read_text(), re.S | re.M)):
        test = doctest.DocTestParser().get_doctest(block, names, f"{page.name}, session {i + 1}", str(page), 0)
        failures += doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False).failed
        names = test.globs
    return failures


class Pages(unittest.TestCase):
    def setUp(self):
        before = os.getcwd()
        os.chdir(ROOT)  # where the pages' files are named from
        self.addCleanup(os.chdir, before)

    def test_interface_is_that_of_the_docstrings(self):
        done = subprocess.run(
            [sys.executable, "-B", "docs/python/interface.py", "--check"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (ROOT / "docs/python/interface.md").read_text()
        self.assertIn('`["sky.*", "lin.thm1/strict"]`', page)  # code, in which a backslash would be shown
        self.assertIn("- `Q, K, V` (arrays or lists of arrays):\n", page)
        self.assertEqual(run_sessions(ROOT / "docs/python/interface.md"), 0)

    def test_readme(self):
        self.assertEqual(run_sessions(ROOT / "README.md"), 0)

    @unittest.skipIf(torch is None, "PyTorch is not installed (python3-torch)")
    def test_tutorial(self):
        self.assertEqual(run_sessions(ROOT / "docs/python/README.md"), 0)


if __name__ == "__main__":
    unittest.main()
