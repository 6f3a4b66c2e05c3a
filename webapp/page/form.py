"""The setup form: from what a person typed to a Case, or to one sentence per field that is wrong.

The text under study is the one thing that must not change on the way: browsers submit text areas with CRLF, so line
ends of pasted text are normalised to LF; a file keeps every byte. Whatever the bytes are is recognised and named
(`parsers.intake`, `intake_form`); a log is never silently taken for model output, and stays in the text area as it is.

`base` is the case a form was filled from. What the form has no field for (expectations, notes, stored tokens) is
kept from it, and as long as the text is unchanged the exact tokens are kept too. A case that has an address is named
(`source`) instead of carried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parsers.cases import jsontext
from parsers.cases.engines import FALLBACK
from parsers.cases.io import load_case, loads, to_data
from parsers.cases.jsontext import JsonError
from parsers.cases.model import Case, CaseError
from parsers.vocabulary.types import FormatError
from webapp.engines import RESPONSE_TEMPLATE
from webapp.page.decode_form import DecodeFields, decode_fields, read_decode, with_decode
from webapp.page.filters import glyphless
from webapp.page.intake_form import Found, given_data, look_at, read_taken
from webapp.page.recorded_form import as_recorded
from webapp.page.template_form import parser_data, template_text

POLICY = "policy."
CHOICES = ("auto", "none", "required")
CHUNKINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "token": ("token by token", {"by": "token"}),
    "token-2": ("2 tokens", {"by": "token", "size": 2}),
    "token-3": ("3 tokens", {"by": "token", "size": 3}),
    "token-5": ("5 tokens", {"by": "token", "size": 5}),
    "token-10": ("10 tokens", {"by": "token", "size": 10}),
    "char": ("character by character", {"by": "char"}),
    "whole": ("whole, in one delta", {"by": "whole"}),
    "recorded": ("as recorded", {"by": "recorded"}),
    "random": ("random sizes", {"by": "random"}),
    "cuts": ("cut at …", {"by": "cuts"}),
}
# Where in a case a field of the form ends up: errors of the case model are shown at that field.
PLACES = (
    ("/parser/policy", "policies"),
    ("/parser/options/template", "template"),
    ("/parser/options", "wrapper"),
    ("/parser", "parser"),
    ("/tools", "tools"),
    ("/context/tool_choice", "tool_choice"),
    ("/context/prompt_tail", "prompt_tail"),
    ("/context/model_type", "model_type"),
    ("/context/model", "model"),
    ("/context", "finish_reason"),
    ("/replay", "chunking"),
    ("/tokenizer", "tokenizer"),
    ("/decode/stop", "stop"),
    ("/decode", "decode_policy"),
    ("/input", "text"),
)


@dataclass(slots=True)
class Setup:
    """The form as it is to be shown again: what was typed, what is wrong with it, what was recognised."""

    text: str = ""
    parser: str = "auto"
    tokenizer: str = "embedded"
    chunking: str = "token"
    cuts: str = ""
    seed: str = ""
    holdback: str = ""
    text_delay: str = ""
    reasoning_open: bool = False
    tools: str = ""
    tool_choice: str = "auto"
    finish_reason: str = ""
    model: str = ""
    model_type: str = ""
    wrapper: bool = False
    json_arguments: bool = False
    soft_whitespace: bool = False
    calls_by_index: bool = False
    own_format: bool = False
    template: str = ""
    prompt_tail: str = ""
    policy: dict[str, str] = field(default_factory=dict)
    decode: DecodeFields = field(default_factory=DecodeFields)
    chunks: int = 0
    base: str = ""
    source: str = ""
    parent: str = ""
    take_as: str = ""
    output: str = ""
    taken: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    found: Found | None = None


class FormError(Exception):
    """A field is wrong. `field` is its name in the form."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def read_setup(fields: Mapping[str, str]) -> Setup:
    """What was typed, whatever it is worth."""
    setup = Setup(
        text=unix_lines(fields.get("text", "")),
        parser=fields.get("parser", "").strip() or "auto",
        tokenizer=fields.get("tokenizer", "").strip() or "embedded",
        chunking=fields.get("chunking", "token"),
        reasoning_open=bool(fields.get("reasoning_open")),
        wrapper=bool(fields.get("wrapper")),
        json_arguments=bool(fields.get("json_arguments")),
        soft_whitespace=bool(fields.get("soft_whitespace")),
        calls_by_index=bool(fields.get("calls_by_index")),
        template=unix_lines(fields.get("template", "")),
        prompt_tail=unix_lines(fields.get("prompt_tail", "")),
        tools=unix_lines(fields.get("tools", "")),
        tool_choice=fields.get("tool_choice", "").strip() or "auto",
        policy={key.removeprefix(POLICY): value for key, value in fields.items() if key.startswith(POLICY) and value},
        decode=read_decode(fields),
        base=fields.get("base", ""),
        source=fields.get("source", ""),
        parent=fields.get("parent", ""),
        taken=read_taken(fields),
        take_as=(fields.get("take_as") or fields.get("taken_as", "")).strip(),
    )
    for name in ("output", "cuts", "seed", "holdback", "text_delay", "finish_reason", "model", "model_type"):
        setattr(setup, name, fields.get(name, "").strip())
    return setup


