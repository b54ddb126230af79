"""choose and read_choices: the file of the choices, which is written whole or stays as it was."""

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
from heads import heads, square_head


class ChoiceFiles(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
