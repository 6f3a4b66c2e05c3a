"""The hooks of the plugin. What costs something to import is imported where there is a case file.

=================  ====================================================================================================
plugin.py          options, and which files are case files
case_files.py      the cases in a file, and their names
items.py           a case as a test
fuzzing.py         generated outputs as a test
smaller.py         the smaller form of a case, in a file beside it
small_cases.py     the files that these lead to, one for each bug
session.py         what the tests of one process share: the inspector, the parser that is served
inspector.py       the inspector as a process with pipes, or as a server
served.py          the parser of the fixture, recognised and served from this process
words.py           what is said of a failure
workers            the worker of engines, the same files as the inspector has (a link in the repository)
=================  ====================================================================================================
"""

from __future__ import annotations

import os
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

GLOBS = ("*.case.json", "*.cases.json")
SECONDS = "10"
PROGRAM = "toolcall-inspector"
TOLD, EXPECTS_NOTHING = "toolcall", "toolcall_expects_nothing"  # properties of tests that the summary reads


OPTIONS: dict[str, dict[str, Any]] = {
    "inspector": {
        "metavar": "COMMAND|URL",
        "help": "where the inspector is: a command, or the address of a server",
    },
    "engine": {
        "metavar": "NAME[:PARSER]",
        "help": "run the cases by an engine that is entered at the inspector",
    },
    "find": {
        "action": "store_true",
        "help": "search on failures, and write *.min.case.json beside the case",
    },
    "fuzz": {
        "type": float,
        "metavar": "SECONDS",
        "help": "try generated outputs of each format for so long, and keep minimised failures",
    },
    "format": {
        "action": "append",
        "metavar": "NAME",
        "help": "a format of which outputs are generated (default: those of the cases); may be given again",
    },
    "seed": {
        "type": int,
        "metavar": "N",
        "help": "what generated outputs are drawn from (default: another one each time; it is printed)",
    },
    "chunking": {
        "metavar": "JSON",
        "help": "replay each case under this chunking alone, and show all its deltas",
    },
}
LINES: dict[str, dict[str, Any]] = {
    "": {"help": "whether case files are collected", "type": "bool", "default": True},
    "_cases": {
        "help": "globs of case files; one with a slash is of paths, FOLDER/ of all in it",
        "type": "args",
        "default": [*GLOBS],
    },
    "_inspector": {"help": "as --toolcall-inspector", "default": PROGRAM},
    "_engine": {"help": "as --toolcall-engine", "default": ""},
    "_formats": {"help": "as --toolcall-format", "type": "args", "default": []},
    "_reasoning": {
        "help": "whether generated outputs may have reasoning; no for a parser of calls alone",
        "type": "bool",
        "default": True,
    },
    "_folder": {"help": "where failures of generated outputs are written (default: beside the cases)", "default": ""},
    "_seconds": {"help": "what one replay of the parser may take", "default": SECONDS},
}

NOT_GIVEN: Any = object()  # of the fixture below, where nobody has one of his own: None is a forgotten return


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and the lines of the configuration, all of which begin with the same word."""
    group = parser.getgroup("toolcall", "case files of Toolcall Inspector")
    for name, how in OPTIONS.items():
        group.addoption(f"--toolcall-{name}", **how)
    for name, how in LINES.items():
        parser.addini(f"toolcall{name}", **how)


@pytest.fixture
def toolcall_parser() -> Any:
    """The parser that cases test; define a fixture of this name in a conftest.py.

    It gives a class, a function that makes a parser, or a parser. This one gives none: the engine of --toolcall-engine
    is asked, else whatever each case says.
    """
    return NOT_GIVEN


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A case file or a corpus."""
    if file_path.suffix != ".json" or not parent.config.getini("toolcall"):
        return None
    if not is_case_file(file_path, parent.config):
        return None
    from pytest_toolcall.items import CaseFile

    made: pytest.Collector = CaseFile.from_parent(parent, path=file_path)
    return made


def is_case_file(path: Path, config: pytest.Config) -> bool:
    """Whether a glob of the configuration means a file."""
    relative = os.path.relpath(path, config.rootpath).replace(os.sep, "/")
    for glob in config.getini("toolcall_cases"):
        if glob.endswith("/"):
            if relative.startswith(glob) and any(fnmatch(path.name, one) for one in GLOBS):
                return True
        elif fnmatch(relative if "/" in glob else path.name, glob):
            return True
    return False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test of generated outputs for each format, where that was asked for."""
    if config.getoption("toolcall_fuzz") is None or not config.getini("toolcall"):
        return
    from pytest_toolcall.fuzzing import fuzz_items

    items.extend(fuzz_items(session, items))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """A known bug that is fixed passes, and is told as such."""
    outcome = yield
    fixed = getattr(item, "toolcall_fixed", "")
    report = outcome.get_result()
    if fixed and report.when == "call" and report.passed:
        report.wasxfail = fixed


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was written, and what was generated, whichever process did it."""
    found = [
        (name, words)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, words in getattr(report, "user_properties", ())
    ]
    told = [words for name, words in found if name == TOLD]
    unjudged = sorted({words for name, words in found if name == EXPECTS_NOTHING})
    if unjudged:
        some = ", ".join(unjudged[:3]) + (", ..." if len(unjudged) > 3 else "")
        told.append(f"{len(unjudged)} passed by checks alone, for they do not say what is right: {some}")
    if told:
        terminalreporter.section("toolcall")
        for words in told:
            terminalreporter.write_line(words)
