"""Checks on the arguments as JSON text: do they parse at the end, are they closed, and could they at every step?

If the parser wrote the opening brace itself, or a whole JSON object stands in the output where the arguments begin, the
parser broke it (an error); else the model wrote it so (a warning).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from parsers.checks.check import LIMIT, Need, check
from parsers.checks.deltas import taken_back
from parsers.checks.json_text import JsonPrefix, is_whole_object, misfit, read_object, stands_at, walk
from parsers.checks.known import Finish
from parsers.checks.schema import misfits
from parsers.checks.subject import Subject
from parsers.compare.divergence import excerpt, shared_prefix
from parsers.vocabulary.channels import Channel, call_words
from parsers.vocabulary.events import CallArguments, CallEnd, Severity
from parsers.vocabulary.trace import About, Finding, Topic
from parsers.vocabulary.types import Tool, ToolCall
from parsers.vocabulary.words import quoted


@check("J1", "The arguments of every call are one JSON object.", needs=(Need.FINISHED,))
def _arguments_json(subject: Subject) -> Iterator[Finding]:
    told = 0
    for index, call in enumerate(subject.calls):
        reader, found = JsonPrefix(), list[Finding]()
        bad = reader.feed(call.arguments)
        if bad is None and reader.done:
            found += _repeated_keys(subject, index)
        elif bad is None and (call.arguments or not call.complete):
            is_last = index == len(subject.calls) - 1  # what a length limit cuts off is the last call
            expected = not call.complete and is_last and subject.request.finish_reason == "length"
            if not expected and not subject.known.raw:
                found.append(_left_open(subject, index))
            elif not expected and not call.arguments:
                found.append(_nothing_sent(subject, index))
            # If it is the parser's fault that they are open, arguments_closed tells of it.
            elif not expected and _fault_of_open(subject, index) == "output":
                found.append(_unparsable(subject, index, None, "output"))
        elif call.complete and not call.arguments:
            found.append(_nothing_sent(subject, index))
        elif call.complete:
            found.append(_unparsable(subject, index, bad, _fault(subject, index, told)))
        told += len(found)
        yield from found


# What arguments that end too early say of a stream whose raw output is unknown, by what is known of its end. A server
# that says why it ended has sent all it was going to.
_OPEN: Mapping[Finish, tuple[Severity, About, Topic]] = {
    Finish.SAID: ("error", "parser", Topic.ARGUMENTS),
    Finish.LEFT_OUT: ("error", "parser", Topic.ARGUMENTS),
    Finish.UNSAID: ("error", "parser", Topic.ARGUMENTS),
    Finish.CUT: ("warning", "request", Topic.CUT),
    Finish.ABSENT: ("warning", "request", Topic.CUT),
}


def _left_open(subject: Subject, index: int) -> Finding:
    call, size = subject.calls[index], len(subject.calls[index].arguments)
    is_last, finish = index == len(subject.calls) - 1, subject.known.finish
    severity, about, topic = _OPEN[finish if is_last or finish is Finish.CUT else Finish.SAID]
    how = "end before their JSON does"
    if not call.arguments and subject.known.finish is not Finish.CUT:
        tool = subject.request.tool(call.name)
        unsure = tool is None and topic is Topic.CUT
        how, severity = ("are empty, as far as it was recorded", severity) if unsure else _empty(tool, severity)
    said = topic is Topic.ARGUMENTS and severity != "info"
    why = f", and {_what_follows(subject, index)}" if said else ""
    return _arguments_json.finding(
        f"The arguments of {call_words(index, call.name)} {how}{why}.",
        topic=topic,
        severity=severity,
        about=about,
        step=subject.arguments(index).place(size).step,
        actual=excerpt(call.arguments, size),
    )


def _what_follows(subject: Subject, index: int) -> str:
    """What shows that nothing more of a call was to come, as a clause."""
    if index < len(subject.calls) - 1:
        return "the next call begins"
    reason, end = subject.trace.finish_reason, subject.server.end
    if end is not None:
        return end.clause
    return f"the finish reason is `{reason}`" if reason else "what the server sent ends there"


def _empty(tool: Tool | None, severity: Severity) -> tuple[str, Severity]:
    """What empty arguments are, as a clause, and how much they weigh: `severity` only where the schema requires some.

    The API calls a function without arguments by `{}`; several servers send no text for that, which clients mend.
    """
    if tool is None:
        return "are empty, not a JSON object: at most a function that requires nothing is called so", "warning"
    if misfits(tool.parameters, "{}"):
        return "are empty, though the schema requires some", severity
    return "are empty, where the API has `{}`", "info"


def _nothing_sent(subject: Subject, index: int) -> Finding:
    """Nothing was sent for the arguments of a call. Where the built-in parser has a whole object there, the parser lost
    it, or has not made it: then the output writes none."""
    call, reference = subject.calls[index], subject.builtin.trace
    words, right = call_words(index, call.name), _read_whole(subject, index)
    how = "are empty, not a JSON object"
    severity: Severity = "warning"
    about: About = "output"
    if right is not None and reference is not None:
        kind = reference.channels[Channel(index, "arguments")].place(0).kind
        how, about = f"are empty, where the output has {quoted(right.arguments)}", "parser"
        if kind == "synthetic":
            how = f"are empty: the output writes none, for which the API has {quoted(right.arguments)}"
        else:
            severity = "error"
    return _arguments_json.finding(
        f"The arguments of {words} {how}.",
        severity=severity,
        about=about,
        at=subject.arguments(index).place(0),
        length=0,
        expected=None if right is None else excerpt(right.arguments),
        actual="",
        sort="end",
    )


def _unparsable(subject: Subject, index: int, bad: int | None, about: About) -> Finding:
    call = subject.calls[index]
    offset = len(call.arguments) if bad is None else bad
    words, policy, place = call_words(index, call.name), None, subject.arguments(index).place(offset)
    if bad is None:
        message = f"The arguments of {words} end before their JSON does."
        # The policy by which a last call that the output cuts off is sent as far as it came.
        is_last = index == len(subject.calls) - 1
        policy = subject.contract("truncated_call", "as_streamed") if is_last and _may_stream(subject) else None
    else:
        where = place.words(bad, "the arguments")
        message = f"The arguments of {words} are no JSON object: at {where} {misfit(call.arguments, bad)}."
    return _arguments_json.finding(
        message,
        severity="error" if about == "parser" else "warning",
        about=about,
        step=place.step,
        span=place.span(0 if bad is None else 1),
        actual=excerpt(call.arguments, offset),
        policy=policy,
        sort="end" if bad is None else stands_at(call.arguments, bad),
    )


def _may_stream(subject: Subject) -> bool:
    """Return whether a cut call may be sent as far as it came: a black box keeps to no policy but the contract."""
    values = subject.promised.values("truncated_call") if subject.black_box else ()
    return not values or "as_streamed" in values


def _repeated_keys(subject: Subject, index: int) -> Iterator[Finding]:
    """Keys that the output gives twice in one object: beside a black box, as the built-in parser reads it."""
    reference = subject.builtin.trace
    own = subject.calls if reference is None or subject.server.plays else reference.message.tool_calls
    call = own[index] if len(own) == len(subject.calls) else subject.calls[index]
    if not is_whole_object(call.arguments):
        return
    is_given = call.arguments == subject.calls[index].arguments
    for node in walk(read_object(call.arguments)):
        seen: set[str] = set()
        for member in node.members:
            if member.key in seen:
                yield _arguments_json.finding(
                    f"`{member.key}` is given twice in {call_words(index, call.name)}; most readers keep the last.",
                    severity="info",
                    about="output",
                    at=subject.arguments(index).place(member.at if is_given else 0),
                )
            seen.add(member.key)


@check("J3", "The arguments of a call are whole when the output has ended the call.", needs=(Need.FINISHED,))
def _arguments_closed(subject: Subject) -> Iterator[Finding]:
    ended = set[int]()
    for step, event in subject.trace.events():
        if isinstance(event, CallEnd):
            ended.add(event.call)
        elif isinstance(event, CallArguments) and event.text and event.call in ended:
            message = f"Arguments of call {event.call} are sent after its end."
            yield _arguments_closed.finding(message, step=step, actual=event.text)
    for index, call in enumerate(subject.calls):
        reader, size = JsonPrefix(), len(call.arguments)
        is_open = bool(call.arguments) and reader.feed(call.arguments) is None and not reader.done
        if is_open and _fault_of_open(subject, index) == "parser":
            message = f"The arguments of {call_words(index, call.name)} are left open, though the output ends the call."
            place, actual = subject.arguments(index).place(size), excerpt(call.arguments, size)
            yield _arguments_closed.finding(message, at=place, length=0, actual=actual)


@check(
    "J2",
    "What has been streamed of a call's arguments is always a beginning of the final text, and of a JSON object.",
)
def _arguments_prefix(subject: Subject) -> Iterator[Finding]:
    told = 0
    for index, call in enumerate(subject.calls):
        sent, words = subject.streamed[Channel(index, "arguments")], call_words(index, call.name)
        if not call.arguments.startswith(sent.text):
            told += 1
            offset = shared_prefix(sent.text, call.arguments)
            message = f"The streamed arguments of {words} leave the final text at their character {offset}."
            yield taken_back(_arguments_prefix, message, sent, call.arguments)
        bad = JsonPrefix().feed(sent.text)
        if bad is not None and not (call.complete and sent.text == call.arguments):  # else arguments_json tells of it
            about = _fault(subject, index, told)
            told += 1
            kept = call.arguments.startswith(sent.text)
            place = subject.arguments(index).place(bad) if kept else sent.place(bad)
            where, why = place.words(bad, "the arguments"), misfit(sent.text, bad)
            yield _arguments_prefix.finding(
                f"From {where} on, what is streamed of {words} cannot become a JSON object: {why}.",
                severity="error" if about == "parser" else "warning",
                about=about,
                at=place,
                actual=excerpt(sent.text, bad),
            )


# Whose fault bad JSON is.


def _fault(subject: Subject, index: int, examined: int) -> About:
    """Whose fault it is that a call's arguments are not JSON. Looked at for the first ones only, to stay linear."""
    arguments = subject.arguments(index)
    place = arguments.place(0)
    if place.kind in ("synthetic", "converted"):
        return "parser"
    if examined >= LIMIT:
        return "output"
    raw = subject.trace.text.find(arguments.text) if place.raw is None else place.raw
    if raw < 0:
        return "parser"
    return "parser" if _object_stands_at(_readable(subject, raw), raw, arguments.text) else "output"


