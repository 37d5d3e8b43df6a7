"""Tests that the engine and its stub have a method for each command, and that each counter is exported."""

import ast
import re
from pathlib import Path

from svc._rtp.engine import Engine, ManualEngine

CORE = Path(__file__).parents[2] / "src" / "svc" / "_rtp"
# Methods that send no command to the core's thread.
OTHERS = {"negotiate", "set_verbose", "transaction_prefix", "take_events", "counters"}


def test_every_command_is_a_method_of_the_engine_and_of_its_stub() -> None:
    enum = (CORE / "commands.pxd").read_text().partition("cdef enum CommandKind:")[2].partition("\n\n")[0]
    commands = {name.lower() for name in re.findall(r"^    ([A-Z_]+)", enum, re.MULTILINE)}
    stub = ast.parse((CORE / "engine.pyi").read_text())
    described = {
        method.name
        for kind in stub.body
        if isinstance(kind, ast.ClassDef) and kind.name == Engine.__name__
        for method in kind.body
        if isinstance(method, ast.FunctionDef) and method.name != "__init__"
    }
    methods = {name for name in vars(Engine) if not name.startswith("_")}
    assert methods == described == commands | OTHERS


def test_every_counter_of_the_struct_is_exported_under_its_name() -> None:
    declared = (CORE / "objects.pxd").read_text().partition("cdef struct Counters:")[2].partition("\n\n")[0]
    counters = ManualEngine(seed=1).counters()
    assert list(counters) == re.findall(r"uint64_t (\w+)", declared)
    assert set(counters.values()) == {0}
