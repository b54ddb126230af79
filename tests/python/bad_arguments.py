"""Every argument of every function, given what it should not have: a result, or ValueError with one line that names it."""

import inspect
import os
import tempfile
import unittest

import numpy

import croquis
from heads import square_head

Q, K, V = square_head(n=12, p=4, p_v=3)
SMALL = {"methods": ["v-mean", "skyformer-softmax"], "features": [4], "trials": 2}

# Each function with arguments that work and take little time.
CALLS = {
    croquis.exact: {"Q": Q, "K": K, "V": V},
    croquis.approximate: {"Q": Q, "K": K, "V": V, "method": "skyformer-softmax", "features": 4},
    croquis.vjp: {"Q": Q, "K": K, "V": V, "G": V, "method": "skyformer-softmax", "features": 4},
    croquis.error: {"Q": Q, "K": K, "V": V, **SMALL},
    croquis.gradient: {"Q": Q, "K": K, "V": V, **SMALL},
    croquis.cost: {"Q": Q, "K": K, "V": V, "methods": "v-mean", "features": 4, "repeats": 1, "warmup": 0},
    croquis.spectrum: {"Q": Q, "K": K, "V": V},
    croquis.dimension: {"Q": Q, "K": K, "V": V, "trials": 2},
    croquis.choose: {"Q": Q, "K": K, "V": V, **SMALL, "max_cost": 9.0, "trials": 9},
    croquis.read_choices: {"path": "choice.json"},
    croquis.method_arguments: {"row": croquis.error(Q, K, V, **SMALL)[0]},
    croquis.verify: {"claims": "sky.conditioning", "Q": Q, "K": K, "V": V, "quick": True},
    croquis.sketch: {"name": "gaussian", "rows": 12, "features": 4},
    croquis.columns: {"of": "error"},
    croquis.set_threads: {"count": 1},
}

BAD = [
    None,
    True,
    "",
    "x",
    "a\nb",
    "\ud800",
    b"x",
    0,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**30,
    1j,
    [],
    [None],
    [[1]],
    ["x", 1],
    {},
    {"x": 1},
    object(),
    lambda: 1,
    numpy.int64(-1),
    numpy.float32(0.5),
    numpy.zeros((2, 2, 2, 2, 2)),
    numpy.full((12, 4), numpy.nan),
    numpy.zeros((0, 4)),
    numpy.array(["x"]),
    iter([1]),
]

# What a message may call an argument.
NAMED = {"matrices": "matrices|matrix", "name": "name|sketch"}


def parameters_of(function):
    kinds = inspect.Parameter
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind != kinds.VAR_KEYWORD]


class BadArguments(unittest.TestCase):
    def test_every_public_function_is_here(self):
        functions = {f for f in map(croquis.__dict__.get, croquis.__all__) if inspect.isfunction(f)}
        without_arguments = {f for f in functions if not inspect.signature(f).parameters}
        self.assertEqual(functions - without_arguments, set(CALLS))

    def test_every_argument(self):
        folder = tempfile.TemporaryDirectory()  # for what `save` names
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        croquis.choose(**CALLS[croquis.choose], save=CALLS[croquis.read_choices]["path"])
        threads = croquis.threads()
        self.addCleanup(croquis.set_threads, threads)
        for function, good in CALLS.items():
            function(**good)
            for name in parameters_of(function):
                for bad in BAD:
                    with self.subTest(function=function.__name__, argument=name, value=repr(bad)):
                        self.try_one(function, {**good, name: bad}, name)

    def try_one(self, function, arguments, name):
        try:
            function(**arguments)
        except ValueError as error:
            message = str(error)
            self.assertRegex(message.lower(), NAMED.get(name, name.rstrip("s").lower()))
            self.assertNotIn("\n", message)
            self.assertLess(len(message), 600)  # the names of all methods
        except OSError:
            self.assertIn(name, ("save", "path"))  # a file that cannot be written, or read


if __name__ == "__main__":
    unittest.main()
