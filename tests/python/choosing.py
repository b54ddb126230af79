"""choose: its arguments, and that its answers are what the rows of error say."""

import errno
import json
import os
import pathlib
import resource
import stat
import tempfile
import unittest
import unittest.mock

import numpy

import croquis
from heads import square_head


def heads(sequences, count, n=128, p=6, p_v=4):
    """Lists of arrays (heads, n, width) of different lengths; values of means that are far from 0."""
    rng = numpy.random.default_rng(1)
    lengths = [n + 8 * s for s in range(sequences)]
    of = lambda width, shift: [rng.normal(size=(count, length, width)) + shift for length in lengths]
    return of(p, 0), of(p, 0), of(p_v, 3)


class Choose(unittest.TestCase):
    def test_one_head(self):
        Q, K, V = square_head(n=128, p=6)
        V = V + 3
        rows = croquis.choose(Q, K, V, eps=0.3, methods=["v-mean", "skeinformer"], features=[8, 16])
        self.assertEqual(len(rows), 1)
        row = rows[0]
        self.assertEqual((row["status"], row["method"]), ("chosen", "v-mean"))
        error = croquis.error(Q, K, V, "v-mean", [8])["frobenius_rel"][0]
        self.assertAlmostEqual(row["error_median"], error)
        self.assertLess(error, 0.3)
        self.assertEqual(croquis.choose(Q, K, V, eps=1e-9, methods="v-mean", features=8)["status"][0], "exact")

    def test_heads_of_several_layers_and_sequences(self):
        Q, K, V = heads(sequences=3, count=4)
        rows = croquis.choose(Q, K, V, eps=0.3, methods="v-mean", features=8, layers=[0, 0, 5, 5])
        self.assertEqual([(r["layer"], r["head"]) for r in rows], [(0, 0), (0, 1), (5, 0), (5, 1)])
        self.assertEqual(set(rows["sequences"]), {3})
        self.assertEqual(set(rows["status"]), {"undecided"})  # three sequences do not show what they do in 95 %
        by_layer = croquis.choose(Q, K, V, eps=0.3, methods="v-mean", features=8, layers=[0, 0, 5, 5], per="layer")
        self.assertEqual(list(by_layer["layer"]), [0, 5])
        self.assertEqual(len(croquis.choose(Q, K, V, methods="v-mean", features=8, per="model")), 1)

    def test_the_same_answer_for_an_array_and_a_list(self):
        rng = numpy.random.default_rng(2)
        Q, K = rng.normal(size=(2, 3, 64, 5)), rng.normal(size=(2, 3, 64, 5))
        V = rng.normal(size=(2, 3, 64, 4)) + 3
        settings = {"eps": 0.4, "methods": ["v-mean", "skeinformer"], "features": [8], "seed": 3}
        whole = croquis.choose(Q, K, V, **settings)
        listed = croquis.choose(list(Q), list(K), list(V), **settings)
        for name in whole.dtype.names:
            numpy.testing.assert_array_equal(whole[name], listed[name], name)

    def test_sequences_and_heads_that_do_not_fit(self):
        rng = numpy.random.default_rng(2)
        Q, K = rng.normal(size=(2, 3, 64, 5)), rng.normal(size=(2, 2, 64, 5))
        with self.assertRaisesRegex(ValueError, "^choose: give Q, K, V the same sequences; Q has 2, K has 1, V has 2$"):
            croquis.choose(Q, Q[:1], Q)
        with self.assertRaisesRegex(ValueError, "^choose: sequence 0 has 3 heads in Q, 2 in K and 3 in V; .* numpy.repeat"):
            croquis.choose(Q, K, Q)
        uneven = [Q[0], Q[1, :2]]
        with self.assertRaisesRegex(ValueError, "^choose: sequence 1 has 2 heads in Q, 2 in K and 2 in V; give each .* 3"):
            croquis.choose(uneven, uneven, uneven)

    def test_one_head_on_several_sequences(self):
        of = lambda width, shift: [x[0] for x in (heads(3, 1, p=width)[0] if not shift else heads(3, 1, p_v=width)[2])]
        Q, K, V = of(6, False), of(6, False), of(4, True)
        settings = {"eps": 0.9, "delta": 0.4, "methods": "v-mean", "features": 8}
        # May be heads as well, and is not guessed, whether or not the sequences are of one length.
        for cut in (None, 128):
            cut_off = [[x[:cut] for x in several] for several in (Q, K, V)]
            for bad in (cut_off, [tuple(several) for several in cut_off]):
                with self.assertRaisesRegex(ValueError, r"^Q: a list of .*\[m\[None\] for m in Q\] for sequences, numpy.stack\(Q\)"):
                    croquis.choose(*bad, **settings)
        rows = croquis.choose(*([x[None] for x in several] for several in (Q, K, V)), **settings)
        self.assertEqual((len(rows), rows["sequences"][0]), (1, 3))
        stacked = [numpy.stack([x[:128] for x in several]) for several in (Q, K, V)]
        rows = croquis.choose(*stacked, **settings)
        self.assertEqual((len(rows), set(rows["sequences"]), list(rows["head"])), (3, {1}, [0, 1, 2]))
        for of_one in ([x[:, None] for x in stacked], [[x[None] for x in several] for several in (Q, K, V)]):
            rows = croquis.choose(*of_one, **settings)
            self.assertEqual((len(rows), rows["sequences"][0]), (1, 3))
            self.assertEqual((rows["input"][0], rows["head"][0]), ("arrays;head=0", 0))
        rows = croquis.choose(*(x[0] for x in stacked), **settings)
        self.assertEqual(rows["input"][0], "arrays")
        self.assertTrue(numpy.isnan(rows["head"][0]))

    def test_the_choices_are_saved(self):
        Q, K, V = heads(sequences=1, count=2)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "choice.json"
            rows = croquis.choose(Q, K, V, eps=0.3, methods="v-mean", features=8, layers=[4, 4], save=str(path))
            saved = json.loads(path.read_text())
        self.assertEqual([(c["layer"], c["head"], c["method"]) for c in saved["choices"]], [(4, 0, "v-mean"), (4, 1, "v-mean")])
        self.assertEqual(len(rows), 2)

    def read_again(self, folder, rows, path):
        """What is read of the choices in a file, compared with the rows that they are."""
        read = croquis.read_choices(path)
        self.assertIs(type(read), croquis.Rows)
        self.assertEqual(len(read), len(rows))
        decided = rows["status"] != "undecided"
        for name in read.dtype.names:
            self.assertIn(f"``{name}``", croquis.read_choices.__doc__)
            if name != "heads":
                some = decided if name in ("method", "preset", "features", "flops_limit") else slice(None)
                numpy.testing.assert_array_equal(read[name][some], rows[name][some], name)
        for row in read[~decided]:  # what the docstring says of them
            self.assertEqual((row["method"], row["preset"], row["features"]), ("exact", "paper", 0))
            self.assertTrue(numpy.isnan(row["flops_limit"]))
        self.assertEqual([croquis.method_arguments(r) for r in read], [croquis.method_arguments(r) for r in rows])
        return read

    def test_choices_are_read_as_they_were_made(self):
        Q, K, V = heads(sequences=1, count=4)
        settings = {"methods": ["skeinformer:pilot=8", "v-mean"], "features": [8, 16], "layers": [4, 4, 4, 7]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "choice.json"
            for per, places in (
                ("head", [((4, 0),), ((4, 1),), ((4, 2),), ((7, 0),)]),
                ("layer", [((4, 0), (4, 1), (4, 2)), ((7, 0),)]),
                ("model", [((4, 0), (4, 1), (4, 2), (7, 0))]),
            ):
                rows = croquis.choose(Q, K, V, 0.3, per=per, save=path, **settings)
                self.assertEqual(set(rows["status"]), {"chosen"})
                self.assertEqual(list(self.read_again(folder, rows, path)["heads"]), places)
                self.read_again(folder, rows, str(path))
            rows = croquis.choose(Q, K, V, 1e-9, save=path, **settings)
            self.assertEqual(set(rows["status"]), {"exact"})
            self.read_again(folder, rows, path)
            rows = croquis.choose(Q, K, V, 0.1, trials=2, methods="skeinformer", features=100, save=path, max_cost=9)
            self.assertEqual(set(rows["status"]), {"undecided"})
            self.assertEqual(set(rows["method"]), {"skeinformer"})
            self.assertEqual(list(self.read_again(folder, rows, path)["heads"]), [()] * 4)  # of no model
            rows = croquis.choose(Q, K, V, 1e-9, methods="skyformer", features=16, save=path)
            self.assertEqual((set(rows["status"]), set(rows["target"])), ({"exact"}, {"kernelized"}))
            self.read_again(folder, rows, path)
            rows = croquis.choose(Q, K, V, 1e9, methods="skyformer", features=16, trials=2, max_cost=9, save=path)
            self.assertEqual((set(rows["status"]), set(rows["target"])), ({"undecided"}, {"kernelized"}))
            self.assertEqual(set(self.read_again(folder, rows, path)["target"]), {"kernelized"})
            # What the file does not list is None.
            path.write_text('{"choices": [{"method": "v-mean", "features": 2, "layer": 3, "head": null}]}')
            row = croquis.read_choices(path)[0]
            self.assertEqual((row["layer"], row["heads"], row["status"]), (3, None, ""))
            self.assertTrue(numpy.isnan(row["head"]) and numpy.isnan(row["eps"]))

    def test_a_choice_is_handed_to_the_method(self):
        Q, K, V = square_head(n=64, p=6)
        V = V + 3
        rows = croquis.choose(Q, K, V, 0.3, methods="skyformer-softmax:ridge=0.1,preset=code", features=48, max_cost=99)
        self.assertEqual(rows["status"][0], "chosen")
        arguments = croquis.method_arguments(rows[0])
        self.assertEqual(
            arguments, {"method": "skyformer-softmax", "features": 48, "ridge": "0.1", "preset": "code"}
        )
        output = croquis.approximate(Q, K, V, **arguments, seed=3)
        same = croquis.approximate(Q, K, V, "skyformer-softmax", 48, seed=3, ridge=0.1, preset="code")
        numpy.testing.assert_array_equal(output, same)
        numpy.testing.assert_array_equal(
            croquis.vjp(Q, K, V, V, **arguments)[0],
            croquis.vjp(Q, K, V, V, "skyformer-softmax", 48, ridge=0.1, preset="code")[0],
        )
        rows = croquis.choose(Q, K, V, 1e-9, methods="skyformer-softmax", features=48)
        exact = croquis.approximate(Q, K, V, **croquis.method_arguments(rows[0]))
        numpy.testing.assert_array_equal(exact, croquis.exact(Q, K, V))
        with self.assertRaisesRegex(ValueError, "^row: .* give one, as rows"):
            croquis.method_arguments(rows)

    def test_exact_attention_is_to_the_function_that_the_errors_are_against(self):
        Q, K, V = square_head(n=64, p=6)
        bias = numpy.linspace(-1, 1, 2 * len(Q) - 1)
        for method, target, given in (
            ("skyformer", "kernelized", None),
            ("nprf", "normalized", None),
            ("prf-rpe", "softmax-rpe", bias),
            ("nprf-rpe", "normalized-rpe", bias),
        ):
            # Nothing is good enough, and two draws are too few to say so.
            for eps, trials, status in ((1e-9, 100, "exact"), (1e9, 2, "undecided")):
                with self.subTest(method=method, status=status):
                    rows = croquis.choose(Q, K, V, eps, methods=method, features=4, max_cost=99, trials=trials, bias=given)
                    self.assertEqual((rows["status"][0], rows["target"][0]), (status, target))
                    arguments = croquis.method_arguments(rows[0])
                    self.assertEqual(arguments, {"method": "exact", "target": target})
                    expected = croquis.exact(Q, K, V, target, bias=given)
                    output = croquis.approximate(Q, K, V, **arguments, bias=given)
                    numpy.testing.assert_array_equal(output, expected)
                    found, wanted = (croquis.vjp(Q, K, V, V, **a, bias=given) for a in (arguments, {"target": target}))
                    for one, other in zip(found, wanted):
                        numpy.testing.assert_array_equal(one, other)
        # A row without a target is of softmax attention.
        rows = croquis.choose(Q, K, V, 1e-9, methods="v-mean", features=4)
        for row in (rows[0], rows[["method", "preset", "features", "status"]][0]):
            self.assertEqual(croquis.method_arguments(row), {"method": "exact"})
        with self.assertRaisesRegex(ValueError, "^row: target: 3 is no line of text"):
            croquis.method_arguments({"method": "exact", "preset": "paper", "features": 0, "status": "exact", "target": 3})

    def test_every_row_of_cost_is_handed_to_attention(self):
        Q, K, V = square_head(n=32, p=6)
        bias = numpy.linspace(-1, 1, 2 * len(Q) - 1)
        for methods, given in (("skyformer,skeinformer", None), ("nprf", None), ("prf-rpe,nprf-rpe", bias)):
            for row in croquis.cost(Q, K, V, methods, 8, repeats=1, bias=given):
                arguments = croquis.method_arguments(row)
                if row["features"] > 0:
                    self.assertEqual(arguments, {"method": row["method"], "features": 8})
                    continue
                target = "softmax" if row["method"] == "exact" else row["method"][len("exact-") :]
                self.assertEqual(arguments, {"method": "exact", "target": target} if target != "softmax" else {"method": "exact"})
                with_bias = given if target.endswith("-rpe") else None
                numpy.testing.assert_array_equal(
                    croquis.approximate(Q, K, V, **arguments, bias=with_bias), croquis.exact(Q, K, V, target, bias=with_bias)
                )

    def test_files_that_are_no_choices_are_refused_in_one_sentence(self):
        one = '{"choices": [%s]}'
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "choice.json"
            for content, pattern in (
                (b"", "is no file of croquis choose"),
                (b"\xff\x00", "is no file of croquis choose"),
                ("[]", "is no file of croquis choose"),
                ('{"choices": []}', "it has no choices"),
                ('{"eps": "x", "choices": [{"method": "exact"}]}', "has no number as its eps"),
                (one % "3", "choice 1 is no object"),
                (one % '{"method": "v-meen", "features": 2}', "choice 1: method: .*did you mean"),
                (one % '{"method": "v-mean"}', "choice 1 has no positive number of features"),
                (one % '{"method": "v-mean", "features": 2, "status": "undecided"}', "is undecided and has a method"),
                (one % '{"method": "v-mean", "features": 2, "heads": [[0]]}', "has a head that is no"),
                (one % '{"method": "exact", "target": "soft"}', "choice 1: target: 'soft' is none of"),
            ):
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
                with self.assertRaisesRegex(ValueError, pattern) as caught:
                    croquis.read_choices(path)
                self.assertTrue(str(caught.exception).startswith(str(path)), caught.exception)
                self.assertNotIn("\n", str(caught.exception))
            with self.assertRaises(FileNotFoundError):
                croquis.read_choices(pathlib.Path(folder) / "none.json")

    def test_a_file_that_cannot_be_written_is_found_before_anything_is_computed(self):
        Q, K, V = square_head()
        with tempfile.TemporaryDirectory() as folder:
            for bad in (folder, f"{folder}/none/choice.json", ""):
                # The method is not known either, which is found later.
                with self.assertRaises(OSError):
                    croquis.choose(Q, K, V, methods="no-method", features=8, save=bad)
            path = pathlib.Path(folder) / "choice.json"
            path.write_text('{"choices": []}')
            for save in (path, pathlib.Path(folder) / "new.json"):
                with self.assertRaisesRegex(ValueError, "no-method"):
                    croquis.choose(Q, K, V, methods="no-method", features=8, save=save)
            self.assertEqual([(f.name, f.read_text()) for f in path.parent.iterdir()], [("choice.json", '{"choices": []}')])

    def test_a_link_to_a_file_that_is_not_there_is_left_so(self):
        Q, K, V = square_head()
        with tempfile.TemporaryDirectory() as folder:
            link, target = pathlib.Path(folder) / "link.json", pathlib.Path(folder) / "target.json"
            link.symlink_to("target.json")
            with self.assertRaisesRegex(ValueError, "no-method"):
                croquis.choose(Q, K, V, methods="no-method", features=8, save=link)
            self.assertTrue(link.is_symlink())
            self.assertFalse(target.exists())
            rows = croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8, save=link)
            self.assertEqual(len(croquis.read_choices(target)), len(rows))

    def save_fails(self, path, reason):
        """Saves other choices in place of those of a file, which stay; the rows are there, and no other file."""
        Q, K, V = square_head()
        settings = {"eps": 9, "methods": "v-mean", "features": 8, "seed": 2}
        before, names = path.read_bytes(), sorted(os.listdir(path.parent))
        why = f"^save: .*choice.json' cannot be written .{reason}.; the choices are returned all the same$"
        with self.assertWarnsRegex(RuntimeWarning, why) as caught:
            rows = croquis.choose(Q, K, V, save=path, **settings)
        self.assertEqual(caught.filename, __file__)
        numpy.testing.assert_array_equal(rows["method"], croquis.choose(Q, K, V, **settings)["method"])
        self.assertEqual((path.read_bytes(), sorted(os.listdir(path.parent))), (before, names))

    def test_where_writing_fails_the_old_choices_stay_and_the_new_ones_are_returned(self):
        Q, K, V = square_head()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "choice.json"
            croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8, save=path)
            # The system refuses to write beyond 100 bytes; what is open already is not written meanwhile.
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            self.assertGreater(path.stat().st_size, 100)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
            try:
                self.save_fails(path, "File too large")
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            # The disk is full, which is said at the end; the name cannot be given.
            for call, number in (("fsync", errno.ENOSPC), ("replace", errno.EPERM)):
                with unittest.mock.patch(f"os.{call}", side_effect=OSError(number, os.strerror(number))):
                    self.save_fails(path, os.strerror(number))
            # What stops the call itself leaves no file either.
            before = path.read_bytes()
            with unittest.mock.patch("os.fsync", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
                croquis.choose(Q, K, V, eps=9, methods="v-mean", features=16, save=path)
            self.assertEqual((path.read_bytes(), os.listdir(folder)), (before, ["choice.json"]))
            # A file that was not there is there whole or not at all.
            new = pathlib.Path(folder) / "new.json"
            with unittest.mock.patch("os.fsync", side_effect=OSError(errno.EIO, "lost")), self.assertWarns(RuntimeWarning):
                self.assertEqual(len(croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8, save=new)), 1)
            self.assertEqual(os.listdir(folder), ["choice.json"])

    def test_a_file_is_written_with_the_permissions_that_it_has_or_that_new_ones_get(self):
        Q, K, V = square_head()
        settings = {"eps": 9, "methods": "v-mean", "features": 8}
        with tempfile.TemporaryDirectory() as folder:
            path, other = pathlib.Path(folder) / "choice.json", pathlib.Path(folder) / "other.json"
            other.write_text("")
            croquis.choose(Q, K, V, save=path, **settings)
            self.assertEqual(path.stat().st_mode, other.stat().st_mode)
            path.chmod(0o640)
            link = pathlib.Path(folder) / "link.json"
            link.symlink_to("choice.json")
            croquis.choose(Q, K, V, save=link, seed=2, **settings)
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
            self.assertTrue(link.is_symlink())
            self.assertEqual(len(os.listdir(folder)), 3)

    def test_what_is_no_regular_file_stays(self):
        Q, K, V = square_head()
        with self.assertRaisesRegex(ValueError, "^save: '/dev/null' is no regular file; give the name of a file$"):
            croquis.choose(Q, K, V, methods="no-method", features=8, save="/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_a_folder_that_takes_no_new_file_is_found_before_anything_is_computed(self):
        Q, K, V = square_head()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "choice.json"
            path.write_text('{"choices": []}')
            path.chmod(0o666)
            os.chmod(folder, 0o555)
            user = os.geteuid()
            try:
                if user == 0:
                    os.seteuid(65534)  # root may write everywhere
                with self.assertRaises(PermissionError):
                    croquis.choose(Q, K, V, methods="no-method", features=8, save=path)
            finally:
                os.seteuid(user)
                os.chmod(folder, 0o755)
            self.assertEqual(os.listdir(folder), ["choice.json"])

    def test_an_infinite_error_is_no_question(self):
        Q, K, V = square_head()
        for eps in (float("inf"), float("nan"), 0):
            with self.assertRaisesRegex(ValueError, "epsilon > 0, and finite"):
                croquis.choose(Q, K, V, eps=eps, methods="v-mean", features=8)

    def test_a_file_that_is_no_choice_is_not_replaced(self):
        Q, K, V = square_head()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "config.json"
            for text in (b"as it was", b'{"hidden_size": 4}', b'["choices"]', b"3", b"[" * 100000, b"\xff\xfe"):
                path.write_bytes(text)
                with self.assertRaisesRegex(ValueError, "^save: .*config.json.* is no choice; give another name"):
                    croquis.choose(Q, K, V, methods="v-mean", features=8, save=path)
                self.assertEqual(path.read_bytes(), text)
            path.write_bytes(b"")
            rows = croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8, save=path)
            self.assertEqual(len(croquis.read_choices(path)), len(rows))

    def test_padding_and_a_bias_are_those_of_each_sequence(self):
        Q, K, V = heads(sequences=2, count=2, n=64)
        settings = {"eps": 0.3, "methods": ["v-mean", "skeinformer"], "features": [8, 32], "seed": 3}
        plain = croquis.choose(Q, K, V, **settings)
        padded = [[numpy.pad(x, [(0, 0), (0, 80 - x.shape[1]), (0, 0)], constant_values=9) for x in a] for a in (Q, K, V)]
        lengths = [x.shape[1] for x in Q]
        for given in (padded, [numpy.array(a) for a in padded]):
            rows = croquis.choose(*given, length=lengths, **settings)
            for name in plain.dtype.names:
                numpy.testing.assert_array_equal(rows[name], plain[name], name)

        settings = {"eps": 0.3, "methods": "prf-rpe", "features": [8, 16], "seed": 3}
        zeros = [numpy.zeros(2 * n - 1) for n in lengths]
        slopes = [-numpy.abs(numpy.arange(1 - n, n)) / 4 for n in lengths]
        without, with_slopes = (croquis.choose(Q, K, V, bias=bias, **settings) for bias in (zeros, slopes))
        self.assertTrue((without["error_median"] != with_slopes["error_median"]).all())
        # All sequences of one length have one bias.
        again = croquis.choose(*padded, bias=numpy.zeros(159), length=lengths, **settings)
        numpy.testing.assert_array_equal(again["cost"], without["cost"])

    def test_the_numbers_of_all_heads_are_checked(self):
        for bad in range(3):
            Q, K, V = heads(sequences=3, count=2, n=32)
            K[bad][1, 5, 2] = numpy.nan
            with self.assertRaisesRegex(ValueError, f"^sequence {bad}, head 1: .*matrix = K, row = 5, column = 2"):
                croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8)
        Q, K, V = heads(sequences=1, count=2, n=32)
        V[0][1, 0, 0] = 1e30
        with self.assertRaisesRegex(ValueError, "^head 1: .*overflow in float, got matrix = V, row = 0"):
            croquis.choose(Q, K, V, eps=9, methods="v-mean", features=8, precision="float")

    def test_refusals(self):
        Q, K, V = square_head()
        for pattern, options in (
            ("epsilon|eps", {"eps": 0}),
            ("delta", {"delta": 1.5}),
            ("metric", {"metric": "frobenius"}),
            ("^per: is head, layer or model, got per = heads", {"per": "heads"}),
            ("^cost: is flops or seconds, got cost = euros", {"cost": "euros"}),
            ("^methods: v-mean approximates softmax", {"methods": "v-mean,skyformer"}),
            ("^features: no method takes 54 for heads of 53 tokens", {"features": 54}),
            ("layers: there are 2 for 1 head$", {"layers": [0, 1]}),
            ("trials: ", {"trials": 0}),
            ("rows: 3 is none of 20 to n = 53", {"rows": 3}),
            ("precision: ", {"precision": "half"}),
            ("length", {"length": 0}),
            ("^length: '30' is no list$", {"length": "30"}),
            ("^length: there are 2 for 1 sequence; give one for all", {"length": [4, 5]}),
            ("^length: there are 2 for 1 sequence; give one for all", {"length": numpy.array([4, 5])}),
            ("^length: there are 2 for 1 sequence; give one for all", {"length": [[4], [5, 6]]}),
            ("bias", {"bias": numpy.zeros(5)}),
            ("^bias: there are 2 for 1 sequence; give one for all", {"bias": [numpy.zeros(105)] * 2}),
            ("did you mean", {"methods": "skyformr"}),
        ):
            with self.assertRaisesRegex(ValueError, pattern):
                croquis.choose(Q, K, V, **{"methods": "v-mean", "features": 8, **options})
        with self.assertRaisesRegex(ValueError, "sequence 0 has 2 heads in Q, 1 in K and 1 in V"):
            croquis.choose(numpy.stack([Q, Q]), K, V)
        with self.assertRaisesRegex(ValueError, "Q: has 1 dimensions"):
            croquis.choose(Q[0], K, V)
        Q, K, V = heads(sequences=3, count=2, n=32)
        for pattern, bad in (
            ("^V: sequence 1: None is neither an array nor a list of arrays$", None),
            (r"^V: sequence 1 has 2 dimensions; give \(heads, n, width\)$", V[1][0]),
        ):
            with self.assertRaisesRegex(ValueError, pattern):
                croquis.choose(Q, K, [V[0], bad, V[2]], methods="v-mean", features=8)

    def test_the_head_whose_array_is_wrong_is_named(self):
        Q, K, V = heads(sequences=3, count=2, n=32)
        with self.assertRaisesRegex(ValueError, "^sequence 1, head 0: V: its dtype is int64"):
            croquis.choose(Q, K, [V[0], V[1].astype(int), V[2]], methods="v-mean", features=8)

    def test_lengths_of_any_kind(self):
        Q, K, V = heads(sequences=3, count=2, n=32)
        settings = {"eps": 9, "methods": "v-mean", "features": 8}
        of = lambda length: croquis.choose(Q, K, V, length=length, **settings)["cost"]
        for same in (numpy.int64(30), numpy.array(30), [30] * 3, numpy.full(3, 30), iter([30] * 3)):
            numpy.testing.assert_array_equal(of(same), of(30))


if __name__ == "__main__":
    unittest.main()
