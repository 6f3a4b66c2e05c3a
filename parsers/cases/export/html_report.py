"""A run as one HTML file: verdict, smallest case, what a client gets, findings, every delta, and the case itself.

It is read offline: nothing in it is loaded, run or sent. What grows with the output is bounded, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from parsers.cases.export.found_facts import SMALLEST, outcomes_of, said_wrong, smallest_form
from parsers.cases.export.html_page import Child, Html, block, code, document, file, join, sentence, table, tag
from parsers.cases.export.html_style import STYLE
from parsers.cases.export.maintainer import NO_ANSWERS, Answers, tokens_around
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
    whose_ids,
    window,
)
from parsers.cases.find import CaseFound
from parsers.cases.io import dumps
from parsers.cases.run import CaseRun
from parsers.vocabulary.trace import Finding, Step
from parsers.vocabulary.types import Message

_MOST_STEPS = 2_000
_MOST_TEXT = 50_000


def html_report(
    run: CaseRun,
    *,
    versions: Mapping[str, str],
    permalink: str | None = None,
    answers: Answers = NO_ANSWERS,
    found: CaseFound | None = None,
) -> str:
    """The report. `found` is what a search of the case found, where somebody searched; `versions` maps program to
    version."""
    title = run.case.title or "A replay of one model output"
    parts = [
        _head(run, title, versions, answers, found),
        _smallest(found) if found is not None else None,
        _result(run),
        _findings(run, "Findings", run.findings if found is None else found.found.findings),
        _findings(run, "Robustness: what only changed outputs show", () if found is None else found.found.robustness),
        _sendable(answers),
        _line(answers),
        _elsewhere(answers),
        _chunkings(run, found),
        _output(run),
        _tokens(run),
        _steps(run),
        _request(run),
        _again(run, permalink),
    ]
    return document(join([title, Html(" · Toolcall Inspector")]), STYLE, tag("main", *parts))


def _head(run: CaseRun, title: str, versions: Mapping[str, str], answers: Answers, found: CaseFound | None) -> Html:
    said = said_wrong(run, found)
    ref = run.case.parser
    facts = [
        ("Parser", f"{run.selection.name}{f' of {ref.engine}' if ref.engine else ''}"),
        *([("Engine", answers.engine)] if answers.engine else []),
        *[(name, version) for name, version in versions.items()],
        ("Deltas", chunking_words(run)),
        ("Markers by", "their ids" if run.trace.mode == "ids" else "their text"),
        *[(f"Source {key}", str(value)) for key, value in source_of(run.case).items()],
    ]
    notes = [tag("p", note, class_="note") for note in run.case.notes if note.strip()]
    return tag(
        "header",
        tag("p", title, class_="quiet"),
        tag("h1", sentence(said.headline), class_=said.severity),
        *[tag("p", sentence(words)) for words in said.grounds],
        *notes,
        tag("dl", *[tag("div", tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts"),
        class_=f"lead {said.severity}",
    )


def _section(title: str, *parts: Child) -> Html:
    return tag("section", tag("h2", title), *parts)


def _sendable(answers: Answers) -> Html | None:
    items = [tag("li", f"{name}: ", sentence(said)) for name, said in answers.sendable]
    return _section("Could a server send this?", tag("ul", *items)) if items else None


def _smallest(found: CaseFound) -> Html | None:
    """The smallest failing form: its deltas, what comes of it, the case, and the command that replays it."""
    small = smallest_form(found)
    if small is None:
        return None
    parts = tag("ol", *[tag("li", code(window(part))) for part in small.deltas], class_="deltas")
    told = [tag("div", tag("dt", name), tag("dd", _message(message))) for name, message in small.told]
    again = None
    if small.case is not None:
        again = join([file(small.command), _folded(f"Its case file, {SMALLEST}", file(small.case))])
    return _section("Smallest case", tag("p", sentence(small.words)), parts, tag("dl", *told, class_="told"), again)


def _message(message: Message) -> Html:
    """A message as a client sees it."""
    texts = [("reasoning", message.reasoning), ("content", message.content)]
    parts: list[Child] = [code(window(told), class_=role) for role, told in texts if told]
    for call in message.tool_calls:
        parts += code(window(call.name or ""), class_="name"), code(window(call.arguments), class_="args")
    return join([join([part, " "]) for part in parts] or [tag("span", "nothing", class_="quiet")])


def _result(run: CaseRun) -> Html:
    fields = compared_fields(run)
    header = ("field", *(() if fields.expected is None else ("expected",)), "came", "the whole text at once")
    rows = [[name, *map(_side, around_parting(texts))] for name, texts in fields.rows()]
    return _section("Result", table(header, rows, "Result"))


def _side(text: str | None) -> Child:
    return "—" if text is None else code(text) if text else "empty"


def _findings(run: CaseRun, title: str, findings: Sequence[Finding]) -> Html | None:
    rows = [
        [
            one.severity,
            code(one.check),
            sentence(one.message),
            "" if one.step is None else str(one.step),
            "" if one.span is None else f"{one.span.start} to {one.span.end}",
            one.blamed(played=run.plays),
        ]
        for one in by_severity(findings)
    ]
    header = ("severity", "check", "says", "step", "characters", "about")
    return _section(title, table(header, rows, title)) if rows else None


def _line(answers: Answers) -> Html | None:
    if answers.line is None:
        return None
    return _section("Line of the parser", tag("p", code(answers.line[0])), block(answers.line[1]))


def _elsewhere(answers: Answers) -> Html | None:
    rows = [[name, sentence(said)] for name, said in answers.elsewhere]
    label = "The same output elsewhere"
    return _section(label, table(("parser", "in the same deltas it gives"), rows, label)) if rows else None


def _chunkings(run: CaseRun, found: CaseFound | None) -> Html | None:
    """What other chunkings gave: of a search every message, else those that were compared."""
    if outcomes := outcomes_of(found):
        header = ("message", "chunkings", "of them a server can send", "smallest", "it is")
        rows = [
            [str(one.number + 1), f"{one.count:,}", f"{one.honest:,}", one.label, _message(one.message)]
            for one in outcomes
        ]
        return _section("Chunkings", table(header, rows, "Chunkings"))
    rows = [[one.label, "the same" if one.same else "another", _message(one.trace.message)] for one in run.compared]
    return _section("Chunkings", table(("replay", "message", "it is"), rows, "Chunkings")) if rows else None


def _output(run: CaseRun) -> Html:
    shown = run.trace.text[:_MOST_TEXT]
    more = (
        f"The first {len(shown):,} of {len(run.trace.text):,} characters." if len(shown) < len(run.trace.text) else ""
    )
    return _section("Model output", tag("p", more, class_="quiet") if more else None, block(shown))


def _tokens(run: CaseRun) -> Html | None:
    if (place := place_in_question(run)) is None:
        return None
    rows = [
        [
            f"{one.number}{' ←' if one.here else ''}",
            id_words(one.piece),
            code(one.piece.text),
            one.piece.kind,
        ]
        for one in tokens_around(run.pieces, place)
    ]
    name = f"Tokens around character {place:,}"
    whose = tag("p", whose_ids(run), class_="quiet")
    return _section(name, whose, table(("token", "id", "text", "kind"), rows, name)) if rows else None


def _steps(run: CaseRun) -> Html:
    steps = run.trace.steps[:_MOST_STEPS]
    more = f"The first {len(steps):,} of {len(run.trace.steps):,}." if len(steps) < len(run.trace.steps) else ""
    rows = [_step(run, step) for step in steps]
    header = ("step", "text fed", "ids", "state after", "held", "delta sent")
    return _section("Every delta", tag("p", more, class_="quiet") if more else None, table(header, rows, "Every delta"))


def _step(run: CaseRun, step: Step) -> list[Child]:
    held = run.trace.held_text(step)
    why = "; ".join([hold.reason for hold in step.holds])
    return [
        str(step.index),
        "end of the output" if step.end else code(window(run.trace.text[step.span.start : step.span.end])),
        ", ".join(map(str, step.ids)),
        code(step.state, class_="state"),
        join([code(window(held)), " (", sentence(why), ")"]) if held else "",
        "" if step.delta is None else code(window(json.dumps(step.delta.to_openai(), ensure_ascii=False))),
    ]


def _request(run: CaseRun) -> Html:
    data = run.case.model_dump(mode="json", by_alias=True, exclude_defaults=True, include={"tools", "context"})
    return _section("Request", file(json.dumps(data, ensure_ascii=False, indent=2)))


def _again(run: CaseRun, permalink: str | None) -> Html:
    """How to run it again, with the case file."""
    case = dumps(run.case.with_pieces(run.stored))
    held = _folded(f"The case file, {FILENAME}", file(case))
    if len(case) > 4 * _MOST_TEXT:
        held = tag("p", f"The case file has {len(case):,} characters: it is not in this report.")
    link = tag("p", "Permalink: ", code(permalink)) if permalink else None
    return _section("Run it again", link, file(replay_command(run.trace.chunking_json, FILENAME)), held)


def _folded(summary: str, inside: Html) -> Html:
    return tag("details", tag("summary", summary), inside)
