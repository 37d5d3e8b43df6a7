"""Builds the Cython core and the load generator, shell completion and the manual page; everything else
about the package is in pyproject.toml.

Extension names follow from the paths of the .pyx files. Completion and manual are made from the command
line's parser and go into the wheel's share/. SVC_DEBUG=1 builds with bounds
checks, C assertions and -DSVC_DEBUG, under which the core checks its invariants.
SVC_COMPILED=1 leaves the extensions out of an editable installation: pip would compile them again in a
folder of its own, although `build_ext --inplace` has put them beside their sources.
"""

import argparse
import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# setuptools brings it, also where Python no longer has it; so after setuptools.
from distutils.command.install_data import install_data  # isort: skip

DEBUG = os.environ.get("SVC_DEBUG") == "1"

WITH_SOCKETS = ("udploop", "outlet", "egress_worker", "stream_io")

# The limited API of 3.11 gives one wheel for every later CPython; free-threaded
# interpreters have no limited API yet.
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")


def compiler_flags() -> list[str]:
    if os.name == "nt":
        return ["/Od" if DEBUG else "/O2", "/W3"]
    # Cython's generated functions leave parameters unused; ours do not.
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
    """Every .pyx file; on Windows without the load generator, whose sockets and clocks are POSIX's."""
    return [
        path
        for path in sorted(Path("src/svc").rglob("*.pyx"))
        if os.name != "nt" or "bench" not in path.parts
    ]


class Compile(build_ext):
    """Says first what is missing, then how far it is: the core takes a minute or two."""

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
# Where they are written before they are packed.
MADE = Path("build")


class WriteCommandLine(install_data):
    """Writes completion and manual, then packs them."""

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
        # Cython copies the headers that a source names beside its C file; this one is named by a header.
        depends=["src/svc/_rtp/udp_windows.h"] if path.stem in WITH_SOCKETS else [],
        libraries=["ws2_32"] if path.stem in WITH_SOCKETS and os.name == "nt" else [],
        define_macros=macros(),
        py_limited_api=ABI3,
        extra_compile_args=compiler_flags(),
    )
    for path in sources()
]

# Windows has neither these shells nor man.
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
