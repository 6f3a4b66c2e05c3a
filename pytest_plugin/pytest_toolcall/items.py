"""A case file as tests: one for each case, run by the inspector under every chunking, by the parser of the fixture."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_toolcall.inspector import InspectorError
from pytest_toolcall.plugin import EXPECTS_NOTHING, TOLD
from pytest_toolcall.served import Served
from pytest_toolcall.session import session_of
from pytest_toolcall.words import failure_words
from pytest_toolcall.workers.engine_worker import ended_words

CASE, CORPUS, SMALL = ".case.json", ".cases.json", ".min.case.json"
MOST_BYTES = 50_000_000


class CaseFailedError(Exception):
    """A case failed; says all of it."""


def parser_of_case(toolcall_parser: Any) -> None:
    """What pytest takes a case for: a function that wants the parser."""


class CaseFile(pytest.File):
    """A case, or a corpus: many cases by name."""

    def collect(self) -> Iterable[pytest.Item]:
        """One test for each case."""
        for name, text in self._cases():
            shown = name.replace("::", ":")  # pytest parts what it is asked for there, and would find nothing
            item: CaseItem = CaseItem.from_parent(self, name=shown, callobj=parser_of_case)
            item.text, item.in_corpus = text, name if self.path.name.endswith(CORPUS) else ""
            yield item

    def _cases(self) -> Iterator[tuple[str, str]]:
        text = read_text(self.path)
        if not self.path.name.endswith(CORPUS):
            yield self.path.name.rpartition(CASE)[0] or self.path.stem, text
            return
        try:
            cases = json.loads(text)
        except ValueError as error:
            raise self.CollectError(f"{self.path}: it is no JSON: {error}") from error
        if not isinstance(cases, dict) or not all(isinstance(case, dict) for case in cases.values()):
            raise self.CollectError(f"{self.path}: a corpus is a JSON object of cases by name")
        for name, case in cases.items():
            yield name, json.dumps(case)


class ParserItem(pytest.Function):
    """A test that gets the parser of the fixture and asks the inspector."""

    def served(self) -> Served | None:
        """The parser as it is served. Raises CaseFailedError for a fixture that gives no parser."""
        try:
            return session_of(self.config).served(self.funcargs["toolcall_parser"])
        except TypeError as error:
            raise CaseFailedError(str(error)) from error
        except SystemExit as error:
            raise CaseFailedError(f"the fixture toolcall_parser: {ended_words(error)}") from error

    def ask(self, task: str, asked: dict[str, Any], served: Served | None) -> dict[str, Any]:
        """What the inspector answers. Raises CaseFailedError where it cannot."""
        try:
            return session_of(self.config).ask(task, asked, served)
        except InspectorError as error:
            raise CaseFailedError(str(error)) from error

    def tell(self, words: str) -> None:
        """Say something at the end of the run."""
        self.user_properties.append((TOLD, words))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What failed, without the way through this plugin."""
        if isinstance(excinfo.value, CaseFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Where it stands."""
        return self.path, None, self.nodeid.replace("::", " ")


class CaseItem(ParserItem):
    """One case. `toolcall_fixed`: why it was expected to fail, where it does not."""

    text = ""
    in_corpus = ""
    toolcall_fixed = ""

    def runtest(self) -> None:
        """Raises CaseFailedError, and what skips the test or says that it was to fail."""
        served, chunking = self.served(), self._chunking()
        asked: dict[str, Any] = {"case": self.text, "name": self._shown()}
        if chunking is not None:
            asked["chunking"] = chunking
        checked = self.ask("check", asked, served)
        outcome = checked["outcome"]
        if outcome == "skip":
            pytest.skip(checked["why"])
        if outcome == "fixed":
            self.toolcall_fixed = "it passes: set its verdict to required"
        if outcome == "known bug":
            pytest.xfail("known bug")  # which does nothing with --runxfail
            raise CaseFailedError(self._words(checked, served, everything=chunking is not None))
        if outcome not in ("FAIL", "unusable"):
            if not json.loads(self.text).get("expect"):
                self.user_properties.append((EXPECTS_NOTHING, self._shown()))
            return
        words = self._words(checked, served, everything=chunking is not None)
        if outcome == "FAIL" and self.config.getoption("toolcall_find"):
            words += f"\n{self._smaller(served)}"
        raise CaseFailedError(words)

    def _words(self, checked: Mapping[str, Any], served: Served | None, *, everything: bool) -> str:
        commands, shown = [], checked.get("shown")
        if shown is not None:
            chunking = shlex.quote(json.dumps(shown["chunking"]))
            commands.append(f"pytest {shlex.quote(self.nodeid)} --toolcall-chunking {chunking}")
            if served is None:
                commands.append(shown["command"])
        title = f"{self._shown()}{f' by {served.words}' if served is not None else ''}"
        return failure_words(title, checked, commands, everything=everything)

    def _smaller(self, served: Served | None) -> str:
        """Search, and write what is found; says so."""
        if self.path.name.endswith(SMALL):
            return "it is the smallest form of another case already: it was not searched"
        try:
            found = self.ask("find", {"case": self.text, "name": self._shown()}, served)
        except CaseFailedError as error:
            return f"the search gives nothing: {error}"
        if found["case"] is None:
            return str(found["headline"])
        if found.get("same"):
            return "its output is the smallest that fails like this already: nothing was written"
        stem = self.path.name.rpartition(CORPUS if self.in_corpus else CASE)[0] or self.path.stem
        name = f"{stem}.{self.in_corpus}" if self.in_corpus else stem
        path = self.path.with_name(small_name(name))
        write_text(path, found["case"])
        words = f"wrote {os.path.relpath(path, self.config.rootpath)}: {found['headline']}"
        self.tell(words)
        return words

    def _chunking(self) -> Any:
        given = self.config.getoption("toolcall_chunking")
        try:
            return None if given is None else json.loads(given)
        except ValueError as error:
            raise CaseFailedError(f"--toolcall-chunking: it is no JSON: {error}") from error

    def _shown(self) -> str:
        """The case as the commands of the inspector name it."""
        name = os.path.relpath(self.path, self.config.rootpath)
        return f"{name}::{self.in_corpus}" if self.in_corpus else name


def small_name(name: str) -> str:
    """What the file of the smaller form of a case is called. A name that a file is not given has a few digits of its
    own, so that two of them do not share one."""
    plain = re.sub(r"[^\w.-]+", "_", name)
    digits = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{plain}{SMALL}" if plain == name else f"{plain}-{digits}{SMALL}"


def read_text(path: Path) -> str:
    """The text of a case file. Raises CollectError where it has none."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise pytest.Collector.CollectError(f"{path}: it has more than {MOST_BYTES:,} bytes")
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise pytest.Collector.CollectError(f"{path}: it cannot be read: {error}") from error


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, whoever else writes it."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(text, "utf-8")
    new.replace(path)
