"""The crate tool-parser, compiled, and the tests that cases are exported as run against it.

Its source comes with a release of smg on the package index, what it depends on from Debian, which has the source of
crates as packages: those of the release SUITE are unpacked into a folder of their own, whatever release this machine
runs. Two crates are stood in for: `openai_protocol` by the types of tools as its own source has them, and
`rustpython-parser`, so that Pythonic calls are not read. Each test is there twice: as it is exported, and with another
name expected, which must fail: so what makes the first one pass is the message.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from parsers.cases.export.suites import SUITES
from parsers.cases.written.generated import generated
from parsers.formats.model import builtin_formats
from parsers.vocabulary.types import UsageError
from tests.engines.builds import BACKEND, LOCKS, made, run
from webapp.runs.exports import suite_test
from webapp.runs.runner import Runner

HERE = Path(__file__).parent
LOCK = LOCKS / "tool_parser.txt"
STANDIN = HERE / "rustpython_standin.rs"
SUITE = "trixie"  # the first whose async-trait takes `let ... else`, and that has thiserror 2
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
CRATES = ("async-trait", "num-traits", "parking-lot", "regex", "serde", "serde-json", "thiserror-2", "tokio", "tracing")
TYPES = (
    ("struct", "Tool"), ("struct", "Function"), ("struct", "FunctionChoice"), ("struct", "ToolReference"),
    ("enum", "ToolReference"), ("enum", "ToolChoice"), ("enum", "ToolChoiceValue"),
    ("fn", "empty_parameters_schema"), ("fn", "deserialize_parameters"),
)  # fmt: skip
WRONG = "_another"
SEED, DRAWN = 1, 20  # of generated outputs
PROGRAM, KINDS = "exported", ("call", "wrong")
LONGEST = 1_800  # seconds, of which the first run takes most to compile
_SERDE = 'serde = { version = "1", features = ["derive"] }\nserde_json = "1"\n'
_STANDINS = {"openai-protocol": ("1.16.0", _SERDE), "rustpython-parser": ("0.4.0", "")}
_WORKSPACE = """[workspace]
members = ["tool_parser", "openai_protocol", "rustpython_parser"]
resolver = "2"

[workspace.dependencies]
openai-protocol = { path = "openai_protocol" }
async-trait = "0.1"
num-traits = "0.2"
parking_lot = "0.12"
serde = "1"
serde_json = "1"
thiserror = "2"
tokio = "1"
tracing = "0.1"

