"""The order in which shapes are tried, and the words around what was found.

named *.case.json   a case, whatever it holds: the case loader knows best what is wrong with it
one JSON value      case, token ids, chunk list, JSON response
JSON objects        one after the other: NDJSON log
data: lines         SSE log
anything else       raw text: calls and lists of calls written as JSON are model output
"""

from __future__ import annotations

from typing import Any

from parsers.intake.chunks import ids_of
from parsers.intake.decoding import BOM, decoded, not_text
from parsers.intake.families import DECODE, is_case
from parsers.intake.hints import hints
from parsers.intake.jsonread import has_lone_surrogate, skip_space, value_at, whole_object
from parsers.intake.log import Log, event_log, object_log, response_log
from parsers.intake.model import Intake, Recognised, number
from parsers.intake.rebuild import NotExactError, rebuild
from parsers.intake.transcript import without_http
from parsers.intake.verdicts import verdict
from parsers.types import RecordedDelta, Recording

_REPLAY = "Choose a parser and replay it."
_CASE_SUFFIX = ".case.json"


def recognise(data: bytes, *, pasted: bool, filename: str | None = None) -> Intake:
    """Say what the bytes are. `pasted` text came through a form, otherwise it is a file, perhaps with a name.

    Never raises; linear in the input.
    """
    return _intake(data, pasted, filename, trust=False)


def as_raw_text(data: bytes, *, pasted: bool) -> Intake:
    """The bytes as raw model output, whatever they look like: for users who know better."""
    return _intake(data, pasted, None, trust=True)


def _intake(data: bytes, pasted: bool, filename: str | None, *, trust: bool) -> Intake:
    try:
        text, changes = decoded(data, pasted=pasted)
    except UnicodeDecodeError as error:
        return _told(not_text(data, error), ())
    if not text:
        return _told(_empty(), changes)
    found = _raw(text, ()) if trust else _structured(text, filename) or _raw(text, hints(text, _whole_value(text)))
    return _told(found, changes)


def _told(found: Recognised, changes: tuple[str, ...]) -> Intake:
    """The Intake: changes first, then caveats, then what to do next."""
    notes = changes + found.notes
    for output in found.outputs:
        output.notes = notes
    return Intake(
        kind=found.kind,
        title=found.title,
        message=" ".join([f"Recognised: {found.title}.", *notes, found.advice]),
        usable=found.usable,
        outputs=found.outputs,
        case=found.case,
        notes=notes,
    )


def _structured(text: str, filename: str | None) -> Recognised | None:
    """Anything but raw text, or None. HTTP lines and a byte order mark are looked past."""
    body, skipped = without_http(text.removeprefix(BOM))
    if filename is not None and filename.lower().endswith(_CASE_SUFFIX):
        return _named_case(body)
    found = _json_shape(body) or _logged(event_log(body))
    if found and skipped:
        found.notes = (f"{number(skipped, 'line')} of HTTP around it skipped.", *found.notes)
    return found


def _json_shape(body: str) -> Recognised | None:
    """What a text that starts with a JSON object or array is, if it is more than text."""
    start = skip_space(body, 0)
    found = value_at(body, start) if body.startswith(("{", "["), start) else None
    if found is None:
        return None
    value, end = found
    if skip_space(body, end) < len(body):
        return _logged(object_log(value, body))
    return _case(body, value) or _token_ids(value) or _chunk_list(value) or _logged(response_log(value))


def _whole_value(text: str) -> Any:
    start = skip_space(text, 0)
    found = value_at(text, start) if text.startswith(("{", '"'), start) else None
    return found[0] if found and skip_space(text, found[1]) == len(text) else None


def _empty() -> Recognised:
    return Recognised(
        kind="empty", title="empty input", advice="Paste a model's raw output or open a file that holds it."
    )


def _raw(text: str, notes: tuple[str, ...]) -> Recognised:
    return Recognised(
        kind="raw_text",
        title=f"raw model output, {number(len(text), 'character')}",
        advice=_REPLAY,
        usable=True,
        outputs=(Recording(text=text),),
        notes=notes,
    )


def _named_case(body: str) -> Recognised:
    value = whole_object(body)
    if value is not None:
        return _loadable(body)
    advice = "Its name says case file, but it does not hold one JSON object. Export the case again, or rename the file."
    return Recognised(kind="case", title="case file that cannot be read", advice=advice)


def _case(body: str, value: Any) -> Recognised | None:
    return _loadable(body) if isinstance(value, dict) and is_case(value) else None


def _loadable(body: str) -> Recognised:
    return Recognised(kind="case", title="case file", advice="Replay it.", usable=True, case=body)


def _token_ids(value: Any) -> Recognised | None:
    """A list of ids, a list of such lists (one for each delta), or an object with output_token_ids."""
    ids = value.get("output_token_ids") if isinstance(value, dict) else value
    if not isinstance(ids, list) or not ids:
        return None
    parts = [ids_of(part) for part in ids] if isinstance(ids[0], list) else [ids_of(ids)]
    if None in parts:
        return None
    count = sum(len(part) for part in parts if part)
    advice = f"Ids alone cannot be replayed: their text takes the model's own tokenizer. {DECODE}"
    return Recognised(kind="token_ids", title=number(count, "token id"), advice=advice)


def _chunk_list(value: Any) -> Recognised | None:
    """A JSON array of strings: the deltas' texts."""
    if not isinstance(value, list) or not value or not all(isinstance(part, str) for part in value):
        return None
    title = f"list of {number(len(value), 'delta')}"
    text = "".join(value)
    if has_lone_surrogate(text):
        advice = "It holds half of a UTF-16 pair, which is no character: give whole characters."
        return Recognised(kind="chunk_list", title=title, advice=advice)
    deltas = tuple([RecordedDelta(part) for part in value])
    return Recognised(
        kind="chunk_list",
        title=f"{title}, {number(len(text), 'character')}",
        advice=f"{_REPLAY} If the array itself is the model's output, take it as raw text.",
        usable=True,
        outputs=(Recording(text=text, kind="chunk_list", deltas=deltas),),
    )


def _logged(log: Log | None) -> Recognised | None:
    """A log with its raw output, or the reason why it has none."""
    if log is None:
        return None
    found = Recognised(kind=log.kind, title=log.title, advice=verdict(log) if log.family.read is None else "")
    if log.family.read is not None:
        _rebuild_into(found, log)
    return found


def _rebuild_into(found: Recognised, log: Log) -> None:
    try:
        recording = rebuild(log)
    except NotExactError as error:
        found.advice = f"The raw output cannot be rebuilt from it: {error}. Or paste the raw output itself."
        return
    found.outputs, found.notes = (recording,), recording.notes
    found.usable = True
    found.advice = f"Its raw output was rebuilt, {number(len(recording.text or ''), 'character')}. {_REPLAY}"
