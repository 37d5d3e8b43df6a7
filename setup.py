"""Builds the Cython core, the load generator, shell completion and the manual page.

Everything else about the package is in pyproject.toml. The names of the extensions are derived from the paths
of the .pyx files. Shell completion and the manual page are generated from the command-line parser and
installed in the wheel's share/. SVC_DEBUG=1 builds with bounds checks, C assertions and -DSVC_DEBUG, which
makes the core check its invariants. SVC_COMPILED=1 omits the extensions from an editable installation.
Otherwise pip would compile them again in a separate folder, although `build_ext --inplace` has already put
them next to their sources.
"""

import argparse
import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Import this after setuptools, which provides distutils for Python versions that no longer include it.
from distutils.command.install_data import install_data  # isort: skip

DEBUG = os.environ.get("SVC_DEBUG") == "1"

WITH_SOCKETS = ("udploop", "outlet", "egress_worker", "stream_io")

# With the limited API of Python 3.11, one wheel works on every later CPython. Free-threaded interpreters have
# no limited API yet.
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")


def compiler_flags() -> list[str]:
    if os.name == "nt":
        return ["/Od" if DEBUG else "/O2", "/W3"]
    # The functions that Cython generates have unused parameters. Our own functions do not.
    warnings = ["-Wall", "-Wextra", "-Wno-unused-parameter"]
    return [*(["-O1", "-UNDEBUG"] if DEBUG else ["-O3"]), *warnings]


def macros() -> list[tuple[str, str | None]]:
    chosen: list[tuple[str, str | None]] = []
    if ABI3:
        chosen.append(("Py_LIMITED_API", "0x030B0000"))
    if DEBUG:
        chosen.append(("SVC_DEBUG", "1"))
    return chosen


def sources() -> list[Path]:
    """Return every .pyx file. On Windows, omit the load generator, which needs POSIX sockets and clocks."""
    return [
        path
        for path in sorted(Path("src/svc").rglob("*.pyx"))
        if os.name != "nt" or "bench" not in path.parts
    ]


class Compile(build_ext):
    """A build step that first checks for missing headers and then reports progress, because compiling the
    core takes a minute or two.
    """

    def run(self) -> None:
        header = Path(sysconfig.get_path("include")) / "Python.h"
        if not header.exists():
            sys.exit(f"svc needs {header}: install python3-dev (Fedora: python3-devel) and a C compiler")
        self._compiled = 0
        super().run()

    def build_extension(self, ext: Extension) -> None:
        super().build_extension(ext)
        self._compiled += 1
        sys.stderr.write(f"{self._compiled} of {len(self.extensions)} modules compiled: {ext.name}\n")


MANUAL = "share/man/man1/svc.1"
COMPLETIONS = {
    "bash": "share/bash-completion/completions/svc",
    "zsh": "share/zsh/site-functions/_svc",
    "fish": "share/fish/vendor_completions.d/svc.fish",
}
# The folder for the generated files before they are packed.
MADE = Path("build")


class WriteCommandLine(install_data):
    """An installation step that generates shell completion and the manual page, and then packs them."""

    def run(self) -> None:
        sys.path.insert(0, "src")
        import shtab
        from argparse_manpage.manpage import Manpage

        from svc.cli import parser

        described = parser()
        self._complete_paths(described, shtab.FILE)
        for shell, path in COMPLETIONS.items():
            self._write(path, shtab.complete(described, shell))
        described.man_short_description = "community chat with voice and video"
        self._write(MANUAL, str(Manpage(described, _data={"manual_title": "svc manual"})))
        super().run()

    def _complete_paths(self, parser: argparse.ArgumentParser, files: dict[str, str]) -> None:
        for action in parser._actions:
            if action.type is Path:
                action.complete = files
            for below in (action.choices or {}).values() if isinstance(action.choices, dict) else ():
                self._complete_paths(below, files)

    def _write(self, path: str, content: str) -> None:
        place = MADE / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")


extensions = [
    Extension(
        ".".join(path.relative_to("src").with_suffix("").parts),
        [str(path)],
        # Cython copies the headers that a source file includes to the folder of the generated C file. This
        # header must be listed, because only another header includes it.
        depends=["src/svc/_rtp/udp_windows.h"] if path.stem in WITH_SOCKETS else [],
        libraries=["ws2_32"] if path.stem in WITH_SOCKETS and os.name == "nt" else [],
        define_macros=macros(),
        py_limited_api=ABI3,
        extra_compile_args=compiler_flags(),
    )
    for path in sources()
]

# Windows has neither these shells nor the man command.
command_line_files = [] if os.name == "nt" else [MANUAL, *COMPLETIONS.values()]

setup(
    cmdclass={"build_ext": Compile, "install_data": WriteCommandLine},
    data_files=[(str(Path(path).parent), [str(MADE / path)]) for path in command_line_files],
    ext_modules=cythonize(
        [] if os.environ.get("SVC_COMPILED") == "1" else extensions,
        build_dir="build/cython-debug" if DEBUG else "build/cython",
        include_path=["src"],
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": False,
        },
    ),
    options={
        "build_ext": {"parallel": os.cpu_count()},
        **({"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {}),
    },
)
