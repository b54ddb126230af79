"""The examples in the docstrings, and that there are docstrings."""

import doctest
import importlib
import inspect
import pkgutil
import sys
import unittest

import croquis


class Docstrings(unittest.TestCase):
    def test_examples(self):
        for module in pkgutil.iter_modules(croquis.__path__, "croquis."):
            if module.name in ("croquis._core", "croquis.torch"):
                continue
            results = doctest.testmod(importlib.import_module(module.name))
            self.assertEqual(results.failed, 0, module.name)
        self.assertEqual(doctest.testmod(croquis).failed, 0)

    def test_everything_public_is_documented(self):
        for name in croquis.__all__:
            thing = getattr(croquis, name)
            if callable(thing):
                self.assertTrue(inspect.getdoc(thing), name)
                for parameter in getattr(inspect.signature(thing), "parameters", {}) if inspect.isfunction(thing) else ():
                    self.assertIn(parameter, inspect.getdoc(thing), f"{name}: {parameter}")


if __name__ == "__main__":
    sys.exit(unittest.main())
