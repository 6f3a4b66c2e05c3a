"""The setup form: filled from what was typed or from a case, and made a case again, or one sentence about a field.

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

from parsers.cases import jsontext
from parsers.cases.case import Case, CaseError
from parsers.cases.engines import FALLBACK, RECORDED
from parsers.cases.input import WHOLE
from parsers.cases.io import load_case, loads, to_data
from parsers.cases.jsontext import JsonError
from parsers.decoding import POLICIES as DECODE_POLICIES
from parsers.intake import recognise
from parsers.intake.evidence import Intake, Kind
from parsers.intake.layers import from_bytes
from parsers.vocabulary.types import FormatError
from webapp.engines import ENGINES, RESPONSE_TEMPLATE
from webapp.fields import (
    FIELDS,
    PARTS,
    CarriedFields,
    ChunkingFields,
    DecodeFields,
    OutputFields,
    ParserFields,
    RequestFields,
    Row,
    RuleFields,
    field_at,
    is_said,
    read_part,
    shown_part,
    shown_value,
    unix_lines,
)
from webapp.glyphs import glyphless
from webapp.recordings import RecordingError, Taken, asked, taken

TAKEN = "taken."  # what the names begin with that say what a recording filled in
PLAIN_KINDS = frozenset({"raw_text", "case", "empty", "not_text"})


@dataclass(slots=True)
class Found:
    """Holds what was given: its Intake, the output of it that is meant, and what that became, or why it did not.

    `name` is the file's. `kept` names the fields that it would have filled and somebody else had; `before` those that a
    recording before it filled and of which it says nothing: its request, perhaps.
    """

    intake: Intake
    name: str = ""
    at: int = 0
    taken: Taken | None = None
    problem: RecordingError | None = None
    kept: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)

    @property
    def case(self) -> str | None:
        """The JSON text of the case that is meant, where cases were given."""
        texts = list(self.intake.cases.values())
        return texts[self.at] if texts else None

    @property
    def is_log(self) -> bool:
        """Return whether the text area holds something else than the output or a case."""
        return self.intake.kind not in PLAIN_KINDS or len(self.intake.layers) > 0


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
        """Return what the field `name` holds."""
        return getattr(getattr(self, FIELDS[name].part), name)

    def put(self, name: str, value: Any) -> None:
        """Fill the field `name`."""
        setattr(getattr(self, FIELDS[name].part), name, value)

    def is_wrong(self, *names: str) -> bool:
        """Return whether something is wrong with any of these fields."""
        return any(name in self.errors for name in names)

    @property
    def decode_words(self) -> str:
        """Return what the detokenizer's fields say, in a few words; empty for the defaults."""
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
    again = setup.output.take_as == AUTO
    setup.output.layers = setup.output.layers or ("" if again else posted.get("layers_taken", "").strip())
    taken = {name: posted.get(TAKEN + name) for name, row in FIELDS.items() if row.filled}
    setup.taken = {name: text.replace("\r\n", "\n") for name, text in taken.items() if text is not None}
    return setup


def setup_of(case: Case, *, keep: bool = True) -> Setup:
    """The form that describes `case`; with `keep` it also carries what it has no field for."""
    data = case.model_dump(by_alias=True, exclude_defaults=True, exclude={"input"})
    setup = Setup(**{name: shown_part(part, data) for name, part in PARTS.items()})
    setup.output.text, setup.chunks = case.text(), len(case.input.stream or ())
    setup.own_format = case.parser.format is not None
    if case.parser.engine is not None and case.parser.engine not in ENGINES:
        setup.parser.parser = f"{case.parser.engine}:{case.parser.name}"
    plain = case.input.model_fields_set == {"text"} and "\r" not in setup.output.text
    setup.carried.base = case_line(case) if keep and not (plain and _is_said(data)) else ""
    return setup


def _is_said(data: dict[str, Any]) -> bool:
    """Return whether the fields say all of a case but its output. The engine of a template is said by the parser's
    name."""
    engine = data["parser"].get("engine")
    parser = {key: value for key, value in data["parser"].items() if key != "engine" or engine != RESPONSE_TEMPLATE}
    return is_said({key: value for key, value in data.items() if key not in ("schema", "parser")} | {"parser": parser})