[workspace.lints]
"""


def exported_tests(runner: Runner) -> dict[str, tuple[str, str]]:
    """Of each format that the crate reads one call as the format writes it: its test, and one that expects another
    name."""
    found = {}
    for name in builtin_formats():
        for case in generated(name, SEED, 0, DRAWN, reasoning=False) if _is_read(name) else ():
            expect = case.known.expect
            if expect is None or len(expect.tool_calls or ()) != 1:
                continue
            (call,) = expect.tool_calls or ()
            wrong = expect.model_copy(update={"tool_calls": (call.model_copy(update={"name": call.name + WRONG}),)})
            kinds = {f"{name} call": expect, f"{name} wrong": wrong}
            asked = [case.model_copy(update={"title": title, "expect": one}) for title, one in kinds.items()]
            with suppress(UsageError):
                right, other = [suite_test(runner.run_checked(one), SUITES["tool_parser"]).text for one in asked]
                found[name] = right, other
                break
    return found


def _is_read(name: str) -> bool:
    """Whether the crate is known to read a format of which outputs can be written."""
    try:
        return any(SUITES["tool_parser"].reads(case, name) for case in generated(name, SEED, 0, DRAWN, reasoning=False))
    except UsageError:
        return False


def compiled(folder: Path, tests: Mapping[str, tuple[str, str]]) -> dict[str, bool]:
    """Whether each of these tests passes, by its name: all in one program, for each takes what the crate does. Raises
    RuntimeError where they are not compiled."""
    place = _workspace(folder)
    own = place / "tool_parser" / "tests" / PROGRAM
    shutil.rmtree(own.parent, ignore_errors=True)
    own.mkdir(parents=True)
    files = {f"{name}_{kind}": text for name, texts in tests.items() for kind, text in zip(KINDS, texts, strict=True)}
    for name, text in files.items():
        (own / f"{name}.rs").write_text(text, "utf-8")
    (own / "main.rs").write_text("".join([f"mod {name};\n" for name in files]), "utf-8")
    command = ("cargo", "test", "--offline", "--quiet", "-p", "tool-parser", "--test", PROGRAM)
    small = {**os.environ, "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
    done = subprocess.run(command, cwd=place, env=small, capture_output=True, text=True, timeout=LONGEST)
    if "test result: " not in done.stdout:
        raise RuntimeError(f"tool_parser: {done.stderr.strip()[-1_000:]}")
    failed = set(re.findall(r"^---- (\w+)::\w+ stdout ----$", done.stdout, re.MULTILINE))
    return {name: name not in failed for name in files}


def _workspace(folder: Path) -> Path:
    """The crate with all that it takes."""
    place = folder / "tool_parser"
    with made(place, LOCK, STANDIN, Path(__file__)) as wanted:
        if wanted:
            source, registry = _source(folder), _registry(folder)
            shutil.rmtree(place, ignore_errors=True)
            for name, (version, needs) in _STANDINS.items():
                crate = place / name.replace("-", "_")
                (crate / "src").mkdir(parents=True)
                head = f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n\n[dependencies]\n{needs}'
                (crate / "Cargo.toml").write_text(head, "utf-8")
            shutil.copytree(source / "crates" / "tool_parser", place / "tool_parser")
            _loosen(place / "tool_parser" / "Cargo.toml")
            common = (source / "crates" / "protocols" / "src" / "common.rs").read_text("utf-8")
            (place / "openai_protocol" / "src" / "lib.rs").write_text(_types(common), "utf-8")
            shutil.copy(STANDIN, place / "rustpython_parser" / "src" / "lib.rs")
            (place / "Cargo.toml").write_text(_WORKSPACE, "utf-8")
            (place / ".cargo").mkdir()
            replaced = f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{registry}"\n'
            (place / ".cargo" / "config.toml").write_text(replaced, "utf-8")
    return place


def _source(folder: Path) -> Path:
    """The source of smg, as the package index has it. pip asks a stand-in for its name, and nothing is built."""
    here = folder / "sources"
    pip = (
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-binary",
        "smg",
    )
    run(*pip, "--require-hashes", "-r", LOCK, "-d", here, env={**os.environ, "PYTHONPATH": str(BACKEND)})
    file = next(here.glob("smg-*.tar.gz"))
    with tarfile.open(file) as archive:
        archive.extractall(here, filter="data")
    return here / file.name.removesuffix(".tar.gz")


def _registry(folder: Path) -> Path:
    """The crates of Debian. Nothing is installed: apt is told of no package that is, and has lists of its own."""
    own, place = folder / "crates" / "apt", folder / "crates" / "unpacked"
    shutil.rmtree(own.parent, ignore_errors=True)
    (own / "cache" / "archives" / "partial").mkdir(parents=True)
    (own / "lists" / "partial").mkdir(parents=True)
    (own / "status").touch()
    asked = ("apt-get", "indextargets", "--format", "$(ORIGIN) $(SITE)", "Created-By: Packages")
    known = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    mirror = next((line.partition(" ")[2] for line in known.splitlines() if line.startswith("Debian ")), None)
    if mirror is None:
        raise RuntimeError("apt knows no mirror of Debian")
    (own / "sources.list").write_text(f"deb [signed-by={KEYS}] {mirror} {SUITE} main\n", "utf-8")
    options = {
        "Dir::Etc::sourcelist": own / "sources.list", "Dir::Etc::sourceparts": "-", "Dir::State::lists": own / "lists",
        "Dir::State::status": own / "status", "Dir::Cache": own / "cache", "Debug::NoLocking": "1",
    }  # fmt: skip
    apt = ("apt-get", "-qq", *[part for key, value in options.items() for part in ("-o", f"{key}={value}")])
    run(*apt, "update")
    wanted = [f"librust-{one}-dev" for one in CRATES]
    run(*apt, "--yes", "--no-install-recommends", "--download-only", "install", *wanted)
    for package in sorted((own / "cache" / "archives").glob("librust-*.deb")):
        run("dpkg-deb", "-x", package, place)
    return place / "usr" / "share" / "cargo" / "registry"


def _loosen(file: Path) -> None:
    """Let the crate take the releases that Debian has, and the stand-in."""
    text = file.read_text("utf-8")
    text = re.sub(r'^regex = ".*"$', 'regex = "1"', text, flags=re.MULTILINE)
    local = 'rustpython-parser = { path = "../rustpython_parser" }'
    file.write_text(re.sub(r"^rustpython-parser = .*$", local, text, flags=re.MULTILINE), "utf-8")


def _types(source: str) -> str:
    """The module `common` with the types of tools, as a source has them, without what describes them as schemas."""
    items = "\n\n".join([one for kind, name in TYPES for one in _item(source, kind, name)])
    bare = re.sub(r"^#\[serde_with.*\n", "", items.replace(", schemars::JsonSchema", ""), flags=re.MULTILINE)
    uses = "use serde::{Deserialize, Deserializer, Serialize};\nuse serde_json::{Map, Value};\n"
    return f"pub mod common {{\n{uses}\n{bare}\n}}\n"


def _item(source: str, kind: str, name: str) -> Iterator[str]:
    """An item with its attributes; nothing where there is none of that name."""
    found = re.search(rf"^((?:#\[.*\n|///.*\n)*)(?:pub )?{kind} {name}\b", source, re.MULTILINE)
    if found is not None:
        end = source.index("\n}\n", found.end()) + 2
        yield source[found.start() : end]
