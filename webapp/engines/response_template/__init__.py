"""The engine `response_template`: transformers' ResponseParser, run by the template of a tokenizer.

A case names it with `{"name": "response_template", "engine": "response_template", "options": {"template": {...}}}`;
`context.prompt_tail` is the prompt prefix that ResponseParser wants to see. See docs/response-template.md.
"""

from __future__ import annotations

from dataclasses import replace

from parsers.cases.case import Case
from parsers.cases.engines import Choice
from parsers.cases.input import CaseError
from parsers.selection.registry import Evidence, Selection
from parsers.vocabulary.types import Context, FormatError
from webapp.engines.response_template.about import NAME
from webapp.engines.response_template.parser import Template, TemplateParser
from webapp.engines.response_template.shape import check, extract
from webapp.engines.response_template.table import table
from webapp.engines.response_template.watching import load

__all__ = ["NAME", "Template", "TemplateParser", "loaded", "template_engine"]

PLACE = "/parser/options/template"


def template_engine(case: Case, evidence: Evidence) -> Choice:
    """Return what a case with a template is parsed with. Raises CaseError with the place of what is wrong."""
    _refuse(case)
    try:
        template = loaded(case.parser.options["template"], case.to_context())
    except FormatError as error:
        raise CaseError(error.message, PLACE + error.pointer) from error
    return Choice(template.table.format, _selection(case), lambda: TemplateParser(template))


def loaded(data: object, context: Context | None = None) -> Template:
    """The template in `data`, ready to run; its table starts where the prompt prefix of `context` leads.

    Raises FormatError with a pointer into the template.
    """
    found = extract(data)
    check(found)
    spec = load(found)
    template = Template(spec, table(spec))
    if context is not None and context.prompt_tail:
        parser = TemplateParser(template)
        parser.begin(context)
        template = replace(template, table=table(spec, parser.region))
    return template


def _refuse(case: Case) -> None:
    parser = case.parser
    if parser.name != NAME:
        raise CaseError(f"the parser of this engine is called {NAME}, not {parser.name!r}", "/parser/name")
    if parser.format is not None:
        raise CaseError("this engine runs a template, not a format: give options.template", "/parser/format")
    if parser.policy:
        raise CaseError("transformers' ResponseParser has no policies: leave them out", "/parser/policy")
    if "template" not in parser.options:
        raise CaseError("give the response_template of a tokenizer as options.template", PLACE)
    for key in parser.options:
        if key != "template":
            raise CaseError(f"there is no option {key!r}; this engine takes: template", f"/parser/options/{key}")


def _selection(case: Case) -> Selection:
    reasons = ["The case brings a response_template."]
    if not case.context.prompt_tail:
        reasons.append("No prompt prefix is given: what the prompt already wrote, such as <think>, is not seen.")
    if case.context.reasoning_open:
        reasons.append("The prompt prefix alone says where the parser starts; reasoning_open has no effect.")
    return Selection(NAME, tuple(reasons))