def _object_stands_at(text: str, raw: int, arguments: str) -> bool:
    """Return whether the output has a whole JSON object where the arguments begin, of which the parser made bad JSON.

    Text after a whole object is the parser's doing only where the object is a value of a larger one (its closing
    brace was taken along); elsewhere the model wrote too much.
    """
    source, made = JsonPrefix(), JsonPrefix()
    source.feed(text, raw)
    made.feed(arguments)
    return source.done and (not made.done or text[:raw].rstrip().endswith(":"))


def _fault_of_open(subject: Subject, index: int) -> About:
    if subject.calls[index].complete:
        return _fault(subject, index, index)
    return "parser" if _stands_whole(subject, index) else "output"


def _stands_whole(subject: Subject, index: int) -> bool:
    """Return whether the output has the whole object of which these arguments are the beginning.

    A black box with tagged arguments writes the braces itself; there the built-in parser says whether the call ends.
    """
    call, text = subject.calls[index], subject.trace.text
    place = subject.arguments(index).place(0)
    start = text.find(call.arguments) if place.raw is None else place.raw
    if index < LIMIT and start >= 0 and text.startswith(call.arguments, start):
        source = JsonPrefix()
        source.feed(_readable(subject, start), start)
        return source.done
    return _read_whole(subject, index) is not None


def _read_whole(subject: Subject, index: int) -> ToolCall | None:
    """The call as the built-in parser beside a black box reads it, where that is a whole one of this name."""
    reference = subject.builtin.trace
    if reference is None or index >= len(reference.message.tool_calls):
        return None
    other = reference.message.tool_calls[index]
    same = other.complete and other.name == subject.calls[index].name and is_whole_object(other.arguments)
    return other if same else None


def _readable(subject: Subject, start: int) -> str:
    """The output as far as one value can go from `start`: by ids, a marker ends what it stands in, strings too."""
    text, end = subject.trace.text, 0
    for piece in subject.tokens.pieces if subject.trace.mode == "ids" else ():
        if end >= start and piece.recorded and piece.kind in ("special", "added"):
            return text[:end]
        end += len(piece.text)
    return text
