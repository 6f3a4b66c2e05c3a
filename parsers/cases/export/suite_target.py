"""One suite that a case can be written into as a test: a record, and a template of the language it is in.

A template is code around places, `@NAME@`, each of which takes one literal. Places are looked for in the template
alone, and a literal is written so that no text of a case becomes code (`suite_literals`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from parsers.cases.case import Case
from parsers.cases.export.same_code import code_of
from parsers.cases.export.suite_literals import in_comment
from parsers.cases.export.suite_subject import Subject
from parsers.replays.chunking import label
from parsers.vocabulary.types import UsageError

_PLACE = re.compile("@([A-Z_]+)@")
Literals = Mapping[str, str]


@dataclass(slots=True, frozen=True)
class SuiteTarget:
    """One suite: its name, its words in the menu, and the file that is made.

    `path` is where the test goes in a checkout; its `{slug}` and the names of literals are filled in. `place` says
    whether it is a file of its own, the end of one that is there, or code for the middle of one, behind its line
    `anchor`. At the end of a file that has the line `anchor`, what stands behind that line in the test is enough.
    `comment` begins a line of comment; `literals` are what a subject has for the places of the template. `reads`: the
    project is known to read the output of a case, of a format of this name. `keeps_order`: the test compares in which
    order reasoning, text and calls come, where the output streams. `reads_arguments`: a helper of the project compares
    arguments as its own reader of JSON has them. `remark`: why the project may well fail a subject that the parser of
    the case reads as expected, in a sentence; "" where nothing is known.
    """

    name: str
    words: str
    about: str
    path: str
    template: str
    mimetype: str
    comment: str
    licence: str
    literals: Callable[[Subject], Literals]
    place: Literal["new", "end", "behind"] = "new"
    anchor: str = ""
    reads: Callable[[Case, str], bool] = lambda case, fmt: True
    keeps_order: bool = False
    reads_arguments: bool = False
    remark: Callable[[Subject], str] = lambda subject: ""


@dataclass(slots=True, frozen=True)
class SuiteFile:
    """A test, where it goes in a checkout, and what it is called there."""

    text: str
    path: str
    name: str


def suite_file(target: SuiteTarget, subject: Subject) -> SuiteFile:
    """The test of a subject. Raises UsageError where the suite cannot say the case."""
    if subject.only_order and (subject.whole or not target.keeps_order):
        raise UsageError(
            "only the order of the parts is wrong here, which this suite does not compare: export to pytest"
        )
    if subject.only_spelling and target.reads_arguments:
        raise UsageError(
            "only how arguments are written is wrong here, which this suite does not compare: export to pytest"
        )
    literals = {"SLUG": subject.slug, "HEADER": _header(target, subject), **target.literals(subject)}
    text = _PLACE.sub(lambda match: literals[match[1]], code_of(target.template))
    return SuiteFile(
        text, target.path.format_map({name.lower(): value for name, value in literals.items()}), subject.slug
    )


def _header(target: SuiteTarget, subject: Subject) -> str:
    """What fails, the smallest chunking, where the case is, and the licence, each on a line. That it fails was seen in
    one engine, and says nothing of others."""
    said = [f"SPDX-License-Identifier: {target.licence}", in_comment(subject.title)]
    how, seen = in_comment(label(subject.chunking)), subject.own_class or subject.engine
    how += f" in {in_comment(seen)}" if subject.fails and seen not in ("", target.name) else ""
    said.append(f"Fails {how}: {in_comment(subject.fails)}" if subject.fails else f"Replayed {how}.")
    said += ["The case declares no tools; these are what its calls name."] if subject.made_tools else []
    said += [remark] if (remark := target.remark(subject)) else []
    said += [f"Case: {in_comment(subject.permalink)}"] if subject.permalink else []
    said.append("Exported by Toolcall Inspector.")
    return "\n".join([f"{target.comment} {line}" for line in said])
