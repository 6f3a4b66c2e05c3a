"""Other outputs for the sides of a comparison: stored cases and examples by their names, the parent of a copy, and
texts that were pasted, which the page carries as it carries its case.

In an address a pasted text is `paste:N`. What is pasted is a text, a recording or a case file, or the address of a case
on this server: then it is named and not carried.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from flask import request

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import RECORDED
from parsers.vocabulary.types import UsageError
from webapp.fields import unix_lines
from webapp.page.addresses.subjects import Subject, carried_case, example_subject, is_example, known_run
from webapp.page.compare.asked import Side
from webapp.page.compare.sides import Texts
from webapp.page.form.form_page import Option
from webapp.page.form.setup import FormError, case_line, case_of, setup_of
from webapp.runs.prepare import with_defaults
from webapp.security import check_limit
from webapp.services import services
from webapp.store import Gone

MOST = 8  # texts that one page carries
PASTE = "paste:"
_CASE = re.compile(r"(?:case:|(?:\S*/)?c/)?([0-9a-hjkmnp-tv-z]{16})(?:[?#/.]\S*)?")
_EXAMPLE = re.compile(r"(?:example:|(?:\S*/)?example/)([\w-]+)(?:[?#/.]\S*)?")
_ADDRESS = re.compile(r"(?:https?:/|(?=/))\S*/(?:c|r|example)/\S+")  # of a page like those
_HELD = re.compile(r"(?:\S*/)?r/([0-9a-f]{32})(?:[?#/]\S*)?")


def texts_of(subject: Subject, beside: tuple[str, ...]) -> Texts:
    """What finds the case that a side names."""

    def found(word: str) -> Case:
        kind, _, name = word.partition(":")
        if kind == "parent" and not name:
            if subject.case.parent is None:
                raise UsageError("this case is nobody's copy, so it has no parent")
            return stored(subject.case.parent)
        if kind == "case":
            return stored(name)
        if kind == "example" and is_example(name):
            return example_subject(name).case
        if kind == "paste" and name.isascii() and name.isdecimal() and 0 < int(name) <= len(beside):
            return _carried(beside[int(name) - 1])
        raise UsageError(f"{word[:80]!r} is no output that is known here; write case:ID, example:NAME or parent")

    return found


def stored(case_id: str) -> Case:
    """The case stored under an id. Raises UsageError where there is none."""
    try:
        found = services().store.get(case_id)
    except Gone as gone:
        raise UsageError(f"case {case_id[:40]} was deleted on {gone.deleted[:10]}") from gone
    if found is None:
        raise UsageError(f"there is no case {case_id[:40]!r} on this server")
    return services().runner.opened(found.body)


def _carried(text: str) -> Case:
    try:
        return carried_case(text)
    except FormError as error:
        raise UsageError(error.message) from error


def offered_texts(subject: Subject, beside: tuple[str, ...]) -> list[Option]:
    """The other outputs to choose from."""
    known = [Option("parent", "the parent of this copy")] if subject.case.parent else []
    return [*known, *[Option(f"{PASTE}{number}", f"text {number}") for number, _ in enumerate(beside, 1)]]


def posted_beside(posted: Mapping[str, str]) -> tuple[str, ...]:
    """The texts that a form carries beside its case."""
    found = [posted.get(f"beside.{number}", "") for number in range(1, MOST + 1)]
    return tuple([text for text in found if text])


def put(subject: Subject, sides: tuple[Side, ...], beside: tuple[str, ...]) -> tuple[tuple[Side, ...], tuple[str, ...]]:
    """The sides with one more, of the text or the address that was posted, and all texts that are carried then.

    Raises FormError.
    """
    text = unix_lines(request.form.get("put", ""))
    if not text.strip():
        raise FormError("put", "Paste an output, a recording, a case file, or the address of a case.")
    word, other = read_put(text, subject.case)
    if other is None:
        try:
            texts_of(subject, beside)(word)
        except UsageError as error:  # who follows an address may have it from anywhere; here it was just given
            raise FormError("put", f"{error}.") from error
        return (*sides, Side(text=word)), beside
    sides, beside = _used(sides, beside)
    if len(beside) == MOST:
        raise FormError("put", f"One page carries {MOST} texts at most. Store one of them as a case.")
    return (*sides, Side(text=f"{PASTE}{len(beside) + 1}")), (*beside, case_line(other))


def _used(sides: tuple[Side, ...], beside: tuple[str, ...]) -> tuple[tuple[Side, ...], tuple[str, ...]]:
    """The sides with the texts that they still use, counted anew."""
    kept = used_texts(sides, beside)
    renamed = {word: f"{PASTE}{number}" for number, word in enumerate(kept, 1)}
    return tuple([replace(side, text=renamed.get(side.text, side.text)) for side in sides]), tuple(kept.values())


def used_texts(sides: tuple[Side, ...], beside: tuple[str, ...]) -> dict[str, str]:
    """The texts beside a case that its sides read, by the word for each."""
    words = [side.text for side in sides if side.text.startswith(PASTE)]
    numbers = {f"{PASTE}{number}": text for number, text in enumerate(beside, 1)}
    return {word: numbers[word] for word in dict.fromkeys(words) if word in numbers}


def read_put(text: str, case: Case) -> tuple[str, Case | None]:
    """The word for a case that `text` is the address of, or else the case it becomes in place of the output of `case`.

    Raises FormError.
    """
    address = text.strip()
    if (match := _CASE.fullmatch(address)) or (match := _EXAMPLE.fullmatch(address)):
        kind = "example" if match.re is _EXAMPLE else "case"
        return f"{kind}:{match[1]}", None
    if match := _HELD.fullmatch(address):
        run = known_run(match[1])
        if run is None:
            raise FormError("put", "That run is not held here any more. Paste its text.")
        return "", run.case
    if _ADDRESS.fullmatch(address):
        raise FormError("put", f"No case, example or run has the address {address[:80]}.")
    return "", _as_case(text, case)


def _as_case(text: str, case: Case) -> Case:
    settings = services().settings
    check_limit(settings, "max_request_bytes", len(text), "The text")
    bare = case.model_copy(update={"title": None, "notes": (), "parent": None, "replay": (), "expect": None})
    setup = setup_of(bare, keep=False)
    setup.output.text = text
    try:
        made = case_of(setup, None, bare)
        if not made.has_raw:  # there is nothing for a parser to read
            made = made.model_copy(update={"parser": ParserRef(name=RECORDED), "replay": ()})
        return with_defaults(made, settings)
    except FormError as error:
        raise FormError(
            "put", f"{error.message} ({error.field})" if error.field != "text" else error.message
        ) from error