def setup_after(setup: Setup, shown: Setup, source: Case | None = None) -> Setup:
    """`shown`, the form of the case that `setup` became, with what its author pasted still in it.

    `source` is the case that `setup` names instead of carrying it.
    """
    shown.found, shown.taken = setup.found, dict(setup.taken)
    shown.output.take_as, shown.output.output = setup.output.take_as, setup.output.output
    shown.output.layers = setup.output.layers
    if setup.found is not None and setup.found.is_log:
        shown.output.text = setup.output.text
        shown.carried.base = setup.carried.base or (case_line(source) if source is not None else "")
    return shown


def case_line(case: Case) -> str:
    """A case as JSON on one line: no form can change its line ends. What cannot be seen is escaped. Its output is one
    string: in a form, where each quotation mark takes five bytes, the lines of a file would take fourteen each."""
    return glyphless(case.model_dump_json(by_alias=True, exclude_defaults=True, context=WHOLE))


def decode_words(case: Case) -> str:
    """Return how the text of a case was decoded, in a few words; empty for exactly."""
    return "" if case.decode is None else _decode_words(case.decode.model_dump(exclude_defaults=True))


def decode_sentence(case: Case) -> str:
    """Return what the decode policy of a case does."""
    return DECODE_POLICIES[case.decode.policy if case.decode else "exact"]


def _decode_words(said: Mapping[str, Any]) -> str:
    words = [policy] if (policy := said.get("policy")) and policy != "exact" else []
    words += ["special tokens skipped"] * bool(said.get("skip_special_tokens"))
    if stop := said.get("stop"):
        words.append(f"stop {', '.join(json.dumps(text, ensure_ascii=False) for text in stop)}")
        words += ["which is kept"] * bool(said.get("include_stop"))
    words += ["final end token dropped"] * bool(said.get("drop_eos"))
    return ", ".join(words)


# From the form to a case. Whatever was pasted or opened is recognised and named; a log is never silently taken for
# output. Fields that a request in it speaks of are filled where nobody filled them, and what was filled is remembered
# (`Setup.taken`), so that the next recording can fill them again. A case is put together as data and validated once.

AUTO = "auto"  # what `take_as` and `layers` hold where a choice is taken back
NO_LAYERS = "none"  # what `layers` holds where all were put back
UNTOUCHED = [{"by": "token"}]  # what the form says where nobody chose a chunking
OF_TEXT = frozenset({"tokenizer", "expect"})  # what belongs to a text, and goes with it
GIVEN = ("input", "source", "tokenizer", "expect")  # what a recording says that no field of the form says

Upload = tuple[str, bytes]


def case_of(setup: Setup, upload: Upload | None, source: Case | None = None) -> Case:
    """The case that a form describes. What was recognised is left in the setup.

    `upload` is a file's name and bytes; `source` the case that the form names instead of carrying it. Raises FormError
    for the first field that is wrong.
    """
    base = _base(setup, source)
    if upload is None and base is not None and unix_lines(_output(base)) == setup.output.text:
        return _case(setup, base, {})
    found = look_at(setup, upload)
    place = "file" if upload else "text"
    if found.case is not None:
        return _chosen_case(setup, base, _case_file(found.case, place))
    if found.problem is not None:
        raise FormError(place if found.problem.field == "text" else found.problem.field, found.problem.message)
    if found.taken is None:
        nothing = found.intake.kind == "empty"
        raise FormError(place, f"There is no text. {found.intake.advice}" if nothing else found.intake.message)
    return _case(setup, base or {}, found.taken.data)


def case_of_output(setup: Setup, source: Case | None = None) -> Case:
    """The case that a form describes where its text is an output, whatever it looks like: nothing is recognised.

    `source` is the case that the form names instead of carrying it. Raises FormError for the first field that is wrong.
    """
    base = _base(setup, source)
    if not setup.output.text:
        raise FormError("text", "There is no text.")
    is_own = base is not None and unix_lines(_output(base)) == setup.output.text
    return _case(setup, base or {}, {} if is_own else {"input": {"text": setup.output.text}})


