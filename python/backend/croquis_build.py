"""Builds the Python package with CMake, for pip and other front ends (PEP 517). It needs nothing but CMake and Ninja.

Settings: ``pip install . --config-settings build-dir=build/release`` uses a build folder that is there; by default
there is a new one in build/pip.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = pathlib.Path((config_settings or {}).get("build-dir", ROOT / "build" / "pip")).resolve()
    with tempfile.TemporaryDirectory() as staging:
        _configure_and_build(build)
        environment = {key: value for key, value in os.environ.items() if key != "DESTDIR"}
        _run("cmake", "--install", build, "--component", "python", "--strip", "--prefix", staging, env=environment)
        package = next(pathlib.Path(staging).rglob("croquis/__init__.py")).parent
        files = {f"croquis/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.is_file()}
    tag = sysconfig.get_config_var("SOABI").split("-")[1]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"cp{tag}-cp{tag}-{platform}"
    info = f"croquis-{_version()}.dist-info"
    files[f"{info}/METADATA"] = _metadata().encode()
    wheel = f"Wheel-Version: 1.0\nGenerator: croquis_build\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files[f"{info}/WHEEL"] = wheel.encode()
    for notice in ("LICENSE", "packaging/copyright"):
        files[f"{info}/{pathlib.Path(notice).name}"] = (ROOT / notice).read_bytes()
    name = f"croquis-{_version()}-{tag}.whl"
    _write_wheel(pathlib.Path(wheel_directory) / name, files, f"{info}/RECORD")
    return name


def build_sdist(sdist_directory, config_settings=None):
    base = f"croquis-{_version()}"
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    path = pathlib.Path(sdist_directory) / f"{base}.tar.gz"
    with tempfile.NamedTemporaryFile("w", suffix="PKG-INFO") as info, tarfile.open(path, "w:gz") as archive:
        for name in filter(None, tracked.split("\0")):
            archive.add(ROOT / name, f"{base}/{name}", recursive=False)
        info.write(_metadata())
        info.flush()
        archive.add(info.name, f"{base}/PKG-INFO")
    return path.name


def _configure_and_build(build):
    if not (build / "CMakeCache.txt").exists():
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DCROQUIS_BUILD_APPS=OFF", "-DCROQUIS_BUILD_TESTS=OFF"]
        python = ["-DCROQUIS_WITH_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}"]
        _run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *options, *python)
    _run("cmake", "--build", build, "--target", "croquis_python")


def _run(*command, env=None):
    subprocess.run([str(part) for part in command], check=True, env=env)


def _version():
    return re.search(r"project\(croquis VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def _metadata():
    return f"""Metadata-Version: 2.1
Name: croquis
Version: {_version()}
Summary: Matrix sketching of self-attention, measured
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

{(ROOT / "README.md").read_text()}"""


def _write_wheel(path, files, record):
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            _write(archive, name, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}\n")
        _write(archive, record, "".join(lines) + f"{record},,\n")


def _write(archive, name, content):
    entry = zipfile.ZipInfo(name)  # of a fixed time: the same files make the same wheel
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)
