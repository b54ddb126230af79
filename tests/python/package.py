"""The package as others get it: stubs, wheel, installation."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(os.environ["CROQUIS_SOURCE"])
BUILD = pathlib.Path(os.environ["CROQUIS_BUILD"])

# PyTorch is not read, where it is: its types take a minute.
MYPY = """[mypy]
strict = True
[mypy-torch.*]
follow_imports = skip
ignore_missing_imports = True
[mypy-pandas.*]
ignore_missing_imports = True
[mypy-croquis.torch]
disallow_any_unimported = False
disallow_subclassing_any = False
disallow_untyped_decorators = False
disallow_untyped_calls = False
warn_return_any = False
"""

USE = """
import croquis, numpy
X = numpy.random.default_rng(1).normal(size=(40, 8))
assert croquis.exact(X, X, X[:, :3]).shape == (40, 3)
print(croquis.__file__)
"""


def has_mypy():
    return subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True).returncode == 0


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def imported_from(self, folder):
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        return run(sys.executable, "-B", "-c", USE, env=environment, cwd=self.folder).strip()

    def test_a_wheel_has_what_it_needs_and_is_the_same_again(self):
        sys.path.insert(0, str(ROOT / "python" / "backend"))
        import croquis_build

        for number in "12":
            (self.folder / number).mkdir()
        names = [croquis_build.build_wheel(self.folder / n, {"build-dir": str(BUILD)}) for n in "12"]
        wheels = [(self.folder / n / name).read_bytes() for n, name in zip("12", names)]
        self.assertTrue(wheels[0] == wheels[1])
        with zipfile.ZipFile(self.folder / "1" / names[0]) as wheel:
            files = wheel.namelist()
            wheel.extractall(self.folder / "site")
        for file in ("__init__.py", "_core.pyi", "py.typed"):
            self.assertIn(f"croquis/{file}", files)
        self.assertFalse([file for file in files if "__pycache__" in file])
        self.assertTrue(self.imported_from(self.folder / "site").startswith(str(self.folder / "site")))

    def test_pip_installs_it_without_a_network(self):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
            self.skipTest("there is no pip")
        target = self.folder / "pip"
        options = ["--no-index", "--no-deps", "--target", target, "--config-settings", f"build-dir={BUILD}"]
        run(sys.executable, "-m", "pip", "install", "--quiet", *options, ROOT, env={**os.environ, "PYTHONPATH": ""})
        self.assertTrue(self.imported_from(target).startswith(str(target)))

    def test_cmake_installs_it(self):
        run("cmake", "--install", BUILD, "--component", "python", "--prefix", self.folder / "prefix")
        package = next((self.folder / "prefix").rglob("croquis/__init__.py")).parent
        self.assertTrue(self.imported_from(package.parent).startswith(str(self.folder)))

    def test_types(self):
        if not has_mypy():
            self.skipTest("there is no mypy")
        (self.folder / "mypy.ini").write_text(MYPY)
        mypy = [sys.executable, "-m", "mypy", "--cache-dir=cache"]
        run(*mypy, BUILD / "python" / "croquis", cwd=self.folder)
        (self.folder / "use.py").write_text(
            "import croquis, numpy\n"
            "X = numpy.ones((4, 3))\n"
            "shape: tuple[int, ...] = croquis.exact(X, X, X, causal=True).shape\n"
            "croquis.approximate(X, X, X, 'skyformer', 2, ridge=0.1)\n"
            "words: list[str] = [m.name for m in croquis.methods()]\n"
            # What works is what the types take.
            "croquis.exact([[1.0]], [[1.0], [2.0]], [[1.0], [2.0]], 'softmax-rpe', bias=[0.0, 1.0, 0.5])\n"
            "croquis.error(X, X, X, ['v-mean'], features=numpy.arange(1, 3), trials=numpy.int64(2))\n"
            "croquis.approximate(X, X, X, 'skeinformer', numpy.int64(2), causal=numpy.bool_(False), pilot=numpy.int64(2))\n"
            "croquis.dimension(X, X, X, numpy.float32(0.5), (1, 2.0), trials=0)\n"
            "croquis.choose(X, X, X, 9, features=range(1, 3), length=3, methods=(m for m in ['v-mean']))\n"
            "croquis.choose([X[None]], [X[None]], [X[None]], features=2, methods='v-mean', length=numpy.array([3]))\n"
            "croquis.sketch('importance', numpy.int64(4), 2, weights=numpy.ones(4)).left([[1.0], [2.0], [3.0], [4.0]])\n"
            "dQ, dK, dV = croquis.vjp(X, X, X, X)\n"
            "dQ, dK, dV, dbias = croquis.vjp(X, X, X, X, target='softmax-rpe', bias=numpy.zeros(7))\n"
            "shape = dbias.shape\n"
        )
        run(sys.executable, "-B", "use.py", cwd=self.folder)
        run(*mypy, "use.py", cwd=self.folder)
        wrong = self.folder / "wrong.py"
        wrong.write_text(
            "import croquis, numpy\n"
            "X = numpy.ones((4, 3))\n"
            "croquis.exact(X, 1, X)\n"
            "croquis.exact(X, X, X, features=2)\n"
            "croquis.error(X, X, X, features='2')\n"
            "dQ, dK, dV, dbias = croquis.vjp(X, X, X, X)\n"
        )
        done = subprocess.run([*mypy, "wrong.py"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)
        for line in range(3, 7):
            self.assertIn(f"wrong.py:{line}: error", done.stdout)

    def test_stubs_are_those_of_the_module(self):
        if not has_mypy():
            self.skipTest("there is no mypy")
        allowed = self.folder / "metaclasses"  # that of pybind11's classes, which stubs do not have
        allowed.write_text("".join(f"croquis._core.{name}\n" for name in ("Forward", "Request", "Sketch")))
        stubtest = [sys.executable, "-m", "mypy.stubtest", "croquis._core", "--ignore-missing-stub"]
        run(*stubtest, "--allowlist", allowed, cwd=self.folder)


if __name__ == "__main__":
    unittest.main()