def _base(setup: Setup, source: Case | None) -> dict[str, Any] | None:
    """The case that the form was filled from, as data: what is wrong with it is found out with the whole."""
    if not setup.carried.base:
        return None if source is None else source.model_dump(by_alias=True, exclude_defaults=True)
    try:
        data: dict[str, Any] = jsontext.read(setup.carried.base)
        _output(data)
    except (JsonError, AttributeError, IndexError, KeyError, TypeError):
        data = to_data(_case_file(setup.carried.base, "base"))
    return data


def _chosen_case(setup: Setup, base: dict[str, Any] | None, case: Case) -> Case:
    """The case that was given; the form's fields count where a case of the corpus in the text area filled them."""
    if setup.found is None or not setup.found.is_log:
        return case
    if base is not None and setup.carried.base and _case_file(setup.carried.base, "base") == case:
        return _case(setup, base, {})
    setup.carried.base = case_line(case)
    return case


def _output(data: Mapping[str, Any]) -> str:
    """The output text of a case's data, by the first form that gives it. Raises what Python does for no such data."""
    given = data["input"]
    if given.get("text") is not None:
        return "".join(given["text"])
    if given.get("tokens") is not None:
        return "".join([token[1] for token in given["tokens"]])
    return "".join([delta["text"] for delta in given.get("deltas") or ()])


def _case_file(text: str, place: str) -> Case:
    try:
        return loads(text)
    except CaseError as error:
        raise FormError(place, f"This case file cannot be used. {error}") from error


def _case(setup: Setup, base: dict[str, Any], given: dict[str, Any]) -> Case:
    """Return what the fields say over what a recording gave, or over the case that the form was filled from."""
    said = _said(setup)
    kept = {key: value for key, value in base.items() if not given or key not in OF_TEXT}
    data = {"schema": 1, **kept, **{key: given[key] for key in GIVEN if key in given}}
    data["parser"] = _parser(setup, said["parser"], data.get("parser", {}))
    data["context"] = _unset(data.get("context", {}), "/context") | said.get("context", {})
    data["replay"] = [said["replay"]["0"], *data.get("replay", [])[1:]]
    if _is_played(data) and data["replay"] == UNTOUCHED:
        del data["replay"]  # a stream that is played back has a chunking of its own
    for key in ("tools", "compare", "decode", "contract"):
        data.pop(key, None)
    if "tokens" not in data["input"]:
        data["tokenizer"] = said["tokenizer"]
    try:
        keys = ("tools", "compare", "decode", "contract", "parent")
        return load_case(data | {key: said[key] for key in keys if key in said})
    except CaseError as error:
        if setup.carried.base:
            _case_file(setup.carried.base, "base")  # where that is broken by itself, it says so
        raise FormError(field_at(error.pointer), error.message) from error


def _said(setup: Setup) -> dict[str, Any]:
    """Return what the fields say in a case: their values by place, a list as an object of its indices."""
    said: dict[str, Any] = {}
    for row in FIELDS.values():
        value = _value(setup, row) if row.place else None
        *way, last = row.place.split("/")[1:] or [""]
        if value is not None and way != ["input"]:
            inside = said
            for key in way:
                inside = inside.setdefault(key, {})
            inside[last] = dict(value) if isinstance(value, dict) else value
    return said


def _value(setup: Setup, row: Row) -> Any:
    if row.only is not None and setup.get(row.only[0]) != row.only[1]:
        return None
    try:
        return row.kind.value(setup.get(row.name))
    except ValueError as error:
        raise FormError(row.name, str(error)) from error
    except FormatError as error:
        raise FormError(row.name, error.message) from error


