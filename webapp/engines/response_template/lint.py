"""Static lints of a response_template: what will go wrong, with the place, before any output is read.

An error keeps the template from running. A warning is a trap: some plausible output loses text or raises in
transformers. An info is worth knowing.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from parsers.formats.extends import pointer_to
from parsers.formats.lint import LintFinding
from parsers.vocabulary.types import Context, FormatError
from webapp.engines.response_template.calls import slots, source
from webapp.engines.response_template.parser import Template, TemplateParser
from webapp.engines.response_template.patterns import OverBudgetError
from webapp.engines.response_template.shape import FieldShape, TemplateShape, check, extract
from webapp.engines.response_template.table import role

ORDER = ("error", "warning", "info")
KNOWN_ARGS = {
    "text": {"strip"},
    "int": {"strip"},
    "float": {"strip"},
    "bool": {"strip"},
    "json": {"string_delims", "unquoted_keys", "allow_non_json", "strip"},
    "xml-inline": {"tag_pattern", "value_parser", "merge_duplicates"},
    "kv-lines": {"line_sep", "kv_sep", "value_parser", "strip"},
}


@dataclass(slots=True)
class _Linted:
    """Holds what was found, errors first, and where the prompt prefix leads: the field that is open after it."""

    findings: list[LintFinding]
    template: Template | None = None
    opens: str | None = None

    @property
    def broken(self) -> bool:
        """Return whether the template cannot run."""
        return self.template is None


def lint(data: Any, prefix: str | None, load: Any) -> _Linted:
    """Every finding about a template, or a tokenizer config that has one. `load` makes it ready to run."""
    try:
        raw = extract(data)
        shape = check(raw)
        template = load(raw)
    except FormatError as error:
        return _Linted([LintFinding("not_a_template", "error", error.pointer, f"{_sentence(error.message)}.")])
    opens, found = _prefix(template, prefix)
    found += [*_fields(shape, template.spec), *_patterns(raw), *_calls(shape)]
    return _Linted(sorted(found, key=lambda one: ORDER.index(one.severity)), template, opens)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".")


def _prefix(template: Template, prefix: str | None) -> tuple[str | None, list[LintFinding]]:
    """Return what the prompt prefix does: without one, what the prompt already wrote is not seen."""
    if not prefix:
        words = "No prompt prefix is given, so what the prompt already wrote, such as <think>, is not seen."
        return None, [LintFinding("no_prefix", "info", "", words)]
    parser = TemplateParser(template)
    try:
        parser.begin(Context(prompt_tail=prefix))
    except OverBudgetError as error:
        return None, [LintFinding("over_budget", "error", "/start_anchor", f"{_sentence(str(error))}.")]
    told = [one for one in parser.told() if one.code in ("anchor_not_found", "template_stopped")]
    return parser.region, [LintFinding(one.code, "warning", "/start_anchor", one.message) for one in told]


def _fields(shape: TemplateShape, spec: Any) -> Iterator[LintFinding]:
    implicit = next((name for name, field in shape.fields.items() if not _opens(field)), None)
    if implicit is None:
        words = "Every field has an opening delimiter, so text outside them reaches no field: leave one without."
        yield LintFinding("no_implicit_field", "warning", "/fields", words)
    for name, field in shape.fields.items():
        place = pointer_to("fields", name)
        yield from _overwritten(name, field, shape, place, name == implicit)
        yield from _reading(name, field, place)
        if field.transform is not None:
            yield from _slots(field, spec.fields[name], place)
        if role(name) == "other":
            words = f"Clients know no field {name}: its text is shown as dropped."
            yield LintFinding("unknown_field", "info", place, words)
        if not field.optional:
            words = f"transformers raises at the end of an output without {name}."
            yield LintFinding("required_field", "info", f"{place}/optional", words)


def _opens(field: FieldShape) -> bool:
    return field.open is not None or field.open_pattern is not None


def _overwritten(
    name: str, field: FieldShape, shape: TemplateShape, place: str, implicit: bool
) -> Iterator[LintFinding]:
    """A second region of a field replaces the first, unless the field repeats."""
    if field.repeats:
        if role(name) in ("content", "reasoning") and field.join is None:
            words = f"The value of {name} will be a list of texts: add a join to have one text."
            yield LintFinding("list_of_texts", "warning", place, words)
        return
    if implicit and len(shape.fields) > 1:
        words = (
            f"Text before and after another field: only the last region of {name} is kept, even if it is"
            ' white space between two calls. Add "repeats": true and "join".'
        )
        yield LintFinding("field_overwritten", "warning", place, words)
    elif role(name) == "calls" and not _listed(field):
        words = 'A second call overwrites the first, and the value is no list: add "repeats": true.'
        yield LintFinding("field_overwritten", "warning", place, words)


def _listed(field: FieldShape) -> bool:
    """Return whether one region may hold several calls."""
    return (
        field.transform_each or isinstance(field.transform, list) or (field.content == "json" and not field.transform)
    )


def _reading(name: str, field: FieldShape, place: str) -> Iterator[LintFinding]:
    closes = field.close is not None or field.close_pattern is not None
    if role(name) in ("content", "reasoning") and (field.content != "text" or field.transform is not None):
        words = f"Clients expect the text of {name}, not a value: read it as text, without a transform."
        yield LintFinding("not_text", "warning", place, words)
    if field.content == "json" and closes:
        words = f"A JSON string that holds the closing delimiter ends {name} there, and transformers raises."
        yield LintFinding("close_in_string", "info", place, words)
    if field.content == "json" and not field.content_args.allow_non_json:
        words = f"transformers raises for malformed JSON, and for an output cut off inside {name}."
        yield LintFinding("malformed_raises", "info", place, words)
    if field.content == "xml-inline" and field.content_args.tag_pattern is None:
        words = "xml-inline needs a tag_pattern with groups key and value: without it every region raises."
        yield LintFinding("no_tag_pattern", "warning", f"{place}/content_args", words)
    for key in sorted(field.content_args.model_fields_set - KNOWN_ARGS[field.content]):
        words = f"{field.content} takes no {key}: it has no effect."
        yield LintFinding("unknown_argument", "warning", f"{place}/content_args{pointer_to(key)}", words)


def _slots(field: FieldShape, loaded: Any, place: str) -> Iterator[LintFinding]:
    """Slots of a transform that nothing fills."""
    known = {"content", *(loaded.open_re.groupindex if loaded.open_re is not None else ())}
    late = set(loaded.close_re.groupindex) if loaded.close_re is not None else set()
    for where, name in slots(field.transform, f"{place}/transform"):
        root = name.split(".")[0]
        if root in late - known:
            words = (
                f"{{{name}}} is a group of the closing pattern, which never reaches the transform: every region raises."
            )
            yield LintFinding("late_group", "warning", where, words)
        elif root not in known and not field.transform_each:
            words = f"Nothing fills {{{name}}}; there is {', '.join(sorted(known))}. Every region raises."
            yield LintFinding("unfilled_slot", "warning", where, words)


def _calls(shape: TemplateShape) -> Iterator[LintFinding]:
    """What a transform of calls must give."""
    for name, field in shape.fields.items():
        if role(name) != "calls":
            continue
        place = pointer_to("fields", name)
        if field.repeats and _listed(field) and field.transform is not None:
            words = "Each region gives a list, and the field repeats: tool_calls becomes a list of lists."
            yield LintFinding("nested_list", "warning", f"{place}/repeats", words)
        if isinstance(field.transform, dict):
            lead = ("function",) if "function" in field.transform else ()
            for key in ("name", "arguments"):
                if source(field.transform, (*lead, key)) is None and not _literal(field.transform, (*lead, key)):
                    words = f"The transform gives a call no {key}: clients expect function.name and function.arguments."
                    yield LintFinding(f"no_{key}", "warning", f"{place}/transform", words)


def _literal(transform: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        transform = transform.get(key) if isinstance(transform, dict) else None
    return transform is not None


def _patterns(raw: Any) -> Iterator[LintFinding]:
    for place, pattern in _regexes(raw, ""):
        for code, words in _troubles(pattern):
            tags = place.endswith("tag_pattern")
            if not (tags and code in ("greedy_pattern", "looks_ahead")):
                severity = "info" if code in ("unchecked_pattern", "looks_ahead") else "warning"
                yield LintFinding(code, severity, place, f"{_sentence(words)}.")  # type: ignore[arg-type]


def _regexes(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, one in value.items():
            where = place + pointer_to(key)
            if key in ("start_anchor_pattern", "open_pattern", "close_pattern", "tag_pattern") and isinstance(one, str):
                yield where, one
            elif key not in ("defaults", "transform"):
                yield from _regexes(one, where)


# What can be seen of a pattern without running it


MANY = 32  # a repeat that may go beyond this counts as without end
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
BACKTRACKS = ("MAX_REPEAT", "MIN_REPEAT")


def _tree(pattern: str) -> Any:
    """The parse tree of a pattern, or None for syntax that only the `regex` module knows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module("re._parser").parse(pattern, re.DOTALL)
        except (re.error, RecursionError, OverflowError):
            return None


