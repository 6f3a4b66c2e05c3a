"""The form as its template is given it: what was typed, what can be chosen, and what there is to say of a template."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from parsers.cases.engines import RECORDED
from parsers.decoding import POLICIES as DECODE_POLICIES
from parsers.formats.lint import LintFinding
from parsers.formats.model import Format, Policy, builtin_formats, policy_values
from parsers.vocabulary.types import UsageError
from webapp.engines import RESPONSE_TEMPLATE
from webapp.engines.response_template import loaded
from webapp.engines.response_template.about import TITLE
from webapp.engines.response_template.lint import lint
from webapp.fields import CHUNKINGS, EMPTY_TEMPLATE, template_data, template_text
from webapp.formats.folder import formats_folder
from webapp.glyphs import count
from webapp.page.form.intake_panel import Panel, panel
from webapp.page.form.setup import Setup
from webapp.page.library.examples import Example, examples
from webapp.page.library.tokenizer_shelf import ORIGINS, OTHERS
from webapp.settings import Settings
from webapp.tokenizers import list_tokenizers

NOUNS = {"error": "error", "warning": "warning", "info": "note"}


@dataclass(slots=True, frozen=True)
class Option:
    """One choice: its value in the form, its words on the page."""

    value: str
    words: str


@dataclass(slots=True, frozen=True)
class PolicyField:
    """One policy: its choices (the first is the format's own) and the parsers that know it."""

    key: str
    words: str
    description: str
    values: tuple[str, ...]
    formats: str


@dataclass(slots=True, frozen=True)
class Choices:
    """What the form lists; tokenizers under the heading of where they come from."""

    parsers: list[Option]
    tokenizers: dict[str, list[Option]]
    chunkings: list[Option]
    policies: list[PolicyField]
    decode_policies: list[Option]


@dataclass(slots=True, frozen=True)
class TemplateExample:
    """A template to start from, with a prompt prefix that fits it."""

    name: str
    title: str
    about: str
    prefix: str
    text: str


@dataclass(slots=True, frozen=True)
class TemplateReport:
    """What is said of the template as it stands: a headline, findings, and the field that the prompt leaves open."""

    headline: str
    findings: list[LintFinding]
    opens: str = ""


@dataclass(slots=True, frozen=True)
class Below:
    """What the replay below the form says of it. `reasons`: how many there are for its parser, `tools`: of its case."""

    format: str
    reasons: int = 0
    stored_tokens: bool = False
    tools: int = 0


@dataclass(slots=True, frozen=True)
class FormPage:
    """Everything the form shows. `limits` are the most bytes of a request and of a tokenizer; `template` is said only
    where a template is what reads the output."""

    kind: str
    setup: Setup
    intake: Panel | None
    choices: Choices
    limits: tuple[int, int]
    template: TemplateReport | None
    template_examples: list[TemplateExample]
    below: Below | None
    cards: list[Example]

    @property
    def source_open(self) -> bool:
        """Whether the text area is unfolded."""
        return self.kind in ("home", "edit") or bool(self.setup.errors)


def form_page(setup: Setup, kind: str, settings: Settings, below: Below | None = None) -> FormPage:
    """The form filled with `setup`. `kind` is that of the page: home, example, case, run, edit or error."""
    played = setup.parser.parser == RESPONSE_TEMPLATE
    return FormPage(
        kind=kind,
        setup=setup,
        intake=panel(setup),
        choices=choices(setup, formats_folder(settings).formats),
        limits=(settings.max_request_bytes, settings.tokenizer_upload_bytes),
        template=template_report(setup.parser.template, setup.request.prompt_tail) if played else None,
        template_examples=list(template_examples().values()),
        below=below,
        cards=list(examples().values()) if kind == "home" else [],
    )


def choices(setup: Setup, folder: Mapping[str, Format]) -> Choices:
    """The choices for a form filled with `setup`, those of the formats folder among them; a parser of the case's own
    stays choosable."""
    name = setup.parser.parser
    parsers = [Option("auto", "auto: find out")]
    parsers += [Option(fmt.name, f"{fmt.name} ({fmt.title})") for fmt in builtin_formats().values()]
    parsers += [Option(fmt.name, f"{fmt.name} ({fmt.title}, formats folder)") for fmt in folder.values()]
    parsers.append(Option(RESPONSE_TEMPLATE, f"{RESPONSE_TEMPLATE} ({TITLE})"))
    if chunks := _chunks(setup):
        parsers.append(stream_option(chunks))
    if setup.own_format or name not in {option.value for option in parsers}:
        others = [option for option in parsers if option.value != name]
        parsers = [*others, Option(name, f"{name} (of this case)")]
    return Choices(
        parsers=parsers,
        tokenizers=_tokenizers(setup.output.tokenizer),
        chunkings=[Option(word, words) for word, (words, _) in CHUNKINGS.items()],
        policies=_policy_fields([*builtin_formats().values(), *folder.values()]),
        decode_policies=[Option(word, words) for word, words in DECODE_POLICIES.items()],
    )


def stream_option(chunks: int) -> Option:
    """A recorded stream as a choice of parser."""
    return Option(RECORDED, f"recorded stream ({count(chunks, 'chunk')})")


def _chunks(setup: Setup) -> int:
    """How many chunks of a server there are to play back: of what was pasted, else of the case on the page."""
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
def template_examples() -> dict[str, TemplateExample]:
    """The templates to start from, by name."""
    text = (resources.files("webapp.engines.response_template") / "examples.json").read_text(encoding="utf-8")
    return {
        one["name"]: TemplateExample(
            one["name"], one["title"], one["about"], one["prefix"], template_text(one["template"])
        )
        for one in json.loads(text)
    }


def template_report(text: str, prefix: str) -> TemplateReport:
    """What there is to say about the template in the form, with the prompt prefix `prefix`."""
    if not text.strip():
        return TemplateReport(EMPTY_TEMPLATE, [])
    try:
        data = template_data(text)
    except ValueError as error:
        return TemplateReport("Not JSON yet", [LintFinding("not_json", "error", "", str(error))])
    try:
        found = lint(data, prefix, loaded)
    except UsageError as error:
        return TemplateReport("Not available here", [LintFinding("no_transformers", "error", "", str(error))])
    if found.broken:
        return TemplateReport("This template cannot run", found.findings)
    opens = f"After the prompt prefix, {found.opens} is open." if prefix and found.opens else ""
    return TemplateReport(_headline(found.findings), found.findings, opens)


def _headline(findings: list[LintFinding]) -> str:
    """How many there are of each severity."""
    many = {severity: sum(one.severity == severity for one in findings) for severity in NOUNS}
    return ", ".join([count(many[name], noun) for name, noun in NOUNS.items() if many[name]]) or "No remarks"
