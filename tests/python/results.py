"""Rows, lists and sketches as objects of Python."""

import copy
import csv
import dataclasses
import json
import os
import pathlib
import pickle
import subprocess
import sys
import unittest
import unittest.mock

import numpy

import croquis
from heads import head

try:
    import pandas
except ImportError:
    pandas = None


class Rows(unittest.TestCase):
    def rows(self):
        return croquis.error(*head(), ["skeinformer", "v-mean"], [4, 8], trials=2)

    def test_columns_are_ordinary_arrays_and_selections_are_rows(self):
        rows = self.rows()
        self.assertEqual(len(rows), 2 * 2 + 2)
        self.assertIs(type(rows["features"]), numpy.ndarray)
        self.assertEqual(rows["features"].dtype, numpy.int64)
        some = rows[rows["method"] == "skeinformer"]
        self.assertIs(type(some), croquis.Rows)
        self.assertEqual(set(some["features"]), {4, 8})
        self.assertEqual(rows[0]["method"], "skeinformer")
        self.assertEqual(rows[["method", "features"]][5].item(), ("v-mean", 8))

    def test_what_there_is_not_is_nan_in_every_run(self):
        rows = self.rows()
        self.assertEqual(rows["layer"].dtype, numpy.float64)
        self.assertTrue(numpy.isnan(rows["layer"]).all())

    def test_a_failure_is_a_status(self):
        Q, K, V = (1e30 * x for x in head(n_q=53))
        rows = croquis.error(Q, K, V, "skeinformer,performer", [8], trials=1)
        for row in rows:
            self.assertTrue(row["status"] == "ok" or numpy.isnan(row["frobenius_rel"]))

    def test_rows_are_pickled(self):
        rows = self.rows()
        again = pickle.loads(pickle.dumps(rows))
        self.assertIs(type(again), croquis.Rows)
        for name in rows.dtype.names:
            numpy.testing.assert_array_equal(again[name], rows[name])

    def test_pandas_is_imported_by_to_pandas_alone(self):
        code = "import sys, croquis; assert 'pandas' not in sys.modules and 'torch' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_without_pandas_to_pandas_says_so(self):
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}), self.assertRaises(ImportError):
            self.rows().to_pandas()

    @unittest.skipIf(pandas is None, "pandas is not installed (python3-pandas)")
    def test_to_pandas_has_every_column(self):
        rows = self.rows()
        for some in (rows, rows[rows["trial"] == 2], rows[:0]):
            frame = some.to_pandas()
            self.assertEqual(frame.shape, (len(some), len(rows.dtype.names)))
            self.assertEqual(list(frame.columns), list(rows.dtype.names))
            for name in rows.dtype.names:
                numpy.testing.assert_array_equal(frame[name].to_numpy(), some[name], name)
        frame = rows.to_pandas()
        self.assertEqual(frame["features"].dtype, numpy.int64)
        self.assertTrue(frame["layer"].isna().all())
        medians = frame.groupby(["method", "features"])["frobenius_rel"].median()
        self.assertEqual(medians["skeinformer", 8], numpy.median(rows["frobenius_rel"][2:4]))

    def test_every_column_is_described(self):
        described = {column.name: column for column in croquis.columns("error")}
        for name in croquis.error(*head(), "v-mean", [4], trials=1, scores=True, row_errors=True).dtype.names:
            self.assertTrue(described[name].meaning, name)
        self.assertEqual(described["seconds"].unit, "s")
        self.assertEqual(described["row_rel_max"].option, "--row-errors")


class Lists(unittest.TestCase):
    def test_methods_sketches_and_claims_are_those_of_the_program(self):
        for what, entries in (
            ("methods", croquis.methods()),
            ("sketches", croquis.sketches()),
            ("claims", croquis.claims()),
        ):
            printed = subprocess.run(
                [os.environ["CROQUIS_PROGRAM"], "list", what], check=True, capture_output=True, text=True
            ).stdout
            names = [line.split()[0] for line in printed.splitlines()[1:] if line and not line.startswith(" ")]
            for entry in entries:
                self.assertIn(entry.name, names)
                self.assertIn(entry.source, printed)

    def test_they_have_a_name_a_source_a_target_options_and_a_doc(self):
        for entry in croquis.methods() + croquis.sketches() + croquis.claims():
            for value in (entry.name, entry.source, entry.target, entry.doc):
                self.assertTrue(isinstance(value, str) and value, entry)
            for option in entry.options:
                self.assertIsInstance(option, croquis.Option)
                self.assertTrue(option.name and option.values and option.doc, option)
        targets = {claim.name: claim.target for claim in croquis.claims()}
        self.assertEqual(targets["sky.thm2/order"], "sky.thm2")
        self.assertTrue(all(name.split("/")[0] == target for name, target in targets.items()))

    def test_options_of_a_claim_are_its_thresholds(self):
        claims = {claim.name: claim for claim in croquis.claims()}
        with open(pathlib.Path(os.environ["CROQUIS_SOURCE"]) / "lib/croquis/claims/thresholds.csv", newline="") as file:
            for line in csv.DictReader(file):
                if line["reading"] == "*":
                    continue
                for sentence in line["claim"].split():
                    options = {option.name: option for option in claims[f"{sentence}/{line['reading']}"].options}
                    option = options[line["quantity"]]
                    self.assertEqual(option.doc, line["reason"])
                    self.assertEqual(option.values, option.default)
                    self.assertEqual([float(x) for x in option.values.split()], [float(x) for x in line["value"].split()])
        for claim in claims.values():
            names = [option.name for option in claim.options]
            self.assertEqual(len(set(names)), len(names), claim.name)

    def test_what_a_sketch_has_in_the_mean(self):
        n, draws = 6, 4000
        for distribution in croquis.sketches():
            self.assertEqual(distribution.target, "E[S S^T] = I")
            weights = numpy.arange(1.0, n + 1) if distribution.weighted else None
            products = numpy.zeros((draws, n, n))
            for trial in range(draws):
                S = croquis.sketch(distribution.name, n, 3, trial=trial + 1, weights=weights).dense()
                products[trial] = S @ S.T
            error = numpy.abs(products.mean(axis=0) - numpy.eye(n))
            self.assertTrue((error <= 6 * products.std(axis=0) / draws**0.5 + 1e-12).all(), distribution.name)

    def test_they_are_frozen(self):
        for entry in (croquis.methods()[0], croquis.sketches()[0], croquis.claims()[0]):
            with self.assertRaises(dataclasses.FrozenInstanceError):
                entry.name = "other"
        method = next(m for m in croquis.methods() if m.name == "skyformer")
        self.assertIn("ridge", [option.name for option in method.options])
        self.assertFalse(next(m for m in croquis.methods() if m.name == "v-mean").random)