def _troubles(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a pattern: (code, what and what to do)."""
    parsed = _tree(pattern)
    if parsed is None:
        yield "unchecked_pattern", "it uses syntax that only the regex module knows, so it is not checked here"
        return
    if parsed.getwidth()[0] == 0:
        yield "empty_match", "it can match the empty text, and the parser may not read on: make it match something"
    if _nested(parsed, False):
        yield "slow_pattern", "a repeat inside a repeat can take very long on some outputs: write it as one repeat"
    last = parsed[-1] if len(parsed) else None
    if last is not None and str(last[0]) == "MAX_REPEAT" and last[1][1] > MANY and _anything(last[1][2]):
        yield "greedy_pattern", "it ends in a greedy repeat of any character, which takes the rest: use .*? and an end"
    if last is not None and str(last[0]) in ("ASSERT", "ASSERT_NOT") and last[1][0] > 0:
        yield "looks_ahead", "it looks at text that may not have come yet, so its match can depend on the chunking"


def _nested(parsed: Any, inside: bool) -> bool:
    """Return whether a repeat without end stands inside another that can be backtracked into."""
    for code, argument in parsed:
        endless = str(code) in BACKTRACKS and argument[1] > MANY
        if endless and inside:
            return True
        if any(_nested(part, inside or endless) for part in _parts(str(code), argument)):
            return True
    return False


def _parts(code: str, argument: Any) -> list[Any]:
    if code in REPEATS:
        return [argument[2]]
    if code == "SUBPATTERN":
        return [argument[3]]
    if code == "BRANCH":
        return list(argument[1])
    if code in ("ASSERT", "ASSERT_NOT"):
        return [argument[1]]
    return [argument] if code == "ATOMIC_GROUP" else []


def _anything(parsed: Any) -> bool:
    return len(parsed) == 1 and str(parsed[0][0]) == "ANY"
