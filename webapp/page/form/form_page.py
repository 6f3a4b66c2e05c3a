"""The form as its template is given it: what was typed, what can be chosen, and what there is to say of a template."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from parsers.cases import jsontext
from parsers.cases.engines import RECORDED
from parsers.cases.jsontext import JsonError
from parsers.decoding import POLICIES as DECODE_POLICIES
from parsers.formats.contracts import builtin_contracts
from parsers.formats.lint import LintFinding
from parsers.formats.model import Format, Policy, builtin_formats, policy_values
from parsers.intake.evidence import (
    About,
    Ask,
    Capture,
    Fact,
    Intake,
    Offer,
    Part,
    Reading,
    facts_about,
    missing_inputs,
    number,
)
from parsers.replays.chunking import label
from parsers.search.guess import guesses
from parsers.vocabulary.types import Recording, UsageError
from parsers.wire.endings import last_end
from webapp.engines import RESPONSE_TEMPLATE
from webapp.engines.entered import entered_parsers
from webapp.engines.response_template import loaded
from webapp.engines.response_template.about import TITLE
from webapp.engines.response_template.lint import lint
from webapp.fields import CHUNKINGS, EMPTY_TEMPLATE, FIELDS, TOOLS, Row, template_data, template_text
from webapp.formats.folder import formats_folder
from webapp.glyphs import count
from webapp.page.form.setup import AUTO, NO_LAYERS, Found, Setup
from webapp.page.library.gallery import Tile, gallery, strip
from webapp.page.library.tokenizer_shelf import ORIGINS, OTHERS
from webapp.recordings import STREAMED
from webapp.runs.runner import Run
from webapp.settings import Settings
from webapp.tokenizers import list_tokenizers

NOUNS = {"error": "error", "warning": "warning", "info": "note"}


@dataclass(slots=True, frozen=True)
class Option:
    """One choice: its value in the form, its words on the page, and other names by which it may be looked for."""

    value: str
    words: str
    also: str = ""


@dataclass(slots=True, frozen=True)
class PolicyField:
    """One policy: its choices (the first is the format's own) and the parsers that know it."""

    key: str
    words: str
    description: str
    values: tuple[str, ...]
    formats: str


@dataclass(slots=True, frozen=True)
class _Choices:
    """Holds what the form lists; tokenizers under the heading of where they come from."""

    parsers: list[Option]
    tokenizers: dict[str, list[Option]]
    chunkings: list[Option]
    policies: list[PolicyField]
    contracts: list[Option]
    decode_policies: list[Option]


@dataclass(slots=True, frozen=True)
class _TemplateExample:
    """A template to start from, with a prompt prefix that fits it."""

    name: str
    title: str
    about: str
    prefix: str
    text: str


@dataclass(slots=True, frozen=True)
class _TemplateReport:
    """Holds what is said of the template as it stands: a headline, findings, and the field that the prompt leaves
    open."""

    headline: str
    findings: list[LintFinding]
    opens: str = ""


@dataclass(slots=True, frozen=True)
class FormPage:
    """Everything the form shows. `limits` are the most bytes of a request and of a tokenizer; `template` is said only
    where a template is what reads the output, and `below` is the replay below the form."""

    kind: str
    setup: Setup
    intake: Panel | None
    choices: _Choices
    limits: tuple[int, int]
    template: _TemplateReport | None
    template_examples: list[_TemplateExample]
    below: Run | None
    cards: list[Tile]
    failures: int  # how many there are in all

    @property
    def at_home(self) -> bool:
        """Return whether the form is all there is: one box, as on the first page."""
        return self.kind == "home" or self.below is None

    @property
    def source_open(self) -> bool:
        """Return whether the text area is unfolded."""
        return self.at_home or self.kind == "edit" or bool(self.setup.errors)


def form_page(setup: Setup, kind: str, settings: Settings, below: Run | None = None) -> FormPage:
    """The form filled with `setup`. `kind` is that of the page: home, example, case, run, edit or error."""
    played = setup.parser.parser == RESPONSE_TEMPLATE
    return FormPage(
        kind=kind,
        setup=setup,
        intake=panel(setup, told=kind != "run"),
        choices=choices(setup, formats_folder(settings).formats, below),
        limits=(settings.max_request_bytes, settings.tokenizer_upload_bytes),
        template=template_report(setup.parser.template, setup.request.prompt_tail) if played else None,
        template_examples=list(template_examples().values()),
        below=below,
        cards=strip() if kind == "home" else [],
        failures=len(gallery()),
    )


def choices(setup: Setup, folder: Mapping[str, Format], below: Run | None = None) -> _Choices:
    """The choices for a form filled with `setup`, those of the formats folder among them; a parser of the case's own
    stays choosable, and the chunking of the run `below` is named by what it is."""
    name = setup.parser.parser
    parsers = [Option("auto", "auto: find out")]
    parsers += [Option(fmt.name, f"{fmt.name} ({fmt.title})") for fmt in builtin_formats().values()]
    parsers += [Option(fmt.name, f"{fmt.name} ({fmt.title}, formats folder)") for fmt in folder.values()]
    parsers.append(Option(RESPONSE_TEMPLATE, f"{RESPONSE_TEMPLATE} ({TITLE})"))
    parsers += [Option(one.name, f"{one.name} ({one.version or one.title})") for one in entered_parsers()]
    if chunks := _chunks(setup):
        parsers.append(stream_option(chunks))
    if setup.own_format or name not in {option.value for option in parsers}:
        others = [option for option in parsers if option.value != name]
        parsers = [*others, Option(name, f"{name} (of this case)")]
    return _Choices(
        parsers=parsers,
        tokenizers=_tokenizers(setup.output.tokenizer),
        chunkings=[Option(word, _chunking_words(word, setup, below)) for word in CHUNKINGS],
        policies=_policy_fields([*builtin_formats().values(), *folder.values()]),
        contracts=[Option(one.name, one.description) for one in builtin_contracts().values()],
        decode_policies=[Option(word, words) for word, words in DECODE_POLICIES.items()],
    )


def _chunking_words(word: str, setup: Setup, below: Run | None) -> str:
    """What a chunking is called: that of the run by its cuts, sizes or seed, where its name does not say them."""
    words, data = CHUNKINGS[word]
    if below is not None and below.piece != "token":
        words = words.replace("token", below.piece)
    own = below.case.replay[0] if below is not None and below.case.replay else None
    if own is None or word != setup.cutting.chunking:
        return words
    says_all = own.by not in ("cuts", "random") and own.size == data.get("size", 1)
    return words if says_all or below is None else label(own, below.piece)


def stream_option(chunks: int) -> Option:
    """A recorded stream as a choice of parser."""
    return Option(RECORDED, f"recorded stream ({count(chunks, 'chunk')})")


def _chunks(setup: Setup) -> int:
    """Return how many chunks of a server there are to play back: of what was pasted, else of the case on the page."""
    given = setup.found.taken.data["input"] if setup.found and setup.found.taken else {}
    return len(given.get("stream") or ()) or setup.chunks


def _tokenizers(chosen: str) -> dict[str, list[Option]]:
    """The tokenizers by where they come from; one that a case names and that is not here stays choosable."""
    groups: dict[str, list[Option]] = {name: [] for name in (*ORIGINS.values(), OTHERS)}
    for info in list_tokenizers():
        groups[ORIGINS.get(info["kind"], OTHERS)].append(Option(info["name"], info["label"]))
    if chosen not in {option.value for listed in groups.values() for option in listed}:
        groups[OTHERS].append(Option(chosen, f"{chosen} (of this case)"))
    return {name: listed for name, listed in groups.items() if listed}


def _policy_fields(formats: list[Format]) -> list[PolicyField]:
    known = {key: " ".join([fmt.name for fmt in formats if key in fmt.policies]) for key in policy_values()}
    return [
        PolicyField(key, key.replace("_", " "), Policy.model_fields[key].description or "", values, known[key])
        for key, values in policy_values().items()
        if known[key]
    ]


@cache
def template_examples() -> dict[str, _TemplateExample]:
    """The templates to start from, by name."""
    text = (resources.files("webapp.engines.response_template") / "examples.json").read_text(encoding="utf-8")
    return {
        one["name"]: _TemplateExample(
            one["name"], one["title"], one["about"], one["prefix"], template_text(one["template"])
        )
        for one in json.loads(text)
    }


def template_report(text: str, prefix: str) -> _TemplateReport:
    """Return what there is to say about the template in the form, with the prompt prefix `prefix`."""
    if not text.strip():
        return _TemplateReport(EMPTY_TEMPLATE, [])
    try:
        data = template_data(text)
    except ValueError as error:
        return _TemplateReport("Not JSON yet", [LintFinding("not_json", "error", "", str(error))])
    try:
        found = lint(data, prefix, loaded)
    except UsageError as error:
        return _TemplateReport("Not available here", [LintFinding("no_transformers", "error", "", str(error))])
    if found.broken:
        return _TemplateReport("This template cannot run", found.findings)
    opens = f"After the prompt prefix, {found.opens} is open." if prefix and found.opens else ""
    return _TemplateReport(_headline(found.findings), found.findings, opens)


def _headline(findings: list[LintFinding]) -> str:
    many = {severity: sum(one.severity == severity for one in findings) for severity in NOUNS}
    return ", ".join([count(many[name], noun) for name, noun in NOUNS.items() if many[name]]) or "No remarks"


# The intake panel: what was given, how sure each thing about it is, what is missing, and how to take it otherwise.

ABOUT: dict[About, str] = {
    "text": "Raw output",
    "ids": "Token ids",
    "deltas": "Cuts between deltas",
    "server": "Server's deltas",
    "tools": "Tools",
    "start": "Where it begins",
    "finish": "Why it ended",
}
PLANS = {
    "case": "A replay runs it as it says.",
    "raw": "A replay feeds the raw output to the parser, delta by delta.",
    "stream": "A replay plays the server's own chunks back and checks them. No parser can run without the raw output.",
    "both": "A replay feeds the raw output to the parser and compares what comes out with what the server sent.",
}
FILES = {"file": "File", "tokenizer_file": "Tokenizer file"}
LONGEST = 80
_READ_AT_ONCE = 20_000  # characters of a text, which every format reads while somebody types


@dataclass(slots=True, frozen=True)
class _AtField:
    """Something to say about a field of the form: what is wanted there, or what it holds."""

    field: str
    label: str
    words: str


@dataclass(slots=True)
class Panel:
    """Everything the template says. `summary` is its one line when it is folded, `beside_chip` the same beside a chip
    that says where a recording is from, `plan` what a replay of it does;
    `outputs` are labels and sizes, where there are several;
    `spoken` what is read aloud."""

    found: Found
    summary: str
    beside_chip: str
    plan: str
    rows: list[tuple[str, Fact]]
    warnings: list[str]
    notes: list[str]
    needed: _AtField | None
    wanted: list[_AtField]
    holds: str
    outputs: list[tuple[str, str]]
    layers: list[tuple[str, str]]
    offers: tuple[Offer, ...]
    parts: tuple[Part, ...]
    readings: tuple[Reading, ...]
    captures: tuple[Capture, ...]
    filled: list[_AtField]
    before: list[_AtField]
    kept: list[_AtField]
    usable: bool
    plain: bool
    overridden: bool

    @property
    def spoken(self) -> str:
        """Return what a screen reader is told when the panel appears."""
        warned = f" {number(len(self.warnings), 'warning')}." if self.warnings else ""
        return f"Recognised: {self.found.intake.title}.{warned}"


def panel(setup: Setup, *, told: bool = False) -> Panel | None:
    """Return the panel about what was given; None where nothing was, or nothing but a case or plain raw text. `told`:
    of raw text also which format reads it and what of it is cut off, as long as that is known at once."""
    found = setup.found
    if found is None or found.intake.kind == "empty":
        return None
    intake = found.intake
    known = _summary(found)
    plain = intake.kind == "raw_text" and not _holds_block(intake)
    return Panel(
        found=found,
        summary="; ".join([*known, *(_reading(intake) if told else ())]),
        beside_chip="; ".join(known[1:] or known),
        plan=_plan(found),
        rows=_rows(setup, found),
        warnings=[warn.words for warn in intake.warnings],
        notes=list(dict.fromkeys([*intake.notes, *(found.taken.notes if found.taken else ())])),
        needed=_at_field(found.problem.field, f"{found.problem.message}.") if found.problem else None,
        wanted=_wanted(found),
        holds=number(len(intake.cases), "case") if intake.cases else number(len(intake.outputs), "output"),
        outputs=_outputs(found),
        layers=_layers(intake),
        offers=intake.offers,
        parts=intake.parts,
        readings=tuple([one for one in intake.readings if one.kind != intake.kind]),
        captures=intake.captures if _lacks_text(found) else (),
        filled=_filled(setup, setup.taken.keys() - {*found.before}),
        before=_filled(setup, found.before),
        kept=_filled(setup, found.kept),
        usable=found.taken is not None or found.case is not None,
        plain=plain and not intake.warnings and not found.problem and not (intake.layers or intake.offers),
        overridden=not {setup.output.take_as, setup.output.layers} <= {"", AUTO},
    )


def _layers(intake: Intake) -> list[tuple[str, str]]:
    """Return each layer that came off, and the names of those that still would if it were put back; "" for one that
    was of no text."""
    names = [one.name for one in intake.layers if one.lines]
    found: list[tuple[str, str]] = []
    for one in intake.layers:
        before = names[: names.index(one.name)] if one.lines else []
        found.append((one.told, ",".join(before) or NO_LAYERS if one.lines else ""))
    return found


def _holds_block(intake: Intake) -> bool:
    """Return whether the text may be a report that quotes the output in a code block."""
    return any(one.kind == "code_block" for one in intake.readings)


def _summary(found: Found) -> list[str]:
    intake, parts = found.intake, [f"Recorded from: {found.intake.title}"]
    if intake.kind == "raw_text":
        parts = [f"Taken as {intake.title}", *["its code block can be taken alone"] * _holds_block(intake)]
    elif not intake.outputs:
        parts = [f"{intake.title[:1].upper()}{intake.title[1:]}"]
    elif found.taken is not None and found.taken.decoded:
        parts.append("text rebuilt from token ids")
    else:
        parts += [
            _brief(fact, ids=bool(intake.outputs[found.at].ids)) for fact in _facts(found) if fact.about == "text"
        ]
    if len(intake.outputs) > 1:
        parts.append(f"output {found.at + 1} of {len(intake.outputs):,}")
    if intake.kind == "corpus" and intake.cases:
        parts.append(f"case {list(intake.cases)[found.at]}")
    if intake.warnings:
        parts.append(number(len(intake.warnings), "warning"))
    return parts


def _reading(intake: Intake) -> tuple[str, ...]:
    """What the format that fits best makes of raw text, where that is known at once."""
    text = intake.outputs[0].text if intake.kind == "raw_text" and intake.outputs else None
    if text is None or len(text) > _READ_AT_ONCE:
        return ()
    best = guesses(text)[0]
    words = best.evidence[0].replace("`", "")
    return (f"{best.name} {words}" if best.calls else "no format reads a call in it",)


def _plan(found: Found) -> str:
    if found.case is not None:
        return PLANS["case"]
    if found.taken is None:
        return ""
    given = found.taken.data["input"]
    if given.keys() - {*STREAMED} == {"stream"}:
        return PLANS["stream"]
    return PLANS["both" if "stream" in given else "raw"]


def _brief(fact: Fact, *, ids: bool) -> str:
    if fact.certainty == "missing":
        return "raw text needs the model's tokenizer" if ids else "raw text unknown"
    return {"exact": "raw text exact", "assumed": "raw text assumed"}.get(fact.certainty, "raw text incomplete")


def _facts(found: Found) -> tuple[Fact, ...]:
    """The facts about the output that is meant: the Intake speaks of the one that nobody has to choose."""
    return facts_about(found.intake.outputs[found.at]) if _is_chosen(found) else found.intake.facts


def _is_chosen(found: Found) -> bool:
    """Return whether another output is meant than the one that nobody has to choose."""
    return found.case is None and found.at != found.intake.at


def _lacks_text(found: Found) -> bool:
    """Return whether the raw output is not there, or not whole: then it has to be recorded in another way."""
    output = found.intake.outputs[found.at] if found.intake.outputs else None
    return found.case is None and (output is None or not output.ids)


def _rows(setup: Setup, found: Found) -> list[tuple[str, Fact]]:
    """The facts in the order of the pipeline, with what a tokenizer or the form has added since."""
    told = {fact.about: fact for fact in _facts(found)}
    if found.taken is not None and found.taken.decoded:
        told["text"] = Fact("text", "exact", f"Rebuilt from the token ids with the tokenizer {setup.output.tokenizer}.")
    if setup.request.tools and "tools" in told and told["tools"].certainty == "missing":
        whose = "Of what was given before this." if "tools" in found.before else "As given in the form."
        told["tools"] = Fact("tools", "exact", whose)
    return [(words, told[about]) for about, words in ABOUT.items() if about in told]


def _wanted(found: Found) -> list[_AtField]:
    """Return what is asked for besides: less of it once a tokenizer gave the ids their text."""
    given = {found.problem.field} if found.problem else set()
    if found.taken is not None and found.taken.decoded:
        given |= {"tokenizer", "text"}
    return [_at_field(ask.field, ask.words) for ask in _asks(found) if ask.field not in given]


def _asks(found: Found) -> tuple[Ask, ...]:
    """Return what is asked for of the output that is meant, as `_facts` does."""
    return missing_inputs(found.intake.outputs[found.at]) if _is_chosen(found) else found.intake.asks


def _outputs(found: Found) -> list[tuple[str, str]]:
    """The outputs of a recording or the cases of a corpus, where there is more than one."""
    several = [(name, "") for name in found.intake.cases] or [
        (one.label or f"output {index}", _size(one)) for index, one in enumerate(found.intake.outputs, 1)
    ]
    return several if len(several) > 1 else []


def _size(one: Recording) -> str:
    parts = []
    if one.text is not None:
        parts.append(number(len(one.text), "character"))
    if one.ids:
        parts.append(number(len(one.ids), "token id"))
    if one.stream is not None:
        parts.append(number(len(one.stream), "chunk"))
    if one.finish_reason:
        end = last_end(one.stream or ())
        parts.append(f"finish reason {one.finish_reason}" if end is None else f"{end.field} {end.word}")
    return ", ".join(parts) or "nothing"


def _at_field(name: str, words: str) -> _AtField:
    return _AtField(name, FILES.get(name) or (FIELDS[name].label if name in FIELDS else "") or name, words)


def _filled(setup: Setup, names: Collection[str]) -> list[_AtField]:
    rows = [row for row in FIELDS.values() if row.filled and row.name in names]
    return [_at_field(row.name, _held_words(row, setup.get(row.name))) for row in rows]


def _held_words(row: Row, value: Any) -> str:
    if isinstance(value, bool):
        return row.words[value]
    text = _tool_names(value) if row.kind is TOOLS else " ".join(value.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _tool_names(text: str) -> str:
    try:
        tools = jsontext.read(text)
    except JsonError:
        return "as typed"
    tools = tools if isinstance(tools, list) else [tools]
    functions = [tool.get("function", tool) for tool in tools if isinstance(tool, dict)]
    names = [str(function.get("name", "?")) for function in functions if isinstance(function, dict)]
    return f"{number(len(tools), 'tool')}: {', '.join(names)}" if names else "none"
