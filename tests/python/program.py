"""The rows of the program, for the same seed and the same numbers, bit for bit."""

import csv
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy

import croquis
from heads import head, square_head

PROGRAM = os.environ["CROQUIS_PROGRAM"]
CLOCK = {"seconds", "seconds_adjoint", "peak_bytes"}


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, command, arrays, *options):
        """The rows that the program writes for files of these arrays, as texts by column."""
        for name, array in zip("QKV", arrays or ()):
            numpy.save(self.folder / f"head_{name}.npy", array)
        files = ["--q", "head_Q.npy", "--k", "head_K.npy", "--v", "head_V.npy"] if arrays else []
        subprocess.run(
            [PROGRAM, command, *files, "--out", "rows.csv", "--overwrite", "--quiet", *options],
            cwd=self.folder,
            check=True,
        )
        with open(self.folder / "rows.csv", newline="") as file:
            lines = list(csv.reader(file))
        return {name: [line[i] for line in lines[1:]] for i, name in enumerate(lines[0])}

    def compare(self, rows, written):
        self.assertEqual(list(rows.dtype.names), list(written))
        for name, texts in written.items():
            if name in CLOCK:
                continue
            values = rows[name]
            self.assertEqual(len(values), len(texts), name)
            for value, text in zip(values, texts):
                if values.dtype.kind == "U":
                    self.assertEqual(value, "" if text == "NA" else text, name)
                elif text == "NA":
                    self.assertTrue(numpy.isnan(value), name)
                else:
                    self.assertEqual(value, float(text), name)  # 17 digits are all bits

    def test_error(self):
        arrays = head()
        methods = "v-mean,skeinformer,skyformer:ridge=0.1,preset=paper,performer"
        rows = croquis.error(*arrays, methods, [8, 16], trials=3, seed=7, name="arrays:head")
        written = self.run_program(
            "error", arrays, "--methods", methods, "--features", "8,16", "--trials", "3", "--seed", "7"
        )
        self.compare(rows, written)

    def test_error_of_all_methods_causal_in_fortran_order(self):
        arrays = [numpy.asfortranarray(x) for x in square_head()]
        rows = croquis.error(*arrays, "all", [4, 32], trials=2, causal=True, name="arrays:head;causal")
        written = self.run_program(
            "error", arrays, "--methods", "all", "--features", "4,32", "--trials", "2", "--causal"
        )
        self.compare(rows, written)

    def test_numbers_of_features_that_are_not_given(self):
        arrays = head()  # of 53 keys, between two numbers of the range
        options = ["--methods", "v-mean,skeinformer", "--trials", "2"]
        for command, measure in (("error", croquis.error), ("gradient", croquis.gradient)):
            rows = measure(*arrays, "v-mean,skeinformer", trials=2, name="arrays:head")
            self.assertEqual(set(rows["features"]), {16, 32, 53})
            self.compare(rows, self.run_program(command, arrays, *options))
        rows = croquis.choose(*arrays, eps=9, methods="skeinformer", max_cost=9, trials=60, name="arrays:head")
        options = ["--methods", "skeinformer", "--eps", "9", "--max-cost", "9", "--trials", "60"]
        self.compare(rows, self.run_program("choose", arrays, *options))

    def test_choose_of_one_head(self):
        head_alone = head(n_q=53)
        rng = numpy.random.default_rng(2)
        for arrays in (head_alone, [x[None] for x in head_alone], list(rng.normal(size=(3, 4, 1, 32, 6)))):
            rows = croquis.choose(*arrays, eps=9, methods="skeinformer", features=8, max_cost=9, name="arrays:head")
            options = ["--methods", "skeinformer", "--features", "8", "--eps", "9", "--max-cost", "9"]
            self.compare(rows, self.run_program("choose", arrays, *options))

    def test_numbers_of_features_that_are_not_given_are_those_that_all_methods_take(self):
        arrays = head(n_q=20, n_k=50)
        for call, command, methods, last in (
            (croquis.error, "error", "best-rank-d,v-mean", 20),
            (croquis.error, "error", "skeinformer,v-mean", 50),
            (croquis.gradient, "gradient", "nystromformer,linformer", 20),
        ):
            rows = call(*arrays, methods, trials=1, name="arrays:head")
            self.assertEqual(set(rows["features"]), {d for d in (16, 32) if d < last} | {last})
            self.compare(rows, self.run_program(command, arrays, "--methods", methods, "--trials", "1"))
        self.assertEqual(set(croquis.cost(*arrays, "best-rank-d", repeats=1, warmup=0)["features"]), {0, 20})
        for call in (croquis.error, croquis.gradient, croquis.cost):
            with self.assertRaisesRegex(ValueError, "^features: 21 is more than the 20 that nystromformer takes here"):
                call(*arrays, "nystromformer", [16, 21])

    def test_numbers_of_features_are_sorted_and_each_once(self):
        arrays = square_head(n=24, p=4)
        for command, measure in (("error", croquis.error), ("gradient", croquis.gradient), ("choose", croquis.choose)):
            settings = {"methods": "skeinformer", "trials": 3}
            if command == "choose":
                settings.update(eps=9, max_cost=9)
            rows = measure(*arrays, features=[16, 4, 8, 4], name="arrays:head", **settings)
            options = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
            self.compare(rows, self.run_program(command, arrays, "--features", "16,4,8,4", *options))
        rows = croquis.cost(*arrays, "skeinformer", numpy.array([8, 4, 8]), 2)
        written = self.run_program(
            "cost", None, "--n", "24", "--p", "4", "--methods", "skeinformer", "--features", "8,4,8", "--repeats", "2"
        )
        self.assertEqual([str(d) for d in rows["features"].astype(int)], written["features"])

    def test_error_with_all_columns_in_float(self):
        arrays = square_head(dtype=numpy.float32)
        methods = ["skyformer-softmax", "linformer-unreduced", "nystromformer"]
        rows = croquis.error(
            *arrays,
            methods,
            [8],
            trials=2,
            precision="float",
            scores=True,
            row_errors=True,
            bounds=True,
            name="arrays:head",
        )
        options = ["--precision", "float", "--scores", "--row-errors", "--bounds"]
        written = self.run_program(
            "error", arrays, "--methods", ",".join(methods), "--features", "8", "--trials", "2", *options
        )
        self.compare(rows, written)

    def test_error_from_sampled_rows(self):
        arrays = head(n_q=300, n_k=400)
        rows = croquis.error(*arrays, ["skeinformer"], 16, trials=2, rows=80, name="arrays:head")
        written = self.run_program(
            "error", arrays, "--methods", "skeinformer", "--features", "16", "--trials", "2", "--rows", "80"
        )
        self.compare(rows, written)

    def test_error_of_all_methods_that_take_the_input(self):
        options = ["--features", "8", "--trials", "1"]
        for arrays, some in ((head(), []), (square_head(), ["--rows", "20"]), (head(n_q=30), ["--rows", "20"])):
            rows = croquis.error(*arrays, "all", 8, trials=1, rows=20 if some else None, name="arrays:head")
            self.assertIn("skeinformer", rows["method"])
            self.assertEqual(set(rows["status"]), {"ok"})
            self.compare(rows, self.run_program("error", arrays, *options, *some))

    def test_approximate(self):
        arrays = head()
        self.run_program(
            "error",
            arrays,
            *["--methods", "skeinformer:pilot=8", "--features", "8", "--trials", "2", "--seed", "9"],
            *["--save-output", "outputs"],
        )
        saved = sorted((self.folder / "outputs").glob("*trial=2-*.npy"))
        self.assertEqual(len(saved), 1)
        output = croquis.approximate(*arrays, "skeinformer", 8, seed=9, trial=2, pilot=8)
        numpy.testing.assert_array_equal(output, numpy.load(saved[0]))
        exact = next(path for path in (self.folder / "outputs").iterdir() if "exact" in path.name)
        numpy.testing.assert_array_equal(croquis.exact(*arrays), numpy.load(exact))

    def test_choose(self):
        rng = numpy.random.default_rng(1)
        Q, K = rng.normal(size=(2, 96, 8)), rng.normal(size=(2, 96, 8))
        V = rng.normal(size=(2, 96, 5)) + 2
        rows = croquis.choose(
            Q, K, V, eps=0.4, methods=["v-mean", "skeinformer", "performer"], features=[8, 32], trials=200, seed=6,
            name="arrays:head",
        )
        options = ["--methods", "v-mean,skeinformer,performer", "--features", "8,32", "--trials", "200", "--eps", "0.4"]
        self.compare(rows, self.run_program("choose", [Q, K, V], *options, "--seed", "6"))

    def test_choose_with_a_bias(self):
        Q, K, V = square_head(n=96, p=8)
        V = V + 2
        bias = numpy.random.default_rng(2).normal(size=2 * 96 - 1)
        numpy.save(self.folder / "bias.npy", bias[None])
        rows = croquis.choose(
            Q, K, V, eps=0.5, methods="prf-rpe", features=[32, 64], trials=100, seed=6, bias=bias,
            name="arrays:head;bias=bias",
        )
        options = ["--methods", "prf-rpe", "--features", "32,64", "--trials", "100", "--eps", "0.5", "--bias", "bias.npy"]
        self.compare(rows, self.run_program("choose", [Q, K, V], *options, "--seed", "6"))

    def test_choices_of_the_program_are_read(self):
        rng = numpy.random.default_rng(1)
        arrays = [rng.normal(size=(2, 96, w)) + shift for w, shift in ((8, 0), (8, 0), (5, 2))]
        methods = "v-mean,skeinformer:pilot=8"
        options = ["--methods", methods, "--features", "8,32", "--trials", "50", "--eps", "0.4"]
        self.run_program("choose", arrays, *options)
        read = croquis.read_choices(self.folder / "rows.json")
        rows = croquis.choose(*arrays, 0.4, methods=methods, features=[8, 32], trials=50, name="arrays:head")
        self.assertEqual(len(read), 2)
        for name in set(read.dtype.names) - {"heads"}:
            numpy.testing.assert_array_equal(read[name], rows[name], name)

    def test_every_seed_of_64_bits(self):
        arrays = square_head(n=24, p=4)
        for seed in (2**63, 2**64 - 1):
            options = ["--seed", str(seed), "--trials", "2", "--features", "8"]
            methods = ["--methods", "skeinformer"]
            rows = croquis.error(*arrays, "skeinformer", 8, trials=2, seed=seed, name="arrays:head")
            self.assertEqual(list(rows["seed"]), [seed] * 2)
            written = self.run_program("error", arrays, *methods, *options, "--save-output", "outputs")
            self.assertEqual(set(written["seed"]), {str(seed)})
            self.compare(rows, written)
            saved = next((self.folder / "outputs").glob("*skeinformer*trial=2-*.npy"))
            output = croquis.approximate(*arrays, "skeinformer", 8, seed=seed, trial=2)
            numpy.testing.assert_array_equal(output, numpy.load(saved))
            for file in (self.folder / "outputs").iterdir():
                file.unlink()
            rows = croquis.gradient(*arrays, "skeinformer", 8, trials=2, seed=seed, name="arrays:head")
            self.compare(rows, self.run_program("gradient", arrays, *methods, *options))
            rows = croquis.choose(*arrays, 9, methods="skeinformer", features=8, trials=9, seed=seed, max_cost=9, name="arrays:head")
            choice = ["--eps", "9", "--max-cost", "9", "--features", "8", "--trials", "9", "--seed", str(seed)]
            self.compare(rows, self.run_program("choose", arrays, *methods, *choice))
            rows = croquis.spectrum(*arrays, method="lanczos", leading=4, probes=4, seed=seed, name="arrays:head")
            lanczos = ["--method", "lanczos", "--leading", "4", "--probes", "4", "--seed", str(seed)]
            self.compare(rows, self.run_program("spectrum", arrays, *lanczos))
            rows = croquis.dimension(*arrays, 0.5, trials=2, seed=seed, name="arrays:head")
            dimension = ["--epsilons", "0.5", "--trials", "2", "--seed", str(seed)]
            self.compare(rows, self.run_program("dimension", arrays, *dimension))
            rows = croquis.verify("lin.jl-norm", quick=True, seed=seed)
            self.compare(rows, self.run_program("verify", None, "--claims", "lin.jl-norm", "--quick", "--seed", str(seed)))
            S = croquis.sketch("gaussian", rows=24, features=4, seed=seed)
            self.assertTrue((S.dense() != croquis.sketch("gaussian", rows=24, features=4, seed=seed - 1).dense()).all())

    def test_gradient(self):
        arrays = head()
        methods = "v-mean,skeinformer,skyformer-softmax:ridge=0.1,performer"
        rows = croquis.gradient(*arrays, methods, [8, 16], trials=3, seed=7, name="arrays:head")
        written = self.run_program(
            "gradient", arrays, "--methods", methods, "--features", "8,16", "--trials", "3", "--seed", "7"
        )
        self.compare(rows, written)
        arrays = square_head(dtype=numpy.float32)
        rows = croquis.gradient(*arrays, "all", 4, 2, causal=True, precision="float", name="arrays:head;causal")
        options = ["--features", "4", "--trials", "2", "--causal", "--precision", "float"]
        self.compare(rows, self.run_program("gradient", arrays, *options))

    def test_gradient_of_more_numbers_than_blas_sums_on_one_thread(self):
        arrays = square_head(n=512, p=32)
        rows = croquis.gradient(*arrays, "skeinformer", 16, trials=2, name="arrays:head")
        options = ["--methods", "skeinformer", "--features", "16", "--trials", "2"]
        self.compare(rows, self.run_program("gradient", arrays, *options))

    def test_cost(self):
        # The program draws its head: what does not depend on the numbers is the same.
        methods = "skyformer,skeinformer,performer"
        written = self.run_program(
            "cost", None, "--n", "96", "--p", "8", "--methods", methods, "--features", "8,16", "--repeats", "2"
        )
        rows = croquis.cost(*square_head(n=96, p=8, p_v=8), methods, [8, 16], 2, name="gaussian")
        self.compare(rows, written)

    def test_spectrum(self):
        arrays = head()
        for method in ("dense", "lanczos"):
            rows = croquis.spectrum(*arrays, method=method, leading=9, probes=4, seed=3, name="arrays:head")
            options = ["--method", method, "--leading", "9", "--probes", "4", "--seed", "3"]
            self.compare(rows, self.run_program("spectrum", arrays, *options))

    def test_dimension(self):
        arrays = square_head()
        rows = croquis.dimension(*arrays, [0.5, 0.1], [2, 0.5], trials=3, seed=3, name="arrays:head")
        options = ["--epsilons", "0.1,0.5", "--widths", "0.5,2", "--trials", "3", "--seed", "3"]
        self.compare(rows, self.run_program("dimension", arrays, *options))

    def test_verify(self):
        claims = ["lin.jl-norm*", "sky.lift*"]
        rows = croquis.verify(claims, quick=True, seed=4)
        written = self.run_program("verify", None, "--claims", ",".join(claims), "--quick", "--seed", "4")
        self.compare(rows, written)
        claims = ["sky.core/interlacing", "rpe.prop1/strict"]  # of dense matrices
        rows = croquis.verify(claims, quick=True)
        self.compare(rows, self.run_program("verify", None, "--claims", ",".join(claims), "--quick"))
        arrays = square_head()
        rows = croquis.verify("sky.lift*", *arrays, quick=True, name="arrays:head")
        self.compare(rows, self.run_program("verify", arrays, "--claims", "sky.lift*", "--quick"))

    def test_sketch_is_the_draw_of_the_program(self):
        matrix = numpy.random.default_rng(1).normal(size=(60, 7))
        numpy.save(self.folder / "M.npy", matrix)
        written = self.run_program(
            "sketch",
            None,
            *["--matrix", "M.npy", "--sketches", "sjlt:s=3", "--landmarks", "none", "--features", "16"],
            *["--trials", "2", "--seed", "5"],
        )
        squares = (matrix**2).sum(axis=0)
        for trial, text in zip(written["trial"], written["norm_error"]):
            for three in (3, 3.0):
                S = croquis.sketch("sjlt", rows=60, features=16, seed=5, trial=int(trial), s=three)
                error = numpy.abs((S.left(matrix) ** 2).sum(axis=0) / squares - 1).mean()
                self.assertAlmostEqual(error, float(text), places=13)


if __name__ == "__main__":
    unittest.main()
