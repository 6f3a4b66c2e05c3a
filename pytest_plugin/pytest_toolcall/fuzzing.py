"""Generated outputs as a test: for so many seconds they are drawn, tried, and those that fail are made small.

The inspector draws them and says what is right; the parser runs here. Format, seed and number give the same output, so
a failure is found again by the seed that is printed, and the small case that was written is collected from then on.
Small cases of one signature, which the inspector names, are taken for those of one bug.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from pytest_toolcall.case_files import SMALL, item_names
from pytest_toolcall.inspector import InspectorError
from pytest_toolcall.items import NOT_SMALLER, UNSTEADY, CaseFailedError, CaseItem, ParserItem, parser_of_case
from pytest_toolcall.served import Served
from pytest_toolcall.session import session_of
from pytest_toolcall.small_cases import SmallCases, names_in

BATCH = 10  # outputs that are drawn at once
MOST_NEW = 5  # bugs with a small case that this test wrote, after which it ends
LEAST_SECONDS = 4.0  # for making a failure small that was found when the time was nearly over
NO_TIME = "one that fails was not made small in the time that was left: give more seconds"
NO_FORMAT = (
    "--toolcall-fuzz has no format to draw outputs of: no case file was collected that names one; give "
    "--toolcall-format NAME, toolcall_formats in the configuration, or the folder of your cases"
)
MOST_ALIKE = 2  # of those that look alike are made small in vain
_SIGNATURE = re.compile("[0-9a-f]{8,64}")  # as it may stand in the name of a file, whoever says it


def fuzz_items(session: pytest.Session, items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """A test for each format that is named, else for each that cases are in; where there is none, one that says so. It
    stands beside the first case of its format, so that it gets the same fixture. A small case that a search wrote
    spells the format of its case otherwise, so it counts only where there are no others."""
    config = session.config
    cases = [item for item in items if isinstance(item, CaseItem)]
    named = config.getoption("toolcall_format") or config.getini("toolcall_formats")
    known: dict[str, CaseItem] = {}
    for case in [case for case in cases if not case.path.name.endswith(SMALL)] or cases:
        known.setdefault(_parser_of(case.text), case)
    wanted = {name: _asked(name, known.get(name), named=bool(named)) for name in named or [one for one in known if one]}
    if not wanted:
        yield FuzzItem.from_parent(session, name="toolcall-fuzz", callobj=parser_of_case)
    formats = _each_once(config, wanted)
    shown = item_names(formats)
    for name in formats:
        beside = known.get(name) or (cases[0] if cases else None)
        parent: Any = session if beside is None else beside.parent
        item: FuzzItem = FuzzItem.from_parent(parent, name=f"toolcall-fuzz[{shown[name]}]", callobj=parser_of_case)
        item.asked, item.before = wanted[name], names_in(item.folder)
        yield item


def _asked(name: str, beside: CaseItem | None, *, named: bool) -> Mapping[str, str]:
    """What says which format is meant: its name, or a case of it, for the parser of a case may be called anything."""
    return {"format": name} if beside is None or (named and name != "auto") else {"case": beside.text}


def _each_once(config: pytest.Config, wanted: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The first name of each format, for one may have several; which, the inspector knows. Where that says nothing of
    a name it is one of its own, so that its test tells of that."""
    found: dict[str, str] = {}
    for name, asked in wanted.items():
        try:
            own = "" if len(wanted) == 1 else session_of(config).ask("outputs", {**asked, "count": 1})["format"]
        except InspectorError:
            own = f"{name} "  # no name of a format
        found.setdefault(own, name)
    return [*found.values()]


class FuzzItem(ParserItem):
    """The test of one format."""

    asked: Mapping[str, str] = {}
    before: frozenset[str] = frozenset()  # names of the small cases that were there before the run

    @property
    def folder(self) -> Path:
        """Where small cases are written."""
        given = self.config.getini("toolcall_folder")
        if given:
            return Path(self.config.rootpath / given)
        return self.path if self.path.is_dir() else self.path.parent

    def runtest(self) -> None:
        """Raises CaseFailedError where an output fails, and where no format is known."""
        if not self.asked:
            raise CaseFailedError(NO_FORMAT)
        served, engine = self.served(), session_of(self.config).engine
        if served is None and not engine:
            pytest.skip("there is no parser to try: give a fixture toolcall_parser, or --toolcall-engine")
        trial = _Trial(self, served)
        trial.run(self.config.getoption("toolcall_fuzz"))
        self.tell(trial.headline)
        if trial.failing:
            raise CaseFailedError("\n".join([trial.headline, *trial.kept.values(), *trial.lines]))


