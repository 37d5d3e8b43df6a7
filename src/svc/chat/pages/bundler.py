"""Bundles the web client's many source files into a few files for browsers.

The style sheets become two files, and each language's strings become one file. The modules become two files:
one with the modules needed at startup, and one with the modules fetched later. Comments and indentation are
removed.

Each module becomes a function that runs once and returns the module's exports. It calls its imports before
its own code, so modules run in their usual order. The result differs from real modules only in an import
cycle, or if a module changes an export after it has run. Both cases are rejected. Large libraries, and the
modules that use them, stay in separate files that import from the bundles.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping

from svc.chat.pages.javascript import DynamicImport, Import, Module, Part, UnsupportedSyntax, read

STYLE, _STYLES = "style.css", "style/"
LATER_STYLE, _LATER_STYLES = "later.css", "style/later/"
_WORDS = re.compile(r"(words/[\w-]+)/[\w-]+\.ftl")
_ENGLISH = "words/en.ftl"
# Matches the beginning of a Fluent message. Its other lines are indented.
_MESSAGE = re.compile(rb"^(?=([a-zA-Z][\w-]*) *=)", re.MULTILINE)
FIRST, LATER = "first.js", "later.js"
# The icons of views that are not shown at startup.
LATER_ICONS = "vendor/icons_later.js"
# The module that starts the web client. It stays a separate file, because it may use top-level await, which a
# bundled module cannot use.
START = "main.js"
# The service worker. It is also served at the top level, because it controls only paths below its folder.
SERVICE_WORKER = "sw.js"
# The script of a sandboxed frame. The frame runs separately from the page and cannot load modules.
COUNTS_FRAME = "counts_frame.js"
# The folder with libraries. Large ones are fetched only when needed.
_VENDOR = "vendor/"
# The folder with a web worker and its imports. They are not bundled, because the worker runs separately from
# the page.
_WORKER = "frame_encryption/"
_HEAD = """/*! Made of the modules under /web/, where each is as it was written; /web/main.js is the first.
The licences of the libraries are under /web/vendor/licences/. */
const svc$once = (make) => { let made; return () => made ??= make(); };
"""
_CSS_COMMENT = re.compile(r"""("[^"]*"|'[^']*')|/\*.*?\*/""", re.DOTALL)
# Matches strings, and whitespace that is not needed between tokens.
_CSS_SPACE = re.compile(r"""("[^"]*"|'[^']*')|\s*([{};,])\s*|(:) +""")
_LINE_END = re.compile(rb"\s*\n\s*")


