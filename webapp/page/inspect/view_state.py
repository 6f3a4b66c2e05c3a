"""Where the reader is: the view state of a page, read from the address or from a submit button.

It is never part of a case and never hashed; a link is a case plus this. Values that make no sense become defaults,
because an address is typed, shortened and pasted by people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import parse_qsl, urlencode

from webapp.page.inspect.roles import read_only

TABS: dict[str, tuple[str, ...]] = {
    "input": ("tokens", "text", "bytes"),
    "machine": ("diagram", "table"),
    "result": ("step", "final", "diff", "wire"),
    "wire": ("chunks", "sse", "response", "clients"),
    "dialect": ("reasoning", "reasoning_content"),
}


@dataclass(slots=True, frozen=True)
class ViewState:
    """`step` None means: where the page finds most to see. `chunk` is a chunking as a word, empty for the case's own.
    `report` asks for the checks of a long output, `find` for a search. `only` names the roles that the legend leaves
    coloured, all of them if empty; `equal`: equal tokens have the colours instead. `cut` None: nobody asked what comes
    out of a cut output."""

    step: int | None = None
    input: str = "tokens"
    machine: str = "diagram"
    result: str = "step"
    wire: str = "chunks"
    dialect: str = "reasoning"
    chunk: str = ""
    filter: str = ""
    report: bool = False
    find: bool = False
    only: str = ""
    equal: bool = False
    cut: int | None = None


PLAIN = {field.name: field.default for field in fields(ViewState)}
_IS_PLAIN_WORD = re.compile(r"\w+=[\w.:,~-]*", re.ASCII).fullmatch  # quoting leaves it as it is; a page has hundreds


def given_words(posted: Mapping[str, str]) -> dict[str, str]:
    """The words of a query or a form; those in `go`, the value of a submit button, win over the rest."""
    return {**posted, **dict(parse_qsl(posted.get("go", "")))}


def whole_number(text: str | None) -> int | None:
    """The number that a text spells, with commas or without, or None for anything else."""
    digits = (text or "").strip().replace(",", "")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def read_state(posted: Mapping[str, str]) -> ViewState:
    """The view state in a query or a form."""
    given = given_words(posted)
    tabs = {pane: given[pane] if given.get(pane) in names else names[0] for pane, names in TABS.items()}
    return ViewState(
        step=whole_number(given.get("step")),
        chunk=given.get("chunk", "").strip().replace(" ", "+"),
        filter=given.get("filter", "")[:200],
        report=bool(given.get("report")),
        find=bool(given.get("find")),
        only=read_only(given.get("only", "")),
        equal=bool(given.get("equal")),
        cut=whole_number(given.get("cut")),
        **tabs,
    )


@dataclass(slots=True, frozen=True)
class Links:
    """How a page is addressed. `base` None: a run that was never shared has no address, only its form with `case`."""

    base: str | None
    state: ViewState
    case: str = ""

    @property
    def posted(self) -> bool:
        """Whether controls post the form again."""
        return self.base is None

    def query(self, **changes: Any) -> str:
        """The view state with `changes`, as a query string without defaults."""
        changed = {key: getattr(self.state, key) for key in PLAIN} | {"report": False, "find": False, **changes}
        said = {key: int(value) if value is True else value for key, value in changed.items() if value != PLAIN[key]}
        words = [f"{key}={value}" for key, value in said.items()]
        return "&".join(words) if all(map(_IS_PLAIN_WORD, words)) else urlencode(said, safe=":,")

    def url(self, **changes: Any) -> str:
        """The address of this page with `changes` to its view state."""
        query = self.query(**changes)
        return f"{self.base or ''}?{query}" if query else self.base or "?"
