"""What was pasted or opened, recognised for the form: which output of it is meant, and which fields it fills.

The text area keeps what was pasted; the output is taken from it anew with every post. Fields that a request in it
speaks of are filled where nobody filled them. What was filled is remembered (`taken`), so that the next recording can
fill them again, while a field that somebody changed since stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from parsers.cases import jsontext
from parsers.cases.io import load_case
from parsers.intake import recognise
from parsers.intake.evidence import Intake, Kind
from webapp.page.decode_form import DecodeFields, decode_fields
from webapp.recordings import RecordingError, Taken, asked, taken

if TYPE_CHECKING:
    from webapp.page.form import Setup

AUTO = "auto"
# Fields that a recording fills, and what each holds while nobody has.
BLANK: dict[str, Any] = {
    "tools": "",
    "tool_choice": "auto",
    "reasoning_open": False,
    "finish_reason": "",
    "model": "",
    "prompt_tail": "",
    "chunking": "token",
    "stop": "",
    "skip_special": False,
    "include_stop": False,
}
_DECODE = ("stop", "skip_special", "include_stop")
OF_ONE_ANSWER = frozenset({"finish_reason", "chunking", *_DECODE})
TAKEN = "taken."
PLAIN_KINDS = frozenset({"raw_text", "case", "empty", "not_text"})


@dataclass(slots=True)
class Found:
    """What was given: its Intake, the output of it that is meant, and what that became, or why it did not.

    `name` is the file's, `typed` whether it came by the text area. `kept` names the fields that it would have filled
    and somebody else had.
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


def look_at(setup: Setup, upload: tuple[str, bytes] | None) -> Found:
    """Recognise what the form was given and fill the fields that it speaks of. Nothing is run."""
    found = Found(_recognised(setup, upload), upload[0] if upload else "")
    setup.found = found
    outputs = found.intake.outputs
    found.at = _index(setup.output, len(outputs) or len(found.intake.cases))
    if upload:
        setup.text = _kept(upload[1]) or setup.text
    if not outputs:
        if found.intake.request is not None:
            take_over(setup, asked(found.intake.request).data)
        return found
    try:
        found.taken = taken(outputs[found.at], setup.tokenizer)
    except RecordingError as error:
        found.problem = error
    else:
        take_over(setup, found.taken.data)
    if found.intake.kind == "raw_text":
        setup.text = outputs[found.at].text or ""
    return found


def _recognised(setup: Setup, upload: tuple[str, bytes] | None) -> Intake:
    name, data = upload or (None, setup.text.encode("utf-8", "surrogatepass"))
    take_as: Kind | None = None if setup.take_as in ("", AUTO) else setup.take_as  # type: ignore[assignment]
    return recognise(data, pasted=upload is None, filename=name, take_as=take_as)


def _kept(data: bytes) -> str:
    """A file as the text area shows it; nothing for one that is no text."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return ""


def _index(text: str, count: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 and int(text) < count else 0


def read_taken(fields: Mapping[str, str]) -> dict[str, str]:
    """What an earlier recording filled into the form, by field."""
    names = (name for name in BLANK if f"{TAKEN}{name}" in fields)
    return {name: fields[f"{TAKEN}{name}"].replace("\r\n", "\n") for name in names}


def take_over(setup: Setup, data: Mapping[str, Any]) -> None:
    """Fill the fields that nobody filled; one that was filled by a recording and changed since is somebody's.

    A field that this recording is silent about stays: it may be of a request that was given before its answer.
    """
    fields = _fields(data)
    for name, value in fields.items():
        if _is_ours(setup, name):
            _put(setup, name, value)
            setup.taken[name] = _spelled(value)
        elif setup.found is not None and value_of(setup, name) != value:
            setup.found.kept.append(name)
    for name in OF_ONE_ANSWER - fields.keys():
        if name in setup.taken and _is_ours(setup, name):
            _put(setup, name, BLANK[name])
            del setup.taken[name]


def value_of(setup: Setup, name: str) -> Any:
    """What stands in a field that a recording may fill."""
    return getattr(setup.decode if name in _DECODE else setup, name)


def _put(setup: Setup, name: str, value: Any) -> None:
    setattr(setup.decode if name in _DECODE else setup, name, value)


def _is_ours(setup: Setup, name: str) -> bool:
    """Whether nobody has typed into a field: it is blank, or holds what a recording filled in."""
    value = value_of(setup, name)
    return bool(_spelled(value) == setup.taken[name] if name in setup.taken else value == BLANK[name])


def _fields(data: Mapping[str, Any]) -> dict[str, Any]:
    context, decode = data.get("context", {}), _decode_fields(data.get("decode"))
    choice = context.get("tool_choice", AUTO)
    fields = {
        "tools": jsontext.pretty(data["tools"], lambda path: False) if data.get("tools") else "",
        "tool_choice": choice["name"] if isinstance(choice, dict) else choice,
        "reasoning_open": bool(context.get("reasoning_open")),
        "finish_reason": context.get("finish_reason", ""),
        "model": context.get("model", ""),
        "prompt_tail": context.get("prompt_tail", ""),
        "chunking": data["replay"][0]["by"] if data.get("replay") else "token",
        **{name: getattr(decode, name) for name in _DECODE},
    }
    return {name: value for name, value in fields.items() if value != BLANK[name]}


def _decode_fields(decode: Mapping[str, Any] | None) -> DecodeFields:
    """The detokenizer's fields for what a recording says of it."""
    whole = {"schema": 1, "parser": {"name": AUTO}, "input": {"text": ""}}
    return decode_fields(load_case({**whole, "decode": dict(decode)})) if decode else DecodeFields()


def _spelled(value: str | bool) -> str:
    """A field as a browser sends it."""
    return value if isinstance(value, str) else "1" if value else ""


def given_data(found: Found) -> dict[str, Any]:
    """What a recording says that no field of the form says: its output, its source, its template arguments."""
    data = found.taken.data if found.taken else {}
    kwargs = data.get("context", {}).get("template_kwargs")
    keys = ("input", "source", "tokenizer", "expect")
    return {key: data[key] for key in keys if key in data} | ({"template_kwargs": kwargs} if kwargs else {})
