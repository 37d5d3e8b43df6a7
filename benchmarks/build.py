"""Compiles the native parts of the benchmarks alongside their sources: python benchmarks/build.py

These parts do not belong to the package, but use the core's .pxd files just as the core's own modules do.
"""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = Path(__file__).parent


def build() -> None:
    extensions = [
        Extension(
            ".".join(path.relative_to(HERE.parent).with_suffix("").parts),
            [str(path.relative_to(HERE.parent))],
            extra_compile_args=["-O3", "-Wall", "-Wextra", "-Wno-unused-parameter"],
        )
        for path in sorted(HERE.rglob("*.pyx"))
    ]
    setup(
        name="svc-benchmarks",
        packages=[],
        script_args=["--quiet", "build_ext", "--build-lib", ".", "--build-temp", "build/temp-benchmarks"],
        ext_modules=cythonize(
            extensions,
            build_dir="build/cython",
            include_path=["src"],
            quiet=True,
            compiler_directives={
                "language_level": 3,
                "boundscheck": False,
                "wraparound": False,
                "cdivision": True,
                "embedsignature": False,
            },
        ),
    )


if __name__ == "__main__":
    import os

    os.chdir(HERE.parent)
    build()