class Sketches(unittest.TestCase):
    def test_products_are_those_with_the_dense_matrix(self):
        rng = numpy.random.default_rng(1)
        for distribution in croquis.sketches():
            weights = rng.uniform(1, 2, size=64) if distribution.weighted else None
            S = croquis.sketch(distribution.name, rows=64, features=12, seed=3, weights=weights)
            self.assertEqual((S.distribution, S.rows, S.features), (distribution.name, 64, 12))
            self.assertEqual(S.dense().shape, (64, 12))
            for order in "CF":
                for dtype, accuracy in ((numpy.float64, 1e-12), (numpy.float32, 1e-4)):
                    dense = S.dense(dtype)
                    self.assertEqual(dense.dtype, dtype)
                    tall = numpy.array(rng.normal(size=(64, 5)), dtype=dtype, order=order)
                    short = numpy.array(rng.normal(size=(12, 7)), dtype=dtype, order=order)
                    numpy.testing.assert_allclose(S.left(tall), dense.T @ tall, atol=accuracy)
                    numpy.testing.assert_allclose(S.right(tall.T), tall.T @ dense, atol=accuracy)
                    numpy.testing.assert_allclose(S.expand(short), dense @ short, atol=accuracy)
                    self.assertEqual(S.left(tall).dtype, dtype)

    def test_flags_of_a_sketch_are_0_and_1(self):
        for flag in (False, True, numpy.bool_(False)):
            S, same = (croquis.sketch("uniform", 10, 5, replacement=x) for x in (flag, int(flag)))
            self.assertEqual(S.to_json(), same.to_json())

    def test_a_parameter_has_one_spelling(self):
        of = lambda q: croquis.sketch("very-sparse", 50, 8, seed=5, q=q).to_json()
        for three in (3.0, numpy.float64(3), numpy.float32(3), numpy.int64(3), "3"):
            self.assertEqual(of(three), of(3))
        self.assertEqual(of(numpy.float64(2.5)), of(2.5))
        self.assertNotEqual(of(2.5), of(3))

    def test_a_parameter_that_is_given_is_part_of_the_key(self):
        S = croquis.sketch("sjlt", rows=60, features=16)
        given = croquis.sketch("sjlt", rows=60, features=16, s=8)
        self.assertEqual(json.loads(S.to_json())["parameters"], json.loads(given.to_json())["parameters"])
        self.assertNotEqual(S.to_json(), given.to_json())

    def test_a_sketch_is_made_again_from_its_text(self):
        S = croquis.sketch("sjlt", rows=50, features=8, seed=4, trial=2, s=4)
        again = croquis.Sketch.from_json(S.to_json())
        numpy.testing.assert_array_equal(S.dense(), again.dense())
        for other in (pickle.loads(pickle.dumps(S)), copy.deepcopy(S)):
            numpy.testing.assert_array_equal(S.dense(), other.dense())

    def test_what_describes_no_sketch(self):
        with self.assertRaisesRegex(ValueError, r"^Sketch: is made by croquis.sketch\(...\) or "):
            croquis.Sketch("x")
        key = '{"distribution": "srht", "rows": 4, "cols": 2, "key": "%s"}'
        for text, why in (
            ("x", r"the text is refused \(not a JSON object, which begins with '{'\)"),
            ("{}", "a string in the field, got field = distribution"),
            (key % "a", "32 hexadecimal digits, got name = a"),
            (key.replace("srht", "shrt"), "one of gaussian, .*, got distribution = shrt"),
            (3, "3 is no line of text"),
        ):
            with self.assertRaisesRegex(ValueError, f"^text: is no description of a sketch: {why}"):
                croquis.Sketch.from_json(text)


if __name__ == "__main__":
    unittest.main()
