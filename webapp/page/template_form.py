"""The form's part for transformers' response_template: from typed JSON to the parser of a case, and what is said of it.

What was typed stays as it is. A pasted tokenizer_config.json is taken for the template it holds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from parsers.cases import jsontext
from parsers.cases.jsontext import JsonError
from parsers.formats.lint import LintFinding
from parsers.vocabulary.types import FormatError, UsageError
from webapp.engines import RESPONSE_TEMPLATE
from webapp.engines.response_template import loaded
from webapp.engines.response_template.lint import lint
from webapp.engines.response_template.shape import extract
from webapp.page.glyphs import count

EMPTY = "Paste a response_template, or a tokenizer_config.json that has one; or start from one of these."
WORDS = {"error": "error", "warning": "warning", "info": "note"}


@dataclass(slots=True, frozen=True)
class TemplateExample:
    """A template to start from, with a prompt prefix that fits it."""

    name: str
    title: str
    about: str
    prefix: str
    text: str


@dataclass(slots=True)
class TemplateReport:
    """What is said of the template as it stands: a headline, findings, and the field that the prompt leaves open."""

    headline: str
    findings: list[LintFinding]
    opens: str = ""


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


def template_text(template: Any) -> str:
    """A template as it stands in the form: one line for each part of a field."""
    return jsontext.pretty(template, lambda path: len(path) > 2 or path[:1] == ("defaults",)) if template else ""


def parser_data(text: str) -> dict[str, Any]:
    """The `parser` of a case with this template. Raises FormatError where the text is no JSON or holds no template."""
    return {
        "name": RESPONSE_TEMPLATE,
        "engine": RESPONSE_TEMPLATE,
        "options": {"template": extract(_read(text))},
    }


def _read(text: str) -> Any:
    if not text.strip():
        raise FormatError(EMPTY)
    try:
        return jsontext.read(text)
    except JsonError as error:
        raise FormatError(f"The template is {error.message}") from error


def report(text: str, prefix: str) -> TemplateReport:
    """What there is to say about the template in the form."""
    if not text.strip():
        return TemplateReport(EMPTY, [])
    try:
        found = lint(_read(text), prefix, loaded)
    except FormatError as error:
        return TemplateReport("Not JSON yet", [LintFinding("not_json", "error", "", error.message)])
    except UsageError as error:
        return TemplateReport("Not available here", [LintFinding("no_transformers", "error", "", str(error))])
    if found.broken:
        return TemplateReport("This template cannot run", found.findings)
    opens = f"After the prompt prefix, {found.opens} is open." if prefix and found.opens else ""
    return TemplateReport(_headline(found.findings), found.findings, opens)


def _headline(findings: list[LintFinding]) -> str:
    """How many of each severity."""
    counts = {severity: sum(one.severity == severity for one in findings) for severity in WORDS}
    parts = [count(number, WORDS[severity]) for severity, number in counts.items() if number]
    return ", ".join(parts) or "No remarks"