def _parser(setup: Setup, said: dict[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """The parser that the fields name; of the base it keeps the wrapper's options, and a format that is meant still."""
    if setup.parser.parser == RESPONSE_TEMPLATE:
        return {"name": RESPONSE_TEMPLATE, "engine": RESPONSE_TEMPLATE, "options": said["options"]}
    engine, entered, name = setup.parser.parser.partition(":")
    if entered:
        options = {"options": base["options"]} if base.get("engine") == engine and "options" in base else {}
        marked = {"markers": said["markers"]} if "markers" in said else {}
        return {"name": name or AUTO, "engine": engine, **options, **marked}
    kept = {"options": base.get("options", {})} if said.get("engine") == FALLBACK else {}
    own = base.get("format")
    return said | kept | ({"format": own} if own is not None and own.get("name") == setup.parser.parser else {})


def _unset(data: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return what stands in `data`, the part of a case at `place`, that no field of the form speaks of: a box that is
    not ticked does not say false either."""
    fields = {row.place for row in FIELDS.values()}
    return {key: value for key, value in data.items() if f"{place}/{key}" not in fields or value is False}


def _is_played(data: Mapping[str, Any]) -> bool:
    """Return whether the recorded stream of a case is played back."""
    raw = any(data["input"].get(form) is not None for form in ("text", "tokens", "deltas"))
    return data["parser"]["name"] == RECORDED or (data["parser"]["name"] == "auto" and not raw)


def look_at(setup: Setup, upload: Upload | None) -> Found:
    """Recognise what the form was given and fill the fields that it speaks of. Nothing is run."""
    output = setup.output
    found = setup.found = Found(_recognised(setup, upload), upload[0] if upload else "")
    outputs = found.intake.outputs
    if upload:
        output.text = _text_of(upload[1]) or output.text
    several = len(outputs) or len(found.intake.cases)
    found.at = int(output.output) if output.output in map(str, range(several)) else found.intake.at
    if not outputs:
        if found.intake.request is not None:
            _fill(setup, found, asked(found.intake.request).data)
        return found
    try:
        found.taken = taken(outputs[found.at], output.tokenizer)
    except RecordingError as error:
        found.problem = error
    else:
        _fill(setup, found, found.taken.data)
    if found.intake.kind == "raw_text" and not found.intake.layers:
        output.text = outputs[found.at].text or ""
    return found


def _recognised(setup: Setup, upload: Upload | None) -> Intake:
    name, data = upload or (None, setup.output.text.encode("utf-8", "surrogatepass"))
    take_as: Kind | None = None if setup.output.take_as in ("", AUTO) else setup.output.take_as  # type: ignore[assignment]
    return recognise(
        data, pasted=upload is None, filename=name, take_as=take_as, layers=named_layers(setup.output.layers)
    )


def named_layers(words: str) -> tuple[str, ...] | None:
    """Return the layers that come off, by name, as a form or a query gives them; None: those that do by themselves."""
    if words in ("", AUTO):
        return None
    return tuple([name for name in words.split(",") if name and name != NO_LAYERS])


def _text_of(data: bytes) -> str:
    """The text of a file, unpacked: the page has no other copy of it when it is run again."""
    try:
        return unix_lines(from_bytes(data)[0].decode("utf-8-sig"))
    except UnicodeDecodeError:
        return ""


def _fill(setup: Setup, found: Found, data: Mapping[str, Any]) -> None:
    """Fill the fields that nobody filled; one that was filled by a recording and changed since is somebody's.

    A field that this recording is silent about stays, unless it is about one answer: the rest may be of a request that
    was given before its answer.
    """
    for row in FIELDS.values():
        value = shown_value(row, data) if row.filled else None
        if value is not None and value != row.blank:
            if _is_ours(setup, row):
                setup.put(row.name, value)
                setup.taken[row.name] = _posted(value)
            elif setup.get(row.name) != value:
                found.kept.append(row.name)
        elif row.name in setup.taken and _is_ours(setup, row):
            if row.filled == "request":
                found.before.append(row.name)
            else:
                setup.put(row.name, row.blank)
                del setup.taken[row.name]


def _is_ours(setup: Setup, row: Row) -> bool:
    """Return whether nobody has typed into a field: it is blank, or holds what a recording filled in."""
    value = setup.get(row.name)
    return bool(_posted(value) == setup.taken[row.name] if row.name in setup.taken else value == row.blank)


def _posted(value: str | bool) -> str:
    return value if isinstance(value, str) else "1" if value else ""