def unix_lines(text: str) -> str:
    """`text` with LF line ends: what the reader saw in the text area."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def case_of(setup: Setup, upload: tuple[str, bytes] | None) -> Case:
    """The case that a form describes. `upload` is a file's name and bytes. What was recognised is left in the setup.

    Raises FormError for the first field that is wrong.
    """
    base = _base(setup)
    if upload is None and base is not None and _unchanged(setup, base):
        return _build(setup, base, {})
    found = look_at(setup, upload)
    place = "file" if upload else "text"
    if found.case is not None:
        return _chosen(setup, base, _loaded(found.case, place))
    if found.problem is not None:
        raise FormError(place if found.problem.field == "text" else found.problem.field, found.problem.message)
    if found.taken is None:
        raise FormError(place, found.intake.message)
    return _build(setup, base, given_data(found))


def _chosen(setup: Setup, base: dict[str, Any] | None, case: Case) -> Case:
    """The case that was given; the form's fields count where a case of the corpus in the text area filled them."""
    if setup.found is None or not setup.found.is_log:
        return case
    if base == to_data(case):
        return _build(setup, base, {})
    setup.base = case_line(case)
    return case


def _base(setup: Setup) -> dict[str, Any] | None:
    return to_data(_loaded(setup.base, "base")) if setup.base else None


def _loaded(text: str, place: str) -> Case:
    try:
        return loads(text)
    except CaseError as error:
        raise FormError(place, f"This case file cannot be used. {error}") from error


def _unchanged(setup: Setup, base: dict[str, Any]) -> bool:
    return unix_lines(load_case(base).text()) == setup.text


def _build(setup: Setup, base: dict[str, Any] | None, given: dict[str, Any]) -> Case:
    kept = {key: value for key, value in (base or {}).items() if not given or key not in ("tokenizer", "expect")}
    data: dict[str, Any] = {"schema": 1, **kept, **given}
    template_kwargs = data.pop("template_kwargs", None)
    parser = data.get("parser", {})
    inline = parser.get("format")
    data["parser"] = {"name": setup.parser, "policy": setup.policy}
    if setup.parser == RESPONSE_TEMPLATE:
        data["parser"] = _template(setup)
    elif setup.wrapper:
        data["parser"] |= {"engine": FALLBACK, "options": parser.get("options", {})}
    if inline is not None and inline.get("name") == setup.parser:
        data["parser"]["format"] = inline
    data["tools"] = _tools(setup.tools)
    data["context"] = _context(setup, data.get("context", {}))
    if template_kwargs is not None:
        data["context"]["template_kwargs"] = template_kwargs
    data["replay"] = [_chunking(setup), *data.get("replay", [])[1:]]
    as_recorded(data)
    data["compare"] = _compare(setup)
    with_decode(data, setup.decode, given)
    if "tokens" not in data["input"]:
        data["tokenizer"] = {"name": setup.tokenizer}
    if setup.parent:
        data["parent"] = setup.parent
    try:
        return load_case(data)
    except CaseError as error:
        raise FormError(field_of(error.pointer), error.message) from error


def _template(setup: Setup) -> dict[str, Any]:
    try:
        return parser_data(setup.template)
    except FormatError as error:
        raise FormError("template", error.message) from error


def field_of(pointer: str) -> str:
    """The field of the form where an error at `pointer` of a case is shown."""
    return next((name for place, name in PLACES if pointer.startswith(place)), "text")


def _tools(text: str) -> list[Any]:
    """The declared tools: a JSON array, or one tool alone."""
    if not text.strip():
        return []
    try:
        value = jsontext.read(text)
    except JsonError as error:
        raise FormError("tools", f"The tools are {error.message}") from error
    return value if isinstance(value, list) else [value]


def _context(setup: Setup, base: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in base.items() if key not in {"reasoning_open", "tool_choice"}}
    choice: Any = setup.tool_choice if setup.tool_choice in CHOICES else {"name": setup.tool_choice}
    context = {**known, "tool_choice": choice}
    if setup.reasoning_open:  # left out, the end of the prompt may say it
        context["reasoning_open"] = True
    for name in ("finish_reason", "model", "model_type", "prompt_tail"):
        context.pop(name, None)
        if value := getattr(setup, name):
            context[name] = value
    return context


