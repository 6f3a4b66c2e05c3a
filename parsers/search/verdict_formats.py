"""The rule of the verdict for a parser of another format: one of the built-in formats reads what it cannot."""

from __future__ import annotations

import re
from itertools import islice

from parsers.checks.ill_formed import first_flaw
from parsers.checks.leaks import CONTROL, SHOWN, call_markers, is_marker
from parsers.checks.mentions import is_shown, is_spoken_of
from parsers.formats.model import builtin_formats
from parsers.search.found import Detail, Guess, Verdict
from parsers.search.markup import almost_markers
from parsers.search.verdict_evidence import Evidence
from parsers.selection.claims import SHORT, has_calls
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Proof
from parsers.vocabulary.types import Span
from parsers.vocabulary.words import counted, listed, quoted

_STRIPPED = "Special tokens may be missing in it: record it with skip_special_tokens=False, or give the token ids."
_DOUBT = 180  # a reading that loses more than this dropped text or left markup over: it does not fit either
_LOOSE = re.compile(
    r"\bfunctions\.[\w.-]{1,64}:\d{1,4}|\bto=functions\.\w|✿[A-Z]{3,9}✿|```tool_code(?=\r?\n)"
)  # calls' own, but no terminals
_TAGS = re.compile(r"(</?[\w:.-]{1,60}>)(?:\s*</?[\w:.-]{1,60}>)*")
_LAST = frozenset((*CONTROL, "<|return|>", "<|end|>"))  # a server may leave them out before its parser is asked
# What follows from a wrong parser.
_MISREAD = frozenset((
    "no_terminal_leak", "no_reasoning_leak", "no_argument_leak", "no_control_tokens", "tool_call_dropped",
    "spans_cover_input", "all_output_lost", "arguments_json", "known_tool",
))  # fmt: skip


def wrong_parser(evidence: Evidence) -> Verdict | None:
    """Another format reads what this parser's own grammar cannot."""
    if not evidence.doubtful:
        return None
    best = next((guess for guess in evidence.guesses if guess.good and guess.name == evidence.selected), None)
    if best is None or best.score < 1000 * best.good - _DOUBT or _fits(evidence, best):
        return None
    if evidence.attempt is None and not evidence.proven(best):
        return None
    if evidence.fmt is None and first_flaw(evidence.reading(best).events) is not None:
        return None  # a stricter parser of that grammar may have been at work
    calls = "call" if best.good == 1 else "calls"
    found = f"{best.good} complete {calls}" if best.good > evidence.reach else f"the {calls} and leaves nothing over"
    also = f" (so {'does' if len(best.same) == 1 else 'do'} {listed([quoted(name) for name in best.same])})"
    whose = f"{quoted(best.name)} reads {found} in this output{also if best.same else ''}"
    also = " and leaves markup in the content" if evidence.left else ""
    mine = f"reads {evidence.reach}{also}" if evidence.reach else "reads none"
    words = f"Wrong parser: {whose}, {quoted(evidence.trace.parser)} {mine}."
    numbers = [number for number, one in enumerate(evidence.findings) if one.check in _MISREAD and one.policy is None]
    details = (Detail(f"{best.title}: {'; '.join(best.evidence)}."), *evidence.messages(numbers))
    proof = Proof(parser=best.name)
    severity: Severity = "error" if may_call(evidence) else "warning"
    return Verdict("wrong_parser", severity, "request", words, details, tuple(numbers), proof)


def stray_markup(evidence: Evidence) -> Verdict | None:
    """Markers of calls that this format does not have stay in the content, and are not only written about."""
    content = evidence.message.content or ""
    if evidence.replayer.black_box or evidence.context.tool_choice == "none":
        return None
    own = () if evidence.fmt is None else evidence.fmt.terminals.values()
    places = (match for pattern in (call_markers(), _LOOSE) for match in pattern.finditer(content))
    others = (match for match in islice(places, SHOWN) if match.group() not in own)
    found = next((match for match in others if not _is_told(content, match)), None)
    if found is None:
        return _almost(evidence) or _opened(evidence) or _unread(evidence)
    whose = [fmt.name for fmt in builtin_formats().values() if found.group() in fmt.terminals.values()]
    names = [quoted(name) for name in whose[:3]] + ([counted(len(whose) - 3, "more format")] if whose[3:] else [])
    of = f"a marker of {listed(names)}" if whose else "which looks like part of a call"
    server = evidence.replayer.server
    if server is not None and found.group() in server.text:  # a client saw it: whose fault that is nobody knows
        words = f"The server left markup in the content: {quoted(found.group())}, {of}, and no format reads it whole."
        return Verdict("server_unparsed", "warning", "request", words, (Detail(_STRIPPED),))
    words = f"The content holds {quoted(found.group())}, {of}: {quoted(evidence.trace.parser)} does not read it as one."
    return Verdict("output_flawed", "warning", "output", words, _without_beginning(evidence.text, found.group()))


