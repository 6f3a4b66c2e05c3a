"""From the form to a case, or to one sentence about a field that is wrong.

Whatever was pasted or opened is recognised and named (`parsers.intake`); a log is never silently taken for output. The
text area keeps what was pasted; the output is taken from it anew with every post. Fields that a request in it speaks of
are filled where nobody filled them. What was filled is remembered (`Setup.taken`), so that the next recording can fill
them again, while a field that somebody changed since stays as it is.

A case is put together as data and validated once, as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsers.cases import jsontext
from parsers.cases.engines import FALLBACK, RECORDED
from parsers.cases.io import load_case, loads, to_data
from parsers.cases.jsontext import JsonError
from parsers.cases.model import Case, CaseError
from parsers.intake import recognise
from parsers.intake.evidence import Intake, Kind
from parsers.vocabulary.types import FormatError
from webapp.engines import RESPONSE_TEMPLATE
from webapp.fields import FIELDS, Row, field_at, shown_value, unix_lines
from webapp.page.form.setup import FormError, Found, Setup, case_line
from webapp.recordings import RecordingError, asked, taken

AUTO = "auto"  # what `take_as` holds where a choice is taken back
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
        raise FormError(place, found.intake.message)
    return _case(setup, base or {}, found.taken.data)


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
    """What the fields say over what a recording gave, or over the case that the form was filled from."""
    said = _said(setup)
    kept = {key: value for key, value in base.items() if not given or key not in OF_TEXT}
    data = {"schema": 1, **kept, **{key: given[key] for key in GIVEN if key in given}}
    data["parser"] = _parser(setup, said["parser"], data.get("parser", {}))
    data["context"] = _unset(data.get("context", {}), "/context") | said.get("context", {})
    if kwargs := given.get("context", {}).get("template_kwargs"):
        data["context"]["template_kwargs"] = kwargs
    data["replay"] = [said["replay"]["0"], *data.get("replay", [])[1:]]
    if _is_played(data) and data["replay"] == UNTOUCHED:
        del data["replay"]  # a stream that is played back has a chunking of its own
    for key in ("tools", "compare", "decode"):
        data.pop(key, None)
    if "tokens" not in data["input"]:
        data["tokenizer"] = said["tokenizer"]
    try:
        return load_case(data | {key: said[key] for key in ("tools", "compare", "decode", "parent") if key in said})
    except CaseError as error:
        if setup.carried.base:
            _case_file(setup.carried.base, "base")  # where that is broken by itself, it says so
        raise FormError(field_at(error.pointer), error.message) from error


def _said(setup: Setup) -> dict[str, Any]:
    """What the fields say in a case: their values by place, a list as an object of its indices."""
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
    kept = {"options": base.get("options", {})} if said.get("engine") == FALLBACK else {}
    own = base.get("format")
    return said | kept | ({"format": own} if own is not None and own.get("name") == setup.parser.parser else {})


def _unset(data: Mapping[str, Any], place: str) -> dict[str, Any]:
    """What stands in `data`, the part of a case at `place`, that no field of the form speaks of."""
    fields = {row.place for row in FIELDS.values()}
    return {key: value for key, value in data.items() if f"{place}/{key}" not in fields}


def _is_played(data: Mapping[str, Any]) -> bool:
    """Whether the recorded stream of a case is played back."""
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
    found.at = int(output.output) if output.output in map(str, range(several)) else 0
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
    if found.intake.kind == "raw_text":
        output.text = outputs[found.at].text or ""
    return found


def _recognised(setup: Setup, upload: Upload | None) -> Intake:
    name, data = upload or (None, setup.output.text.encode("utf-8", "surrogatepass"))
    take_as: Kind | None = None if setup.output.take_as in ("", AUTO) else setup.output.take_as  # type: ignore[assignment]
    return recognise(data, pasted=upload is None, filename=name, take_as=take_as)


def _text_of(data: bytes) -> str:
    """A file as the text area shows it; nothing for one that is no text."""
    try:
        return unix_lines(data.decode("utf-8-sig"))
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
        elif row.filled == "answer" and row.name in setup.taken and _is_ours(setup, row):
            setup.put(row.name, row.blank)
            del setup.taken[row.name]


def _is_ours(setup: Setup, row: Row) -> bool:
    """Whether nobody has typed into a field: it is blank, or holds what a recording filled in."""
    value = setup.get(row.name)
    return bool(_posted(value) == setup.taken[row.name] if row.name in setup.taken else value == row.blank)


def _posted(value: str | bool) -> str:
    """What a field holds, as a browser sends it."""
    return value if isinstance(value, str) else "1" if value else ""