class _Trial:
    """One run of generated outputs. `kept`: what was done with the small case of each bug, by its signature; `lines`:
    what else is said. Bugs whose small case was there do not end a run: there may be as many as they like."""

    def __init__(self, item: FuzzItem, served: Served | None) -> None:
        self.kept: dict[str, str] = {}
        self.lines: list[str] = []
        self.failing = 0
        self._new: set[str] = set()  # the signatures of those that were written
        self._item = item
        self._served = served
        self._seed = session_of(item.config).seed
        self._tried = 0
        self._end = 0.0
        self._format = ""
        self._alike: dict[str, int] = {}

    @property
    def headline(self) -> str:
        """How many outputs were tried, and of which seed."""
        found = f"{self.failing} of them fail" if self.failing else "nothing was found"
        again = f"--toolcall-seed {self._seed}"
        return f"{self._format}: {self._tried} generated outputs, {found}; the same again: {again}"

    def run(self, seconds: float) -> None:
        """Try outputs for so long, one at least; what making failures small takes is within that."""
        self._end, first = monotonic() + seconds, 0
        while first == 0 or not self._is_over():
            for text in self._drawn(first):
                if self._tried and self._is_over():
                    return
                self._try(text)
            first += BATCH

    def _is_over(self) -> bool:
        return monotonic() >= self._end or len(self._new) >= MOST_NEW

    def _drawn(self, first: int) -> Sequence[str]:
        asked: dict[str, Any] = {**self._item.asked, "seed": self._seed, "first": first, "count": BATCH}
        asked["reasoning"] = self._item.config.getini("toolcall_reasoning")
        made = self._item.ask("outputs", asked, None)
        self._format = made["format"]
        cases: Sequence[str] = made["cases"]
        return cases

    def _try(self, text: str) -> None:
        if self._served is not None:
            self._served.begin()
        checked = self._item.ask("check", {"case": text}, self._served)
        self._tried += 1
        if checked["outcome"] == "ok":
            return
        self.failing += 1
        alike = _look_of(checked)
        if self._alike.get(alike, 0) < MOST_ALIKE:
            left, known = max(self._end - monotonic(), LEAST_SECONDS), len(self.kept)
            found = self._item.ask("find", {"case": text, "seconds": left}, self._served)
            if found["case"] is not None and self._served is not None and self._served.spoilt():
                self._tell(f"{UNSTEADY}: {NOT_SMALLER}")
            else:
                self._keep(found)
            self._alike[alike] = self._alike.get(alike, 0) + (len(self.kept) == known)

    def _keep(self, found: Mapping[str, Any]) -> None:
        """Write a small case, one for each bug. One that the time did not suffice for is not written: the same seed
        gives the same files, as far as a run gets."""
        is_over = monotonic() >= self._end
        if found["case"] is None or (is_over and found.get("late")):
            self._tell(NO_TIME if is_over else found["headline"])
            return
        cases = SmallCases(self._item.folder, self._item.before, Path(self._item.config.rootpath))
        signature = _signature_of(found)
        is_new, words = cases.keep(self._format, signature, found["case"], found["headline"])
        if is_new:
            self._new.add(signature)
        if is_new or signature not in self.kept:
            self.kept[signature] = words

    def _tell(self, words: str) -> None:
        if words not in self.lines:
            self.lines.append(words)


def _parser_of(text: str) -> str:
    """The parser that a case names; "" where it is no case."""
    try:
        return str(json.loads(text)["parser"]["name"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _look_of(checked: Mapping[str, Any]) -> str:
    """The same for failures that look alike before they are made small."""
    shown = checked.get("shown") or {"differences": ()}
    fields = {re.sub(r"\d+", "0", one["field"]) for one in shown["differences"]}
    return json.dumps([sorted(fields), sorted({one["check"] for one in checked.get("errors", ())})])


def _signature_of(found: Mapping[str, Any]) -> str:
    """The signature of a small case; by its shape where an older inspector names none."""
    said = str(found.get("signature"))
    if _SIGNATURE.fullmatch(said):
        return said
    shape = re.sub(r"\w+", "a", "".join(_texts(json.loads(found["case"])["input"])))
    return hashlib.sha256(shape.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _texts(value: Any) -> Iterator[str]:
    """Every text of an output."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
