"""A case file as tests: one for each case, run by the inspector under every chunking, by the parser of the fixture."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from pytest_toolcall.case_files import (
    CASE,
    CORPUS,
    SMALL,
    CorpusError,
    corpus_texts,
    item_names,
    read_text,
    small_name,
)
from pytest_toolcall.inspector import InspectorError
from pytest_toolcall.plugin import EXPECTS_NOTHING, TOLD
from pytest_toolcall.served import Served
from pytest_toolcall.session import session_of
from pytest_toolcall.smaller import keep_smaller
from pytest_toolcall.words import failure_words
from pytest_toolcall.workers.engine_worker import ended_words

UNSTEADY = "The parser does not read the same output alike every time"
SPOILT = (
    f"{UNSTEADY}: the first replay of {{test}} gives something else by now; what the tests before this one left behind"
    " may be why it fails, and alone it may not."
)
NOT_SMALLER = "no smaller case was looked for: nothing that is found of such a parser would have to be true"
MOST_NAME = 1_000  # characters of what the inspector is told that a case is called


class CaseFailedError(Exception):
    """A case failed; says all of it."""


def parser_of_case(toolcall_parser: Any) -> None:
    """What pytest takes a case for: a function that wants the parser."""


class CaseFile(pytest.File):
    """A case, or a corpus: many cases by name."""

    def collect(self) -> Iterable[pytest.Item]:
        """One test for each case. Raises CollectError for a file of which it is not sure what cases are in it."""
        text, is_corpus = read_text(self.path), self.path.name.endswith(CORPUS)
        try:
            cases = corpus_texts(text) if is_corpus else {self.path.name.rpartition(CASE)[0] or self.path.stem: text}
        except CorpusError as error:
            raise self.CollectError(f"{self.path}: {error}") from error
        shown = item_names(cases)
        for name, case in cases.items():
            item: CaseItem = CaseItem.from_parent(self, name=shown[name], callobj=parser_of_case)
            item.text, item.in_corpus = case, name if is_corpus else None
            yield item


class ParserItem(pytest.Function):
    """A test that gets the parser of the fixture and asks the inspector."""

    def served(self) -> Served | None:
        """The parser as it is served. Raises CaseFailedError for a fixture that gives no parser."""
        try:
            return session_of(self.config).served(self.funcargs["toolcall_parser"], self.nodeid)
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
    in_corpus: str | None = None
    toolcall_fixed = ""

    def runtest(self) -> None:
        """Raises CaseFailedError, and what skips the test or says that it was to fail."""
        served, chunking = self.served(), self._chunking()
        asked: dict[str, Any] = {"case": self.text, "name": self._called()}
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
            if not checked.get("expects", True):
                self.user_properties.append((EXPECTS_NOTHING, self._title()))
            return
        words = self._words(checked, served, everything=chunking is not None)
        if outcome == "FAIL" and self.config.getoption("toolcall_find"):
            words += f"\n{self._smaller(checked, served)}"
        raise CaseFailedError(words)

    def _words(self, checked: dict[str, Any], served: Served | None, *, everything: bool) -> str:
        commands, shown = [], checked.get("shown")
        if shown is not None:
            before = self._spoilt_by(checked, served)
            commands.append(shlex.join(self._command(checked, before, everything=everything)))
            if served is None:
                commands.append(shown["command"])
            checked["unsteady"] = SPOILT.format(test=before) if before else checked.get("unsteady")
        title = f"{self._title()}{f' by {served.words}' if served is not None else ''}"
        return failure_words(title, checked, commands, everything=everything)

    def _spoilt_by(self, checked: Mapping[str, Any], served: Served | None) -> str:
        """The first of the tests before this one that may have spoilt it; "" where there was none, and where its own
        replays do that already."""
        before = "" if served is None or checked.get("unsteady") else served.spoilt()
        return before if before != self.nodeid else ""

    def _command(self, checked: Mapping[str, Any], before: str, *, everything: bool) -> Sequence[str]:
        """What shows the failure: one chunking alone, or with what was replayed before it where that may be why. Which
        tests another process ran is not known to whoever started it."""
        engine = self.config.getoption("toolcall_engine")
        named = ["--toolcall-engine", engine] if engine else []
        if before:
            if not hasattr(self.config, "workerinput"):
                return ["pytest", *map(str, self.config.invocation_params.args)]
            return ["pytest", before, self.nodeid, *named]
        if checked.get("unsteady") and not everything:
            return ["pytest", self.nodeid, *named]
        return ["pytest", self.nodeid, *named, "--toolcall-chunking", json.dumps(checked["shown"]["chunking"])]

    def _smaller(self, checked: Mapping[str, Any], served: Served | None) -> str:
        """Search, and write what is found; says so."""
        if checked.get("unsteady"):
            return NOT_SMALLER
        if self.path.name.endswith(SMALL):
            return "it is the smallest form of another case already: it was not searched"
        try:
            found = self.ask("find", {"case": self.text, "name": self._called()}, served)
        except CaseFailedError as error:
            return f"the search gives nothing: {error}"
        if found["case"] is None:
            return str(found["headline"])
        if found.get("same"):
            return "its output is the smallest that fails like this already: nothing was written"
        path = self.path.with_name(small_name(self.path.name, self.in_corpus))
        words = keep_smaller(path, found["case"], found["headline"], self.config).words
        self.tell(words.partition("\n")[0])
        return words

    def _chunking(self) -> Any:
        given = self.config.getoption("toolcall_chunking")
        try:
            return None if given is None else json.loads(given)
        except (ValueError, RecursionError) as error:
            raise CaseFailedError(f"--toolcall-chunking: it is no JSON: {error}") from error

    def _called(self) -> str:
        """The case as the commands of the inspector name it, as far as it takes names."""
        name = self._path() if self.in_corpus is None else f"{self._path()}::{self.in_corpus}"
        return name.encode("utf-8", "backslashreplace").decode("utf-8")[:MOST_NAME]

    def _title(self) -> str:
        """The same on one line."""
        return self._path() if self.in_corpus is None else f"{self._path()}::{self.name}"

    def _path(self) -> str:
        return os.path.relpath(self.path, self.config.rootpath)
