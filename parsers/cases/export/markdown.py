"""A run as a bug report in Markdown, for the project that owns the bug.

Strategy: sections in the order in which maintainers ask: what is wrong, versions, which parser and why, the smallest
input, expected against actual, findings, the first delta that diverges, the trace around the first finding, and how
to run it again. Text of the case only ever stands in fences, cells or escaped paragraphs, so that nothing in it
can break out of its place. Long texts are shown around the place that matters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from parsers.cases.case import Case, NamedTool
from parsers.cases.departure import departure
from parsers.cases.export.found_facts import SMALLEST, SmallestForm, outcomes_of, said_wrong, smallest_form
from parsers.cases.export.maintainer import NO_ANSWERS, Answers, tokens_around
from parsers.cases.export.markdown_text import (
    LEGEND,
    MARKS,
    cell,
    fence,
    inline,
    marked,
    needs_marks,
    prose,
    sentence,
    table,
)
from parsers.cases.export.replay_command import replay_command
from parsers.cases.export.report_facts import (
    FILENAME,
    around_parting,
    by_severity,
    chunking_words,
    compared_fields,
    id_words,
    place_in_question,
    source_of,
    steps_in_question,
    whose_ids,
    window,
)
from parsers.cases.find import CaseFound
from parsers.cases.io import dumps
from parsers.cases.run import CaseRun
from parsers.cases.tested import as_test
from parsers.checks.changes import apart
from parsers.search.found import OutcomeClass
from parsers.vocabulary.trace import Finding, Step, Trace
from parsers.vocabulary.types import Message

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
    found: CaseFound | None = None,
) -> str:
    """The report. `versions` maps program to version; `answers` are what is known besides; `found` is what a search of
    the case found, where somebody searched. It holds the case file where that is not too long."""
    findings = by_severity(run.findings)
    own, changed = apart(findings)
    if found is not None:
        own, changed = by_severity(found.found.findings), by_severity(found.found.robustness)
    tables = [
        _result(run),
        _findings(own, "Findings", played=run.plays),
        _findings(changed, "Robustness", played=run.plays),
        _outcomes(outcomes_of(found)),
        _diverging(run),
        _tokens(run),
        _excerpt(run.trace, steps_in_question(run)),
    ]
    output = output_section(
        run.trace.text, _first_place(findings), known=run.case.has_raw
    )  # it has a legend of its own
    sections = [
        f"# {inline(run.case.title or '') or _untitled(run, own)}",
        _wrong(run, own, found),
        None if found is None else _smallest(smallest_form(found)),
        _listing(
            "## Could a server send this?", [f"- {inline(name)}: {sentence(said)}" for name, said in answers.sendable]
        ),
        _versions(run.case, {**(versions or {}), **({"engine": answers.engine} if answers.engine else {})}),
        _parser(run),
        _request(run.case),
        output,
        *tables,
        _line(answers),
        _elsewhere(answers),
    ]
    quoting = "".join([section for section in sections if section and section != output])
    sections += [f"Marks in tables and quotes: {LEGEND}." if set(MARKS.values()) & set(quoting) else ""]
    sections += [_again(run, permalink)]
    return "\n\n".join([section for section in sections if section]) + "\n"


def _untitled(run: CaseRun, findings: Sequence[Finding]) -> str:
    """What a report is called whose case has no title."""
    wrong = as_test(run).failing or any(finding.severity == "error" for finding in findings)
    return f"{inline(run.trace.parser)}: {'the result is wrong' if wrong else 'no error found'}"


def _wrong(run: CaseRun, findings: Sequence[Finding], found: CaseFound | None) -> str:
    notes = [prose(note) for note in run.case.notes if note.strip()]
    if found is not None:
        said = said_wrong(run, found)
        notes = [f"**{sentence(said.headline)}**", *map(sentence, said.grounds), *notes]
    elif not notes and findings:
        notes = [f"The check {cell(findings[0].check)} says: {sentence(findings[0].message)}"]
    if found is None and (departs := departure(run.case, run.trace)) is not None:
        notes = [f"**{sentence(departs.headline)}**", *notes]
    return "\n\n".join(["## What is wrong", *(notes or ["No finding, and no words by the reporter."])])


def _smallest(small: SmallestForm | None) -> str:
    """The smallest form that fails: its deltas, what comes of it, the command that replays it, and its case file."""
    if small is None:
        return ""
    deltas = [[str(number), cell(window(text)) or "no text"] for number, text in enumerate(small.deltas, 1)]
    rows = [[name, *_message_cells(message)] for name, message in small.told]
    parts = [table(f"## Smallest case\n\n{sentence(small.words)}", ("delta", "text fed"), deltas)]
    parts += [table("It", ("", "reasoning", "content", "calls"), rows)] if rows else []
    if small.case is not None and len(small.case) <= WHOLE_TEXT:
        parts += [fence(small.command, "sh"), f"The case file {cell(SMALLEST)}:", fence(small.case, "json")]
    return "\n\n".join(parts)


def _message_cells(message: Message) -> list[str]:
    calls = [f"{cell(window(call.name or ''))} {cell(window(call.arguments))}" for call in message.tool_calls]
    return [_or_dash(message.reasoning), _or_dash(message.content), "<br>".join(calls) or "none"]


def _outcomes(outcomes: Sequence[OutcomeClass]) -> str:
    """Which messages came of how many chunkings."""
    rows = [
        [str(one.number + 1), f"{one.count:,}", f"{one.honest:,}", inline(one.label), *_message_cells(one.message)]
        for one in outcomes
    ]
    header = ("message", "chunkings", "of them a server can send", "smallest", "reasoning", "content", "calls")
    return table("## Chunkings", header, rows) if rows else ""


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
    rows += [f"- why: {sentence(reason)}" for reason in run.selection.reasons]
    rows += [f"- policy {cell(key)}: {cell(value)}" for key, value in ref.policy.items()]
    how = "their ids" if run.trace.mode == "ids" else "their text"
    cut = f"- replayed in deltas {cell(chunking_words(run))}"
    remarks = [f"- {sentence(remark)}" for remark in run.remarks]
    return _listing("## Parser", [*rows, f"- markers recognised by {how}", cut, *remarks])


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
    """One row per field: expected (where the case expects something), actual, and the whole text at once."""
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
            sentence(" ".join([finding.message, *[f"From it: {one.message}" for one in finding.follows[:FOLLOWING]]])),
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
    rows = [[cell(name), sentence(said)] for name, said in answers.elsewhere]
    return table("## The same output elsewhere", ("parser", "in the same deltas it gives"), rows) if rows else ""


def _step_cells(trace: Trace, index: int | None) -> list[str]:
    step = next((one for one in trace.steps if one.index == index), None)
    if step is None:
        return ["", "", ""]
    return [str(step.index), _fed(trace, step), _sent(step)]


def _excerpt(trace: Trace, wrong: Sequence[int]) -> str:
    index = next(iter(wrong), None)
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
        f"{cell(window(held))} ({sentence(why)})" if held else "",
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
