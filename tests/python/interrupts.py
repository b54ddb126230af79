"""Long calls: Ctrl-C ends them, other threads run meanwhile, and NumPy's settings are left as they were."""

import ctypes
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy

import croquis
from heads import head, square_head

LONG = 60  # seconds that no call here may take; an undisturbed one would take longer


def long_calls():
    Q, K, V = (numpy.random.default_rng(i).normal(size=(60_000, 128)) for i in range(3))
    q, k, v = square_head(n=2000, p=32)
    few = [x[:400] for x in (q, k, v)]  # dense eigenvalues are one call of LAPACK, which is not ended
    return {
        "exact": lambda: [croquis.exact(Q, K, V) for _ in range(100)],
        "approximate": lambda: croquis.approximate(Q, K, V, "best-rank-d", 4096),
        "error": lambda: croquis.error(q, k, v, "all", [16, 32, 64, 128, 256], trials=1000),
        "spectrum": lambda: croquis.spectrum(Q, K, V, "b", "lanczos"),
        "dimension": lambda: croquis.dimension(*few, [0.001, 0.01, 0.1], trials=10_000),
        "verify": lambda: croquis.verify("all", thorough=True),
    }


class Interrupts(unittest.TestCase):
    def test_ctrl_c_ends_every_long_call(self):
        for name, call in long_calls().items():
            with self.subTest(name):
                timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                start = time.monotonic()
                with self.assertRaises(KeyboardInterrupt):
                    call()
                self.assertLess(time.monotonic() - start, LONG)
                timer.join()
        Q, K, V = head()
        numpy.testing.assert_array_equal(croquis.exact(Q, K, V), croquis.exact(Q, K, V))  # and the next call works

    def test_a_handler_of_ones_own_raises_its_exception(self):
        class Alarm(Exception):
            pass

        def ring(*_):
            raise Alarm

        before = signal.signal(signal.SIGALRM, ring)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with self.assertRaises(Alarm):
                long_calls()["exact"]()
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_a_handler_that_does_not_raise_changes_nothing(self):
        Q, K, V = square_head(n=4000, p=64)
        expected = croquis.exact(Q, K, V)
        rung = []
        before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            for _ in range(5):
                numpy.testing.assert_array_equal(croquis.exact(Q, K, V), expected)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertTrue(rung)

    def test_ctrl_c_ends_a_program(self):
        code = "import numpy, croquis; X = numpy.ones((60000, 128)); print('begin', flush=True)\n"
        code += "for _ in range(1000): croquis.exact(X, X, X)"
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=LONG)
        self.assertIn("KeyboardInterrupt", messages)


