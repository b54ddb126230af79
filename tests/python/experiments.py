"""Experiments that train a model, in their small size."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "experiments"


@unittest.skipIf(importlib.util.find_spec("torch") is None, "PyTorch is not installed (python3-torch)")
class Experiments(unittest.TestCase):
    def test_small_sizes(self):
        for name in ("listops", "skyformer-table3"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                run = subprocess.run(
                    [EXPERIMENTS / "run.sh", name, "--smoke", "--out", folder],
                    env={**os.environ, "PYTHON": sys.executable},
                    capture_output=True,
                    text=True,
                )
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                self.assertTrue(list(pathlib.Path(folder).glob("*.svg")))


if __name__ == "__main__":
    unittest.main()
