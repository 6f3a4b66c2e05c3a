"""The setup form as it is to be shown again: filled from what was typed, or from a case.

The text under study is the one thing that must not change on the way: browsers submit text areas with CRLF, so line
ends of pasted text are normalised to LF; a file keeps every byte.

`carried.base` is the case that a form was filled from. What the form has no field for (expectations, notes, stored
tokens) is kept from it, and as long as the text is unchanged the exact tokens are kept too. A case that has an address
is named (`carried.source`) instead of carried.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parsers.cases.model import Case
from parsers.decoding import POLICIES as DECODE_POLICIES
from parsers.intake.evidence import Intake
from webapp.engines import RESPONSE_TEMPLATE
from webapp.fields import (
    FIELDS,
    PARTS,
    CarriedFields,
    ChunkingFields,
    DecodeFields,
    OutputFields,
    ParserFields,
    RequestFields,
    RuleFields,
    is_said,
    read_part,
    shown_part,
)
from webapp.glyphs import glyphless
from webapp.recordings import RecordingError, Taken

TAKEN = "taken."  # what the names begin with that say what a recording filled in
PLAIN_KINDS = frozenset({"raw_text", "case", "empty", "not_text"})


@dataclass(slots=True)
class Found:
    """What was given: its Intake, the output of it that is meant, and what that became, or why it did not.

    `name` is the file's. `kept` names the fields that it would have filled and somebody else had.
    """

    intake: Intake
    name: str = ""
    at: int = 0
    taken: Taken | None = None
    problem: RecordingError | None = None
    kept: list[str] = field(default_factory=list)

    @property
    def case(self) -> str | None:
        """The JSON text of the case that is meant, where cases were given."""
        texts = list(self.intake.cases.values())
        return texts[self.at] if texts else None

    @property
    def is_log(self) -> bool:
        """Whether the text area holds something else than the output or a case."""
        return self.intake.kind not in PLAIN_KINDS


@dataclass(slots=True)
class Setup:
    """The form: its fields in parts, and what is known of them.

    `taken` says what an earlier recording filled in, by field; `errors` what is wrong, by field; `found` what was
    recognised. `chunks` and `own_format` are of the case that the form was filled from: how many chunks of a server it
    holds, and whether it brings its own format.
    """

    output: OutputFields = field(default_factory=OutputFields)
    parser: ParserFields = field(default_factory=ParserFields)
    request: RequestFields = field(default_factory=RequestFields)
    cutting: ChunkingFields = field(default_factory=ChunkingFields)
    decode: DecodeFields = field(default_factory=DecodeFields)
    rules: RuleFields = field(default_factory=RuleFields)
    carried: CarriedFields = field(default_factory=CarriedFields)
    taken: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    found: Found | None = None
    chunks: int = 0
    own_format: bool = False

    def get(self, name: str) -> Any:
        """What the field `name` holds."""
        return getattr(getattr(self, FIELDS[name].part), name)

    def put(self, name: str, value: Any) -> None:
        """Fill the field `name`."""
        setattr(getattr(self, FIELDS[name].part), name, value)

    def is_wrong(self, *names: str) -> bool:
        """Whether something is wrong with any of these fields."""
        return any(name in self.errors for name in names)

    @property
    def decode_words(self) -> str:
        """What the detokenizer's fields say, in a few words; empty for the defaults."""
        rows = [row for row in FIELDS.values() if row.part == "decode"]
        return _decode_words({row.place.rpartition("/")[2]: row.kind.value(self.get(row.name)) for row in rows})


class FormError(Exception):
    """A field is wrong. `field` is its name in the form."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def read_setup(posted: Mapping[str, str]) -> Setup:
    """The form as it was posted, whatever it is worth."""
    setup = Setup(**{name: read_part(part, posted) for name, part in PARTS.items()})
    setup.output.take_as = setup.output.take_as or posted.get("taken_as", "").strip()
    taken = {name: posted.get(TAKEN + name) for name, row in FIELDS.items() if row.filled}
    setup.taken = {name: text.replace("\r\n", "\n") for name, text in taken.items() if text is not None}
    return setup


def setup_of(case: Case, *, keep: bool = True) -> Setup:
    """The form that describes `case`; with `keep` it also carries what it has no field for."""
    data = case.model_dump(by_alias=True, exclude_defaults=True, exclude={"input"})
    setup = Setup(**{name: shown_part(part, data) for name, part in PARTS.items()})
    setup.output.text, setup.chunks = case.text(), len(case.input.stream or ())
    setup.own_format = case.parser.format is not None
    plain = case.input.model_fields_set == {"text"} and "\r" not in setup.output.text
    setup.carried.base = case_line(case) if keep and not (plain and _is_said(data)) else ""
    return setup


def _is_said(data: dict[str, Any]) -> bool:
    """Whether the fields say all of a case but its output. The engine of a template is said by the parser's name."""
    engine = data["parser"].get("engine")
    parser = {key: value for key, value in data["parser"].items() if key != "engine" or engine != RESPONSE_TEMPLATE}
    return is_said({key: value for key, value in data.items() if key not in ("schema", "parser")} | {"parser": parser})


def setup_after(setup: Setup, shown: Setup, source: Case | None = None) -> Setup:
    """`shown`, the form of the case that `setup` became, with what its author pasted still in it.

    `source` is the case that `setup` names instead of carrying it.
    """
    shown.found, shown.taken = setup.found, dict(setup.taken)
    shown.output.take_as, shown.output.output = setup.output.take_as, setup.output.output
    if setup.found is not None and setup.found.is_log:
        shown.output.text = setup.output.text
        shown.carried.base = setup.carried.base or (case_line(source) if source is not None else "")
    return shown


def case_line(case: Case) -> str:
    """A case as JSON on one line: no form can change its line ends. What cannot be seen is escaped."""
    return glyphless(case.model_dump_json(by_alias=True, exclude_defaults=True))


def decode_words(case: Case) -> str:
    """How the text of a case was decoded, in a few words; empty for exactly."""
    return "" if case.decode is None else _decode_words(case.decode.model_dump(exclude_defaults=True))


def decode_sentence(case: Case) -> str:
    """What the decode policy of a case does."""
    return DECODE_POLICIES[case.decode.policy if case.decode else "exact"]


def _decode_words(said: Mapping[str, Any]) -> str:
    words = [policy] if (policy := said.get("policy")) and policy != "exact" else []
    words += ["special tokens skipped"] * bool(said.get("skip_special_tokens"))
    if stop := said.get("stop"):
        words.append(f"stop {', '.join(json.dumps(text, ensure_ascii=False) for text in stop)}")
        words += ["which is kept"] * bool(said.get("include_stop"))
    words += ["final end token dropped"] * bool(said.get("drop_eos"))
    return ", ".join(words)