def _compare(setup: Setup) -> dict[str, str]:
    loose = {"calls": "index"} if setup.calls_by_index else {}
    loose |= {"arguments": "json"} if setup.json_arguments else {}
    return loose | ({"whitespace": "soft"} if setup.soft_whitespace else {})


def _chunking(setup: Setup) -> dict[str, Any]:
    if setup.chunking not in CHUNKINGS:
        raise FormError("chunking", f"There is no chunking {setup.chunking!r}.")
    data = dict(CHUNKINGS[setup.chunking][1])
    if data["by"] == "cuts":
        data["cuts"] = [_number("cuts", part) for part in setup.cuts.replace(",", " ").split()]
    if data["by"] == "random" and setup.seed:
        data["seed"] = _number("seed", setup.seed)
    for name, key in (("holdback", "holdback_chars"), ("text_delay", "text_delay")):
        if value := getattr(setup, name):
            data[key] = _number(name, value)
    return data


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise FormError(name, f"{text!r} is not a whole number.")
    return int(text)


def setup_of(case: Case, *, keep: bool = True) -> Setup:
    """The form that describes `case`; with `keep` it also carries what it has no field for."""
    data = case.model_dump(by_alias=True, exclude_defaults=True, exclude={"input"})
    context, chunking = data.get("context", {}), (data.get("replay") or [{"by": "token"}])[0]
    choice = context.get("tool_choice", "auto")
    setup = Setup(
        text=case.text(),
        parser=case.parser.name,
        tokenizer=(case.tokenizer.name if case.tokenizer else None) or "embedded",
        chunking=_chunking_name(chunking),
        cuts=", ".join(map(str, chunking.get("cuts") or [])),
        seed=str(chunking.get("seed") or ""),
        holdback=str(chunking.get("holdback_chars") or ""),
        text_delay=str(chunking.get("text_delay") or ""),
        reasoning_open=case.context.reasoning_open,
        tools=jsontext.pretty(data["tools"], lambda path: False) if data.get("tools") else "",
        tool_choice=choice["name"] if isinstance(choice, dict) else choice,
        finish_reason=case.context.finish_reason or "",
        model=case.context.model or "",
        model_type=case.context.model_type or "",
        wrapper=case.parser.engine == FALLBACK,
        json_arguments=case.compare.arguments == "json",
        soft_whitespace=case.compare.whitespace == "soft",
        calls_by_index=case.compare.calls == "index",
        own_format=case.parser.format is not None,
        template=template_text(case.parser.options.get("template")) if case.parser.engine == RESPONSE_TEMPLATE else "",
        prompt_tail=case.context.prompt_tail or "",
        policy=dict(case.parser.policy),
        decode=decode_fields(case),
        parent=case.parent or "",
        chunks=len(case.input.stream or ()),
    )
    setup.base = "" if not keep or _said(case, data) else case_line(case)
    return setup


def case_line(case: Case) -> str:
    """A case as JSON on one line: no form can change its line ends. What cannot be seen is escaped."""
    return glyphless(case.model_dump_json(by_alias=True, exclude_defaults=True))


def kept(setup: Setup, shown: Setup) -> Setup:
    """`shown`, the form of the case that `setup` became, with what its author pasted still in it."""
    shown.found, shown.take_as, shown.output = setup.found, setup.take_as, setup.output
    shown.taken = dict(setup.taken)
    if setup.found is not None and setup.found.is_log:
        shown.text, shown.base = setup.text, setup.base
    return shown


def _chunking_name(chunking: Mapping[str, Any]) -> str:
    wanted = {key: chunking[key] for key in ("by", "size") if key in chunking}
    for name, (_, data) in CHUNKINGS.items():
        if data == wanted:
            return name
    return str(wanted["by"]) if wanted.get("by") in CHUNKINGS else "token"


FORM_HAS = {"schema", "parser", "tokenizer", "tools", "context", "replay", "parent", "compare", "decode"}
FORM_CONTEXT = {"tool_choice", "reasoning_open", "finish_reason", "model", "model_type", "prompt_tail"}


def _said(case: Case, data: dict[str, Any]) -> bool:
    """Whether the fields say everything: a text without carriage returns, and nothing the form has no field for."""
    return (
        data.keys() <= FORM_HAS
        and case.input.model_fields_set == {"text"}
        and (data["parser"].keys() <= {"name", "policy", "engine"} or case.parser.engine == RESPONSE_TEMPLATE)
        and case.parser.engine in (None, FALLBACK, RESPONSE_TEMPLATE)
        and "\r" not in (case.context.prompt_tail or "")
        and data.get("context", {}).keys() <= FORM_CONTEXT
        and len(case.replay) <= 1
        and "\r" not in case.text()
    )
