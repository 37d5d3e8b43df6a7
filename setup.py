"""Builds the Cython core and the load generator; everything else about the package is in pyproject.toml.

Extension names follow from the paths of the .pyx files. SVC_DEBUG=1 builds with bounds
checks, C assertions and -DSVC_DEBUG, under which the core checks its invariants.
"""

import os
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("SVC_DEBUG") == "1"

WITH_SOCKETS = ("udploop", "outlet", "egress_worker")

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

setup(
    ext_modules=cythonize(
        extensions,
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