def merged_files(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files with all style sheets merged into two and each language's strings merged into one.

    The base style sheet comes first. Strings that have not been translated yet are in English.
    """
    parts: dict[str, list[bytes]] = {}
    for name, content in sorted(
        contents.items(), key=lambda item: (item[0] != f"{_STYLES}base.css", item[0])
    ):
        words = _WORDS.fullmatch(name)
        style = LATER_STYLE if name.startswith(_LATER_STYLES) else STYLE
        whole = style if name.startswith(_STYLES) else f"{words[1]}.ftl" if words else name
        parts.setdefault(whole, []).append(content)
    made = {name: b"\n".join(contents) for name, contents in sorted(parts.items())}
    english = _messages(made.get(_ENGLISH, b""))
    for name in [name for name in made if name.startswith("words/") and name.endswith(".ftl")]:
        missing = english.keys() - _messages(made[name]).keys()
        made[name] = b"\n".join([made[name], *(english[key] for key in sorted(missing))])
    return made


def _messages(text: bytes) -> dict[bytes, bytes]:
    """Return the messages in a Fluent file, by key."""
    _, *parts = _MESSAGE.split(text) if text else [b""]
    return dict(zip(parts[::2], (part.rstrip() for part in parts[1::2]), strict=True))


def bundle(written: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files for browsers, with bundled modules. Raises UnsupportedSyntax with the module's
    name.
    """
    made = dict(written)
    for sheet in {STYLE, LATER_STYLE} & set(made):
        style = _CSS_COMMENT.sub(lambda match: match[1] or "", made[sheet].decode())
        style = _CSS_SPACE.sub(lambda match: match[1] or match[2] or match[3], style.strip())
        made[sheet] = style.replace(";}", "}").encode()
    if START in made:
        modules = _Modules(written)
        made = {name: content for name, content in made.items() if name not in modules.bundle_of}
        made |= {file: modules.join(file).encode() for file in (FIRST, LATER)}
        made |= {name: modules.alone(name).encode() for name in modules.alone_names}
    return made


def is_own_module(name: str) -> bool:
    """Return whether a file is one of the web client's own modules, not a vendored library."""
    is_separate = name in (SERVICE_WORKER, COUNTS_FRAME) or name.startswith((_VENDOR, _WORKER))
    return name.endswith(".js") and not is_separate


class _Modules:
    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self._read: dict[str, Module] = {}
        self._imports: dict[str, list[tuple[str, Import]]] = {}
        self._ordered: dict[str, list[str]] = {}
        self._large: set[str] = set()
        first = self._in_order(START)[:-1]
        # Libraries that are not needed at startup stay separate files, as do modules that import them.
        self._large = {name for name in contents if name.startswith(_VENDOR) and name not in first}
        later_modules = [name for name in contents if is_own_module(name) and name not in (*first, START)]
        ordered = dict.fromkeys(
            met for name in later_modules for met in self._in_order(name) if met in later_modules
        )
        self.alone_names = [START, *(name for name in ordered if self._large & set(self._in_order(name)))]
        names = [*first, *(name for name in ordered if name not in self.alone_names)]
        self.bundle_of = {name: FIRST if name in first else LATER for name in names}
        self._number = {name: f"svc${number}" for number, name in enumerate(names)}

    def join(self, file: str) -> str:
        """Return the code of a bundle, where each module is a function."""
        modules = [name for name in self.bundle_of if self.bundle_of[name] == file]
        text = [_HEAD, self._imports_of_files(file, modules)]
        for name in modules:
            module = self._read[name]
            passed_on = [f"...{self._re_export_object(name, clause)}" for clause in module.passed_on]
            exports = [
                inside if inside == outside else f"{outside}:{inside}"
                for outside, inside in module.exports.items()
            ]
            text += [
                f"export const {self._number[name]}=svc$once(()=>{{",
                self._bindings(name),
                self._body(name, ""),
                f"\nreturn{{{','.join([*exports, *passed_on])}}}}});\n",
            ]
        return "".join(text)

    def alone(self, name: str) -> str:
        """Return the code of a module that stays a separate file and imports from the bundles."""
        folder = posixpath.dirname(name)
        if self._read[name].passed_on:
            raise UnsupportedSyntax(f"{name} exports names that it imports, and must be bundled")
        text = [self._imports_of_files(name, [name]), self._bindings(name), self._body(name, folder)]
        exports = ", ".join(
            inside if inside == outside else f"{inside} as {outside}"
            for outside, inside in self._read[name].exports.items()
        )
        return "".join([*text, f"\nexport {{ {exports} }};\n"])

    def _imports_of_files(self, file: str, modules: Iterable[str]) -> str:
        """Return the code for imports from other files: bundles and separate libraries."""
        wanted: dict[str, list[str]] = {}
        text = []
        for name in modules:
            for target, clause in self._imports_of(name):
                if target not in self.bundle_of:
                    names = ", ".join(f"{exported} as {local}" for exported, local in clause.names.items())
                    what = f"* as {clause.whole}" if clause.whole else f"{{ {names} }}"
                    text.append(f'import {what} from "{_address(target, posixpath.dirname(file))}";\n')
                elif self.bundle_of[target] != file:
                    wanted.setdefault(self.bundle_of[target], []).append(self._number[target])
        for other, numbers in wanted.items():
            names = ", ".join(dict.fromkeys(numbers))
            text.append(f'import {{ {names} }} from "{_address(other, posixpath.dirname(file))}";\n')
        return "".join(text)

    def _bindings(self, name: str) -> str:
        """Return the declarations that replace the module's imports, in their order."""
        code, bound = "", False
        for target, clause in self._imports_of(name):
            if target in self.bundle_of and clause in self._read[name].imports:
                names = ",".join(
                    local if local == exported else f"{exported}:{local}"
                    for exported, local in clause.names.items()
                )
                pattern = clause.whole or (f"{{{names}}}" if names else "")
                made = f"{pattern}={self._number[target]}();" if pattern else f"{self._number[target]}();"
                code = (
                    f"{code[:-1]},{made}"
                    if pattern and bound
                    else code + ("const " if pattern else "") + made
                )
                bound = bool(pattern)
        return code

    def _re_export_object(self, name: str, clause: Import) -> str:
        """Return code for an object with a module's re-exports from another module."""
        number = self._number[self._target(name, clause)]
        exports = ", ".join(f"{outside}: {number}().{exported}" for exported, outside in clause.names.items())
        return f"{{ {exports} }}"

    def _body(self, name: str, folder: str) -> str:
        return "".join(self._write_part(part, name, folder) for part in self._read[name].parts).strip()

    def _write_part(self, part: Part, name: str, folder: str) -> str:
        if isinstance(part, str):
            return part
        if not isinstance(part, DynamicImport):
            return f'new URL("{_address(name, folder)}", import.meta.url).href'
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), part.path))
        if part.complete and target in self.bundle_of:
            file = _address(self.bundle_of[target], folder)
            return f'import("{file}").then((all)=>all.{self._number[target]}())'
        # Keep the trailing slash of a path to which an expression is appended.
        slash = "/" if part.path.endswith("/") else ""
        end = f"{part.quote})" if part.complete else ""
        return f"import({part.quote}{_address(target, folder)}{slash}{end}"

    def _in_order(self, start: str, above: tuple[str, ...] = ()) -> list[str]:
        """Return a module and all its direct and indirect imports, in execution order."""
        if start in above:
            raise UnsupportedSyntax(
                f"{start} imports itself through {', '.join(above[above.index(start) + 1 :])}"
            )
        if start not in self._ordered:
            met: dict[str, None] = {}
            for target, _ in self._imports_of(start):
                met.update(dict.fromkeys(self._in_order(target, (*above, start))))
            self._ordered[start] = [*met, start]
        return self._ordered[start]

    def _imports_of(self, name: str) -> list[tuple[str, Import]]:
        """Return a module's imports with their targets. Separate libraries are not parsed."""
        if name in self._large:
            return []
        if name not in self._imports:
            module = self._module(name)
            self._imports[name] = [
                (self._target(name, clause), clause) for clause in [*module.imports, *module.passed_on]
            ]
        return self._imports[name]

    def _module(self, name: str) -> Module:
        if name not in self._read:
            try:
                self._read[name] = read(self._contents[name].decode())
            except UnsupportedSyntax as error:
                raise UnsupportedSyntax(f"{name}: {error}") from None
        return self._read[name]

    def _target(self, name: str, clause: Import) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), clause.path))
        if not clause.path.startswith(".") or target not in self._contents:
            raise UnsupportedSyntax(f"{name} imports {clause.path}, which does not exist")
        if target not in self._large:
            other = self._module(target)
            passed_on = [outside for passed in other.passed_on for outside in passed.names.values()]
            missing = set(clause.names) - {*other.exports, *passed_on}
            if missing:
                names = ", ".join(missing)
                raise UnsupportedSyntax(f"{name} imports {names}, which {target} does not export")
        return target


def _address(name: str, folder: str) -> str:
    path = posixpath.relpath(name, folder or ".")
    return path if path.startswith("..") else f"./{path}"