class Threads(unittest.TestCase):
    def test_other_threads_of_python_run_during_a_call(self):
        Q, K, V = square_head(n=6000, p=64)
        counts = []
        done = threading.Event()

        def count():
            while not done.is_set():
                counts.append(1)
                time.sleep(0.001)

        other = threading.Thread(target=count)
        other.start()
        start = time.monotonic()
        croquis.exact(Q, K, V)
        seconds = time.monotonic() - start
        during = len(counts)
        done.set()
        other.join()
        self.assertGreater(during, seconds / 0.02)  # a hundredth of what it could be on a free machine would do

    def test_calls_of_several_threads_have_the_same_bits(self):
        Q, K, V = square_head(n=500)
        expected = croquis.approximate(Q, K, V, "skyformer", 64)
        results = [None] * 4

        def compute(i):
            results[i] = croquis.approximate(Q, K, V, "skyformer", 64)

        threads = [threading.Thread(target=compute, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            numpy.testing.assert_array_equal(result, expected)

    def test_numpys_blas_keeps_its_threads(self):
        number = self.blas_threads()
        X = numpy.random.default_rng(1).normal(size=(400, 400))
        X @ X
        for wanted in (1, 2, 3):
            number.set(wanted)
            Q, K, V = square_head(n=500)
            croquis.approximate(Q, K, V, "skyformer", 64)
            croquis.error(Q, K, V, "skeinformer", [8], trials=4)
            with self.assertRaises(ValueError):
                croquis.exact(Q, V, K)
            self.assertEqual(number.get(), wanted)

    def blas_threads(self):
        """The number of threads of the OpenBLAS that is loaded with NumPy."""
        for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
            path = line.split()[-1]
            if "openblas" not in path.lower():
                continue
            library = ctypes.CDLL(path)
            for suffix in ("", "64_"):
                if not hasattr(library, f"openblas_get_num_threads{suffix}"):
                    continue

                class Number:
                    get = getattr(library, f"openblas_get_num_threads{suffix}")
                    set = getattr(library, f"openblas_set_num_threads{suffix}")

                before = Number.get()
                self.addCleanup(Number.set, before)
                return Number
        self.skipTest("NumPy has no OpenBLAS here")

    def test_another_interpreter_of_the_process_is_refused(self):
        interpreters = next((m for m in ("_xxsubinterpreters", "_interpreters") if importlib.util.find_spec(m)), None)
        if interpreters is None:
            self.skipTest("this Python has no other interpreters")
        # With the threads of the first one, not isolated, as those of mod_wsgi: what Python refuses by itself is other.
        inner = "try: import croquis\nexcept ImportError as e: print(e)\nelse: print('imported')"
        code = (
            f"import {interpreters} as interpreters\n"
            "try: other = interpreters.create(isolated=False)\n"
            "except TypeError: other = interpreters.create('legacy')\n"
            f"interpreters.run_string(other, {inner!r})"
        )
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=LONG
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("runs in the first interpreter of a process alone", done.stdout)

    def test_a_fork_can_call_the_library(self):
        Q, K, V = square_head(n=500)
        expected = croquis.approximate(Q, K, V, "skyformer", 64)  # threads are running now
        same = lambda: numpy.array_equal(croquis.approximate(Q, K, V, "skyformer", 64), expected)
        self.assert_in_a_fork(lambda: same() and croquis.threads() == 1)

    def test_a_fork_can_call_what_sums_by_itself(self):
        Q, K, V = square_head(n=512, p=32)  # inner products of more than 10,000 numbers, which BLAS would split
        calls = [
            lambda: croquis.gradient(Q, K, V, "skeinformer", features=16, trials=2)["qk_cosine"],
            lambda: croquis.verify("sky.core/interlacing", quick=True)["observed"],
        ]
        expected = [call() for call in calls]
        self.assert_in_a_fork(
            lambda: all(numpy.array_equal(call(), x, equal_nan=True) for call, x in zip(calls, expected))
        )

    def test_a_fork_refuses_more_threads(self):
        Q, K, V = square_head(n=600, p=16)
        croquis.set_threads(2)
        self.addCleanup(croquis.set_threads, 0)
        croquis.exact(Q, K, V)

        def refused(count):
            try:
                croquis.set_threads(count)
            except ValueError as error:
                return str(error).startswith(f"count: {count} is not 1, and a forked process has one thread")
            return False

        def work():
            all_refused = refused(0) and refused(2)
            croquis.set_threads(1)
            croquis.exact(Q, K, V)
            return all_refused and croquis.threads() == 1

        self.assert_in_a_fork(work)
        croquis.set_threads(3)  # the parent is none

    def test_a_fork_has_one_thread_where_nothing_was_called_before_it(self):
        script = """if True:
            import os, croquis
            croquis.set_threads(2)
            child = os.fork()
            if child == 0:
                os._exit(croquis.threads())
            print(os.WEXITSTATUS(os.waitpid(child, 0)[1]), croquis.threads())
        """
        done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, timeout=LONG)
        self.assertEqual(done.stdout.split(), ["1", "2"], done.stderr)

    def assert_in_a_fork(self, work):
        """work() is true in a forked process, and comes to an end there."""
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if work() else 1)
            finally:
                os._exit(2)  # not on to the other tests
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                self.assertEqual(status, 0)
                return
            time.sleep(0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.fail("the fork waits for threads that it does not have")


if __name__ == "__main__":
    unittest.main()
