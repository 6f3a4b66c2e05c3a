"""The form of the format editor: what was typed, kept whatever it is worth, and the cases its samples make.

Everything of the editor is in the form, so that it works without script and nothing is stored: the text of the format,
the samples with what is expected of them, the tools, and which format stands beside. `base` is the case the editor was
opened from; what the editor has no field for is kept from it, and its own format may stand beside as it was opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from werkzeug.datastructures import MultiDict

from parsers.cases import jsontext
from parsers.cases.case import Case, CaseError
from parsers.cases.engines import BUILTIN, ENGINES, choose
from parsers.cases.io import load_case, loads, to_data
from parsers.cases.jsontext import JsonError
from parsers.formats.model import Format
from parsers.vocabulary.types import UsageError
from webapp.fields import unix_lines
from webapp.formats.folder import file_text
from webapp.formats.format_text import laid_out, skeleton
from webapp.page.form.setup import case_line
from webapp.settings import Settings
from webapp.switches import is_ticked

MOST_SAMPLES = 8
NOTHING, OPENED = "", "opened"
KEPT = ("title", "notes", "parent", "context", "compare", "replay", "checks")


@dataclass(slots=True)
class Sample:
    """One sample: its number in the form, the output, and the expectation as typed."""

    number: int
    output: str = ""
    expect: str = ""


@dataclass(slots=True)
class Editor:
    """The editor as it is to be shown again. `beside` names a parser, `opened`, or nothing."""

    text: str
    samples: list[Sample] = field(default_factory=lambda: [Sample(1)])
    beside: str = NOTHING
    tools: str = ""
    reasoning_open: bool = False
    base: str = ""

    def add(self) -> None:
        """One more sample, as long as there is room; numbers are never used again."""
        if len(self.samples) < MOST_SAMPLES:
            self.samples.append(Sample(max([sample.number for sample in self.samples], default=0) + 1))

    def remove(self, number: int) -> None:
        """Take a sample away."""
        self.samples = [sample for sample in self.samples if sample.number != number]

    def sample(self, number: int) -> Sample:
        """The sample of that number; the first where there is none."""
        first = self.samples[0] if self.samples else Sample(1)
        return next((sample for sample in self.samples if sample.number == number), first)


def read_editor(fields: MultiDict[str, str]) -> Editor:
    """The editor with everything that was typed."""
    samples = [
        Sample(
            int(number), unix_lines(fields.get(f"output.{number}", "")), unix_lines(fields.get(f"expect.{number}", ""))
        )
        for number in dict.fromkeys(fields.getlist("sample"))
        if number.isascii() and number.isdecimal() and len(number) < 6
    ]
    return Editor(
        text=unix_lines(fields.get("format", "")),
        samples=samples[:MOST_SAMPLES],
        beside=fields.get("beside", NOTHING),
        tools=unix_lines(fields.get("tools", "")),
        reasoning_open=is_ticked(fields.get("reasoning_open")),
        base=fields.get("base", ""),
    )


def new_editor() -> Editor:
    """The skeleton with its example as the first sample."""
    return Editor(skeleton(), [Sample(1, str(jsontext.read(skeleton())["example"]))])


def editor_of_format(fmt: Format, settings: Settings) -> Editor:
    """A format that has a name, with itself beside."""
    return Editor(file_text(fmt.name, settings), [Sample(1, fmt.example)], beside=fmt.name)


def editor_of_case(case: Case, settings: Settings) -> Editor:
    """The format of a case, with the case's output as the first sample and what the case expects of it.

    Raises UsageError for a case whose parser is another engine's.
    """
    ours = (case.parser.engine or BUILTIN) in ENGINES
    if not ours or (case.parser.format is None and choose(case).plays):
        raise UsageError("This case's parser is another engine's: there is no table to edit. Choose a built-in format.")
    fmt = case.parser.format or choose(case).format
    own = case.parser.format is not None
    expect = ""
    if case.expect is not None:
        said = case.expect.model_dump(mode="json", exclude_none=True, exclude_unset=True)
        expect = jsontext.pretty(said, lambda path: len(path) > 1)
    editor = Editor(
        text=laid_out(to_data(case)["parser"]["format"]) if own else file_text(fmt.name, settings),
        samples=[Sample(1, unix_lines(case.text()), expect)],
        beside=OPENED if own else fmt.name,
        reasoning_open=bool(case.context.reasoning_open),
        base=case_line(case),
    )
    if case.tools:
        editor.tools = jsontext.pretty(list(case.tools), lambda path: False)
    return editor


def opened_format(editor: Editor) -> Format | None:
    """The format of the case the editor was opened from, as it was then."""
    try:
        return loads(editor.base).parser.format if editor.base else None
    except CaseError:
        return None


def sample_case(editor: Editor, sample: Sample, data: Any) -> Case:
    """The case that a sample makes with the format `data` (its decoded JSON, written out) in it.

    Raises CaseError with the pointer of what is wrong: /expect for the expectation, /tools for the tools.
    """
    base = _base(editor)
    case: dict[str, Any] = {"schema": 1, **{key: base[key] for key in KEPT if key in base}}
    case["parser"] = {**base.get("parser", {}), "name": data["name"], "format": data}
    case["input"] = {"text": sample.output}
    if base and unix_lines(load_case(base).text()) == sample.output:
        case |= {key: base[key] for key in ("input", "source", "tokenizer") if key in base}
    elif case.get("replay"):
        case["replay"] = [one for one in case["replay"] if one["by"] != "cuts"]
    case["tools"] = _json("/tools", editor.tools, [])
    case["context"] = {**case.get("context", {}), "reasoning_open": editor.reasoning_open}
    if sample.expect.strip():
        case["expect"] = _json("/expect", sample.expect, {})
    return load_case(case)


def _base(editor: Editor) -> dict[str, Any]:
    return to_data(loads(editor.base)) if editor.base else {}


def _json(pointer: str, text: str, empty: Any) -> Any:
    if not text.strip():
        return empty
    try:
        value = jsontext.read(text)
    except JsonError as error:
        raise CaseError(error.message, pointer) from error
    return [value] if pointer == "/tools" and isinstance(value, dict) else value
