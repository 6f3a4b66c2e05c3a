"""Text made safe and visible for Markdown, and a run as a report in it.

Strategy: model output goes into fences longer than any run of back-ticks in it, or into table cells and paragraphs in
which every character that Markdown, HTML or GitHub acts on where it stands is a numeric entity, and no other one.
Characters nobody sees are spelled out.
Facts about fences, tables and entities: CommonMark 0.31 and GitHub Flavored Markdown 0.29.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from parsers.cases.case import Case, NamedTool
from parsers.cases.export.maintainer import NO_ANSWERS, Answers, tokens_around
from parsers.cases.export.report_facts import (
    FILENAME,
    around_parting,
    by_severity,
    chunking_words,
    compared_fields,
    id_words,
    place_in_question,
    source_of,
    whose_ids,
    window,
)
from parsers.cases.io import dumps
from parsers.cases.run import CaseRun
from parsers.checks.changes import apart
from parsers.replays.chunking import DEFAULT_MAX
from parsers.vocabulary.trace import Finding, Step, Trace

MARKS = {" ": "·", "\t": "→", "\n": "↵", "\r": "␍"}
LEGEND = "· blank, → tab, ↵ newline, ␍ carriage return, ⟨U+…⟩ any other character that cannot be seen or that is a mark"
_ACTIVE = re.compile(
    r"[\\`*\[\]<|~$]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # inside of a word it is no emphasis
    r"|&(?=#|\w+;)"  # an entity
    r"|@(?=\w)|#(?=\d)|:(?=[\w+-]+:)"  # on GitHub somebody, an issue, a picture
    r"|:(?=//)|(?<=\bwww)\."  # a link, without anything around it
)
_LINE_START = re.compile(r"^([-+=#>]|\d+(?=[.)]))")
_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f"
)
_SPELLED = re.compile(f"[{_UNSEEN}·→↵␍⟨⟩]")
_NEEDS_MARKS = re.compile(f"[{_UNSEEN}\t\r]| (?=\n|$)|\n$")
_OUTER_BLANKS = re.compile(r"^ +| +$| {2,}| +(?=[\n\t\r])|(?<=[\n\t\r]) +")


def fence(text: str, info: str = "") -> str:
    """The text as a fenced block that nothing inside can close."""
    runs = [len(run) for run in re.findall("`+", text)]
    ticks = "`" * max(3, 1 + max(runs, default=0))
    body = text if text.endswith("\n") or not text else f"{text}\n"
    return f"{ticks}{info}\n{body}{ticks}"


def needs_marks(text: str) -> bool:
    """Return whether a plain fence would hide something: blanks at line ends, tabs, control and invisible
    characters."""
    return _NEEDS_MARKS.search(text) is not None


def marked(text: str) -> str:
    """The text with every blank, tab and newline shown (lines stay lines) and unseen characters spelled."""
    shown = spelled(text).translate({ord(char): mark for char, mark in MARKS.items()})
    return shown.replace("↵", "↵\n")


def cell(text: str) -> str:
    """The text as code on one line, for table cells and lists. Blanks are shown where a browser would swallow them."""
    shown = on_one_line(text)
    if "`" in shown or "|" in shown:
        return f"<code>{_entities(shown)}</code>"
    return f"`{shown}`" if shown else ""


def on_one_line(text: str) -> str:
    """The text with a mark for each newline and tab, and for blanks where a browser would swallow them."""
    blanks_shown = _OUTER_BLANKS.sub(lambda match: "·" * len(match[0]), spelled(text))
    return blanks_shown.translate({ord(char): mark for char, mark in MARKS.items() if char != " "})


def spelled(text: str) -> str:
    """The text with the number of every character that cannot be seen, or that is used as a mark here."""
    return _SPELLED.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def prose(text: str) -> str:
    """Words of a user as plain paragraphs: nothing in them is Markdown or HTML."""
    return "\n".join([_prose_line(line) for line in text.split("\n")])


def inline(text: str) -> str:
    """Words of a user on one line, for headings and lists."""
    return _prose_line(" ".join(text.split()))


def _entities(text: str) -> str:
    """The text with each active character as a numeric entity."""
    return _ACTIVE.sub(lambda match: f"&#{ord(match[0])};", text)


def _prose_line(line: str) -> str:
    plain = _entities(spelled(" ".join(line.split())))
    return _LINE_START.sub(lambda match: f"&#{ord(match[0][0])};{match[0][1:]}", plain)


# The command that repeats a replay.


def replay_command(chunking: Mapping[str, Any], filename: str, *more: str) -> str:
    """The command line that replays `filename` under a trace's chunking (JSON with its resolved cuts). `more`: what
    else it is given.

    Where no option names the chunking its resolved cuts are given; these hold any lateness of the text already. One
    delta of a stream is not the whole text: servers have another function for that.
    """
    words = ["toolcall-inspector", "replay", filename]
    name = _name(chunking)
    if name is None:
        cuts = ",".join(map(str, chunking.get("cuts", ())))
        return shlex.join([*words, "--cuts", cuts or "none", *more])
    words += ["--chunk", name]
    for key, option in (("holdback_chars", "--holdback"), ("text_delay", "--text-delay")):
        if chunking.get(key):
            words += [option, str(chunking[key])]
    return shlex.join([*words, *more])


def _name(chunking: Mapping[str, Any]) -> str | None:
    """Return what --chunk calls this chunking, or None where only its cuts say it."""
    by, size = chunking["by"], chunking.get("size", 1)
    if by == "token":
        return "token" if size == 1 else str(size)
    if by in ("whole", "recorded") or (by == "char" and size == 1):
        return str(by)
    drawn_by_default = chunking.get("max", DEFAULT_MAX) == DEFAULT_MAX and chunking.get("unit", "token") == "token"
    return f"random:{chunking.get('seed', 0)}" if by == "random" and drawn_by_default else None


# A run as a bug report in Markdown, for the project that owns the bug.
#
# Strategy: sections in the order in which maintainers ask: what is wrong, versions, which parser and why, the smallest
# input, expected against actual, findings, the first delta that diverges, the trace around the first finding, and how
# to run it again. Text of the case only ever stands in fences, cells or escaped paragraphs, so that nothing in it
# can break out of its place. Long texts are shown around the place that matters.

WHOLE_TEXT = 20_000
AROUND = 400
STEPS_AROUND = 3
FOLLOWING = 3  # so many findings are told under the one they follow from
_URL_SAFE = ":/?#[]@!$&'()*+,;=%~"


def markdown(
    run: CaseRun,
    *,
    versions: Mapping[str, str] | None = None,
    permalink: str | None = None,
    answers: Answers = NO_ANSWERS,
) -> str:
    """The report. `versions` maps program to version; `answers` are what is known besides. It holds the case file where
    that is not too long."""
    findings = by_severity(run.findings)
    own, changed = apart(findings)
    tables = [
        _result(run),
        _findings(own, "Findings", played=run.plays),
        _findings(changed, "Robustness", played=run.plays),
        _diverging(run),
        _tokens(run),
        _excerpt(run.trace, findings),
    ]
    sections = [
        f"# {inline(run.case.title or '') or 'Parser result differs'}",
        _wrong(run, own),
        _listing(
            "## Could a server send this?", [f"- {inline(name)}: {inline(said)}" for name, said in answers.sendable]
        ),
        _versions(run.case, {**(versions or {}), **({"engine": answers.engine} if answers.engine else {})}),
        _parser(run),
        _request(run.case),
        output_section(run.trace.text, _first_place(findings), known=run.case.has_raw),
        *tables,
        _line(answers),
        _elsewhere(answers),
        f"Marks in tables: {LEGEND}." if set(MARKS.values()) & set("".join(tables)) else "",
        _again(run, permalink),
    ]
    return "\n\n".join([section for section in sections if section]) + "\n"


def _wrong(run: CaseRun, findings: Sequence[Finding]) -> str:
    notes = [prose(note) for note in run.case.notes if note.strip()]
    if not notes and findings:
        notes = [f"The check {cell(findings[0].check)} says: {inline(findings[0].message)}"]
    return "\n\n".join(["## What is wrong", *(notes or ["No finding, and no words by the reporter."])])


def _versions(case: Case, versions: Mapping[str, str]) -> str:
    rows = [f"- {inline(name)} {cell(version)}" for name, version in versions.items()]
    rows += [f"- source {key}: {cell(str(value))}" for key, value in source_of(case).items()]
    tokenizer = case.tokenizer.model_dump(exclude_defaults=True, exclude={"vocab"}) if case.tokenizer else {}
    rows += [f"- tokenizer {key}: {cell(value)}" for key, value in tokenizer.items()]
    decode = case.decode.model_dump(mode="json") if case.decode else {}
    rows += [f"- decode {key}: {cell(_json(value))}" for key, value in decode.items()]
    return _listing("## Versions", rows)


def _parser(run: CaseRun) -> str:
    ref = run.case.parser
    engine = f" of {cell(ref.engine)}" if ref.engine else ""
    rows = [f"- parser {cell(run.selection.name)}{engine}"]
    rows += [f"- why: {inline(reason)}" for reason in run.selection.reasons]
    rows += [f"- policy {cell(key)}: {cell(value)}" for key, value in ref.policy.items()]
    how = "their ids" if run.trace.mode == "ids" else "their text"
    cut = f"- replayed in deltas {cell(chunking_words(run))}"
    return _listing("## Parser", [*rows, f"- markers recognised by {how}", cut])


def _request(case: Case) -> str:
    context = case.context
    choice = context.tool_choice
    named = choice.name if isinstance(choice, NamedTool) else choice
    tools = ", ".join([cell(tool.name) for tool in case.to_context().tools])
    rows = [f"- tools: {tools or 'none'}", f"- tool_choice: {cell(named)}"]
    rows.append(f"- reasoning {'is' if context.reasoning_open else 'is not'} open when the output begins")
    if context.prompt_tail is not None:
        rows.append(f"- end of the prompt: {cell(window(context.prompt_tail, len(context.prompt_tail)))}")
    if context.template_kwargs:
        rows.append(f"- template arguments: {cell(_json(context.template_kwargs))}")
    rows += [f"- model: {cell(context.model)}"] if context.model else []
    rows += [f"- model type: {cell(context.model_type)}"] if context.model_type else []
    return _listing("## Request", rows)


def output_section(text: str, place: int, *, known: bool = True, title: str = "Model output") -> str:
    """The output under a heading: around `place` where it is long."""
    if not text:
        what = "The output is empty." if known else "Not recorded: the case holds what the server made of it."
        return f"## {title}\n\n{what}"
    parts = [f"## {title}"]
    if len(text) > WHOLE_TEXT:
        start = max(0, place - AROUND)
        end = min(len(text), place + AROUND)
        parts.append(f"Code points {start} to {end} of {len(text)}; the case file has them all.")
        text = text[start:end]
    parts.append(fence(text, "text"))
    if needs_marks(text):
        parts += [f"With marks: {LEGEND}.", fence(marked(text), "text")]
    return "\n\n".join(parts)


def _first_place(findings: Sequence[Finding]) -> int:
    return next((finding.span.start for finding in findings if finding.span), 0)


def _result(run: CaseRun) -> str:
    """One row per field: expected (where the case expects something), actual, and the whole text in one delta."""
    fields = compared_fields(run)
    expected = () if fields.expected is None else ("expected",)
    rows = [field_row(name, texts) for name, texts in fields.rows()]
    return table("## Result", ("field", *expected, "actual", "whole text"), rows)


def field_row(name: str, texts: Iterable[str | None]) -> list[str]:
    """Cells of one field, each shown around the first place where the texts part."""
    return [name, *["—" if text is None else cell(text) or "empty" for text in around_parting(texts)]]


def _findings(findings: Sequence[Finding], title: str, *, played: bool) -> str:
    if not findings:
        return ""
    rows = [
        [
            cell(finding.check),
            f"{finding.severity}, about the {finding.blamed(played=played)}",
            "" if finding.step is None else str(finding.step),
            "" if finding.span is None else f"{finding.span.start} to {finding.span.end}",
            inline(" ".join([finding.message, *[f"From it: {one.message}" for one in finding.follows[:FOLLOWING]]])),
            _or_dash(finding.expected),
            _or_dash(finding.actual),
        ]
        for finding in findings
    ]
    return table(f"## {title}", ("check", "severity", "step", "code points", "message", "expected", "actual"), rows)


def _diverging(run: CaseRun) -> str:
    first = next((one for one in run.compared if not one.same), None)
    if first is None or first.divergence is None:
        return ""
    parting = first.divergence
    where = "" if parting.raw is None else f", at code point {parting.raw} of the output"
    said = f"Replayed {inline(first.label)}, the result parts in {cell(str(parting.channel))}{where}."
    rows = [
        ["as traced", *_step_cells(run.trace, parting.step_a), _or_dash(parting.expected)],
        [inline(first.label), *_step_cells(first.trace, parting.step_b), _or_dash(parting.actual)],
    ]
    header = ("replay", "step", "text fed", "delta sent", "result there")
    return table(f"## First diverging delta\n\n{said}", header, rows)


def _tokens(run: CaseRun) -> str:
    """The tokens around the place in question, with their ids."""
    if (place := place_in_question(run)) is None:
        return ""
    rows = [
        [
            f"{one.number}{' ←' if one.here else ''}",
            id_words(one.piece),
            cell(window(one.piece.text)) or "no text",
            "" if one.piece.kind == "text" else one.piece.kind,
            str(one.start),
        ]
        for one in tokens_around(run.pieces, place)
    ]
    title = f"## Tokens around code point {place}\n\n{whose_ids(run)}"
    return table(title, ("token", "id", "text", "kind", "code point"), rows) if rows else ""


def _line(answers: Answers) -> str:
    """The line of the parser that sent it."""
    if answers.line is None:
        return ""
    where, source = answers.line
    return f"## Line of the parser\n\nWhat the step sent was returned at {cell(where)}:\n\n{fence(source, 'python')}"


def _elsewhere(answers: Answers) -> str:
    """What other parsers make of it."""
    rows = [[cell(name), inline(said)] for name, said in answers.elsewhere]
    return table("## The same output elsewhere", ("parser", "in the same deltas it gives"), rows) if rows else ""


def _step_cells(trace: Trace, index: int | None) -> list[str]:
    step = next((one for one in trace.steps if one.index == index), None)
    if step is None:
        return ["", "", ""]
    return [str(step.index), _fed(trace, step), _sent(step)]


def _excerpt(trace: Trace, findings: Sequence[Finding]) -> str:
    index = next((finding.step for finding in findings if finding.step is not None), None)
    if index is None:
        return ""
    near = [step for step in trace.steps if abs(step.index - index) <= STEPS_AROUND]
    rows = [_trace_row(trace, step) for step in near]
    header = ("step", "text fed", "ids", "state after", "rows fired", "held", "delta sent")
    return table(f"## Trace around step {index}", header, rows) if rows else ""


def _trace_row(trace: Trace, step: Step) -> list[str]:
    fired = [f"{row.from_state} --{row.trigger}--> {row.to_state}" for row in step.transitions]
    held = trace.held_text(step)
    why = "; ".join([hold.reason for hold in step.holds])
    return [
        str(step.index),
        _fed(trace, step),
        ", ".join(map(str, step.ids)),
        cell(step.state),
        "<br>".join([cell(row) for row in fired]),
        f"{cell(window(held))} ({inline(why)})" if held else "",
        _sent(step),
    ]


def _fed(trace: Trace, step: Step) -> str:
    if step.end:
        return "end of the output"
    return cell(window(trace.text[step.span.start : step.span.end]))


def _sent(step: Step) -> str:
    return "" if step.delta is None else cell(window(_json(step.delta.to_openai())))


def _again(run: CaseRun, permalink: str | None) -> str:
    parts = ["## Run it again"]
    if permalink is not None:
        parts.append(f"Permalink: <{quote(permalink, safe=_URL_SAFE)}>")
    parts.append(fence(replay_command(run.trace.chunking_json, FILENAME), "sh"))
    text = dumps(run.case.with_pieces(run.stored))
    if len(text) > WHOLE_TEXT:
        parts.append(f"The case file {cell(FILENAME)} has {len(text)} characters: attach it to this report.")
    else:
        parts += [f"The case file {cell(FILENAME)}:", fence(text, "json")]
    return "\n\n".join(parts)


def _or_dash(text: str | None) -> str:
    return "—" if text is None else cell(window(text)) or "empty"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _listing(title: str, rows: Sequence[str]) -> str:
    return "\n".join([title, "", *rows]) if rows else ""


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already, under its title."""
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join([title, "", *lines])