def _almost(evidence: Evidence) -> Verdict | None:
    """A marker of the format that is spelled wrongly, of which nothing came: the calls are read all the same."""
    own, content = set() if evidence.fmt is None else {*evidence.fmt.terminals.values()}, evidence.message.content or ""
    near = [one for one in almost_markers(content) if one.literal in own]
    meant = (one for one in near if not (is_shown(content, one.start) or is_spoken_of(content, one.start, one.end)))
    found = next(meant, None) if evidence.message.tool_calls else None
    if found is None:
        return None
    text = quoted(content[found.start : found.end])
    words = f"The content holds {text}, which is almost {quoted(found.literal)}: {quoted(evidence.trace.parser)}"
    return Verdict("output_flawed", "warning", "output", f"{words} does not read it as that.")


def _unread(evidence: Evidence) -> Verdict | None:
    """All of the content is a call of a declared tool by its form, and no format reads one; or all that is left beside
    calls is tags, of no format that is built in."""
    if evidence.called is None:
        tags = _TAGS.fullmatch((evidence.message.content or "").strip()) if evidence.message.tool_calls else None
        words = f"stays in the content beside the calls: {quoted(evidence.trace.parser)} has no such marker."
        return None if tags is None else Verdict("output_flawed", "warning", "output", f"{quoted(tags[1])} {words}")
    words = (
        f"The content looks like a call to {quoted(evidence.called)}, and {quoted(evidence.trace.parser)} reads none."
    )
    return Verdict("output_flawed", "warning", "output", words)


def _opened(evidence: Evidence) -> Verdict | None:
    """A marker of the format that opens a call, first of all or on a line of its own after a sentence, and no call
    comes after it."""
    text = evidence.text
    openers = [one for one in evidence.fmt.terminals.values() if is_marker(one)] if evidence.fmt is not None else []
    for call in evidence.trace.rejected_calls[:SHOWN]:
        start = call.end - len(text[call.start : call.end].lstrip())
        literal = max([one.strip() for one in openers if text.startswith(one.strip(), start)], key=len, default="")
        if literal and call.name is None and _stands_alone(text, start, start + len(literal)):
            words = f"{quoted(literal)} opens a call at character {start}, and what follows is none."
            span = Span(start, start + len(literal))
            return Verdict("output_flawed", "warning", "output", words, span=span)
    return None


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether a marker is the first thing of a text, or stands on a line of its own after a sentence."""
    before = text[:start].rstrip()
    if not before:
        return True
    alone = "\n" in text[len(before) : start] and text[end : end + 1] in ("", "\r", "\n")
    return alone and before[-1] in ".!?>" and not is_shown(text, start)


def _without_beginning(text: str, closing: str) -> tuple[Detail, ...]:
    """Say that the beginning may be missing, where a marker closes what nothing in the output opens."""
    if not closing.startswith("</") or text.count(f"<{closing[2:]}") >= text.count(closing):
        return ()
    return (Detail(f"Nothing opens what {quoted(closing)} closes: the beginning of the output may be missing."),)


def _is_told(content: str, found: re.Match[str]) -> bool:
    """Return whether markup is only written about, or is a token at the very end, which ends the turn."""
    last = found.group() in _LAST and not content[found.end() :].strip()
    spoken = found.re is not _LOOSE and is_spoken_of(content, *found.span())
    return last or spoken or is_shown(content, found.start())


def may_call(evidence: Evidence) -> bool:
    """Return whether calls are to be expected: the format has them, or tools are declared."""
    return evidence.fmt is None or has_calls(evidence.fmt) or bool(evidence.context.tools)


def _fits(evidence: Evidence, best: Guess) -> bool:
    """Return whether the parser's own grammar reads the output as well as the best guess does."""
    own = evidence.fmt
    if own is None:
        return best.good <= evidence.reach or _knows(evidence, best)
    mine = next((guess for guess in evidence.guesses if guess.name == own.name), None)
    reach = max(evidence.reach, 0 if mine is None else mine.good)
    if best.name == own.name or (own.name in best.same and best.good <= reach):
        return True
    if best.good > reach:
        return False
    return not (evidence.left and mine is not None and best.leaves is None and mine.leaves is not None)


def _knows(evidence: Evidence, best: Guess) -> bool:
    """Return whether a parser of an unknown grammar has all the markers of the guess that are in the output."""
    own = evidence.replayer.terminals.values()
    used = [text for text in builtin_formats()[best.name].terminals.values() if len(text) >= SHORT]
    return all(any(text in marker for marker in own) for text in used if text in evidence.text)
